"""One-sided signed-rank tests against SciPy, pair by pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from evaluation.organiser.ranking.methods import one_sided_p_values, weighted_p_values

SMALL = st.one_of(st.integers(-3, 3).map(float), st.just(float("nan")))


def scipys(differences, alternative):
    return wilcoxon(differences, alternative=alternative, method="asymptotic", correction=True).pvalue


@pytest.mark.parametrize("decimals", [None, 1, 0])
def test_p_values_are_scipys(decimals):
    differences = np.random.default_rng(1).normal(0.2, 1, (8, 40))
    if decimals is not None:
        differences = differences.round(decimals)
    expected = [[scipys(pair, side) for side in ("greater", "less")] for pair in differences]
    np.testing.assert_allclose(one_sided_p_values(differences), expected, rtol=1e-12)


def test_weights_repeat_cases():
    rng = np.random.default_rng(2)
    differences = rng.normal(0.3, 1, 30).round(1)
    weights = rng.integers(0, 4, (5, 30))
    expected = [scipys(np.repeat(differences, row), "greater") for row in weights]
    np.testing.assert_allclose(weighted_p_values(differences, weights)[:, 0], expected, rtol=1e-12)


@given(st.lists(st.lists(SMALL, min_size=7, max_size=7), min_size=1, max_size=4), st.data())
def test_repeated_cases_are_weighted_cases(differences, data):
    weights = data.draw(st.lists(st.integers(0, 3), min_size=7, max_size=7))
    repeated = one_sided_p_values(np.repeat(differences, weights, axis=1))
    weighted = [weighted_p_values(pair, [weights])[0] for pair in differences]
    np.testing.assert_array_equal(repeated, weighted)


def test_equal_decimals_tie():
    exact = one_sided_p_values([[0.2, 0.2, -0.2, 0.5]])
    as_floats = one_sided_p_values([[0.3 - 0.1, 0.4 - 0.2, 0.5 - 0.7, 0.5]])
    np.testing.assert_array_equal(as_floats, exact)
    np.testing.assert_array_equal(
        weighted_p_values([0.3 - 0.1, 0.4 - 0.2, 0.5 - 0.7, 0.5], np.ones((1, 4))), exact
    )


def test_nothing_left_is_no_evidence():
    assert one_sided_p_values([[0.0, np.nan], [-0.0, 0.0]]).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert one_sided_p_values(np.empty((2, 0))).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert weighted_p_values([0.0, np.nan], np.ones((2, 2))).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert weighted_p_values([1.0, 0.0], [[0, 1]]).tolist() == [[1.0, 1.0]]


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=15))
def test_the_two_sides_exceed_one_together(differences):
    # The correction for continuity moves both p-values up; without it they would sum to one.
    first, second = one_sided_p_values([differences])[0]
    assert first + second >= 1 - 1e-12
