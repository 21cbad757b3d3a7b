import math

import numpy as np
import pytest
import SimpleITK
from grand_challenge_metrics.stats import hausdorff_distance_measures
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays

from evaluation.metrics import surface_distance
from evaluation.metrics.crop import Crop, box_of_content
from evaluation.metrics.surface_distance import nearest_distances, surface_distances, surface_voxels

SPACING = (0.05, 0.002, 0.0117)
DIAGONAL = 9.5
VOLUMES = arrays(np.bool_, (3, 5, 4))


def planes(volume):
    return [Crop(plane[box.slices], box.top, box.left) for plane in volume for box in [box_of_content(plane)]]


def distances(prediction, reference, spacing=SPACING):
    return surface_distances(planes(prediction), planes(reference), spacing, DIAGONAL)


def test_two_voxels_are_apart_by_their_distance_in_mm():
    first, second = np.zeros((2, 3, 7, 9), dtype=bool)
    first[0, 1, 1] = second[2, 5, 4] = True
    by_hand = math.hypot(2 * 0.05, 4 * 0.002, 3 * 0.0117)
    found = distances(first, second)
    assert found.hausdorff_95 == pytest.approx(by_hand, rel=1e-12)
    assert found.mean == pytest.approx(by_hand, rel=1e-12)


def test_a_shifted_bar_by_hand():
    first, second = np.zeros((2, 1, 1, 6), dtype=bool)
    first[0, 0, 0:4] = second[0, 0, 2:6] = True
    # From either bar the distances are 2, 1, 0, 0 voxels: mean 0.75; the 95th of four is the third, 1.
    found = distances(first, second, (1.0, 1.0, 1.0))
    assert found.mean == 0.75
    assert found.hausdorff_95 == 1.0


@pytest.mark.parametrize(("filled", "expected"), [(False, math.nan), (True, math.nan)])
def test_an_empty_reference_has_no_distance(filled, expected):
    found = distances(np.full((2, 3, 3), filled), np.zeros((2, 3, 3), dtype=bool))
    assert math.isnan(found.mean)
    assert math.isnan(found.hausdorff_95)


def test_an_empty_prediction_is_a_diagonal_away():
    found = distances(np.zeros((2, 3, 3), dtype=bool), np.ones((2, 3, 3), dtype=bool))
    assert found.mean == found.hausdorff_95 == DIAGONAL


def test_noise_is_a_diagonal_away(monkeypatch):
    monkeypatch.setattr(surface_distance, "MAX_WINDOW_VOXELS", 0)
    monkeypatch.setattr(surface_distance, "MAX_SURFACE_VOXELS", 12)
    volume = np.zeros((3, 5, 5), dtype=bool)
    volume[:, 0:2, 0:2] = True
    assert distances(volume, volume).mean == 0
    volume[0, 4, 4] = True
    assert distances(volume, volume).mean == DIAGONAL


@given(first=VOLUMES, second=VOLUMES)
@settings(max_examples=60)
def test_surfaces_and_tree_give_what_the_library_gives(first, second):
    if not first.any() or not second.any():
        return
    library = hausdorff_distance_measures(first, second, SPACING, percentile=0.95)
    tree = nearest_distances(surface_voxels(planes(first)), surface_voxels(planes(second)), SPACING)
    ours = distances(first, second)
    for found in (tree, ours):
        assert found.hausdorff_95 == pytest.approx(library.percentile_distance, rel=1e-12, abs=1e-15)
        assert found.mean == pytest.approx(library.modified_distance, rel=1e-12, abs=1e-15)


@given(volume=VOLUMES)
@settings(max_examples=60)
def test_the_surface_is_what_simpleitk_calls_contour(volume):
    padded = np.pad(volume, 1).astype(np.uint8)
    contour = SimpleITK.BinaryContour(
        SimpleITK.GetImageFromArray(padded), fullyConnected=False, backgroundValue=0, foregroundValue=1
    )
    expected = np.argwhere(SimpleITK.GetArrayFromImage(contour)[1:-1, 1:-1, 1:-1])
    np.testing.assert_array_equal(surface_voxels(planes(volume)), expected)


def test_of_large_surfaces_evenly_spaced_voxels_are_measured(monkeypatch):
    monkeypatch.setattr(surface_distance, "MAX_MEASURED", 2)
    here = np.array([[0, 0, 0], [0, 0, 5], [0, 0, 3], [0, 0, 5]], dtype=np.int32)
    there = np.array([[0, 0, 0]], dtype=np.int32)
    # Every second of four: 0 and 3 voxels away, not 5.
    assert nearest_distances(here, there, (1.0, 1.0, 1.0)).mean == 1.5
