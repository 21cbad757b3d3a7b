"""Lesion by lesion: against components of whole volumes that SimpleITK finds, one lesion at a time."""

import math

import numpy as np
import pytest
import SimpleITK
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import ndimage
from surface_distance import metrics as oracle

from evaluation.metrics import lesion_wise
from evaluation.metrics.lesion_wise import lesion_wise_dice, lesion_wise_hausdorff_distance

pytestmark = pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")
SPACING_MM = (2.0, 0.5, 1.0)
WORST = 374.0


def components(mask):
    """Return the number of each voxel's component of 26 neighbours, 0 for none."""
    image = SimpleITK.GetImageFromArray(mask.astype(np.uint8))
    return SimpleITK.GetArrayFromImage(SimpleITK.ConnectedComponent(image, True))


def dilated(mask, times):
    """Return a mask dilated so often by its 18 neighbours."""
    neighbours = ndimage.generate_binary_structure(3, 2)
    return ndimage.binary_dilation(mask, neighbours, iterations=times) if times else mask


def lesions_of(prediction, reference, times, smallest_mm3, spacing_mm):
    """Return masks of each lesion that counts and of its predicted components, and how many are false."""
    predicted, grown = components(prediction), components(dilated(reference, times))
    pairs, taken = [], set()
    for number in range(1, grown.max() + 1):
        lesion = reference & (grown == number)
        found = set(np.unique(predicted[dilated(lesion, times)])) - {0}
        taken |= found
        if lesion.sum() * math.prod(spacing_mm) > smallest_mm3:
            pairs.append((lesion, np.isin(predicted, list(found))))
    return pairs, predicted.max() - len(taken)


def expected_figures(prediction, reference, times, smallest_mm3, spacing_mm=SPACING_MM):
    """Return the mean Dice coefficient and the mean Hausdorff distance, 95 %."""
    pairs, false = lesions_of(prediction, reference, times, smallest_mm3, spacing_mm)
    dices, distances = [0.0] * false, [WORST] * false
    for lesion, found in pairs:
        dices.append(2 * (lesion & found).sum() / (lesion.sum() + found.sum()))
        distance = WORST
        if found.any():
            surfaces = oracle.compute_surface_distances(lesion, found, spacing_mm)
            distance = oracle.compute_robust_hausdorff(surfaces, 95)
        distances.append(min(distance, WORST))
    return (np.mean(dices), np.mean(distances)) if dices else (1.0, 0.0)


def blobs(random, count, shape=(9, 14, 16)):
    volume = np.zeros(shape, dtype=bool)
    for _ in range(count):
        z, y, x = (random.integers(0, side) for side in volume.shape)
        volume[
            z : z + random.integers(1, 4), y : y + random.integers(1, 4), x : x + random.integers(1, 5)
        ] = 1
    return volume


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 3]), st.sampled_from([0, 2, 8]))
def test_as_one_lesion_at_a_time_in_the_whole_volume(seed, times, smallest_mm3):
    random = np.random.default_rng(seed)
    reference, prediction = blobs(random, random.integers(0, 8)), blobs(random, random.integers(0, 8))
    if random.random() < 0.7:
        prediction |= np.roll(reference, random.integers(0, 3), 1)
    options = {"dilations": times, "smallest_volume": smallest_mm3}
    dice, distance = expected_figures(prediction, reference, times, smallest_mm3)
    assert lesion_wise_dice(prediction, reference, SPACING_MM, **options) == pytest.approx(dice, abs=1e-12)
    found = lesion_wise_hausdorff_distance(prediction, reference, SPACING_MM, worst=WORST, **options)
    assert found == pytest.approx(distance, rel=1e-9)


@settings(max_examples=12)
@example(3, 1, 0)  # boxes that become one
@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 1]), st.sampled_from([0, 3]))
def test_lesions_far_apart_are_matched_in_boxes_of_their_own(seed, times, most_boxes):
    random = np.random.default_rng(seed)
    reference, prediction = (blobs(random, 9, (6, 30, 60)) for _ in range(2))
    prediction |= np.roll(reference, random.integers(0, 4), 2)
    dice, distance = expected_figures(prediction, reference, times, 2)
    options = {"dilations": times, "smallest_volume": 2}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lesion_wise, "_BLOCK", 3)
        patch.setattr(lesion_wise, "_MOST_BOXES", most_boxes or 200)
        found = lesion_wise_dice(prediction, reference, SPACING_MM, **options)
        assert found == pytest.approx(dice, abs=1e-12)
        found = lesion_wise_hausdorff_distance(prediction, reference, SPACING_MM, worst=WORST, **options)
        assert found == pytest.approx(distance, rel=1e-9)


def line(*runs):
    """Return a row of pixels of which these, first and last, are inside."""
    values = np.zeros((1, 40), dtype=np.uint8)
    for first, last in runs:
        values[0, first : last + 1] = 1
    return values


@pytest.mark.parametrize(("voxels", "counts"), [(100, False), (101, True)])
def test_by_default_more_than_50_mm3_are_a_lesion(voxels, counts):
    """Of half a mm³ each; one that is missed lowers both figures, and one that does not count neither."""
    lesion = np.zeros((2, 11, 12), dtype=bool)
    lesion.reshape(-1)[:voxels] = True
    arguments = np.zeros_like(lesion), lesion, (2.0, 0.5, 0.5)
    assert lesion_wise_dice(*arguments) == 1 - counts
    assert lesion_wise_hausdorff_distance(*arguments, worst=9) == 9 * counts


@pytest.mark.parametrize(("apart", "together"), [(5, True), (7, True), (8, False)])
def test_by_default_three_dilations_join_two_parts(apart, together):
    """Wherever they lie: parts of 100 mm² at 0 and 7 reach 3 and 4, which are neighbours."""
    for start in range(9):
        both, one = line((start, start), (start + apart, start + apart)), line((start, start))
        expected = 2 / (1 + 2) if together else 1 / 2
        assert lesion_wise_dice(one, both, (10, 10)) == pytest.approx(expected)
        distance = 10 * apart if together else 500 / 2
        assert lesion_wise_hausdorff_distance(one, both, (10, 10), worst=500) == pytest.approx(distance)


def test_the_nearest_and_the_farthest_distance_are_percentiles():
    """The whole lesion has seven pixels, of which one end is found."""
    options = {"dilations": 1, "smallest_volume": 0}
    found = [
        lesion_wise_hausdorff_distance(line((0, 0)), line((0, 6)), percentile=percent, **options)
        for percent in (0, 100)
    ]
    assert found == [0, 6]


def test_distances_of_missed_and_false_lesions():
    for shape in ((0, 0, 0), (2, 3)):
        nothing = np.zeros(shape, dtype=bool)
        assert (lesion_wise_dice(nothing, nothing), lesion_wise_hausdorff_distance(nothing, nothing)) == (
            1,
            0,
        )
    options = {"dilations": 1, "smallest_volume": 0}
    two, one = line((0, 3), (30, 33)), line((0, 3))
    assert lesion_wise_hausdorff_distance(one, two, worst=8, **options) == (0 + 8) / 2
    assert lesion_wise_hausdorff_distance(two, one, worst=8, **options) == (0 + 8) / 2
    # By default the diagonal of an image of 1 × 40 pixels of 2 × 0.5 mm.
    found = lesion_wise_hausdorff_distance(one, line(), (2.0, 0.5), **options)
    assert found == pytest.approx(math.hypot(2, 20))
