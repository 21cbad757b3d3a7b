"""Average precision and recall of boxes against pycocotools, and a case without a result."""

import contextlib
import io
import itertools
import json

import numpy as np
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

import evaluation
from evaluation.challenges.declared.boxes import BoxAveragePrecision, BoxAverageRecall, BoxesField
from evaluation.challenges.declared.tables import FieldComparison
from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.intervals import intervals
from evaluation.core.resampling import Resampling
from evaluation.io.kinds.boxes import Boxes
from evaluation.organiser.rehearsal import rehearse
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import declared_phase, write_table
from test.oracles import checked
from test.started import run

CLASSES = ["a", "b", "c"]
FIELD = BoxesField(kind="boxes", classes=CLASSES, probability=True)
PRECISION = BoxAveragePrecision(metric="box_average_precision", ties="order")
RECALL = BoxAverageRecall(metric="box_average_recall", ties="order")


def image(random, objects, found):
    """Return predicted and reference rows of class, probability and corners; many nearly coincide."""
    corners, sides = random.integers(0, 60, (objects, 2)), random.integers(5, 30, (objects, 2))
    true = np.column_stack(
        [
            random.integers(0, 3, objects),
            np.ones(objects),
            corners,
            corners + sides,
        ]
    ).astype(float)
    chosen = random.integers(0, max(1, objects), found) if objects else np.zeros(0, int)
    rows = true[chosen].copy()
    rows[:, 2:] += random.integers(-3, 4, (len(rows), 4))
    rows[:, 4:] = np.maximum(rows[:, 4:], rows[:, 2:4] + 1)
    rows[:, 1] = random.choice([0.1, 0.3, 0.5, 0.7, 0.9], len(rows))
    swapped = random.random(len(rows)) < 0.1
    rows[swapped, 0] = random.integers(0, 3, swapped.sum())
    return rows, true


def images_of(seed, count=15):
    random = np.random.default_rng(seed)
    return [image(random, random.integers(0, 7), random.integers(0, 12)) for _ in range(count)]


def figures(measure, images, missing=()):
    rows = [
        measure.worst({"boxes": Boxes(true)})
        if number in missing
        else measure.row(FieldComparison("boxes", Boxes(found), {"boxes": Boxes(true)}))
        for number, (found, true) in enumerate(images)
    ]
    return metric_values(measure.metrics, CaseTable([str(number) for number in range(len(images))], rows))


def rows_of(measure, images):
    return [
        measure.row(FieldComparison("boxes", Boxes(found), {"boxes": Boxes(true)})) for found, true in images
    ]


def measure_of(table):
    return table.measure("figure", "boxes", FIELD)


def coco_of(images, most=100):
    """Return precision (thresholds, levels, classes) and recall (thresholds, classes) by pycocotools."""
    numbers = itertools.count(1)
    true, found = [], []
    for number, (predicted, reference) in enumerate(images):
        for side, rows in ((true, reference), (found, predicted)):
            for label, probability, x1, y1, x2, y2 in rows.tolist():
                box = [x1, y1, x2 - x1, y2 - y1]
                side.append(
                    {
                        "id": next(numbers),
                        "image_id": number,
                        "category_id": int(label) + 1,
                        "bbox": box,
                        "area": box[2] * box[3],
                        "iscrowd": 0,
                        "score": probability,
                    }
                )
    gold = COCO()
    gold.dataset = {
        "info": {},
        "images": [{"id": number} for number in range(len(images))],
        "categories": [{"id": 1 + label} for label in range(3)],
        "annotations": true,
    }
    with contextlib.redirect_stdout(io.StringIO()):
        gold.createIndex()
        scored = COCOeval(gold, gold.loadRes(found), "bbox")
        scored.params.iouThrs = np.array(PRECISION.iou_thresholds)
        scored.params.maxDets = [most]
        scored.params.areaRng, scored.params.areaRngLbl = [[0, 1e10]], ["all"]
        scored.evaluate()
        scored.accumulate()
    return scored.eval["precision"][..., 0, 0], scored.eval["recall"][..., 0, 0]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("most", [100, 2])
def test_coco(seed, most):
    images = images_of(seed)
    precision, recall = coco_of(images, most)
    limited = {"max_detections": most}
    for table, expected in (
        (PRECISION.model_copy(update=limited), precision.mean(axis=1)),
        (RECALL.model_copy(update=limited), recall),
    ):
        found = figures(measure_of(table), images)
        each = [found[f"figure_{label}"] for label in CLASSES]
        assert each == pytest.approx(expected.mean(axis=0), rel=1e-12)
        assert found["figure"] == pytest.approx(expected.mean(), rel=1e-12)


def test_a_class_without_objects_does_not_count():
    images = [(found[found[:, 0] < 2], true[true[:, 0] < 2]) for found, true in images_of(1)]
    found = figures(measure_of(PRECISION), images)
    assert np.isnan(found["figure_c"])
    assert found["figure"] == pytest.approx((found["figure_a"] + found["figure_b"]) / 2)


def test_weights_are_numbers_of_copies():
    images = images_of(2, 6)
    # No ties: the copies of an image would come one after the other.
    for number, (found, _) in enumerate(images):
        found[:, 1] = np.linspace(0.1, 0.9, len(found)) + number / 1000
    weights = [2, 0, 1, 3, 1, 1]
    copied = [of for of, weight in zip(images, weights, strict=True) for _ in range(weight)]
    for table in (PRECISION, RECALL):
        measure = measure_of(table)
        cases = WeightedCases(CaseTable(list("abcdef"), rows_of(measure, images)), np.array([weights]))
        (value,) = measure.metrics[0].estimator.values(cases)
        assert value == pytest.approx(figures(measure, copied)["figure"])


def test_a_missing_result_is_worse_than_an_empty_one():
    images = [(true.copy(), true) for _, true in images_of(3)]
    lost = next(number for number, (_, true) in enumerate(images) if len(true))
    missing = figures(measure_of(PRECISION), images, missing={lost})["figure"]
    images[lost] = (images[lost][0][:0], images[lost][1])
    assert 0 < missing < figures(measure_of(PRECISION), images)["figure"] < 1


def test_the_rules_of_voc():
    """A second prediction of the same object is false, also where it overlaps another one."""
    true = np.array([[0, 1, 0, 0, 10, 10], [0, 1, 2, 0, 12, 10]], float)
    found = np.array([[0, 0.9, 0, 0, 10, 10], [0, 0.8, 0, 0, 10, 10]], float)
    options = {"iou_thresholds": [0.5], "curve": "all_points"}
    by_rule = {
        rule: figures(measure_of(PRECISION.model_copy(update={**options, "matching": rule})), [(found, true)])
        for rule in ("coco", "voc")
    }
    assert {rule: figure["figure"] for rule, figure in by_rule.items()} == {"coco": 1, "voc": 0.5}


def test_precisions_know_that_they_are_too_high_on_few_images():
    """The highest precision at any higher recall is above that of many images; a recall is not."""
    for table, is_too_high in ((PRECISION, True), (RECALL, False)):
        measure, images = measure_of(table), images_of(3)
        cases = CaseTable([str(number) for number in range(len(images))], rows_of(measure, images))
        for metric in measure.metrics:
            lower = metric.estimator.with_unseen(cases)
            assert [one < figures(measure, images)[metric.name] for one in lower] == [True] * is_too_high


def test_many_images_have_an_interval_only_if_asked_for():
    measure = measure_of(PRECISION)
    rows = CaseTable(["a", "b"], rows_of(measure, images_of(3)[:2]))
    for images, most, exists in ((2000, None, True), (2001, None, False), (2001, 2001, True)):
        table = rows.take(np.arange(images) % 2)
        chosen = {metric.name: metric for metric in measure.metrics[:2]}
        found = intervals(chosen, [table], Resampling(3, 5, 2, most)).found
        assert {name: one is not None for name, (one,) in found.items()} == dict.fromkeys(found, exists)


def test_curves_are_those_of_the_whole_figure_at_its_first_threshold():
    measure = measure_of(PRECISION.model_copy(update={"iou_thresholds": [0.5, 0.75]}))
    first, *others = (metric.estimator.detections for metric in measure.metrics)
    assert others == [None] * len(CLASSES)
    # The first box has 6 of 10 columns, the second one none.
    found = np.array([[0, 0.9, 0, 0, 6, 10], [0, 0.8, 50, 50, 60, 60]])
    true = np.array([[0, 1, 0, 0, 10, 10]], float)
    table = CaseTable(["a"], rows_of(measure, [(found, true)]))
    candidates = first.candidates(table)
    assert (candidates.confidence.tolist(), candidates.hit.tolist()) == ([0.9, 0.8], [True, False])


@pytest.mark.parametrize("matching", ["coco", "voc"])
@pytest.mark.parametrize(("inclusive", "expected"), [(True, 1), (False, 0)])
def test_inclusive_corners(matching, inclusive, expected):
    """2 × 2 of 2 × 4 pixels with both corners, half of them; 1 × 1 of 1 × 3 without."""
    options = {"iou_thresholds": [0.5], "matching": matching, "inclusive_corners": inclusive}
    images = [(np.array([[0, 0.9, 0, 0, 1, 1]]), np.array([[0, 1.0, 0, 0, 1, 3]]))]
    for table in (PRECISION, RECALL):
        assert figures(measure_of(table.model_copy(update=options)), images)["figure"] == expected


@pytest.mark.parametrize("mirrored", [False, True])
def test_of_equally_probable_boxes_the_one_with_the_largest_overlap_is_matched_first(mirrored):
    # One box has 0.9 of an object and 0.6 of another; the second one has 0.8 of the first object alone.
    large, small = (0, 0, 100, 10), (40, 0, 100, 10)
    true = np.array([[0, 1, *large], [0, 1, *small]], float)
    both = np.array([[0, 0.5, 10, 0, 100, 10], [0, 0.5, 0, 0, 80, 10]])
    if mirrored:  # the boxes are in the other order by their corners
        for rows in (true, both):
            rows[:, [2, 4]] = 100 - rows[:, [4, 2]]
    table = RECALL.model_copy(update={"ties": "together", "iou_thresholds": [0.6]})
    for found in (both, both[::-1]):
        assert figures(measure_of(table), [(found, true)])["figure"] == 0.5
    both[:, 1] = 0.5, 0.6  # the other way round each of them has an object
    assert figures(measure_of(table), [(both, true)])["figure"] == 1


@pytest.mark.parametrize("column", range(2, 6))
def test_which_of_equally_probable_boxes_counts_depends_on_no_order(column):
    table = PRECISION.model_copy(update={"ties": "together", "max_detections": 1, "iou_thresholds": [0.9]})
    true = np.array([[0, 1, 10, 10, 50, 50]], float)
    found = np.array([[0, 0.5, 10, 10, 50, 50]] * 2)
    found[1, column] += 9
    values = {figures(measure_of(table), [(rows, true)])["figure"] for rows in (found, found[::-1])}
    assert len(values) == 1


@pytest.mark.parametrize("matching", ["coco", "voc"])
@pytest.mark.parametrize("most", [100, 2])
@pytest.mark.parametrize("table", [PRECISION, RECALL], ids=["precision", "recall"])
def test_ties_together_depend_on_no_order(table, most, matching):
    options = {"ties": "together", "max_detections": most, "matching": matching}
    measure, random = measure_of(table.model_copy(update=options)), np.random.default_rng(0)
    changed = False
    for seed in range(6):
        images = images_of(seed)
        shuffled = [images[number] for number in random.permutation(len(images))]
        shuffled = [(random.permutation(found), true) for found, true in shuffled]
        assert figures(measure, shuffled)["figure"] == pytest.approx(
            figures(measure, images)["figure"], rel=1e-12
        )
        by_order = measure_of(table.model_copy(update={**options, "ties": "order"}))
        changed |= figures(by_order, shuffled)["figure"] != figures(by_order, images)["figure"]
    # Otherwise nothing has been tested; without a limit hardly any recall depends on the order.
    assert changed or (table is RECALL and most == 100)


def test_ties_together_pass_each_threshold_together():
    """One object and one prediction in each image: hits are known, and the curve follows by definition."""
    random = np.random.default_rng(5)
    confidence, hit = random.choice([0.2, 0.4, 0.6, 0.8], 40), random.random(40) < 0.5
    true = np.array([[0, 1, 0, 0, 10, 10]], float)
    images = [
        (
            np.array([[0, probability, *(2 * [0 if is_hit else 20]), *(2 * [10 if is_hit else 30])]], float),
            true,
        )
        for probability, is_hit in zip(confidence, hit, strict=True)
    ]
    points = [
        (hit[confidence >= least].sum() / 40, hit[confidence >= least].mean())
        for least in np.unique(confidence)
    ]
    levels = np.linspace(0, 1, 101)
    expected = np.mean([max([p for recall, p in points if recall >= level], default=0) for level in levels])
    together = measure_of(PRECISION.model_copy(update={"ties": "together"}))
    assert figures(together, images)["figure_a"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("ties", "values"), [("", (0.5, 0.5)), ('ties = "order"\n', (1, 0.5))])
def test_names_of_cases_decide_ties_only_if_asked(tmp_path, ties, values):
    found = []
    for first, second in ("ab", "ba"):
        folder = tmp_path / first
        tables = '[fields.boxes]\nkind = "boxes"\nprobability = true\n'
        tables += f"[tasks.d.metrics.box_average_precision]\n{ties}"
        phase = declared_phase(
            folder / "phase", tables, {"name": ["a", "b"], "width": [99] * 2, "height": [99] * 2}
        )
        (phase / "boxes.csv").write_text(f"case,x1,y1,x2,y2\n{first},0,0,10,10\n")
        (folder / "in").mkdir()
        rows = f"{first},0,0,10,10,1\n{second},50,50,60,60,1\n"
        (folder / "in" / "predictions.csv").write_text(f"case,x1,y1,x2,y2,probability\n{rows}")
        for command in (
            ("seal", phase),
            ("evaluate", "--input", folder / "in", "--ground-truth", phase, "--output", folder),
        ):
            done = run(*command)
            assert (done.returncode, done.stderr) == (0, "")
        result = json.loads((folder / "metrics.json").read_text())
        found.append(result["aggregates"]["d"]["box_average_precision"]["value"])
    assert tuple(found) == values


@checked(
    box_average_precision="pycocotools.cocoeval.COCOeval",
    box_average_recall="pycocotools.cocoeval.COCOeval",
)
def test_a_whole_phase(tmp_path):
    images = images_of(4)
    names = [f"i{number:02d}" for number in range(len(images))]
    cases = {"name": names, "width": [200] * len(names), "height": [200] * len(names)}
    tables = (
        '[fields.boxes]\nkind = "boxes"\nclasses = ["a", "b", "c"]\nprobability = true\n\n'
        '[tasks.detection.metrics.box_average_precision]\nties = "order"\n'
        '[tasks.detection.metrics.box_average_recall]\nties = "order"\n'
    )
    images = [(np.clip(found, 0, 200), true) for found, true in images]
    phase = declared_phase(tmp_path / "phase", tables, cases)
    for path, side, columns in (
        (phase / "boxes.csv", 1, ("x1", "y1", "x2", "y2", "class")),
        (tmp_path / "in" / "predictions.csv", 0, ("x1", "y1", "x2", "y2", "class", "probability")),
    ):
        lines = [
            (name, *row[2:], CLASSES[int(row[0])], row[1])[: 1 + len(columns)]
            for name, image in zip(names, images, strict=True)
            for row in image[side].tolist()
        ]
        write_table(path, dict(zip(("case", *columns), zip(*lines, strict=True), strict=True)))
    evaluation.seal(phase)
    result = evaluation.evaluate(phase, tmp_path / "in", workers=0).to_dict()["aggregates"]["detection"]
    precision, recall = coco_of(images)
    assert result["box_average_precision"]["value"] == pytest.approx(precision.mean(), abs=5e-5)
    assert result["box_average_recall"]["value"] == pytest.approx(recall.mean(), abs=5e-5)
    assert rehearse(load_phase(phase)).problems == ()
