import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import confusion_matrix

from evaluation.challenges.edd2020.rules import F2
from evaluation.metrics import weighted_dice
from evaluation.metrics.crops import crop
from evaluation.metrics.segmentation import (
    OverlapCounts,
    count_label_overlap,
    count_overlap,
    dice_of_counts,
    has_any,
    jaccard_of_counts,
    overlap_of,
    precision_of_counts,
    recall_of_counts,
    vertical_cup_to_disc_ratio,
    vertical_diameter,
)


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        ([1.0, 0.5, 0.0], [1.0, 1.0, 0.5], 2 * 1.5 / (1.25 + 2.25)),
        ([0.5, 0.5], [1, 1], 0.8),  # 2·(0.5 + 0.5) / (0.5 + 2), the paper's figure for a uniform 0.5
        ([0.2, 0.4], [0.4, 0.2], 0.8),  # 2·0.16 / (0.2 + 0.2)
        ([1, 1, 0], [1, 0, 0], 2 / 3),  # of masks it is the plain Dice
        ([0.0, 0.0], [0.0, 0.0], 1),
        ([], [], 1),
        ([0.0], [0.5], 0),
    ],
)
def test_weighted_dice_by_hand(prediction, reference, expected):
    for one, other in ((prediction, reference), (reference, prediction)):
        assert weighted_dice(one, other) == pytest.approx(expected, rel=1e-12)


def test_cup_to_disc_ratio_by_hand():
    disc = np.ones((6, 3), bool)
    cup = np.zeros((6, 3), bool)
    cup[1, 0] = cup[3, 0] = cup[4, 1] = True
    for definition, expected in (("column_count", 2 / 6), ("extent", 4 / 6)):
        diameters = [vertical_diameter(region, definition) for region in (cup, disc, ~disc, disc[:0, :0])]
        assert vertical_cup_to_disc_ratio(*diameters[:2]) == expected
        assert diameters[2:] == [0, 0]
        assert vertical_cup_to_disc_ratio(diameters[0], 0) == 0


ALL = (dice_of_counts, jaccard_of_counts, precision_of_counts, recall_of_counts, F2)

# intersection, prediction, reference -> dice, jaccard, precision, recall, F2, by hand
TABLE = [
    ((2, 4, 3), (4 / 7, 2 / 5, 1 / 2, 2 / 3, 10 / 16)),
    ((5, 5, 5), (1, 1, 1, 1, 1)),
    ((0, 4, 3), (0, 0, 0, 0, 0)),
    ((1, 1, 10), (2 / 11, 1 / 10, 1, 1 / 10, 5 / 41)),
    ((0, 0, 3), (0, 0, 0, 0, 0)),  # nothing predicted
    ((0, 4, 0), (0, 0, 0, 0, 0)),  # nothing there
    ((0, 0, 0), (0.25, 0.25, 0.25, 0.25, 0.25)),  # both empty: what the caller says
]


@pytest.mark.parametrize("dtype", [np.int64, np.uint32])
def test_counts_by_hand(dtype):
    counts = OverlapCounts(*np.array([row for row, _ in TABLE], dtype=dtype).T)
    for position, metric in enumerate(ALL):
        expected = [values[position] for _, values in TABLE]
        np.testing.assert_allclose(metric(counts, both_empty=0.25), expected, atol=1e-15)
        alone = [metric(OverlapCounts(*row), both_empty=0.25) for row, _ in TABLE]
        assert {type(value) for value in alone} == {float}
        assert alone == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("both_empty", [0.0, 1.0])
def test_masks_of_zero_size_are_empty(both_empty):
    nothing = np.zeros((0, 5), dtype=bool)
    assert count_overlap(nothing, nothing) == OverlapCounts(0, 0, 0)
    for metric in ALL:
        assert metric(count_overlap(nothing, nothing), both_empty=both_empty) == both_empty


MASKS_OF_OVERLAP = hnp.arrays(np.uint8, (6, 7), elements=st.sampled_from([0, 128, 255, 255]))


def region_of(mask, labels):
    return mask.where(lambda values: has_any(values, labels))


def test_regions_by_hand():
    image = np.full((4, 5), 255, np.uint8)
    image[1:3, 1:4] = 128
    image[1, 2] = 0
    mask = crop(image, 255)
    cup, disc = region_of(mask, [0]), region_of(mask, [0, 128])
    assert cup.values.tolist() == [[False, True, False], [False, False, False]]
    assert disc.values.all()
    assert cup.corner == disc.corner == (1, 1)
    shifted = np.roll(image, 1, axis=1)
    counts = overlap_of(region_of(crop(shifted, 255), [0, 128]), disc)
    assert (counts.intersection, counts.prediction, counts.reference) == (4, 6, 6)


@settings(max_examples=30)
@given(MASKS_OF_OVERLAP, MASKS_OF_OVERLAP, st.sampled_from([(0,), (0, 128)]))
def test_cropping_changes_no_overlap(prediction, reference, labels):
    counts = overlap_of(region_of(crop(prediction, 255), labels), region_of(crop(reference, 255), labels))
    predicted, true = np.isin(prediction, labels), np.isin(reference, labels)
    assert (counts.intersection, counts.prediction, counts.reference) == (
        (predicted & true).sum(),
        predicted.sum(),
        true.sum(),
    )


def region(*rows):
    return np.array([[pixel == "#" for pixel in row] for row in rows])


@pytest.mark.parametrize(
    ("mask", "column_count", "extent"),
    [
        (region("....", "...."), 0, 0),
        (region(".#..", "...."), 1, 1),
        (region("..#.", ".##.", "..#."), 3, 3),
        (region("#...", ".#..", "..#.", "...#"), 1, 4),  # slanted
        (region(".#.", "...", ".#.", ".#."), 3, 4),  # a hole
        (region("#####"), 1, 1),  # wide and flat
        (np.zeros((0, 4), dtype=bool), 0, 0),
        (np.zeros((4, 0), dtype=bool), 0, 0),
        (np.ones((300, 2), dtype=bool), 300, 300),  # beyond one byte
        (np.ones((2, 300), dtype=bool).T, 300, 300),  # not contiguous
        (np.ones((600, 4), dtype=bool)[::2, ::2], 300, 300),
    ],
)
def test_vertical_diameter(mask, column_count, extent):
    assert vertical_diameter(mask, "column_count") == column_count
    assert vertical_diameter(mask, "extent") == extent


@settings(max_examples=30)
@given(st.sampled_from([1, 5, 20]), st.integers(0, 2**32 - 1), st.sampled_from([(7,), (5, 6), (3, 4, 5)]))
def test_counts_as_the_confusion_matrix(labels, seed, shape):
    generator = np.random.default_rng(seed)
    prediction, reference = generator.integers(0, labels + 1, (2, *shape)).astype(np.uint8)
    table = confusion_matrix(prediction.ravel(), reference.ravel(), labels=range(labels + 1))
    counts = count_label_overlap(prediction, reference, labels)
    np.testing.assert_array_equal(counts.intersection, np.diagonal(table)[1:])
    np.testing.assert_array_equal(counts.prediction, table.sum(axis=1)[1:])
    np.testing.assert_array_equal(counts.reference, table.sum(axis=0)[1:])


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.lists(st.sets(st.integers(1, 5), min_size=1), min_size=1, max_size=4))
def test_a_region_is_counted_as_the_mask_of_its_labels(seed, regions):
    prediction, reference = np.random.default_rng(seed).integers(0, 6, (2, 3, 4, 5)).astype(np.uint8)
    counts = count_label_overlap(prediction, reference, 5, [sorted(region) for region in regions])
    masks = [[np.isin(each, sorted(region)) for each in (prediction, reference)] for region in regions]
    assert counts.intersection.tolist() == [(one & other).sum() for one, other in masks]
    assert counts.prediction.tolist() == [one.sum() for one, _ in masks]
    assert counts.reference.tolist() == [other.sum() for _, other in masks]
