"""Tests and figures of ranks, in the published digits, against SciPy; intervals of the same tests."""

import math
from decimal import Decimal
from math import inf, nan

import numpy as np
import pytest
from scipy.stats import kendalltau, mannwhitneyu, rankdata, wilcoxon

from evaluation.organiser.ranking.rank_tests import (
    kendall_tau_b,
    mid_ranks,
    published,
    published_difference,
    rank_sum_difference,
    signed_rank_difference,
)
from evaluation.platform.result_file import as_written

NAN = math.nan


def test_mid_ranks_are_scipys():
    values = np.random.default_rng(1).integers(0, 5, 13) * 1.0
    np.testing.assert_array_equal(mid_ranks(values), rankdata(values))


@pytest.mark.parametrize("digits", [1, 6])
@pytest.mark.parametrize("cases", [7, 12, 60])
def test_an_interval_leaves_out_0_exactly_where_p_is_below_5_percent(cases, digits):
    """The interval holds the shifts that the test does not reject; about its estimate nothing is rejected."""
    for seed in range(12 if cases > 8 else 4):
        rng = np.random.default_rng(seed)
        first, second = (
            rng.normal(rng.uniform(0, 0.8), 1, cases).round(digits),
            rng.normal(0, 1, cases).round(digits),
        )
        for found in (
            signed_rank_difference(published_difference(first, second), 0.0),
            rank_sum_difference(first, second),
        ):
            assert (found.lower > 0 or found.upper < 0) == (found.p_value < 0.05)
            assert found.lower <= found.estimate <= found.upper
    moved = signed_rank_difference(published_difference(first + 3, second), 0.0)
    still = signed_rank_difference(published_difference(first, second), 0.0)
    assert moved.estimate == pytest.approx(still.estimate + 3, abs=1e-6)


def test_too_few_cases():
    found = signed_rank_difference([1.0, NAN], 1.0)
    assert (found.p_value, found.reason) == (None, "too few cases")
    # Of three, no p is below 5 %, and no shift is rejected.
    found = signed_rank_difference([1.0, 2.0, 3.0], 2.0)
    assert (found.p_value, found.lower, found.upper) == (0.25, None, None)


@pytest.mark.parametrize("digits", [1, 12])
@pytest.mark.parametrize("cases", [6, 12, 15, 16, 40, 52, 53, 90])
def test_signed_ranks_are_scipys(cases, digits):
    values = np.random.default_rng(cases).normal(size=(4, cases)).round(digits)
    values[:, :2] = NAN
    for first, second in [(0, 1), (2, 3), (1, 3), (0, 0)]:
        found = signed_rank_difference(published_difference(values[first], values[second]), 0.0)
        differences = (values[first, 2:] - values[second, 2:]).round(11)
        expected = wilcoxon(differences).pvalue if differences.any() else 1.0
        assert found.p_value == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # Complete separation of 3 and 3: 2 of the 20 arrangements.
        ([1, 2, 3], [4, 5, 6], 0.1),
        ([1, 2, 3, NAN], [4, NAN, 5, 6], 0.1),
        ([1, 1], [1, 1], 1.0),
        ([], [1.0], None),
        ([NAN], [1.0], None),
    ],
)
def test_rank_sum(first, second, expected):
    found = rank_sum_difference(first, second).p_value
    assert found == (None if expected is None else pytest.approx(expected))


def test_directions_and_ties_of_ranks():
    # The mean is higher in the first sample, the ranks in the second.
    assert rank_sum_difference([0, 0, 100], [1, 1, 1, 2]).direction == -1
    assert rank_sum_difference([1, 2], [1, 2]).direction == 0
    # 0.3 − 0.1 > 0.4 − 0.2 as floats. In decimal all are tied: p of ± 0.2 once each is 1.
    found = signed_rank_difference(published_difference([0.3, 0.2], [0.1, 0.4]), 0.0)
    assert found.p_value == 1.0
    assert rank_sum_difference([0.3 - 0.1, 0.5], [0.4 - 0.2, 0.5]).direction == 0
    found = signed_rank_difference([1.0, 1.0, 1.0, -9.0], -1.5)
    # Positive ranks 2, 2, 2, negative 4: 6 against 4, though the mean is negative.
    assert found.direction == 1


def test_rank_sum_against_scipy():
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=360).round(1), rng.normal(0.3, size=40).round(1)
    assert rank_sum_difference(first, second).p_value == pytest.approx(mannwhitneyu(first, second).pvalue)


@pytest.mark.parametrize("values", [4, 9])
@pytest.mark.parametrize("pairs", [2, 5, 8, 30])
def test_rank_correlations_are_scipys(pairs, values):
    first, second = np.random.default_rng(pairs).integers(1, values + 1, (2, pairs))
    expected = kendalltau(first, second, variant="b").statistic
    assert kendall_tau_b(first, [second]).tolist() == pytest.approx([expected], nan_ok=True)
    same = np.ones(pairs)
    assert np.isnan(kendall_tau_b(first, [same])).all()


def test_what_is_no_number_stays():
    np.testing.assert_array_equal(published([nan, inf, -inf, 0.0]), [nan, inf, -inf, 0.0])
    assert np.isnan(published_difference([nan, 1.0], [1.0, nan])).all()


@pytest.mark.parametrize("exponent", [-10, -1, 0, 3, 15])
def test_the_digits_are_those_of_metrics_json(exponent):
    for value in np.random.default_rng(1).normal(size=20) * 10.0**exponent:
        # A 13th digit that is exactly 5 may be rounded either way.
        assert float(published(value)) == pytest.approx(as_written(value), rel=1.01e-11, abs=0)
        assert published(published(value)) == published(value)


@pytest.mark.parametrize("exponent", [-14, -12, -6, 0, 4])
def test_numbers_of_twelve_digits_are_subtracted_exactly(exponent):
    for digits in np.random.default_rng(2).integers(1 - 10**12, 10**12, (20, 2)).tolist():
        a, b = (Decimal(one).scaleb(exponent) for one in digits)
        found = float(published_difference(float(a), float(b)))
        last_digit = Decimal(1).scaleb(max(max(abs(a), abs(b)).adjusted() - 11, -22))
        assert abs(Decimal(repr(found)) - (a - b)) <= last_digit / 2
        assert published_difference(float(b), float(a)) == -found
