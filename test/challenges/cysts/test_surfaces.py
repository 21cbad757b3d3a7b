import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays
from scipy import ndimage
from scipy.spatial.distance import cdist

from evaluation.challenges.cysts import surfaces
from evaluation.challenges.cysts.surfaces import surface_distances

SPACING_OF_SURFACE_DISTANCE = (0.05, 0.002, 0.0117)

DIAGONAL = 9.5

VOLUMES = arrays(np.bool_, (3, 5, 4))


def distances(prediction, reference, spacing=SPACING_OF_SURFACE_DISTANCE):
    return surface_distances(prediction, reference, spacing, DIAGONAL)


@pytest.mark.parametrize("filled", [False, True])
def test_an_empty_reference_has_no_distance(filled):
    found = distances(np.full((2, 3, 3), filled), np.zeros((2, 3, 3), dtype=bool))
    assert all(map(math.isnan, found))


def test_an_empty_prediction_is_a_diagonal_away():
    found = distances(np.zeros((2, 3, 3), dtype=bool), np.ones((2, 3, 3), dtype=bool))
    assert found == (DIAGONAL, DIAGONAL)


# Nothing: as in a box that is too large for a window.
@pytest.mark.parametrize("window", [surfaces.MAX_WINDOW_VOXELS, 0])
@given(first=VOLUMES, second=VOLUMES)
@settings(max_examples=25)
def test_distances_are_what_all_pairs_give(window, first, second):
    if not first.any() or not second.any():
        return
    points = [
        np.argwhere(volume & ~ndimage.binary_erosion(volume)) * np.array(SPACING_OF_SURFACE_DISTANCE)
        for volume in (first, second)
    ]
    pairs = cdist(*points)
    directed = (pairs.min(axis=1), pairs.min(axis=0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(surfaces, "MAX_WINDOW_VOXELS", window)
        hausdorff_95, mean = distances(first, second)
    expected = max(np.percentile(values, 95, method="lower") for values in directed)
    assert hausdorff_95 == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert mean == pytest.approx(max(map(np.mean, directed)), rel=1e-12, abs=1e-15)
