import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics.arrays import mean_of_defined
from evaluation.metrics.boxes import match_boxes
from evaluation.metrics.detection import DetectionTable
from test.metrics import plain_detection as plain

CLASSES = 3
THRESHOLDS = [Fraction(number, 100) for number in range(25, 80, 5)]


def table_of(images, missed=None, inclusive_corners=True):
    predicted = [(n, *row) for n, (rows, _) in enumerate(images) for row in rows]
    reference = [(n, *row) for n, (_, rows) in enumerate(images) for row in rows]
    detections = np.array(predicted, dtype=np.float64).reshape(-1, 7)
    boxes = np.array(reference, dtype=np.float64).reshape(-1, 6)
    number, classes = detections[:, 0].astype(int), detections[:, 1].astype(int)
    groups = boxes[:, 0].astype(int) * CLASSES + boxes[:, 1].astype(int)
    matches = match_boxes(
        detections[:, 3:],
        number * CLASSES + classes,
        detections[:, 2],
        boxes[:, 2:],
        groups,
        inclusive_corners,
    )
    counts = np.bincount(groups, minlength=len(images) * CLASSES).reshape(-1, CLASSES)
    thresholds = [float(threshold) for threshold in THRESHOLDS]
    hits = matches.found(np.array(thresholds))
    options = {"iou": matches.iou, "missed_predictions": missed}
    return DetectionTable(number, classes, detections[:, 2], hits, counts, thresholds, **options)


# Few places and confidences, so that boxes coincide, overlap equally and tie; some have one pixel.
corners = st.tuples(*[st.integers(0, 4)] * 4).map(
    lambda c: (min(c[0], c[2]), min(c[1], c[3]), max(c[0], c[2]), max(c[1], c[3]))
)
prediction = st.tuples(st.integers(0, CLASSES - 1), st.sampled_from([0.1, 0.5, 0.9]), corners)
reference = st.tuples(st.integers(0, CLASSES - 1), corners)
image = st.tuples(
    st.lists(prediction.map(lambda p: (p[0], p[1], *p[2])), max_size=6),
    st.lists(reference.map(lambda r: (r[0], *r[1])), max_size=4),
)


def expected(function, images, names, *arguments):
    values = [
        [function(images, names, label, threshold, *arguments) for threshold in THRESHOLDS]
        for label in range(CLASSES)
    ]
    return np.array([[math.nan if v is None else float(v) for v in row] for row in values])


@settings(max_examples=60)
@given(st.lists(st.tuples(image, st.integers(0, 3)), min_size=1, max_size=4))
def test_figures_are_those_of_the_plain_rules_and_weights_are_copies(weighted):
    images, weights = zip(*weighted, strict=True)
    copies = [image for image, weight in weighted for _ in range(weight)]
    names = [name for name, weight in enumerate(weights) for _ in range(weight)]
    rows = np.array([weights, np.ones(len(images))])
    table = table_of(images)
    for found, wanted in (
        (table.average_precision(rows), expected(plain.average_precision, copies, names)),
        (table.average_precision(rows, "11_points"), expected(plain.eleven_points, copies, names)),
        (table.mean_iou(rows, True), expected(plain.mean_iou, copies, names, True)),
        (table.mean_iou(rows, False), expected(plain.mean_iou, copies, names, False)),
    ):
        np.testing.assert_allclose(found[0], wanted, atol=1e-12)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        # Envelope: precision 1 up to recall 1/3, 2/3 up to recall 2/3, then 0.
        ("all_points", 1 / 3 + 1 / 3 * 2 / 3),
        ("11_points", (4 + 3 * 2 / 3) / 11),  # levels 0 to 0.3, then 0.4 to 0.6
        ("101_points", (34 + 33 * 2 / 3) / 101),  # levels 0 to 0.33, then 0.34 to 0.66
    ],
)
def test_the_same_curve_read_in_three_ways(rule, expected):
    references = [(0, 0, 0, 9, 9), (0, 20, 0, 29, 9), (0, 40, 0, 49, 9)]
    predictions = [(0, 0.7, 20, 0, 29, 9), (0, 0.8, 60, 0, 69, 9), (0, 0.9, 0, 0, 9, 9)]
    found = table_of([(predictions, references)]).average_precision(np.ones((1, 1)), rule)
    np.testing.assert_allclose(found[0, 0], expected, rtol=1e-12)
    assert np.isnan(found[0, 1:]).all()


def test_detections_never_made_count_in_the_mean_iou_only():
    images = [([(0, 0.9, 0, 0, 9, 9)], [(0, 0, 0, 9, 9)]), ([], [(0, 0, 0, 9, 9)])]
    without, with_them = table_of(images), table_of(images, np.array([[0, 0, 0], [1, 0, 0]]))
    ones = np.ones((1, 2))
    assert without.average_precision(ones)[0, 0, 0] == with_them.average_precision(ones)[0, 0, 0] == 0.5
    assert without.mean_iou(ones, False)[0, 0, 0] == 1
    assert with_them.mean_iou(ones, False)[0, 0, 0] == 0.5


def test_blocks_of_resamples_do_not_change_the_result():
    generator = np.random.default_rng(1)

    def rows(number, with_confidence):
        first = generator.integers(0, 4, (number, 2))
        extent = generator.integers(0, 3, (number, 2))
        columns = [generator.integers(0, CLASSES, number), first, first + extent]
        if with_confidence:
            columns.insert(1, generator.random(number))
        return np.column_stack(columns).tolist()

    table = table_of([(rows(8, True), rows(4, False)) for _ in range(10)])
    weights = generator.integers(0, 3, (4000, 10))  # more than are computed together
    by_twenties = [table.average_precision(few) for few in np.split(weights, 200)]
    np.testing.assert_allclose(table.average_precision(weights), np.concatenate(by_twenties), rtol=1e-13)


def test_mean_over_classes_leaves_out_those_that_do_not_exist():
    values = np.array([[[0.5, 1], [math.nan, math.nan], [1, 0]]])
    assert mean_of_defined(values, axis=-2).tolist() == [[0.75, 0.5]]
    assert np.isnan(mean_of_defined(np.full((1, 2, 1), math.nan), axis=-2)).all()


def test_the_table_of_one_class_keeps_what_its_own_has():
    """Detections never made, and equal confidences that pass a threshold together."""
    images = [([(0, 0.9, 0, 0, 9, 9)], [(0, 0, 0, 9, 9)]), ([], [(0, 0, 0, 9, 9)])]
    table, ones = table_of(images, np.array([[0, 0, 0], [1, 0, 0]])), np.ones((1, 2))
    assert table.single_class(0).mean_iou(ones, False)[0, 0, 0] == 0.5
