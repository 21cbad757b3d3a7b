"""Test then rank: one-sided tests against SciPy, Holm against statsmodels' definition by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from evaluation.ranking.methods.significant_wins import one_sided_p_values, significant_wins


@pytest.mark.parametrize("ties", [False, True])
def test_p_values_are_scipys(ties):
    rng = np.random.default_rng(1)
    differences = rng.normal(0.2, 1, 40)
    if ties:
        differences = differences.round(0)
    found = one_sided_p_values(differences, np.ones((1, 40)))[0]
    for p_value, alternative in zip(found, ("greater", "less"), strict=True):
        expected = wilcoxon(differences, alternative=alternative, method="asymptotic", correction=True)
        assert p_value == pytest.approx(expected.pvalue, rel=1e-12)


def test_weights_repeat_cases():
    rng = np.random.default_rng(2)
    differences = rng.normal(0.3, 1, 30).round(1)
    weights = rng.integers(0, 4, (5, 30))
    found = one_sided_p_values(differences, weights)
    for row, p_values in zip(weights, found, strict=True):
        repeated = np.repeat(differences, row)
        expected = wilcoxon(repeated, alternative="greater", method="asymptotic", correction=True)
        assert p_values[0] == pytest.approx(expected.pvalue, rel=1e-12)


def test_equal_decimals_tie():
    exact = one_sided_p_values([0.2, 0.2, -0.2, 0.5], np.ones((1, 4)))
    as_floats = one_sided_p_values([0.3 - 0.1, 0.4 - 0.2, 0.5 - 0.7, 0.5], np.ones((1, 4)))
    np.testing.assert_array_equal(as_floats, exact)


def test_nothing_left_is_no_evidence():
    assert one_sided_p_values([0.0, np.nan], np.ones((2, 2))).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert one_sided_p_values([1.0, 0.0], [[0, 1]]).tolist() == [[1.0, 1.0]]


def test_holm_stops_at_the_first_that_is_kept():
    # Three teams, six tests. One case in which the first is better gives no test below 0.05; twenty do.
    better, worse = np.full(20, 0.9), np.linspace(0.1, 0.5, 20)
    values = np.stack([better, worse, worse])
    ones = np.ones((1, 20))
    assert significant_wins(values, ones, "higher", 0.05, "holm").tolist() == [[2, 0, 0]]
    assert significant_wins(values, ones, "lower", 0.05, "holm").tolist() == [[0, 1, 1]]
    # Twelve cases of which eleven are won: p = 0.0014 alone, and six tests at 0.01 keep it, at 0.005 do not.
    close = np.stack([np.arange(12) + 1.0, np.where(np.arange(12) == 0, 1.5, 0.0)])
    p_value = one_sided_p_values(close[0] - close[1], np.ones((1, 12)))[0, 0]
    assert significant_wins(close, np.ones((1, 12)), "higher", 2 * p_value, "holm")[0].tolist() == [1, 0]
    assert significant_wins(close, np.ones((1, 12)), "higher", 1.9 * p_value, "holm")[0].tolist() == [0, 0]
    assert significant_wins(close, np.ones((1, 12)), "higher", 1.9 * p_value, "none")[0].tolist() == [1, 0]


def test_a_single_team_beats_nobody():
    assert significant_wins(np.ones((1, 3)), np.ones((2, 3)), "higher", 0.05, "holm").tolist() == [[0], [0]]


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=15))
def test_the_two_sides_exceed_one_together(differences):
    # The correction for continuity moves both p-values up; without it they would sum to one.
    first, second = one_sided_p_values(differences, np.ones((1, len(differences))))[0]
    assert first + second >= 1 - 1e-12
