"""The public functions on boxes against the plain rules, and against pycocotools."""

import contextlib
import io
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools import mask as coco_mask
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from evaluation.metrics import box_average_precision, box_iou, mean_average_precision, mean_detection_iou
from test.metrics import plain_detection as plain

CLASSES = ("polyp", "cancer")
corners = st.tuples(*[st.integers(0, 4)] * 4).map(
    lambda c: (min(c[0], c[2]), min(c[1], c[3]), max(c[0], c[2]), max(c[1], c[3]))
)
predictions = st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0.1, 0.5, 0.9]), corners), max_size=6)
references = st.lists(st.tuples(st.integers(0, 1), corners), max_size=4)
images = st.lists(st.tuples(predictions, references), min_size=1, max_size=3)


def arguments(content, chosen=None):
    """Return the columns of both sides; names of images and classes are texts."""
    found = [
        (number, *row) for number, (rows, _) in enumerate(content) for row in rows if chosen in (None, row[0])
    ]
    true = [
        (number, *row) for number, (_, rows) in enumerate(content) for row in rows if chosen in (None, row[0])
    ]
    both = {
        "boxes": [row[3] for row in found],
        "scores": [row[2] for row in found],
        "images": [f"image {row[0]}" for row in found],
        "reference_boxes": [row[2] for row in true],
        "reference_images": [f"image {row[0]}" for row in true],
    }
    if chosen is None:
        both["classes"] = [CLASSES[row[1]] for row in found]
        both["reference_classes"] = [CLASSES[row[1]] for row in true]
    return both


@settings(max_examples=200, deadline=None)
@given(images, st.sampled_from([0.25, 0.5, 0.75]))
def test_detection_is_that_of_the_plain_rules(content, threshold):
    flat = [([(k, s, *c) for k, s, c in found], [(k, *c) for k, c in true]) for found, true in content]
    names, exact = range(len(flat)), Fraction(threshold)
    options = {"iou_threshold": threshold, "inclusive_corners": True}
    values = []
    for label in range(2):
        wanted = plain.average_precision(flat, names, label, exact)
        values.append(math.nan if wanted is None else float(wanted))
        columns = arguments(content, label)
        assert box_average_precision(**columns, **options) == pytest.approx(
            values[-1], abs=1e-12, nan_ok=True
        )
        for with_missed in (False, True):
            wanted = plain.mean_iou(flat, names, label, exact, with_missed)
            found = mean_detection_iou(**columns, **options, with_missed=with_missed)
            expected = math.nan if wanted is None else float(wanted)
            assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)
    existing = [value for value in values if not math.isnan(value)]
    found = mean_average_precision(**arguments(content), iou_thresholds=(threshold,), inclusive_corners=True)
    expected = sum(existing) / len(existing) if existing else math.nan
    assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(corners, corners), min_size=1, max_size=6))
def test_iou_is_that_of_pycocotools(pairs):
    first, second = (np.array(side, dtype=np.float64) for side in zip(*pairs, strict=True))
    as_sizes = [np.column_stack((side[:, :2], side[:, 2:] - side[:, :2])) for side in (first, second)]
    with np.errstate(invalid="ignore"):
        expected = np.nan_to_num(coco_mask.iou(*as_sizes, [0] * len(second)))
    np.testing.assert_allclose(box_iou(first[:, None], second), expected, atol=1e-12)


def test_average_precision_is_that_of_pycocotools():
    # One detection a box at most, so that the two rules of matching do not differ, and recall in tenths.
    generator = np.random.default_rng(3)
    true = [(number, (60 * k, 0, 60 * k + 50, 50)) for number in range(2) for k in range(5)]
    found = []
    for number, (x1, y1, x2, y2) in true[:8]:
        shift = int(generator.integers(0, 40))
        found.append((number, (x1 + shift, y1, x2 + shift, y2)))
    found += [(1, (0, 400, 50, 450)), (0, (100, 400, 150, 450))]
    scores = generator.permutation(len(found)) / len(found)
    coco = COCO()
    coco.dataset = {
        "images": [{"id": 1}, {"id": 2}],
        "categories": [{"id": 1}],
        "annotations": [
            {
                "id": position + 1,
                "image_id": number + 1,
                "category_id": 1,
                "bbox": [x1, y1, x2 - x1, y2 - y1],
                "area": 2500,
                "iscrowd": 0,
            }
            for position, (number, (x1, y1, x2, y2)) in enumerate(true)
        ],
    }
    results = [
        {"image_id": number + 1, "category_id": 1, "bbox": [x1, y1, x2 - x1, y2 - y1], "score": float(score)}
        for (number, (x1, y1, x2, y2)), score in zip(found, scores, strict=True)
    ]
    with contextlib.redirect_stdout(io.StringIO()):
        coco.createIndex()
        evaluation = COCOeval(coco, coco.loadRes(results), "bbox")
        # Read in the middle of every tenth, the curve's steps give its area.
        evaluation.params.recThrs = np.arange(0.05, 1, 0.1)
        evaluation.params.iouThrs = np.array([0.3, 0.5, 0.7])
        evaluation.evaluate()
        evaluation.accumulate()
    expected = evaluation.eval["precision"][:, :, 0, 0, -1].mean(axis=1)
    assert len(set(expected.tolist())) == 3
    for threshold, wanted in zip((0.3, 0.5, 0.7), expected, strict=True):
        value = box_average_precision(
            [box for _, box in found],
            scores,
            [number for number, _ in found],
            [box for _, box in true],
            [number for number, _ in true],
            iou_threshold=threshold,
        )
        assert value == pytest.approx(wanted, abs=1e-12)


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
    assert mean_detection_iou(*found, *true) == pytest.approx(expected, nan_ok=True)


SQUARE = [[0, 0, 1, 1]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: box_iou([0, 0, 1], [0, 0, 1, 1]), "first: expected finite x1, y1, x2, y2"),
        (lambda: box_iou([0, 0, 1, 1], [2, 0, 1, 1]), "second: expected x1 ≤ x2"),
        (lambda: box_iou([0, 0, 1, math.nan], [0, 0, 1, 1]), "first: expected finite"),
        (lambda: box_average_precision(SQUARE, [0.5, 0.5], [1], SQUARE, [1]), "scores: expected 1 finite"),
        (lambda: box_average_precision(SQUARE, [math.nan], [1], SQUARE, [1]), "scores: expected 1 finite"),
        (
            lambda: box_average_precision(SQUARE, [0.5], [1, 2], SQUARE, [1]),
            "images: expected one for every box",
        ),
        (
            lambda: box_average_precision(SQUARE, [0.5], [1], SQUARE, [1], iou_threshold=0),
            "above 0 and at most 1",
        ),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
