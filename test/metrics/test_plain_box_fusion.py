"""Boxes of several models against the code of the paper's authors (recorded), and by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from evaluation.metrics import non_maximum_suppression, weighted_boxes_fusion
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
        (([], [], []), {}, "expected one array for each model, found 0, 0 and 0"),
        (([[[0, 0, 1, 1]]], [[0.5, 0.5]], [["a"]]), {}, "one for every box"),
        (([[[0, 0, 1, 1]]], [[-0.5]], [["a"]]), {}, "not negative"),
        (([[[0, 0, 1, 1]]], [[float("nan")]], [["a"]]), {}, "not negative"),
        (([[[0, 0, 1, 1]]], [[0.5]], [["a"]]), {"weights": [0]}, "weights"),
        (([[[0, 0, 1, 1]]], [[0.5]], [["a"]]), {"weights": [1, 1]}, "weights"),
        (([[[0, 0, 1, 1]]], [[0.5]], [["a"]]), {"iou_threshold": 1}, "iou_threshold"),
        (([[[2, 0, 1, 1]]], [[0.5]], [["a"]]), {}, "x1 ≤ x2"),
    ],
)
def test_arguments_that_do_not_fit(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        weighted_boxes_fusion(*arguments, **options)


def test_suppression_has_a_threshold_below_one():
    with pytest.raises(ValueError, match="iou_threshold"):
        non_maximum_suppression([], [], [], iou_threshold=1.0)
