import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools import mask as coco_mask

from evaluation.metrics import box_average_precision, box_iou
from evaluation.metrics.boxes import (
    fuse_boxes,
    iou_of_corners,
    match_at_thresholds,
    match_boxes,
    suppress_boxes,
)
from evaluation.metrics.near_pairs import NearPairs
from test.metrics.record_box_fusion import models_of

corners = st.tuples(*[st.integers(0, 4)] * 4).map(
    lambda c: (min(c[0], c[2]), min(c[1], c[3]), max(c[0], c[2]), max(c[1], c[3]))
)


@settings(max_examples=25)
@given(st.lists(st.tuples(corners, corners), min_size=1, max_size=6))
def test_iou_is_that_of_pycocotools(pairs):
    first, second = (np.array(side, dtype=np.float64) for side in zip(*pairs, strict=True))
    as_sizes = [np.column_stack((side[:, :2], side[:, 2:] - side[:, :2])) for side in (first, second)]
    with np.errstate(invalid="ignore"):
        expected = np.nan_to_num(coco_mask.iou(*as_sizes, [0] * len(second)))
    np.testing.assert_allclose(box_iou(first[:, None], second), expected, atol=1e-12)


NO_BOXES = ([], [], [])


@pytest.mark.parametrize(
    ("found", "true", "expected"),
    [
        (NO_BOXES, ([[0, 0, 1, 1]], ["a"]), 0),
        (NO_BOXES, ([], []), math.nan),
        (([[0, 0, 1, 1]], [1], ["a"]), ([], []), math.nan),
    ],
)
def test_nothing_found_or_nothing_there(found, true, expected):
    assert box_average_precision(*found, *true) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("matching", ["by_confidence", "best_only"])
def test_corners_are_pixels_of_the_box_under_both_matchings(matching):
    """One pixel of two in common: with inclusive corners an IoU of 1/2, without both boxes are empty."""
    found, true = [[0, 0, 1, 0]], [[0, 0, 0, 0]]
    for inclusive, value in ((True, 1.0), (False, 0.0)):
        options = {"matching": matching, "inclusive_corners": inclusive, "iou_thresholds": (0.5,)}
        assert box_average_precision(found, [0.9], [1], true, [1], **options) == value


def test_by_default_corners_are_edges():
    """Boxes of 9 × 9 and 9 × 7 pixels, or of 10 × 10 and 10 × 8 where both corners count."""
    found, true = [[0, 0, 9, 9]], [[0, 0, 9, 7]]
    classes = {"classes": ["a"], "reference_classes": ["a"]}
    for inclusive, value in (({}, 0), ({"inclusive_corners": True}, 1)):
        options = {**classes, **inclusive, "iou_thresholds": (0.79,)}
        assert box_average_precision(found, [0.5], [1], true, [1], **options) == value


def test_by_default_a_hundred_boxes_of_an_image_count():
    boxes = [[0, 0, 1, 1]] * 100 + [[5, 5, 9, 9]]
    scores, images = np.linspace(1, 0.1, 101), [1] * 101
    assert box_average_precision(boxes, scores, images, boxes[-1:], [1]) == 0
    options = {"max_detections": 101, "curve": "all_points"}
    assert box_average_precision(boxes, scores, images, boxes[-1:], [1], **options) == pytest.approx(1 / 101)


def test_a_threshold_of_one_is_reached_by_equal_boxes():
    square = [[0, 0, 1, 1]]
    assert box_average_precision(square, [0.5], [1], square, [1], iou_thresholds=(1.0,)) == 1


UNEQUAL = st.lists(st.lists(st.sampled_from([0.0, 0.4, 0.5, 0.7]), min_size=2, max_size=2), max_size=6)


def near_pairs(iou, least):
    return NearPairs.of_table(-iou, iou >= least)


@given(UNEQUAL)
def test_of_equal_confidences_the_largest_overlap_is_matched_first(overlaps):
    """Against a loop: the first of the thresholds alone decides what is near enough to come first."""
    iou, thresholds = np.array(overlaps).reshape(-1, 2), np.array([0.5, 0.6])
    found = match_at_thresholds(near_pairs(iou, 0.5), np.full(len(iou), 0.5), thresholds, together=True)
    near = [[-value if value >= 0.5 else math.inf for value in row] for row in overlaps]
    order = sorted(range(len(iou)), key=lambda index: (min(near[index]), near[index]))
    for column, threshold in enumerate(thresholds):
        free, hits = {0, 1}, set()
        for detection in order:
            reached = [(iou[detection, which], which) for which in free if iou[detection, which] >= threshold]
            if reached:
                free.remove(max(reached)[1])
                hits.add(detection)
        assert set(np.flatnonzero(found[:, column]).tolist()) == hits


def test_without_a_word_equal_confidences_are_matched_in_their_order():
    found = match_at_thresholds(
        near_pairs(np.array([[0.6], [0.8]]), 0.5), np.array([0.5, 0.5]), np.array([0.5])
    )
    assert found[:, 0].tolist() == [True, False]


def boxes_of(*rows):
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def matched(corners, confidence, reference, groups=None, reference_groups=None, inclusive=True):
    groups = np.zeros(len(corners), int) if groups is None else np.array(groups)
    reference_groups = (
        np.zeros(len(reference), int) if reference_groups is None else np.array(reference_groups)
    )
    matches = match_boxes(
        boxes_of(*corners),
        groups,
        np.array(confidence, float),
        boxes_of(*reference),
        reference_groups,
        inclusive,
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
            assert iou_of_corners(*map(np.array, map(np.float64, pair)), corners) == pytest.approx(expected)
            assert box_iou(*pair, inclusive_corners=corners) == pytest.approx(expected)


def test_iou_of_a_threshold_reaches_it():
    for twentieths in range(5, 16):
        found = iou_of_corners(np.array([0.0, 0, 19, 0]), np.array([0.0, 0, twentieths - 1, 0]), True)
        assert found == float(f"{5 * twentieths / 100:.2f}")


def test_portions_do_not_change_the_result():
    """Groups of some 400,000 pairs each give the same together, which are more than are compared at once."""
    generator = np.random.default_rng(0)
    corners = np.sort(generator.integers(0, 30, (2700, 2, 2)), axis=1).reshape(-1, 4)
    confidence, true = generator.random(2700), corners[::-2]
    groups = np.arange(2700) % 3, np.arange(1350) % 3
    whole = matched(corners.tolist(), confidence, true.tolist(), *groups)
    for group in range(3):
        ours, theirs = (of == group for of in groups)
        alone = matched(corners[ours].tolist(), confidence[ours], true[theirs].tolist())
        for found, expected in zip(whole, alone, strict=True):
            assert np.array(found)[ours].tolist() == expected


def test_an_overlap_that_equals_the_threshold_is_a_hit():
    iou = np.array([[0.5, 0.25], [0.0, 0.75]])
    found = match_at_thresholds(near_pairs(iou, 0.5), np.array([0.9, 0.8]), np.array([0.5, 0.75, 0.8]))
    assert found.tolist() == [[True, False, False], [True, True, False]]
    nothing = match_at_thresholds(near_pairs(np.zeros((2, 0)), 0.5), np.array([0.9, 0.8]), np.array([0.5]))
    assert nothing.tolist() == [[False], [False]]


RECORDED = json.loads(Path(__file__).with_name("recorded_box_fusion.json").read_text())


@pytest.mark.parametrize(("method", "seed", "expected"), RECORDED)
def test_as_the_code_of_the_authors(method, seed, expected):
    models = models_of(seed)
    boxes, scores, classes = (np.concatenate([model[part] for model in models]) for part in range(3))
    for label in np.unique(classes):
        given = boxes[classes == label], scores[classes == label]
        found = fuse_boxes(*given, 3, 0.5, False) if method == "wbf" else suppress_boxes(*given, 0.5, False)
        order = np.argsort(-found.confidence)
        true = np.array(sorted((row for row in expected if row[0] == label), key=lambda row: -row[1]))
        np.testing.assert_allclose(found.confidence[order], true[:, 1], atol=1e-6)
        np.testing.assert_allclose(found.corners[order], true[:, 2:], atol=1e-3)


def test_corners_that_both_count():
    # 1 of 3 pixels is common: IoU 1/3 with inclusive corners, 0 without.
    corners, confidence = np.array([[0.0, 0, 1, 0], [1, 0, 2, 0]]), np.array([0.5, 0.5])
    assert fuse_boxes(corners, confidence, 2, 0.3, True).corners.tolist() == [[0.5, 0, 1.5, 0]]
    assert len(fuse_boxes(corners, confidence, 2, 0.3, False).corners) == 2
    kept = suppress_boxes(corners, np.array([0.5, 0.6]), 0.3, True)
    assert kept.corners.tolist() == [[1, 0, 2, 0]]


def test_nothing_gives_nothing():
    nothing = np.zeros((0, 4)), np.zeros(0)
    for found in (fuse_boxes(*nothing, 2, 0.5, False), suppress_boxes(*nothing, 0.5, False)):
        assert found.corners.shape == (0, 4)
        assert found.confidence.shape == found.group.shape == (0,)


def test_a_box_joins_the_fused_box_not_the_first_one():
    # With the first box its IoU is 10/20, with the mean of the first two, 0 … 15, it is 15/20.
    corners = np.array([[0, 0, 10, 10], [0, 0, 20, 10], [0, 0, 20, 10.0]])
    fused = fuse_boxes(corners[[0, 1]], np.array([0.5, 0.5]), 2, 0.45, False)
    assert fused.corners.tolist() == [[0, 0, 15, 10]]
    fused = fuse_boxes(corners, np.array([0.5, 0.5, 0.4]), 3, 0.45, False)
    assert fused.group.tolist() == [0, 0, 0]
    assert len(fuse_boxes(corners, np.array([0.5, 0.5, 0.4]), 3, 0.5, False).corners) == 2


def test_an_overlap_of_exactly_the_threshold_is_too_small():
    corners = np.array([[0, 0, 10, 10], [0, 0, 20, 10.0]])
    confidence = np.array([0.5, 0.4])
    assert len(fuse_boxes(corners, confidence, 2, 0.5, False).corners) == 2
    assert len(suppress_boxes(corners, confidence, 0.5, False).corners) == 2
    assert len(suppress_boxes(corners, confidence, 0.49, False).corners) == 1


def test_boxes_without_any_confidence_have_the_plain_mean():
    fused = fuse_boxes(np.array([[0, 0, 8, 8], [0, 0, 9, 9.0]]), np.zeros(2), 2, 0.5, False)
    assert fused.corners.tolist() == [[0, 0, 8.5, 8.5]]
    assert fused.confidence.tolist() == [0]


def test_a_threshold_of_zero():
    # These boxes share a line and no area, so that only a threshold of 0 could join them.
    corners, confidence = np.array([[0.0, 0, 2, 2], [2, 0, 4, 2]]), np.array([0.9, 0.8])
    assert len(suppress_boxes(corners, confidence, 0, False).corners) == 2
    assert len(fuse_boxes(corners, confidence, 2, 0, False).corners) == 2
