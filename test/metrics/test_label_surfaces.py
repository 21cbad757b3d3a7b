import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage
from surface_distance import metrics as oracle

from evaluation.metrics import average_surface_distance, hausdorff_distance, surface_dice
from evaluation.metrics.label_surfaces import compare_surfaces

SPACING_MM = (2.5, 0.8, 0.7)


@pytest.mark.parametrize("function", [hausdorff_distance, average_surface_distance])
def test_a_region_that_one_side_lacks_is_a_diagonal_or_the_stated_worst_away(function):
    nothing, region = [[0, 0, 0]], [[0, 1, 0]]
    assert function(nothing, nothing, (2, 0.5)) == 0
    assert function(nothing, region, (2, 0.5)) == pytest.approx(math.hypot(2, 1.5))
    assert function(region, nothing, (2, 0.5), worst=40) == 40


SEEDS = st.integers(0, 2**32 - 1)


def test_a_percentile_of_voxels_by_each_method():
    """Bars of 4 and 1 voxels: 0, 1, 2 and 3 from the other bar, whose own distance is 0."""
    bars = [[1, 1, 1, 1]], [[1, 0, 0, 0]]
    options = {"surface": "voxels", "percentile": 50}
    found = [hausdorff_distance(*bars, percentile_method=method, **options) for method in ("linear", "index")]
    assert found == [1.5, 1]
    assert hausdorff_distance(*bars, surface="voxels") == 3
    assert hausdorff_distance(*bars, surface="voxels", worst=0.25) == 0.25


@pytest.mark.parametrize(
    "options", [{"surface_neighbours": "all"}, {"directions": "pooled"}, {"percentile": 0}]
)
def test_a_hausdorff_distance_is_by_the_convention_that_is_asked_for(options):
    """As the comparison of both masks itself, and not as by default."""
    rng = np.random.default_rng(0)
    # One box is two planes longer than the other, and both have holes.
    boxes = rng.random((6, 9, 9)) < 0.97, rng.random((4, 9, 9)) < 0.97
    maps = [np.pad(box, ((1, 7 - len(box)), (2, 2), (2, 2))) for box in boxes]
    default = {"percentile": 77, "surface": "voxels", "percentile_method": "linear"}
    given = default | options
    compared = compare_surfaces(*maps, SPACING_MM, "voxels", given.get("surface_neighbours", "faces"))
    directions = given.get("directions", "directed")
    expected = compared.hausdorff_distance(given["percentile"], "linear", directions)
    assert hausdorff_distance(*maps, SPACING_MM, **given) == expected
    assert hausdorff_distance(*maps, SPACING_MM, **default) != expected


def test_a_tolerance_of_zero_takes_what_lies_on_the_other_surface():
    bars = [[1, 1, 1, 1]], [[1, 1, 0, 0]]
    assert surface_dice(*bars, 0, surface="voxels") == pytest.approx(4 / 6)


SHAPES = st.sampled_from([(5, 8, 7), (1, 6, 7), (4, 1, 1), (9, 8)])

# Of no distance on the grid, so that neither side depends on rounding.
TOLERANCES_MM = (0.33, 1.77, 4.1)


def two_masks(seed, shape):
    """Return two regions that are neither empty nor alike, of noise, blobs or single voxels."""
    generator = np.random.default_rng(seed)
    masks = np.zeros((2, *shape), dtype=bool)
    for mask in masks:
        kind = generator.integers(3)
        if kind == 0:
            mask[:] = generator.random(shape) < generator.random()
        elif kind == 1:
            mask[:] = ndimage.gaussian_filter(generator.normal(size=shape), 1.5) > 0
        mask[tuple(generator.integers(0, size) for size in shape)] = True
    return masks


def spacing_of(shape):
    return SPACING_MM[-len(shape) :]


@pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")
@settings(max_examples=25)
@given(SEEDS, SHAPES)
def test_elements_as_surface_distance(seed, shape):
    prediction, reference = two_masks(seed, shape)
    found = compare_surfaces(prediction, reference, spacing_of(shape), "elements")
    expected = oracle.compute_surface_distances(reference, prediction, spacing_of(shape))
    for percent in (50, 95):
        # Where the areas before a distance are exactly this share, sums in another order take the next one.
        below, above = (oracle.compute_robust_hausdorff(expected, percent + step) for step in (-1e-9, 1e-9))
        distance = found.hausdorff_distance(percent)
        assert below * (1 - 1e-12) <= distance <= above * (1 + 1e-12)
    farthest = max(expected[f"distances_{side}"].max() for side in ("gt_to_pred", "pred_to_gt"))
    assert found.hausdorff_distance() == pytest.approx(farthest, rel=1e-12, abs=1e-12)
    means = oracle.compute_average_surface_distance(expected)
    assert found.average_distance("directed") == pytest.approx(max(means), rel=1e-12, abs=1e-12)
    areas = [expected[f"surfel_areas_{side}"].sum() for side in ("gt", "pred")]
    assert found.average_distance() == pytest.approx(np.average(means, weights=areas), rel=1e-12, abs=1e-12)
    for tolerance_mm in TOLERANCES_MM:
        assert found.surface_dice(tolerance_mm) == pytest.approx(
            oracle.compute_surface_dice_at_tolerance(expected, tolerance_mm), rel=1e-12
        )


NEIGHBOURS = {"faces": 1, "all": 3}  # as SciPy counts them


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@settings(max_examples=25)
@given(seed=SEEDS, shape=SHAPES)
def test_voxels_as_distance_transforms_of_whole_volumes(neighbours, seed, shape):
    masks = two_masks(seed, shape)
    found = compare_surfaces(*masks, spacing_of(shape), "voxels", neighbours)
    element = ndimage.generate_binary_structure(len(shape), NEIGHBOURS[neighbours])
    outlines = [mask & ~ndimage.binary_erosion(mask, element) for mask in masks]
    to_first, to_second = (
        ndimage.distance_transform_edt(~outline, spacing_of(shape)) for outline in outlines
    )
    directed = (to_second[outlines[0]], to_first[outlines[1]])
    both = np.concatenate(directed)
    figures = {
        found.hausdorff_distance(): both.max(),
        found.hausdorff_distance(95): max(np.percentile(d, 95, method="lower") for d in directed),
        found.hausdorff_distance(95, "linear"): max(np.percentile(d, 95) for d in directed),
        found.hausdorff_distance(95, "linear", "pooled"): np.percentile(both, 95),
        found.average_distance(): both.mean(),
        found.average_distance("directed"): max(d.mean() for d in directed),
        **{found.surface_dice(tolerance): (both <= tolerance).mean() for tolerance in TOLERANCES_MM},
    }
    assert list(figures) == pytest.approx(list(figures.values()), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("surface", ["elements", "voxels"])
@pytest.mark.parametrize(
    ("prediction", "reference", "distance", "dice"),
    [(0, 0, 0, 1), (1, 0, math.inf, 0), (0, 1, math.inf, 0), (1, 1, 0, 1)],
)
def test_regions_without_voxels(surface, prediction, reference, distance, dice):
    masks = (np.full((2, 3, 3), value, dtype=bool) for value in (prediction, reference))
    found = compare_surfaces(*masks, SPACING_MM, surface)
    for percentile, directions in (("index", "directed"), ("linear", "pooled")):
        assert found.hausdorff_distance(95, percentile, directions) == distance
        assert found.average_distance(directions) == distance
    assert found.surface_dice(1e9) == dice


def test_two_voxels_by_hand():
    # 3 voxels of 0.8 mm apart. Each has eight elements: four are 2 voxels from the other's, four 3 voxels.
    prediction, reference = np.zeros((2, 1, 1, 6), dtype=bool)
    prediction[0, 0, 1] = reference[0, 0, 4] = True
    voxels = compare_surfaces(prediction, reference, (1.0, 1.0, 0.8), "voxels")
    assert (voxels.surface_dice(2.4), voxels.surface_dice(2.39)) == (1, 0)
    elements = compare_surfaces(prediction, reference, (1.0, 1.0, 0.8), "elements")
    assert [elements.surface_dice(mm) for mm in (1.59, 1.6, 2.4)] == pytest.approx([0, 0.5, 1])
    assert elements.average_distance() == pytest.approx(2.0)


def test_a_spacing_of_single_precision_does_not_move_a_distance_past_the_tolerance():
    prediction, reference = np.zeros((2, 1, 1, 6), dtype=bool)
    prediction[0, 0, 1] = reference[0, 0, 4] = True
    spacing_mm = (1.0, 1.0, float(np.float32(0.8)))
    assert 3 * spacing_mm[-1] > 2.4
    assert compare_surfaces(prediction, reference, spacing_mm, "voxels").surface_dice(2.4) == 1
