import math

import numpy as np
import pytest

from evaluation.metrics import (
    detected_lesions,
    false_lesions,
    false_negative_volume,
    false_positive_volume,
    lesion_count_difference,
    lesion_f1,
    panoptic_quality,
)
from evaluation.metrics.lesions import (
    LesionPanopticQuality,
    f1_of_lesions,
    find_lesions,
)


def test_an_array_without_pixels_has_no_component():
    nothing = np.zeros((0, 4, 4))
    assert math.isnan(detected_lesions(nothing, nothing))
    assert false_lesions(nothing, nothing) == 0


def mask(*rows):
    return np.array([[character == "x" for character in row] for row in rows])


# Three predicted and three true lesions: one fits well, one touches at one pixel, one each is alone.
PREDICTION = mask("xxx..x", "xxx...", "......", "x...x.")

REFERENCE = mask("xxx..x", "xx...x", ".....x", "x.x...")


def test_by_hand():
    found = find_lesions(PREDICTION, REFERENCE)
    assert (len(found.prediction_voxels), len(found.reference_voxels)) == (4, 4)
    assert (found.detected, found.hits, found.false) == (3, 3, 1)
    assert sorted(found.iou) == pytest.approx([1 / 3, 5 / 6, 1.0])
    assert f1_of_lesions(found) == pytest.approx(0.75)
    # Two pairs of IoU 5/6 and 1 match; two predictions and two lesions are left.
    assert panoptic_quality(PREDICTION, REFERENCE) == LesionPanopticQuality(
        pytest.approx((5 / 6 + 1) / 2 * 0.5), pytest.approx((5 / 6 + 1) / 2), pytest.approx(0.5)
    )
    assert (found.false_voxels, found.missed_voxels) == (1, 1)
    assert (lesion_f1(PREDICTION, REFERENCE), detected_lesions(PREDICTION, REFERENCE)) == (0.75, 0.75)
    assert (false_lesions(PREDICTION, REFERENCE), lesion_count_difference(PREDICTION, REFERENCE)) == (1, 0)
    for volume in (false_positive_volume, false_negative_volume):
        assert volume(PREDICTION, REFERENCE, spacing_mm=(0.5, 3.0)) == 1.5


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
    found = find_lesions(mask(prediction), mask(reference))
    assert f1_of_lesions(found) == f1
    assert lesion_f1(mask(prediction), mask(reference)) == f1
    assert (found.false_voxels, found.missed_voxels) == (prediction.count("x"), reference.count("x"))
    share = 0.0 if "x" in reference else math.nan
    assert detected_lesions(mask(prediction), mask(reference)) == pytest.approx(share, nan_ok=True)
    assert panoptic_quality(mask(prediction), mask(reference)) == LesionPanopticQuality(*quality)


@pytest.mark.parametrize(
    ("neighbours", "by_corner", "by_edge", "by_face"),
    [("all", 1, 1, 1), ("edges", 2, 1, 1), ("faces", 2, 2, 1)],
)
def test_neighbours(neighbours, by_corner, by_edge, by_face):
    for other, components in (((1, 1, 1), by_corner), ((0, 1, 1), by_edge), ((0, 0, 1), by_face)):
        voxels = np.zeros((2, 2, 2), dtype=bool)
        voxels[0, 0, 0] = voxels[other] = True
        assert len(find_lesions(voxels, voxels, neighbours).prediction_voxels) == components


def test_two_readings_of_f1():
    # Two lesions that one prediction joins: 2 of 2 found, 1 of 1 right; and a false and a missed one.
    reference = [[1, 0, 1, 0, 0, 0, 1]]
    prediction = [[1, 1, 1, 0, 1, 0, 0]]
    assert lesion_f1(prediction, reference) == pytest.approx(2 / (3 / 2 + 2))
    assert lesion_f1(prediction, reference, formula="counts") == 2 / (2 + (1 + 1) / 2)
    with pytest.raises(ValueError, match=r"^formula:"):
        lesion_f1(prediction, reference, formula="pooled")


@pytest.mark.parametrize(
    ("function", "all_neighbours", "faces"),
    [
        (lesion_f1, 1.0, 2 / 3),
        (lesion_count_difference, 0, 1),
        (false_negative_volume, 0, 1),
        (detected_lesions, 1.0, 0.5),
    ],
)
def test_public_functions_with_each_kind_of_neighbours(function, all_neighbours, faces):
    reference = [[1, 1, 0, 0], [0, 0, 1, 0]]
    prediction = [[1, 1, 0, 0], [0, 0, 0, 0]]
    assert function(prediction, reference) == pytest.approx(all_neighbours)
    assert function(prediction, reference, neighbours="faces") == pytest.approx(faces)
    with pytest.raises(ValueError, match=r"^neighbours:"):
        function(prediction, reference, neighbours="some")
