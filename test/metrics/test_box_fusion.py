import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics import non_maximum_suppression, weighted_boxes_fusion
from evaluation.metrics.boxes import fuse_boxes, iou_of_corners, suppress_boxes
from test.metrics.record_box_fusion import models_of

RECORDED = json.loads(Path(__file__).with_name("recorded_box_fusion.json").read_text())


@pytest.mark.parametrize(("method", "seed", "weights", "overflow", "expected"), RECORDED)
def test_as_the_code_of_the_authors(method, seed, weights, overflow, expected):
    boxes, scores, classes = zip(*models_of(seed), strict=True)
    if method == "wbf":
        found = weighted_boxes_fusion(
            boxes, scores, classes, weights=weights, iou_threshold=0.5, allow_overflow=overflow
        )
    else:
        found = non_maximum_suppression(
            np.concatenate(boxes), np.concatenate(scores), np.concatenate(classes)
        )
    order = sorted(range(len(found.scores)), key=lambda i: (found.classes[i], -found.scores[i]))
    expected = np.array(sorted(expected, key=lambda row: (row[0], -row[1])))
    np.testing.assert_array_equal(found.classes[order], expected[:, 0])
    np.testing.assert_allclose(found.scores[order], expected[:, 1], atol=1e-6)
    np.testing.assert_allclose(found.boxes[order], expected[:, 2:], atol=1e-3)
    assert (np.diff(found.scores) <= 0).all()


def test_classes_are_never_averaged_with_each_other():
    square = [0, 0, 9, 9]
    found = weighted_boxes_fusion([[square], [square]], [[0.5], [0.25]], [["polyp"], ["cancer"]])
    assert found.classes.tolist() == ["polyp", "cancer"]
    # One of two models each.
    assert found.scores.tolist() == [0.25, 0.125]


def test_one_model_counts_twice():
    found = weighted_boxes_fusion(
        [[[0, 0, 10, 10]], [[3, 0, 13, 10]]], [[0.5], [0.5]], [[0], [0]], weights=[2, 1], iou_threshold=0.5
    )
    # (2 · 0 + 1 · 3) / 3, and (2 · 0.5 + 1 · 0.5) / 2 · 2 / 3.
    assert found.boxes.tolist() == [[1, 0, 11, 10]]
    assert found.scores.tolist() == pytest.approx([0.5])


def test_corners_that_both_count():
    # 1 of 3 pixels is common: IoU 1/3 with inclusive corners, 0 without.
    boxes, scores, classes = [[[0, 0, 1, 0]], [[1, 0, 2, 0]]], [[0.5], [0.5]], [["a"], ["a"]]
    fused = weighted_boxes_fusion(boxes, scores, classes, iou_threshold=0.3, inclusive_corners=True)
    assert fused.boxes.tolist() == [[0.5, 0, 1.5, 0]]
    assert len(weighted_boxes_fusion(boxes, scores, classes, iou_threshold=0.3).boxes) == 2
    flat = [box for model in boxes for box in model]
    kept = non_maximum_suppression(flat, [0.5, 0.6], ["a", "a"], iou_threshold=0.3, inclusive_corners=True)
    assert kept.boxes.tolist() == [[1, 0, 2, 0]]


def test_nothing_gives_nothing():
    for found in (
        weighted_boxes_fusion([[], []], [[], []], [[], []]),
        non_maximum_suppression([], [], []),
    ):
        assert found.boxes.shape == (0, 4)
        assert found.scores.shape == found.classes.shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([], [], []), {}, "^boxes, scores, classes:"),
        (([[[0, 0, 1, 1]]], [[0.5, 0.5]], [["a"]]), {}, "^boxes, scores, classes:"),
        (([[[0, 0, 1, 1]]], [[-0.5]], [["a"]]), {}, "^scores:"),
        (([[[0, 0, 1, 1]]], [[float("nan")]], [["a"]]), {}, "^scores:"),
        (([[[0, 0, 1, 1]]], [[0.5]], [["a"]]), {"weights": [0]}, "weights"),
        (([[[0, 0, 1, 1]]], [[0.5]], [["a"]]), {"weights": [1, 1]}, "weights"),
        (([[[0, 0, 1, 1]]], [[0.5]], [["a"]]), {"iou_threshold": 1}, "iou_threshold"),
        (([[[2, 0, 1, 1]]], [[0.5]], [["a"]]), {}, "^boxes:"),
    ],
)
def test_arguments_that_do_not_fit(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        weighted_boxes_fusion(*arguments, **options)


def test_suppression_has_a_threshold_below_one():
    with pytest.raises(ValueError, match="iou_threshold"):
        non_maximum_suppression([], [], [], iou_threshold=1.0)


box = st.tuples(*[st.floats(0, 20)] * 4).map(
    lambda c: (min(c[0], c[2]), min(c[1], c[3]), max(c[0], c[2]), max(c[1], c[3]))
)


given_boxes = st.lists(st.tuples(box, st.sampled_from([0.0, 0.1, 0.5, 0.5, 1.0])), max_size=12)


def arrays(boxes):
    corners = np.array([corners for corners, _ in boxes], dtype=np.float64).reshape(-1, 4)
    return corners, np.array([confidence for _, confidence in boxes], dtype=np.float64)


def test_three_models_by_hand():
    # The first and the third overlap by 10 of 15, the second none of them.
    corners = np.array([[0, 0, 10, 10], [20, 20, 30, 30], [0, 0, 10, 15.0]])
    fused = fuse_boxes(corners, np.array([0.9, 0.3, 0.6]), 3, 0.55, False)
    # Height (0.9 · 10 + 0.6 · 15) / 1.5 = 12; confidence 0.75 · 2 / 3 and 0.3 · 1 / 3.
    np.testing.assert_allclose(fused.corners, [[0, 0, 10, 12], [20, 20, 30, 30]])
    np.testing.assert_allclose(fused.confidence, [0.5, 0.1])
    assert fused.group.tolist() == [0, 1, 0]


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


def test_more_boxes_than_models():
    corners = np.tile([0, 0, 10, 10.0], (3, 1))
    confidence = np.array([0.9, 0.6, 0.3])
    assert fuse_boxes(corners, confidence, 2, 0.5, False).confidence[0] == pytest.approx(0.6)
    overflowing = fuse_boxes(corners, confidence, 2, 0.5, False, allow_overflow=True)
    assert overflowing.confidence[0] == pytest.approx(0.9)


def test_boxes_without_any_confidence_have_the_plain_mean():
    fused = fuse_boxes(np.array([[0, 0, 8, 8], [0, 0, 9, 9.0]]), np.zeros(2), 2, 0.5, False)
    assert fused.corners.tolist() == [[0, 0, 8.5, 8.5]]
    assert fused.confidence.tolist() == [0]


def test_suppression_by_hand():
    corners = np.array([[0, 0, 10, 10], [0, 0, 10, 9], [20, 20, 30, 30], [0, 0, 0, 0.0]])
    kept = suppress_boxes(corners, np.array([0.5, 0.8, 0.7, 0.1]), 0.5, False)
    assert kept.corners.tolist() == [[0, 0, 10, 9], [20, 20, 30, 30], [0, 0, 0, 0]]
    assert kept.confidence.tolist() == [0.8, 0.7, 0.1]
    assert kept.group.tolist() == [0, 0, 1, 2]


def test_boxes_with_three_axes():
    corners = np.array([[0, 0, 0, 2, 2, 2], [0, 0, 0, 2, 2, 4.0]])
    fused = fuse_boxes(corners, np.array([0.5, 0.5]), 2, 0.45, False)
    assert fused.corners.tolist() == [[0, 0, 0, 2, 2, 3]]


@settings(max_examples=200, deadline=None)
@given(given_boxes, st.integers(1, 4), st.booleans())
def test_fused_boxes_lie_within_their_members(boxes, models, inclusive):
    corners, confidence = arrays(boxes)
    fused = fuse_boxes(corners, confidence, models, 0.55, inclusive)
    assert sorted(set(fused.group.tolist())) == list(range(len(fused.corners)))
    for place, (middle, score) in enumerate(zip(fused.corners, fused.confidence, strict=True)):
        members = fused.group == place
        assert (corners[members].min(axis=0) <= middle).all()
        assert (middle <= corners[members].max(axis=0)).all()
        assert (middle[:2] <= middle[2:]).all()
        assert 0 <= score <= confidence[members].max()


@settings(max_examples=200, deadline=None)
@given(given_boxes, st.booleans())
def test_kept_boxes_overlap_no_more_than_the_threshold(boxes, inclusive):
    corners, confidence = arrays(boxes)
    kept = suppress_boxes(corners, confidence, 0.3, inclusive)
    overlap = iou_of_corners(kept.corners[:, None], kept.corners[None], inclusive)
    assert (overlap[~np.eye(len(overlap), dtype=bool)] <= 0.3).all()
    again = suppress_boxes(kept.corners, kept.confidence, 0.3, inclusive)
    np.testing.assert_array_equal(again.corners, kept.corners)
    for given_box, confidence_of_box, place in zip(corners, confidence, kept.group, strict=True):
        assert confidence_of_box <= kept.confidence[place]
        is_kept = (given_box == kept.corners[place]).all()
        assert is_kept or iou_of_corners(given_box, kept.corners[place], inclusive) > 0.3


@settings(max_examples=100, deadline=None)
@given(given_boxes)
def test_equal_models_agree_with_one_of_them(boxes):
    """Copies of boxes that do not overlap each other are those boxes."""
    corners, confidence = arrays(boxes)
    kept = suppress_boxes(corners, confidence, 0.0, True)
    copies = np.repeat(kept.corners, 3, axis=0)
    fused = fuse_boxes(copies, np.repeat(kept.confidence, 3), 3, 0.55, True)
    np.testing.assert_allclose(fused.corners, kept.corners)
    np.testing.assert_allclose(fused.confidence, kept.confidence)


def test_defaults_and_a_threshold_of_zero():
    # Corners are edges: these boxes share a line and no area, so that only a threshold of 0 could join them.
    boxes, scores, classes = [[0, 0, 2, 2], [2, 0, 4, 2]], [0.9, 0.8], [1, 1]
    assert len(non_maximum_suppression(boxes, scores, classes, iou_threshold=0).scores) == 2
    fused = weighted_boxes_fusion(
        [boxes[:1]] * 2, [scores[:1]] * 2, [classes[:1]] * 2, weights=[3, 1], iou_threshold=0
    )
    assert fused.scores.tolist() == pytest.approx([0.9])


def test_a_model_with_two_boxes_counts_once_unless_told():
    """Two boxes of one of two models in a group: confidence times 2 / 2, not 3 / 2."""
    given = [[[0, 0, 2, 2]] * 2, [[0, 0, 2, 2]]], [[0.6, 0.6], [0.6]], [[1, 1], [1]]
    assert weighted_boxes_fusion(*given).scores.tolist() == pytest.approx([0.6])
    assert weighted_boxes_fusion(*given, allow_overflow=True).scores.tolist() == pytest.approx([0.9])


def test_boxes_of_confidence_zero_are_boxes():
    fused = weighted_boxes_fusion([[[0, 0, 2, 2]], []], [[0.0], []], [["a"], []])
    assert (fused.boxes.tolist(), fused.scores.tolist(), fused.classes.tolist()) == (
        [[0, 0, 2, 2]],
        [0.0],
        ["a"],
    )
