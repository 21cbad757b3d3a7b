import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics.arrays import Spread, spread, weighted_deviation, weighted_mean, weighted_means

NAN = math.nan


@pytest.mark.parametrize(
    ("values", "weights", "expected"),
    [
        ([1, 2, 6], [[1, 1, 1], [0, 1, 1], [3, 0, 1]], [3, 4, 2.25]),
        ([1, NAN, 5], [[1, 1, 1], [0, 9, 1], [0, 1, 0]], [3, 5, NAN]),
        ([NAN, NAN], [[1, 1]], [NAN]),
        ([1, 2], [[0, 0]], [NAN]),
        ([], np.ones((2, 0)), [NAN, NAN]),
    ],
)
def test_weighted_mean_by_hand(values, weights, expected):
    np.testing.assert_array_equal(weighted_mean(values, weights), expected)


@pytest.mark.parametrize("same", [True, False])
def test_means_of_many_columns_are_those_of_each(same):
    generator = np.random.default_rng(5)
    columns = generator.normal(size=(4, 30))
    columns[slice(None) if same else 1, 7] = NAN
    weights = generator.integers(0, 3, (6, 30)).astype(float)
    weights[2] = 0
    expected = np.stack([weighted_mean(column, weights) for column in columns], axis=1)
    np.testing.assert_allclose(weighted_means(columns, weights), expected, rtol=1e-14)
    with pytest.raises(ValueError, match=r"^values:"):
        weighted_means([[1, np.inf]], [[1, 1]])


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_weights_are_repetitions(seed, cases):
    generator = np.random.default_rng(seed)
    values = generator.normal(size=cases)
    values[generator.random(cases) < 0.2] = NAN
    weights = generator.integers(0, 4, (4, cases))
    found = weighted_mean(values, weights)
    for row, mean in zip(weights, found, strict=True):
        repeated = np.repeat(values, row)
        repeated = repeated[~np.isnan(repeated)]
        assert mean == pytest.approx(
            math.fsum(repeated) / repeated.size if repeated.size else NAN, nan_ok=True
        )
    np.testing.assert_array_equal(weighted_mean(values, 2 * weights), found)


def test_refused_input():
    with pytest.raises(ValueError, match=r"^values:"):
        weighted_mean([1, -math.inf], np.ones((1, 2)))
    with pytest.raises(ValueError, match=r"^values and weights:"):
        weighted_mean([1, 2], np.ones(2))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2, 4, 4, 4, 5, 5, 7, 9], (math.sqrt(32 / 7), 4.5, 4.0, 5.5)),
        ([1, 2], (math.sqrt(0.5), 1.5, 1.25, 1.75)),
        ([3, NAN, 1, NAN], (math.sqrt(2), 2, 1.5, 2.5)),
        ([4], (NAN, 4, 4, 4)),
        ([NAN], (NAN, NAN, NAN, NAN)),
        ([], (NAN, NAN, NAN, NAN)),
    ],
)
def test_spread_by_hand(values, expected):
    found = spread(values)
    assert isinstance(found, Spread)
    names = ("standard_deviation", "median", "first_quartile", "third_quartile")
    for name, value in zip(names, expected, strict=True):
        assert getattr(found, name) == pytest.approx(value, nan_ok=True), name
        assert type(getattr(found, name)) is float


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_weighted_deviation_is_that_of_the_copies(seed, cases):
    generator = np.random.default_rng(seed)
    values = generator.random(cases) + 1000
    values[generator.random(cases) < 0.2] = np.nan
    weights = generator.integers(0, 4, (3, cases))
    copies = [np.repeat(values, row)[~np.isnan(np.repeat(values, row))] for row in weights]
    expected = [np.std(of_row) if of_row.size else np.nan for of_row in copies]
    # The variance is rounded at 1e-16 of the squared spread, so the deviation at 1e-8 of the spread.
    np.testing.assert_allclose(weighted_deviation(values, weights), expected, atol=3e-8)
