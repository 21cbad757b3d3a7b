import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.challenges.cysts.confidence import (
    highest_binary_dice,
    pooled_highest_binary_dice,
    pooled_weighted_dice,
    weighted_dice_of_sums,
)

CONFIDENCE = st.just(0.0) | st.floats(0.01, 1)

MAPS = arrays(np.float64, st.integers(1, 6), elements=CONFIDENCE)


def sums(a, b):
    return (a * b).sum(), (a * a).sum(), (b * b).sum()


def test_pooled_dice_is_of_all_voxels_together():
    a, b = np.array([1.0, 0.5, 0.0]), np.array([0.5, 0.5, 1.0])
    pooled = pooled_weighted_dice(a * b, a * a, b * b, [[1, 1, 1], [1, 0, 0], [0, 2, 1], [0, 0, 0]])
    # 2·0.75 / (1.25 + 1.5); 2·0.5 / (1 + 0.25); 2·0.5 / (0.5 + 1.5)
    np.testing.assert_allclose(pooled, [1.5 / 2.75, 0.8, 0.5, math.nan])
    assert pooled_weighted_dice([0], [0], [0], [[1]]).tolist() == [1]
    # 2 · 0.2 / (0.3 + 0.5), and under half of the weight the same.
    found = pooled_weighted_dice([0.2], [0.3], [0.5], [[1.0], [0.5], [0.0]])
    assert found.tolist() == pytest.approx([0.5, 0.5, np.nan], nan_ok=True)


@settings(max_examples=30)
@given(MAPS)
def test_the_highest_binary_value_is_that_of_the_best_of_all_masks(reference):
    best = max(
        weighted_dice_of_sums(sums(np.array(mask, dtype=float), reference))
        for mask in itertools.product((0, 1), repeat=len(reference))
    )
    values, counts = np.unique(reference[reference > 0], return_counts=True)
    assert highest_binary_dice(values, counts) == pytest.approx(best, abs=1e-12)
    assert highest_binary_dice([], []) == 1


CONFIDENT = st.lists(st.floats(0, 1, width=32).filter(lambda v: v > 0.01), max_size=6)


@settings(max_examples=30)
@given(st.lists(st.tuples(CONFIDENT, st.integers(0, 2)), min_size=1, max_size=4))
def test_the_highest_pooled_dice_is_that_of_one_volume_with_all_voxels(cases):
    """Of a case as often as it is weighed."""
    counted = [np.unique(np.array(values), return_counts=True) for values, _ in cases]
    together = np.unique(np.concatenate([values * copies for values, copies in cases]), return_counts=True)
    (found,) = pooled_highest_binary_dice(
        [values for values, _ in counted],
        [counts for _, counts in counted],
        np.array([[copies for _, copies in cases]]),
    )
    if any(copies for _, copies in cases):
        assert found == pytest.approx(highest_binary_dice(*together), rel=1e-12)
    else:
        assert math.isnan(found)
