"""Surface Dice against surface-distance, and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from surface_distance import metrics as oracle

from evaluation.metrics import label_surface_dice, surface_dice

SPACING_MM = (2.5, 0.8, 0.7)
SEEDS = st.integers(0, 2**32 - 1)


def expected_dice(prediction, reference, spacing_mm, tolerance_mm):
    distances = oracle.compute_surface_distances(reference, prediction, spacing_mm)
    return oracle.compute_surface_dice_at_tolerance(distances, tolerance_mm)


@pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")
@given(SEEDS, st.sampled_from([(4, 6, 5), (6, 5)]), st.sampled_from([0.33, 1.77]))
def test_elements_as_surface_distance(seed, shape, tolerance_mm):
    masks = np.random.default_rng(seed).random((2, *shape)) < 0.3
    masks[(slice(None), *(0 for _ in shape))] = True
    spacing_mm = SPACING_MM[-len(shape) :]
    found = surface_dice(*masks, tolerance_mm, spacing_mm)
    assert found == pytest.approx(expected_dice(*masks, spacing_mm, tolerance_mm), rel=1e-12)


@pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")
@given(SEEDS)
def test_each_label_has_its_tolerance(seed):
    maps = np.random.default_rng(seed).integers(0, 3, (2, 4, 6, 5))
    maps[:, 0, 0, :2] = [1, 2]
    found = label_surface_dice(*maps, [1, 2], [0.33, 1.77], SPACING_MM)
    expected = [expected_dice(*(maps == i), SPACING_MM, mm) for i, mm in ((1, 0.33), (2, 1.77))]
    assert found.tolist() == pytest.approx(expected, rel=1e-12)


def test_voxels_by_hand():
    # Bars of 4 and 2 voxels: of six surface voxels, five are at most 1 from the other bar.
    long, short = [[1, 1, 1, 1]], [[1, 1, 0, 0]]
    assert surface_dice(long, short, 1, surface="voxels") == pytest.approx(5 / 6)


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"), [(0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1)]
)
def test_empty_regions(prediction, reference, expected):
    assert surface_dice(np.full((2, 3), prediction), np.full((2, 3), reference), 5) == expected
