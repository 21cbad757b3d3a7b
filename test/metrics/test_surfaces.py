import itertools

import numpy as np
import pytest
from surface_distance.lookup_tables import create_table_neighbour_code_to_surface_area

from evaluation.metrics import hausdorff_distance
from evaluation.metrics.surfaces import (
    WeightedDistances,
    element_codes,
    element_sizes,
    pooled,
)


def test_an_array_without_pixels_is_empty():
    assert hausdorff_distance(np.zeros((0, 3)), np.zeros((0, 3))) == 0


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


def test_an_index_is_not_rounded_down_by_a_product():
    # In double precision 100 · (29 / 100) is below 29.
    for count, percent in itertools.product((2, 101, 1001), (*range(101), 99.9)):
        distances = WeightedDistances(np.arange(count, dtype=float), None)
        assert distances.percentile(percent, "index") == (count - 1) * round(percent * 10) // 1000


@pytest.mark.parametrize("number", [20, 4_200_000])
def test_areas_that_tie_with_a_percentile_up_to_rounding_reach_it(number):
    # Half of the area is at 4.27 mm; added up in double precision, a little less. Millions are not sorted.
    areas = np.full(number, 0.01)
    assert np.cumsum(areas)[number // 2 - 1] / areas.sum() < 0.5
    distances = np.repeat([4.27, 8.2], number // 2)
    assert WeightedDistances(distances, areas).percentile(50, "index") == 4.27


def test_a_tolerance_includes_what_exceeds_it_by_rounding():
    assert WeightedDistances(np.array([3 * 0.8]), None).weight_within(2.4) == 1
    assert WeightedDistances(np.array([2.4001]), None).weight_within(2.4) == 0


@pytest.mark.parametrize(
    ("largest", "percents"), [(1, [50]), (30, [5, 95]), (1000, [1, 50, 99.9])], ids=["equal", "few", "many"]
)
def test_many_distances_give_the_percentile_that_sorting_gives(largest, percents):
    """Over four million, which are not sorted: 200 are, and each of them is there 21,000 times."""
    generator = np.random.default_rng(largest)
    values = np.sqrt(generator.integers(0, largest, 200)).astype(np.float32)
    areas = generator.integers(1, 9, 200).astype(np.float64)  # their sums are exact in any order
    few = WeightedDistances(values, areas)
    many = WeightedDistances(np.tile(values, 21_000), np.tile(areas, 21_000))
    for percent in percents:
        assert many.percentile(percent, "index") == few.percentile(percent, "index")


SPACINGS = [(1.0, 1.0, 1.0), (2.5, 0.7, 0.7), (0.33, 5.0, 1.7)]


@pytest.mark.parametrize("spacing_mm", SPACINGS)
def test_area_of_every_cell_as_surface_distance(spacing_mm):
    expected, sizes = create_table_neighbour_code_to_surface_area(spacing_mm), element_sizes(spacing_mm)
    for code in range(1, 255):
        cell = np.array([code >> bit & 1 for bit in range(7, -1, -1)], dtype=bool).reshape(2, 2, 2)
        assert sizes[element_codes(cell)[1, 1, 1]] == pytest.approx(expected[code], rel=1e-12)
