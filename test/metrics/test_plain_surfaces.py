"""Surface distances against distance transforms of SciPy, against SimpleITK and by hand."""

import math

import numpy as np
import pytest
import SimpleITK
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage

from evaluation.metrics import (
    average_symmetric_surface_distance,
    hausdorff_distance,
    modified_hausdorff_distance,
)

SPACING = (2.0, 0.5, 1.25)
MASKS = st.sampled_from([(5, 6), (3, 4, 5), (1, 5, 4)]).flatmap(
    lambda shape: st.tuples(*[arrays(np.bool_, shape)] * 2)
)


def directed(prediction, reference, spacing):
    """Return the distances both ways: by erosion and an Euclidean distance transform."""
    surfaces = [mask & ~ndimage.binary_erosion(mask) for mask in (prediction, reference)]
    to_first, to_second = (ndimage.distance_transform_edt(~surface, spacing) for surface in surfaces)
    return to_second[surfaces[0]], to_first[surfaces[1]]


@settings(max_examples=200, deadline=None)
@given(MASKS)
def test_distances_are_those_of_distance_transforms(masks):
    prediction, reference = masks
    spacing = SPACING[-prediction.ndim :]
    found = (
        hausdorff_distance(*masks, spacing),
        hausdorff_distance(*masks, spacing, percentile=95),
        modified_hausdorff_distance(*masks, spacing),
        average_symmetric_surface_distance(*masks, spacing),
    )
    if not reference.any():
        assert all(map(math.isnan, found))
        return
    if not prediction.any():
        diagonal = math.hypot(*(size * mm for size, mm in zip(prediction.shape, spacing, strict=True)))
        assert found == pytest.approx([diagonal] * 4)
        return
    there, back = directed(prediction, reference, spacing)
    expected = (
        max(there.max(), back.max()),
        max(np.percentile(side, 95, method="lower") for side in (there, back)),
        max(there.mean(), back.mean()),
        (there.sum() + back.sum()) / (there.size + back.size),
    )
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_two_balls_in_simpleitk():
    z, y, x = np.ogrid[:24, :26, :28]
    masks = [(z - 12) ** 2 + (y - 12) ** 2 + (x - left) ** 2 <= 49 for left in (10, 16)]
    images = [SimpleITK.GetImageFromArray(mask.astype(np.uint8)) for mask in masks]
    for image in images:
        image.SetSpacing(SPACING[::-1])
    oracle = SimpleITK.HausdorffDistanceImageFilter()
    oracle.Execute(*images)
    assert hausdorff_distance(*masks, SPACING) == pytest.approx(oracle.GetHausdorffDistance(), rel=1e-6)


def test_equal_regions_have_no_distance():
    mask = np.ones((3, 4), bool)
    for function in (hausdorff_distance, modified_hausdorff_distance, average_symmetric_surface_distance):
        assert function(mask, mask) == 0


def test_the_surface_in_2d_is_the_outline():
    whole, hole = np.ones((7, 7), bool), np.ones((7, 7), bool)
    hole[3, 3] = False
    # Without the hole its four neighbours are inside: 2 pixels from the outline.
    assert hausdorff_distance(hole, whole) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hausdorff_distance([1], [1]), r"one shape \(y, x\) or \(z, y, x\), found \(1,\)"),
        (lambda: hausdorff_distance([[1]], [[1, 1]]), "one shape"),
        (lambda: hausdorff_distance([[1]], [[1]], (1, 1, 1)), "expected 2 numbers above 0"),
        (lambda: hausdorff_distance([[1]], [[1]], (1, 0)), "expected 2 numbers above 0"),
        (lambda: hausdorff_distance([[1]], [[1]], percentile=101), "0 to 100, found 101"),
        (lambda: modified_hausdorff_distance([[2]], [[1]]), "expected 0 and 1 only"),
        (lambda: average_symmetric_surface_distance([[1]], [[math.nan]]), "expected 0 and 1 only"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_an_array_without_pixels_is_empty():
    assert math.isnan(hausdorff_distance(np.zeros((0, 3)), np.zeros((0, 3))))
