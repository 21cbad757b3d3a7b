import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, mannwhitneyu, spearmanr, wilcoxon

from evaluation.organiser.ranking.rank_statistics import (
    kendall_tau_b,
    pareto_front,
    rank_sum_test,
    signed_rank_tests,
    spearman,
)

NAN = math.nan


def test_five_cases_by_hand_and_too_few():
    # All five differences have one sign: two of the 2⁵ sign patterns are as extreme, p = 1/16.
    found = signed_rank_tests([[1, 2, 3, 4, 5], [0, 0, 0, 0, 0]], [(0, 1)])[0]
    assert found.p_value == pytest.approx(1 / 16)
    # Differences 1 … 5: standard deviation √2.5, of the mean √(2.5/5).
    assert found.standard_error == pytest.approx(math.sqrt(0.5))
    found = signed_rank_tests([[1, NAN], [NAN, 2]], [(0, 1)])[0]
    assert found.p_value is None
    assert found.note == "fewer than two cases enter both means"


@settings(max_examples=12)
@given(
    seed=st.integers(0, 2**32 - 1),
    cases=st.sampled_from([6, 12, 15, 16, 40, 52, 53, 90]),
    digits=st.sampled_from([1, 12]),
)
def test_many_pairs_at_once_against_scipy_one_by_one(seed, cases, digits):
    values = np.random.default_rng(seed).normal(size=(4, cases)).round(digits)
    values[:, :2] = NAN
    pairs = [(0, 1), (2, 3), (1, 3), (0, 0)]
    for (first, second), found in zip(pairs, signed_rank_tests(values, pairs), strict=True):
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
    found = rank_sum_test(first, second).p_value
    assert found == (None if expected is None else pytest.approx(expected))


def test_directions_and_ties_of_ranks():
    # The mean is higher in the first sample, the ranks in the second.
    assert rank_sum_test([0, 0, 100], [1, 1, 1, 2]).direction == -1
    assert rank_sum_test([1, 2], [1, 2]).direction == 0
    # 0.3 − 0.1 > 0.4 − 0.2 as floats. In decimal all are tied: p of ± 0.2 once each is 1.
    (found,) = signed_rank_tests([[0.3, 0.2], [0.1, 0.4]], [(0, 1)])
    assert found.p_value == 1.0
    assert rank_sum_test([0.3 - 0.1, 0.5], [0.4 - 0.2, 0.5]).direction == 0
    (found,) = signed_rank_tests([[1, 1, 1, -9], [0, 0, 0, 0]], [(0, 1)])
    # Positive ranks 2, 2, 2, negative 4: 6 against 4, though the mean is negative.
    assert found.direction == 1


def test_rank_sum_against_scipy():
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=360).round(1), rng.normal(0.3, size=40).round(1)
    assert rank_sum_test(first, second).p_value == pytest.approx(mannwhitneyu(first, second).pvalue)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=2, max_size=8))
def test_against_scipy(pairs):
    first, second = np.array(pairs).T
    expected = kendalltau(first, second, variant="b").statistic
    assert kendall_tau_b(first, [second]).tolist() == pytest.approx([expected], nan_ok=True)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=30))
def test_the_rank_correlation_is_spearmans(pairs):
    first, second = zip(*pairs, strict=True)
    found = spearman(first, second, len(pairs)).value
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(spearmanr(first, second).statistic)


def test_rows_that_no_other_row_dominates():
    """The fourth row is as good as the first and slower, the last one worse and slower than the second."""
    costs = [(-0.9, 2.0), (-0.5, 0.1), (-0.5, 0.1), (-0.9, 3.0), (-0.4, 0.2)]
    assert pareto_front(costs).tolist() == [True, True, True, False, False]
