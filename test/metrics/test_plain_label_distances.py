"""Distances of label maps against SciPy's transforms of whole masks and surface-distance."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage
from surface_distance import metrics as oracle

from evaluation.metrics import label_average_surface_distance, label_hausdorff_distance

SPACING_MM = (2.5, 0.8, 0.7)


def two_maps(seed):
    maps = np.random.default_rng(seed).integers(0, 4, (2, 4, 6, 5))
    maps[:, 0, 0, :3] = [1, 2, 3]
    return maps


@given(st.integers(0, 2**32 - 1))
def test_voxels_as_transforms_of_whole_masks(seed):
    maps = two_maps(seed)
    percentiles, means = [], []
    for label in (3, 1):
        lines = [mask & ~ndimage.binary_erosion(mask) for mask in maps == label]
        to_first, to_second = (ndimage.distance_transform_edt(~line, SPACING_MM) for line in lines)
        directed = to_second[lines[0]], to_first[lines[1]]
        percentiles.append(max(np.percentile(distances, 95) for distances in directed))
        means.append(np.concatenate(directed).mean())
    options = {"surface": "voxels", "method": "linear", "percentile": 95}
    found = label_hausdorff_distance(*maps, [3, 1], SPACING_MM, **options)
    assert found.tolist() == pytest.approx(percentiles, rel=1e-12)
    found = label_average_surface_distance(*maps, [3, 1], SPACING_MM, surface="voxels")
    assert found.tolist() == pytest.approx(means, rel=1e-12)


@pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")
@given(st.integers(0, 2**32 - 1))
def test_elements_as_surface_distance(seed):
    maps = two_maps(seed)
    expected = [
        oracle.compute_robust_hausdorff(
            oracle.compute_surface_distances(maps[1] == label, maps[0] == label, SPACING_MM), 95
        )
        for label in (1, 2, 3)
    ]
    found = label_hausdorff_distance(*maps, [1, 2, 3], SPACING_MM, percentile=95)
    assert found.tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("function", [label_hausdorff_distance, label_average_surface_distance])
def test_a_label_that_one_map_lacks_is_a_diagonal_or_the_stated_worst_away(function):
    prediction, reference = [[1, 0, 0]], [[1, 2, 0]]
    diagonal = math.hypot(2, 1.5)
    assert function(prediction, reference, [1, 2, 3], (2, 0.5)).tolist() == [0, pytest.approx(diagonal), 0]
    assert function(prediction, reference, [1, 2, 3], (2, 0.5), worst_mm=40).tolist() == [0, 40, 0]
