import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics import weighted_distances
from evaluation.metrics.weighted_distances import WeightedDistances, pooled

EQUAL = WeightedDistances(np.array([3.0, 0.0, 1.0]), None)
WEIGHTED = WeightedDistances(np.array([3.0, 0.0, 1.0]), np.array([1.0, 2.0, 5.0]))


@pytest.mark.parametrize(
    ("distances", "mean", "median", "whole", "within"),
    [
        (EQUAL, 4 / 3, 1.0, 3.0, 2.0),
        # Half of the weight, 4 of 8, is reached at the second distance.
        (WEIGHTED, 1.0, 1.0, 8.0, 7.0),
        (pooled(EQUAL, EQUAL), 4 / 3, 1.0, 6.0, 4.0),
        (pooled(WEIGHTED, WEIGHTED), 1.0, 1.0, 16.0, 14.0),
    ],
)
def test_figures_by_hand(distances, mean, median, whole, within):
    assert distances.mean() == pytest.approx(mean)
    assert distances.percentile(50, "index") == median
    assert distances.percentile(100, "index") == 3.0
    assert distances.weight() == whole
    assert distances.weight_within(1.0) == within


def test_two_ways_to_a_percentile():
    assert EQUAL.percentile(75, "index") == 1.0
    assert EQUAL.percentile(75, "linear") == 2.0


def test_a_tolerance_includes_what_exceeds_it_by_rounding():
    assert WeightedDistances(np.array([3 * 0.8]), None).weight_within(2.4) == 1
    assert WeightedDistances(np.array([2.4001]), None).weight_within(2.4) == 0


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.sampled_from([1, 5, 50, 95, 99.9]))
def test_many_distances_give_the_percentile_that_sorting_gives(seed, largest, percent):
    generator = np.random.default_rng(seed)
    values = np.sqrt(generator.integers(0, largest, 200)).astype(np.float32)
    # Sums of whole numbers are exact in any order.
    distances = WeightedDistances(values, generator.integers(1, 9, 200).astype(np.float64))
    expected = distances.percentile(percent, "index")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weighted_distances, "_MAX_SORTED", 0)
        assert distances.percentile(percent, "index") == expected
