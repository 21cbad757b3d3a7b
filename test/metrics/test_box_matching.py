import numpy as np
import pytest

from evaluation.metrics import box_matching
from evaluation.metrics.box_matching import box_iou, match_boxes


def boxes_of(*rows):
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def matched(corners, confidence, reference, groups=None, reference_groups=None, inclusive=True):
    groups = np.zeros(len(corners), int) if groups is None else np.array(groups)
    reference_groups = (
        np.zeros(len(reference), int) if reference_groups is None else np.array(reference_groups)
    )
    matches = match_boxes(
        boxes_of(*corners), groups, np.array(confidence, float), boxes_of(*reference), reference_groups, inclusive
    )
    return matches.iou.tolist(), matches.claimed.tolist()


@pytest.mark.parametrize(
    ("first", "second", "inclusive", "continuous"),
    [
        ((0, 0, 9, 9), (0, 0, 9, 9), 1, 1),
        ((0, 0, 9, 9), (5, 0, 14, 9), 50 / 150, 36 / 126),
        ((0, 0, 0, 0), (0, 0, 0, 0), 1, 0),  # one pixel, or no area at all
        ((0, 0, 4, 4), (4, 4, 8, 8), 1 / 49, 0),  # one common pixel, or one common point
        ((0, 0, 4, 4), (5, 5, 8, 8), 0, 0),
        ((0, 0, 9, 0), (0, 0, 4, 0), 0.5, 0),
    ],
)
def test_iou_by_hand(first, second, inclusive, continuous):
    for expected, corners in ((inclusive, True), (continuous, False)):
        for pair in ((first, second), (second, first)):
            assert box_iou(*map(np.array, map(np.float64, pair)), corners) == pytest.approx(expected)


@pytest.mark.parametrize("twentieths", range(5, 16))
def test_iou_of_a_threshold_reaches_it(twentieths):
    found = box_iou(np.array([0.0, 0, 19, 0]), np.array([0.0, 0, twentieths - 1, 0]), True)
    assert found == float(f"{5 * twentieths / 100:.2f}")


def test_the_more_confident_of_two_claims_a_box():
    reference = [(0, 0, 9, 9)]
    # IoU 1 and 0.5 of the same box; whichever comes first keeps it at the thresholds that it reaches.
    assert matched([(0, 0, 9, 9), (0, 0, 9, 4)], [0.9, 0.8], reference) == ([1, 0.5], [0, 1])
    assert matched([(0, 0, 9, 9), (0, 0, 9, 4)], [0.8, 0.9], reference) == ([1, 0.5], [0.5, 0])
    assert matched([(0, 0, 9, 9), (0, 0, 9, 4)], [0.9, 0.9], reference) == ([1, 0.5], [0, 1])


def test_another_free_box_is_not_looked_at():
    reference = [(0, 0, 9, 9), (0, 0, 9, 7)]
    iou, claimed = matched([(0, 0, 9, 9), (0, 0, 9, 9)], [0.9, 0.8], reference)
    assert (iou, claimed) == ([1, 1], [0, 1])


def test_of_boxes_of_equal_overlap_the_first_is_the_best():
    reference = [(0, 0, 9, 9), (0, 0, 9, 9)]
    assert matched([(0, 0, 9, 9), (0, 0, 9, 9)], [0.9, 0.8], reference)[1] == [0, 1]


def test_running_maximum_over_many_claims():
    widths = [3, 7, 5, 8, 2, 8, 9]
    corners = [(0, 0, width - 1, 0) for width in widths]
    iou, claimed = matched(corners, [0.9 - 0.1 * rank for rank in range(7)], [(0, 0, 9, 0)])
    assert iou == [width / 10 for width in widths]
    assert claimed == [0, 0.3, 0.7, 0.7, 0.8, 0.8, 0.8]


def test_only_boxes_of_the_same_group_are_compared():
    iou, _ = matched([(0, 0, 9, 9)] * 3, [1, 1, 1], [(0, 0, 9, 9), (0, 0, 9, 4)], [0, 1, 2], [2, 1])
    assert iou == [0, 0.5, 1]


def test_empty_sides():
    assert matched([], [], [(0, 0, 1, 1)]) == ([], [])
    assert matched([(0, 0, 1, 1)], [1], []) == ([0], [0])


def test_portions_do_not_change_the_result(monkeypatch):
    generator = np.random.default_rng(0)
    corners = np.sort(generator.integers(0, 9, (60, 2, 2)), axis=1).reshape(-1, 4)
    arguments = (corners.tolist(), generator.random(60), corners[::-2].tolist())
    groups = (np.arange(60) % 3, np.arange(30) % 3)
    whole = matched(*arguments, *groups)
    monkeypatch.setattr(box_matching, "_PAIRS_AT_ONCE", 7)
    assert matched(*arguments, *groups) == whole
