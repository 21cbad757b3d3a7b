import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.metrics.confidence import (
    ConfidenceSums,
    highest_binary_dice,
    pooled_highest_binary_dice,
    pooled_weighted_dice,
    weighted_dice,
)

CONFIDENCE = st.just(0.0) | st.floats(0.01, 1)
MAPS = arrays(np.float64, st.integers(1, 6), elements=CONFIDENCE)


def sums(a, b):
    return ConfidenceSums(float((a * b).sum()), float((a * a).sum()), float((b * b).sum()))


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [
        ([0.5, 0.5], [1, 1], 0.8),  # 2·(0.5 + 0.5) / (0.5 + 2), the paper's figure for a uniform 0.5
        ([1, 0], [0, 1], 0.0),
        ([0, 0], [0, 0], 1.0),
        ([0.2, 0.4], [0.4, 0.2], 0.8),  # 2·0.16 / (0.2 + 0.2)
        ([1, 1, 0], [1, 0, 0], 2 / 3),  # of masks it is the plain Dice
        ([1, 0], [0, 0], 0.0),
    ],
)
def test_weighted_dice_by_hand(a, b, value):
    assert weighted_dice(sums(np.array(a), np.array(b))) == pytest.approx(value, abs=1e-15)


@given(st.data())
def test_weighted_dice_is_symmetric_and_bounded(data):
    a = data.draw(MAPS)
    b = data.draw(arrays(np.float64, a.shape, elements=CONFIDENCE))
    value = weighted_dice(sums(a, b))
    assert 0 <= value <= 1 + 1e-12
    assert value == weighted_dice(sums(b, a))
    assert weighted_dice(sums(a, a)) == pytest.approx(1, abs=1e-12)


def test_pooled_dice_is_of_all_voxels_together():
    a, b = np.array([1.0, 0.5, 0.0]), np.array([0.5, 0.5, 1.0])
    pooled = pooled_weighted_dice(a * b, a * a, b * b, [[1, 1, 1], [1, 0, 0], [0, 2, 1], [0, 0, 0]])
    # 2·0.75 / (1.25 + 1.5); 2·0.5 / (1 + 0.25); 2·0.5 / (0.5 + 1.5)
    np.testing.assert_allclose(pooled, [1.5 / 2.75, 0.8, 0.5, math.nan])


def test_pooled_dice_of_empty_maps_is_1():
    assert pooled_weighted_dice([0], [0], [0], [[1]]).tolist() == [1]


def test_the_highest_binary_value_at_a_uniform_half_is_that_of_the_paper():
    assert highest_binary_dice([0.5], [17]) == pytest.approx(0.8)


def test_the_highest_binary_value_of_an_empty_reference_is_1():
    assert highest_binary_dice([], []) == 1


@given(MAPS)
def test_the_highest_binary_value_is_that_of_the_best_of_all_masks(reference):
    best = max(
        weighted_dice(sums(np.array(mask, dtype=float), reference))
        for mask in itertools.product((0, 1), repeat=len(reference))
    )
    values, counts = np.unique(reference[reference > 0], return_counts=True)
    assert highest_binary_dice(values, counts) == pytest.approx(best, abs=1e-12)


def test_the_highest_pooled_dice_of_binary_masks_by_hand():
    # Voxels of the set: one of 0.8, two and one of 0.5. Best of 2·0.8/(1 + 1.39) and 2·2.3/(4 + 1.39).
    confidences, voxels = [[0.5], [0.8, 0.5], []], [[2], [1, 1], []]
    weights = [[1, 1, 1], [1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 3, 0]]
    # Three times the second case: 2·3.9/(6 + 3·0.89).
    expected = [4.6 / 5.39, 0.8, 1.0, math.nan, 7.8 / 8.67]
    found = pooled_highest_binary_dice(confidences, voxels, weights)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@given(
    st.lists(
        st.lists(st.floats(0, 1, width=32).filter(lambda v: v > 0.01), max_size=6), min_size=1, max_size=3
    )
)
def test_the_highest_pooled_dice_is_that_of_one_volume_with_all_voxels(voxels_of_cases):
    counted = [np.unique(np.array(values), return_counts=True) for values in voxels_of_cases]
    together = np.unique(
        np.array([value for values in voxels_of_cases for value in values]), return_counts=True
    )
    (found,) = pooled_highest_binary_dice(
        [values for values, _ in counted], [counts for _, counts in counted], np.ones((1, len(counted)))
    )
    assert found == pytest.approx(highest_binary_dice(*together), rel=1e-12)
