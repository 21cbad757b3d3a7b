import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from evaluation.stats.columns import Spread, spread, weighted_deviation, weighted_mean, weighted_means
from evaluation.stats.numbers import quantiles, ratio_or_nan


def test_a_denominator_of_zero_gives_no_value():
    found = ratio_or_nan(np.array([[1.0], [0.0]]), np.array([2.0, 0.0]))
    np.testing.assert_array_equal(found, [[0.5, np.nan], [0.0, np.nan]])


NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)


@given(
    arrays(np.float64, array_shapes(min_dims=1, max_dims=2, max_side=20), elements=NUMBERS),
    st.lists(st.floats(0, 1) | st.sampled_from([0.025, 0.25, 0.5, 0.975]), min_size=1, max_size=4),
)
def test_has_the_digits_of_numpy(values, levels):
    np.testing.assert_array_equal(quantiles(values, levels), np.quantile(values, levels, axis=0))


NAN = math.nan


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


def test_a_deviation_far_from_zero_keeps_its_digits():
    values = np.array([1e6, 1e6 + 0.1, np.nan, 1e6 + 0.4])
    found = weighted_deviation(values, [[1, 1, 1, 1], [2, 0, 5, 1], [0, 0, 1, 0]])
    expected = [np.std([0, 0.1, 0.4]), np.std([0, 0, 0.4]), np.nan]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("values", [[1, -math.inf], [1, 2, 3]])
def test_refuses_infinite_values_and_other_shapes(values):
    with pytest.raises(ValueError, match=r"^values"):
        weighted_mean(values, np.ones((2, 2)))
