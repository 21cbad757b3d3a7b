import contextlib
import io
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools import mask as coco_mask
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from evaluation.metrics import (
    box_average_precision,
    box_iou,
    mean_average_precision,
    mean_detection_iou,
)
from evaluation.metrics.boxes import (
    LabelledBoxes,
    confuse_boxes,
    iou_of_corners,
    match_at_thresholds,
    match_boxes,
)
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
    voc = {"inclusive_corners": True, "matching": "voc", "curve": "all_points"}
    voc["iou_thresholds"] = (threshold,)
    values = []
    for label in range(2):
        wanted = plain.average_precision(flat, names, label, exact)
        values.append(math.nan if wanted is None else float(wanted))
        columns = arguments(content, label)
        assert box_average_precision(**columns, **voc) == pytest.approx(values[-1], abs=1e-12, nan_ok=True)
        for with_missed in (False, True):
            wanted = plain.mean_iou(flat, names, label, exact, with_missed)
            found = mean_detection_iou(
                **columns, iou_threshold=threshold, with_missed=with_missed, inclusive_corners=True
            )
            expected = math.nan if wanted is None else float(wanted)
            assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)
    existing = [value for value in values if not math.isnan(value)]
    found = mean_average_precision(**arguments(content), **voc)
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
            iou_thresholds=(threshold,),
            curve="all_points",
        )
        assert value == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_defaults_are_those_of_pycocotools(seed):
    # Crowded boxes, so that detections compete for a box and more than ten of an image can count.
    generator = np.random.default_rng(seed)

    def rows(number):
        lower = generator.integers(0, 20, (number, 2)).astype(float)
        return generator.integers(0, 3, number), np.hstack(
            (lower, lower + generator.integers(5, 30, (number, 2)))
        )

    (true_images, true), (images, found) = rows(12), rows(60)
    scores = generator.permutation(60) / 60
    coco = COCO()
    coco.dataset = {
        "images": [{"id": number + 1} for number in range(3)],
        "categories": [{"id": 1}],
        "annotations": [
            {"id": place + 1, "image_id": int(number) + 1, "category_id": 1, "iscrowd": 0, "area": 100}
            | {"bbox": [x1, y1, x2 - x1, y2 - y1]}
            for place, (number, (x1, y1, x2, y2)) in enumerate(zip(true_images, true.tolist(), strict=True))
        ],
    }
    results = [
        {"image_id": int(number) + 1, "category_id": 1, "bbox": [x1, y1, x2 - x1, y2 - y1], "score": score}
        for number, (x1, y1, x2, y2), score in zip(images, found.tolist(), scores.tolist(), strict=True)
    ]
    with contextlib.redirect_stdout(io.StringIO()):
        coco.createIndex()
        evaluation = COCOeval(coco, coco.loadRes(results), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
    expected = evaluation.eval["precision"][:, :, 0, 0, :].mean(axis=(0, 1))
    arguments = (found, scores, images, true, true_images)
    few = [box_average_precision(*arguments, max_detections=most) for most in (1, 10)]
    assert [*few, box_average_precision(*arguments)] == pytest.approx(expected, abs=1e-12)
    assert len(set(expected.tolist())) == 3


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


def average_with(**options):
    return box_average_precision(SQUARE, [0.5], [1], SQUARE, [1], **options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: box_iou([0, 0, 1], [0, 0, 1, 1]), "^first:"),
        (lambda: box_iou([0, 0, 1, 1], [2, 0, 1, 1]), "^second:"),
        (lambda: box_iou([0, 0, 1, math.nan], [0, 0, 1, 1]), "^first:"),
        (lambda: box_average_precision(SQUARE, [0.5, 0.5], [1], SQUARE, [1]), "^scores:"),
        (lambda: box_average_precision(SQUARE, [math.nan], [1], SQUARE, [1]), "^scores:"),
        (
            lambda: box_average_precision(SQUARE, [0.5], [1, 2], SQUARE, [1]),
            "^images:",
        ),
        (lambda: average_with(matching="greedy"), "^matching:"),
        (lambda: average_with(curve="line"), "^curve:"),
        (lambda: average_with(max_detections=0), "^max_detections:"),
        (
            lambda: box_average_precision(SQUARE, [0.5], [1], SQUARE, [1], iou_thresholds=[0]),
            "above 0 and at most 1",
        ),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("matching", ["coco", "voc"])
def test_corners_are_pixels_of_the_box_under_both_matchings(matching):
    """One pixel of two in common: with inclusive corners an IoU of 1/2, without both boxes are empty."""
    found, true = [[0, 0, 1, 0]], [[0, 0, 0, 0]]
    for inclusive, value in ((True, 1.0), (False, 0.0)):
        options = {"matching": matching, "inclusive_corners": inclusive, "iou_thresholds": (0.5,)}
        assert box_average_precision(found, [0.9], [1], true, [1], **options) == value


def test_of_equal_confidences_the_largest_overlap_comes_first():
    """The second box overlaps both objects, and the first object more than the first box does."""
    found, true = [[0, 0, 10, 10], [0, 4, 10, 14]], [[0, 2.5, 10, 12.5], [0, 7, 10, 17]]
    options = {"iou_thresholds": (0.4,), "curve": "all_points"}

    def value(ties):
        return box_average_precision(found, [0.5, 0.5], [1, 1], true, [1, 1], **options, ties=ties)

    # In their order each box takes an object; else the second box takes the first object: 1 of 2, both ways.
    assert (value("order"), value("together")) == (1.0, 0.25)


def test_by_default_corners_are_edges_and_missed_boxes_do_not_count():
    """Boxes of 9 × 9 and 9 × 7 pixels, or of 10 × 10 and 10 × 8 where both corners count."""
    found, true = [[0, 0, 9, 9]], [[0, 0, 9, 7], [50, 50, 60, 60]]
    arguments = found, [0.5], [1], true, [1, 1]
    assert mean_detection_iou(*arguments) == pytest.approx(7 / 9)
    assert mean_detection_iou(*arguments, inclusive_corners=True) == pytest.approx(8 / 10)
    assert mean_detection_iou(*arguments, with_missed=True) == pytest.approx(7 / 18)
    classes = found, [0.5], ["a"], [1], true[:1], ["a"], [1]
    for inclusive, value in (({}, 0), ({"inclusive_corners": True}, 1)):
        assert mean_average_precision(*classes, iou_thresholds=(0.79,), **inclusive) == value


def test_by_default_a_hundred_boxes_of_an_image_count():
    boxes = [[0, 0, 1, 1]] * 100 + [[5, 5, 9, 9]]
    scores, images = np.linspace(1, 0.1, 101), [1] * 101
    assert box_average_precision(boxes, scores, images, boxes[-1:], [1]) == 0
    options = {"max_detections": 101, "curve": "all_points"}
    assert box_average_precision(boxes, scores, images, boxes[-1:], [1], **options) == pytest.approx(1 / 101)
    classes = ["a"] * 101
    found = mean_average_precision(boxes, scores, classes, images, boxes[-1:], ["a"], [1])
    assert found == 0


def test_a_threshold_of_one_is_reached_by_equal_boxes():
    assert average_with(iou_thresholds=(1.0,)) == 1
    for wrong in ((1.5,), [[0.5], [0.75]], ()):
        with pytest.raises(ValueError, match="above 0 and at most 1"):
            average_with(iou_thresholds=wrong)


@pytest.mark.parametrize("matching", ["coco", "voc"])
def test_equal_confidences_together_whatever_their_order(matching):
    """Two images whose only box is found, with a false box of the same confidence, in each order of rows."""
    found = np.array([[0, 0, 9, 9], [0, 0, 9, 8], [50, 50, 60, 60], [70, 70, 80, 80]])
    images, scores, true = np.array([1, 1, 1, 2]), np.array([0.5] * 4), [[0, 0, 9, 9]]
    options = {"matching": matching, "curve": "all_points", "ties": "together", "iou_thresholds": (0.5, 0.95)}
    for most in (1, 2, 100):
        values = {
            box_average_precision(
                found[order], scores[order], images[order], true, [1], max_detections=most, **options
            )
            for order in map(list, itertools.permutations(range(4)))
        }
        assert len(values) == 1


UNEQUAL = st.lists(st.lists(st.sampled_from([0.0, 0.4, 0.5, 0.7]), min_size=2, max_size=2), max_size=6)


@given(UNEQUAL)
def test_of_equal_confidences_the_largest_overlap_is_matched_first(overlaps):
    """Against a loop: the first of the thresholds alone decides what is near enough to come first."""
    iou, thresholds = np.array(overlaps).reshape(-1, 2), np.array([0.5, 0.6])
    found = match_at_thresholds(iou, np.full(len(iou), 0.5), thresholds, together=True).at_thresholds
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
    found = match_at_thresholds(np.array([[0.6], [0.8]]), np.array([0.5, 0.5]), np.array([0.5]))
    assert found.at_thresholds[:, 0].tolist() == [True, False]


def test_box_iou_counts_its_corners_where_told():
    first, second = [[0, 0, 9, 9]], [[5, 0, 14, 9]]
    assert box_iou(first, second, inclusive_corners=True).tolist() == [pytest.approx(50 / 150)]
    assert box_iou(first, second).tolist() == [pytest.approx(36 / 126)]


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


@pytest.mark.parametrize("twentieths", range(5, 16))
def test_iou_of_a_threshold_reaches_it(twentieths):
    found = iou_of_corners(np.array([0.0, 0, 19, 0]), np.array([0.0, 0, twentieths - 1, 0]), True)
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


CANCER, POLYP, BE = range(3)


ONE, LOW, OTHER = (0, 0, 9, 9), (0, 0, 9, 7), (50, 50, 69, 69)


def labelled(*rows):
    """Return boxes of rows (image, class, confidence, corners)."""
    table = np.array([(image, label, sure, *corners) for image, label, sure, corners in rows], dtype=float)
    table = table.reshape(-1, 7)
    return LabelledBoxes(table[:, 3:], table[:, 0].astype(int), table[:, 1].astype(int), table[:, 2])


def confused(detections, references, threshold=0.5):
    found = confuse_boxes(labelled(*detections), labelled(*references), threshold, inclusive_corners=True)
    return found.hit.tolist(), found.found.tolist(), found.called.tolist()


def test_a_cancer_that_is_called_a_polyp():
    detections = [(0, POLYP, 0.9, LOW), (0, POLYP, 0.8, OTHER), (1, POLYP, 0.7, ONE)]
    references = [(0, CANCER, 1, ONE), (0, POLYP, 1, OTHER), (1, BE, 1, OTHER)]
    assert confused(detections, references) == (
        [False, True, False],
        [False, True, False],
        [POLYP, -1, -1],  # in the second image nothing overlaps
    )
    # 80 of 100 pixels.
    assert confused(detections, references, threshold=0.81)[2] == [-1, -1, -1]
    found = confuse_boxes(labelled(*detections), labelled(*references), 0.5, inclusive_corners=True)
    expected = [[0, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert found.counts(np.array([CANCER, POLYP, BE]), 3).tolist() == expected


def test_of_two_boxes_that_reach_a_threshold_exactly_the_first_one_counts():
    """LOW and ONE have 80 of 100 pixels in common with inclusive corners, and 63 of 81 without."""
    detections, reference = [(0, POLYP, 0.9, LOW), (0, POLYP, 0.5, ONE)], [(0, POLYP, 1, ONE)]
    assert confused(detections, reference, threshold=0.8) == ([True, False], [True], [-1])
    others = [(0, POLYP, 0.9, LOW), (0, BE, 0.5, ONE)]
    assert confused(others, [(0, CANCER, 1, ONE)], threshold=0.8)[2] == [POLYP]
    for true, threshold, hit, called in (
        (POLYP, 0.77, True, -1),
        (POLYP, 0.8, False, -1),
        (CANCER, 0.77, False, POLYP),
        (CANCER, 0.8, False, -1),
    ):
        found = confuse_boxes(labelled((0, POLYP, 0.9, LOW)), labelled((0, true, 1, ONE)), threshold, False)
        assert (found.hit.tolist(), found.called.tolist()) == ([hit], [called])


def test_a_box_in_another_image_is_no_hit_whatever_its_class():
    for detection, reference in (((2, 0), (0, 1)), ((0, 1), (2, 0))):
        found = confuse_boxes(labelled((*detection, 0.9, ONE)), labelled((*reference, 1, ONE)), 0.5, True)
        assert (found.hit.tolist(), found.called.tolist()) == ([False], [-1])


def test_the_right_class_comes_first():
    """A cancer within Barrett's oesophagus: both are right, whatever the more confident one overlaps most."""
    detections = [(0, BE, 0.9, ONE), (0, CANCER, 0.5, LOW)]
    references = [(0, CANCER, 1, ONE), (0, BE, 1, LOW)]
    assert confused(detections, references) == ([True, True], [True, True], [-1, -1])


def test_the_most_confident_one_is_what_a_box_is_called():
    detections = [(0, POLYP, 0.5, ONE), (0, BE, 0.9, LOW)]
    assert confused(detections, [(0, CANCER, 1, ONE)])[2] == [BE]


def test_a_second_box_of_the_right_class_is_false_and_no_confusion():
    """It looks at the box that is taken; the free one of its class, which it also overlaps, is missed."""
    detections = [(0, POLYP, 0.9, ONE), (0, POLYP, 0.5, ONE)]
    references = [(0, POLYP, 1, ONE), (0, POLYP, 1, LOW)]
    assert confused(detections, references) == ([True, False], [True, False], [-1, -1])


def test_nothing():
    assert confused([], []) == ([], [], [])
    assert confused([(0, BE, 1, ONE)], []) == ([False], [], [])
    assert confused([], [(0, BE, 1, ONE)]) == ([], [False], [-1])


box_confusion_corners = st.sampled_from([ONE, LOW, OTHER, (0, 0, 9, 5), (50, 50, 69, 60)])


box = st.tuples(st.integers(0, 1), st.integers(0, 2), st.sampled_from([0.1, 0.5, 0.9]), box_confusion_corners)


@settings(max_examples=200, deadline=None)
@given(st.lists(box, max_size=8), st.lists(box, max_size=6))
def test_no_box_counts_twice(detections, references):
    given, true = labelled(*detections), labelled(*references)
    found = confuse_boxes(given, true, 0.5, inclusive_corners=True)
    assert found.hit.sum() == found.found.sum()
    called = found.called >= 0
    assert not (called & found.found).any()
    assert called.sum() <= (~found.hit).sum()
    for position in np.flatnonzero(called):
        near = iou_of_corners(given.corners, true.corners[position], True) >= 0.5
        of_class = (given.classes == found.called[position]) & (given.images == true.images[position])
        assert (near & of_class & ~found.hit).any()
        assert found.called[position] != true.classes[position]
    counts = found.counts(true.classes, 3)
    assert np.trace(counts) == found.hit.sum()
    assert counts.sum() == found.hit.sum() + called.sum()


def test_an_overlap_that_equals_the_threshold_is_a_hit():
    iou = np.array([[0.5, 0.25], [0.0, 0.75]])
    found = match_at_thresholds(iou, np.array([0.9, 0.8]), np.array([0.5, 0.75, 0.8]))
    assert found.at_thresholds.tolist() == [[True, False, False], [True, True, False]]
    assert found.iou.tolist() == [0.5, 0.75]
    assert found.take(np.array([1])).iou.tolist() == [0.75]
    nothing = match_at_thresholds(np.zeros((2, 0)), np.array([0.9, 0.8]), np.array([0.5]))
    assert (nothing.iou.tolist(), nothing.at_thresholds.tolist()) == ([0, 0], [[False], [False]])
