"""Ranks by case, quantiles and tests one by one, against pandas, NumPy, SciPy and by hand."""

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from evaluation.organiser.ranking.methods import (
    case_ranks,
    one_sided_p_values,
    significant_wins,
    weighted_p_values,
    weighted_quantiles,
)

VALUES = np.array(
    [[0.9, 0.5, np.nan, 0.1], [0.9, 0.7, 0.2, 0.1], [0.4, 0.7, np.inf, 0.3], [0.8, 0.1, 0.2, 0.1]]
)


@pytest.mark.parametrize("ties", ["min", "average", "max", "dense"])
@pytest.mark.parametrize("better", ["higher", "lower"])
def test_ranks_are_pandas(ties, better):
    expected = pandas.DataFrame(VALUES).rank(method=ties, ascending=better == "lower", na_option="bottom")
    np.testing.assert_array_equal(case_ranks(VALUES, better, ties), expected.to_numpy())


def test_what_is_infinite_or_not_defined():
    ranks = case_ranks([[np.nan, 1], [np.nan, 2]], "higher", "min")
    np.testing.assert_array_equal(ranks, [[np.nan, 2], [np.nan, 1]])
    assert weighted_quantiles([[np.inf, np.inf, 1.0]], np.ones((1, 3)), 0.75).tolist() == [[np.inf]]
    assert weighted_quantiles([[np.inf, 1.0]], [[0, 3]], 0.5).tolist() == [[1.0]]
    assert np.isnan(weighted_quantiles([[np.nan, np.nan]], np.ones((1, 2)), 0.5)).all()


@pytest.mark.parametrize("probability", [0, 0.05, 0.25, 0.5, 0.95, 1])
def test_quantiles_are_numpys_on_repeated_cases(probability):
    rng = np.random.default_rng(3)
    values = rng.normal(size=(3, 20)).round(1)
    values[1, 4] = np.nan
    weights = rng.integers(0, 4, (6, 20))
    found = weighted_quantiles(values, weights, probability)
    for row, quantiles in zip(weights, found, strict=True):
        for column, quantile in zip(values, quantiles, strict=True):
            repeated = np.repeat(column, row)
            assert quantile == pytest.approx(np.nanquantile(repeated, probability), abs=1e-12)


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


def test_holm_stops_at_the_first_that_is_kept():
    # Three teams, six tests. One case in which the first is better gives no test below 0.05; twenty do.
    better, worse = np.full(20, 0.9), np.linspace(0.1, 0.5, 20)
    values = np.stack([better, worse, worse])
    ones = np.ones((1, 20))
    assert significant_wins(values, ones, "higher", 0.05, "holm").tolist() == [[2, 0, 0]]
    assert significant_wins(values, ones, "lower", 0.05, "holm").tolist() == [[0, 1, 1]]
    # Twelve cases of which eleven are won: p = 0.0014 alone, and six tests at 0.01 keep it, at 0.005 do not.
    close = np.stack([np.arange(12) + 1.0, np.where(np.arange(12) == 0, 1.5, 0.0)])
    p_value = one_sided_p_values([close[0] - close[1]])[0, 0]
    assert significant_wins(close, np.ones((1, 12)), "higher", 2 * p_value, "holm")[0].tolist() == [1, 0]
    assert significant_wins(close, np.ones((1, 12)), "higher", 1.9 * p_value, "holm")[0].tolist() == [0, 0]
    assert significant_wins(close, np.ones((1, 12)), "higher", 1.9 * p_value, "none")[0].tolist() == [1, 0]


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_each_row_of_weights_is_ranked_by_itself(better):
    rng = np.random.default_rng(3)
    values = (np.linspace(0, 0.8, 6)[:, np.newaxis] + rng.normal(size=(6, 40))).round(1)
    values[rng.random(values.shape) < 0.1] = np.nan
    weights = rng.integers(0, 3, (4, 40))
    together = significant_wins(values, weights, better, 0.05, "holm")
    one_by_one = [significant_wins(values, row[np.newaxis], better, 0.05, "holm")[0] for row in weights]
    np.testing.assert_array_equal(together, one_by_one)
    assert 0 < together.sum() < together.size


def test_a_single_team_beats_nobody():
    assert significant_wins(np.ones((1, 3)), np.ones((2, 3)), "higher", 0.05, "holm").tolist() == [[0], [0]]
