import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.lesions import (
    PanopticQuality,
    false_negative_voxels,
    false_positive_voxels,
    lesion_f1,
    lesions,
    panoptic_quality,
)


def mask(*rows):
    return np.array([[character == "x" for character in row] for row in rows])


# Three predicted and three true lesions: one fits well, one touches at one pixel, one each is alone.
PREDICTION = mask("xxx..x", "xxx...", "......", "x...x.")
REFERENCE = mask("xxx..x", "xx...x", ".....x", "x.x...")


def test_by_hand():
    found = lesions(PREDICTION, REFERENCE)
    assert (len(found.prediction_voxels), len(found.reference_voxels)) == (4, 4)
    assert (found.detected, found.hits, found.false) == (3, 3, 1)
    assert sorted(found.iou) == pytest.approx([1 / 3, 5 / 6, 1.0])
    assert lesion_f1(found) == pytest.approx(0.75)
    # Two pairs of IoU 5/6 and 1 match; two predictions and two lesions are left.
    assert panoptic_quality(found) == PanopticQuality(
        pytest.approx((5 / 6 + 1) / 2 * 0.5), pytest.approx((5 / 6 + 1) / 2), pytest.approx(0.5)
    )
    assert (false_positive_voxels(found), false_negative_voxels(found)) == (1, 1)


@pytest.mark.parametrize(
    ("prediction", "reference", "f1", "quality"),
    [
        ("..", "..", 1.0, (1, 1, 1)),
        ("x.", "..", 0.0, (0, 0, 0)),
        ("..", "x.", 0.0, (0, 0, 0)),
        ("x.", ".x", 0.0, (0, 0, 0)),
    ],
)
def test_empty_masks(prediction, reference, f1, quality):
    found = lesions(mask(prediction), mask(reference))
    assert lesion_f1(found) == f1
    assert panoptic_quality(found) == PanopticQuality(*quality)


@pytest.mark.parametrize(("diagonal", "components"), [(True, 1), (False, 2)])
def test_neighbours(diagonal, components):
    corner = np.zeros((2, 2, 2), dtype=bool)
    corner[0, 0, 0] = corner[1, 1, 1] = True
    assert len(lesions(corner, corner, diagonal).prediction_voxels) == components


@given(st.integers(0, 2**32 - 1))
def test_exchanging_the_masks_exchanges_hits_and_misses(seed):
    first, second = np.random.default_rng(seed).random((2, 3, 6, 6)) > 0.7
    one, other = lesions(first, second), lesions(second, first)
    assert (one.detected, one.hits) == (other.hits, other.detected)
    assert lesion_f1(one) == pytest.approx(lesion_f1(other))
    assert panoptic_quality(one).panoptic == pytest.approx(panoptic_quality(other).panoptic)
    assert false_positive_voxels(one) == false_negative_voxels(other)


def test_refuses_masks_of_two_shapes():
    with pytest.raises(ValueError, match="expected shape"):
        lesions(np.zeros((1, 2), bool), np.zeros((2, 1), bool))
