import itertools
import math

import numpy as np
import pytest
import SimpleITK
from grand_challenge_metrics.stats import hausdorff_distance_measures
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist
from surface_distance.metrics import (
    compute_average_surface_distance,
    compute_robust_hausdorff,
    compute_surface_distances,
)

from evaluation.metrics import surface_distance
from evaluation.metrics.crop import Crop, box_of_content
from evaluation.metrics.nearest import coordinates
from evaluation.metrics.surface_convention import SurfaceConvention
from evaluation.metrics.surface_distance import surface_distances, surface_planes

SPACING = (0.05, 0.002, 0.0117)
DIAGONAL = 9.5
VOLUMES = arrays(np.bool_, (3, 5, 4))


def planes(volume):
    return [Crop(plane[box.slices], box.top, box.left) for plane in volume for box in [box_of_content(plane)]]


def distances(prediction, reference, spacing=SPACING, **convention):
    return surface_distances(
        planes(prediction), planes(reference), spacing, DIAGONAL, SurfaceConvention(**convention)
    )


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


# One bar of 4 voxels and one of 2 inside it: from the long bar 0, 0, 1, 2 voxels, from the short one 0, 0.
@pytest.mark.parametrize(
    ("convention", "hausdorff_95", "mean"),
    [
        # Position ⌊0.95 · 3⌋ = 2 of 0, 0, 1, 2; mean 3/4, the larger of 3/4 and 0.
        ({}, 1.0, 0.75),
        # 0.95 · 3 = 2.85 of the way: 1 + 0.85.
        ({"percentile": "linear"}, 1.85, 0.75),
        # Of 0, 0, 0, 0, 1, 2 position ⌊0.95 · 5⌋ = 4; 4.75 of the way: 1 + 0.75. Mean 3/6.
        ({"directions": "pooled"}, 1.0, 0.5),
        ({"directions": "pooled", "percentile": "linear"}, 1.75, 0.5),
    ],
)
def test_each_convention_by_hand(convention, hausdorff_95, mean):
    long, short = np.zeros((2, 1, 1, 6), dtype=bool)
    long[0, 0, 0:4] = short[0, 0, 0:2] = True
    found = distances(long, short, (1.0, 1.0, 1.0), **convention)
    assert found.hausdorff_95 == pytest.approx(hausdorff_95, rel=1e-12)
    assert found.mean == pytest.approx(mean, rel=1e-12)


def test_elements_by_hand():
    # Cubes of one voxel, 3 voxels apart along x. Each has 8 corners of equal area; their distances to the
    # other cube are 2 for the four that face it and 3 for the others: mean 2.5.
    first, second = np.zeros((2, 1, 1, 6), dtype=bool)
    first[0, 0, 0] = second[0, 0, 3] = True
    found = distances(first, second, (1.0, 1.0, 1.0), surface="elements")
    assert found.mean == pytest.approx(2.5, rel=1e-12)
    assert found.hausdorff_95 == 3.0


@pytest.mark.parametrize("filled", [False, True])
def test_an_empty_reference_has_no_distance(filled):
    found = distances(np.full((2, 3, 3), filled), np.zeros((2, 3, 3), dtype=bool))
    assert math.isnan(found.mean)
    assert math.isnan(found.hausdorff_95)


def test_an_empty_prediction_is_a_diagonal_away():
    found = distances(np.zeros((2, 3, 3), dtype=bool), np.ones((2, 3, 3), dtype=bool))
    assert found.mean == found.hausdorff_95 == DIAGONAL


@given(first=VOLUMES, second=VOLUMES)
@settings(max_examples=60)
def test_the_default_is_what_grand_challenge_metrics_gives(first, second):
    if not first.any() or not second.any():
        return
    library = hausdorff_distance_measures(first, second, SPACING, percentile=0.95)
    with pytest.MonkeyPatch.context() as patch:
        # As in a box that is too large for the library.
        patch.setattr(surface_distance, "MAX_WINDOW_VOXELS", 0)
        found = distances(first, second)
    assert found.hausdorff_95 == pytest.approx(library.percentile_distance, rel=1e-12, abs=1e-15)
    assert found.mean == pytest.approx(library.modified_distance, rel=1e-12, abs=1e-15)


@given(first=VOLUMES, second=VOLUMES)
@settings(max_examples=60)
def test_every_convention_of_voxels_is_what_all_pairs_give(first, second):
    if not first.any() or not second.any():
        return
    points = [coordinates(surface_planes(planes(volume))) * np.array(SPACING) for volume in (first, second)]
    pairs = cdist(*points)
    directed = (pairs.min(axis=1), pairs.min(axis=0))
    for percentile, directions in itertools.product(("index", "linear"), ("directed", "pooled")):
        found = distances(first, second, percentile=percentile, directions=directions)
        method = {"index": "lower", "linear": "linear"}[percentile]
        sets = directed if directions == "directed" else (np.concatenate(directed),)
        expected = max(np.percentile(values, 95, method=method) for values in sets)
        assert found.hausdorff_95 == pytest.approx(expected, rel=1e-12, abs=1e-15)
        assert found.mean == pytest.approx(max(map(np.mean, sets)), rel=1e-12, abs=1e-15)


@pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")
@given(first=VOLUMES, second=VOLUMES)
@settings(max_examples=60)
def test_elements_are_what_surface_distance_gives(first, second):
    if not first.any() or not second.any():
        return
    expected = compute_surface_distances(second, first, SPACING)
    found = distances(first, second, surface="elements")
    assert found.hausdorff_95 == pytest.approx(compute_robust_hausdorff(expected, 95), rel=1e-12, abs=1e-15)
    means = compute_average_surface_distance(expected)
    assert found.mean == pytest.approx(max(means), rel=1e-12, abs=1e-15)


@given(volume=VOLUMES)
@settings(max_examples=60)
def test_the_surface_is_what_simpleitk_calls_contour(volume):
    padded = np.pad(volume, 1).astype(np.uint8)
    contour = SimpleITK.BinaryContour(
        SimpleITK.GetImageFromArray(padded), fullyConnected=False, backgroundValue=0, foregroundValue=1
    )
    expected = np.argwhere(SimpleITK.GetArrayFromImage(contour)[1:-1, 1:-1, 1:-1])
    np.testing.assert_array_equal(coordinates(surface_planes(planes(volume))), expected)
