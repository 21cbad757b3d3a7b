"""Ranks by case and weighted quantiles, against pandas and NumPy."""

import numpy as np
import pandas
import pytest

from evaluation.organiser.ranking.methods import case_ranks, weighted_quantiles

VALUES = np.array(
    [[0.9, 0.5, np.nan, 0.1], [0.9, 0.7, 0.2, 0.1], [0.4, 0.7, np.inf, 0.3], [0.8, 0.1, 0.2, 0.1]]
)


@pytest.mark.parametrize("ties", ["min", "average", "max", "dense"])
@pytest.mark.parametrize("better", ["higher", "lower"])
def test_ranks_are_pandas(ties, better):
    expected = pandas.DataFrame(VALUES).rank(method=ties, ascending=better == "lower", na_option="bottom")
    np.testing.assert_array_equal(case_ranks(VALUES, better, ties), expected.to_numpy())


def test_a_case_without_any_value_has_no_ranks():
    ranks = case_ranks([[np.nan, 1], [np.nan, 2]], "higher", "min")
    np.testing.assert_array_equal(ranks, [[np.nan, 2], [np.nan, 1]])


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


def test_the_median_between_infinities():
    assert weighted_quantiles([[np.inf, np.inf, 1.0]], np.ones((1, 3)), 0.75).tolist() == [[np.inf]]
    assert weighted_quantiles([[np.inf, 1.0]], [[0, 3]], 0.5).tolist() == [[1.0]]


def test_nothing_defined():
    assert np.isnan(weighted_quantiles([[np.nan, np.nan]], np.ones((1, 2)), 0.5)).all()
