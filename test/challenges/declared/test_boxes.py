"""Declared boxes: hits by overlap and by centre, matching rules against SciPy, and three axes."""

import numpy as np
import pytest
from pycocotools import mask as coco_mask
from scipy.optimize import linear_sum_assignment

from evaluation.challenges.declared.boxes import BoxesField, BoxF1, BoxPrecision, BoxRecall
from evaluation.challenges.declared.tables import FieldComparison
from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.io.kinds.boxes import Boxes
from test.challenges.declared.phases import declared_phase, figures_of, write_table
from test.challenges.declared.scalars import rehearsed
from test.oracles import BY_HAND, checked

FIELD = BoxesField(kind="boxes", probability=True)


def hits(table, found, true, field=FIELD):
    references = {"boxes": Boxes(np.array(true, float).reshape(-1, 2 + 2 * field.dimensions))}
    submitted = Boxes(np.array(found, float).reshape(-1, 2 + 2 * field.dimensions))
    (of_class,) = table.case_detections("boxes", field).hits(FieldComparison("boxes", submitted, references))
    return of_class


def figure(table, found, true):
    case = FieldComparison("boxes", Boxes(np.array(found)), {"boxes": Boxes(np.array(true))})
    measure = table.measure("figure", "boxes", FIELD)
    return metric_values(measure.metrics, CaseTable(["case"], [measure.row(case)]))["figure"]


def test_the_best_free_object_is_hit_by_the_most_probable():
    true = [[0, 1, 0, 0, 10, 10], [0, 1, 4, 0, 14, 10]]
    # Overlaps: 6/14, 1 — then 8/12, 8/12 — the second takes the one that is left.
    found = [[0, 0.9, 4, 0, 14, 10], [0, 0.8, 2, 0, 12, 10], [0, 0.7, 2, 0, 12, 10]]
    of_class = hits(BoxF1(metric="box_f1"), found, true)
    assert sorted(of_class.hits.tolist()) == [0.8, 0.9]
    assert of_class.false.tolist() == [0.7]
    assert hits(BoxF1(metric="box_f1", iou=0.7), found, true).counts == (1, 2, 1)


@pytest.mark.parametrize(("stated", "worth"), [({}, 1), ({"of_nothing": 0.25}, 0.25), ({"of_nothing": 0}, 0)])
def test_a_case_of_nothing_is_worth_what_is_stated(stated, worth):
    nothing = Boxes(np.zeros((0, 6)))
    comparison = FieldComparison("boxes", nothing, {"boxes": nothing})
    for table in (BoxF1(metric="box_f1", **stated), BoxPrecision(metric="box_precision", **stated)):
        of_cases = table.measure("figure", "boxes", FIELD).of_cases
        assert of_cases.row(comparison) == {"figure": worth}
        # Then the best submission there is does not reach 1.
        assert [metric.reached for metric in of_cases.metrics] == [worth == 1]


def test_the_centre():
    true = [[0, 1, 0, 0, 10, 10]]
    table = BoxF1(metric="box_f1", hit="centre")
    # The centre may lie on the border; a box that overlaps most of the object may miss it.
    assert hits(table, [[0, 0.9, 9, 9, 11, 11]], true).counts == (1, 0, 0)
    assert hits(table, [[0, 0.9, 1, 0, 22, 10]], true).counts == (0, 1, 1)


def overlap(first, second):
    sides = [
        max(0, min(first[axis + 2], second[axis + 2]) - max(first[axis], second[axis])) for axis in (2, 3)
    ]
    areas = [(box[4] - box[2]) * (box[5] - box[3]) for box in (first, second)]
    shared = sides[0] * sides[1]
    return shared / (sum(areas) - shared)


@pytest.mark.parametrize("seed", range(5))
@checked(
    box_f1="scipy.optimize.linear_sum_assignment",
    box_precision="scipy.optimize.linear_sum_assignment",
    box_recall="scipy.optimize.linear_sum_assignment",
)
def test_the_most_pairs_as_by_scipy(seed):
    random = np.random.default_rng(seed)
    corners = random.integers(0, 12, (9, 2))
    boxes = np.column_stack(
        [np.zeros(9), np.round(random.random(9), 2), corners, corners + random.integers(4, 12, (9, 2))]
    )
    found, true = boxes[:5].tolist(), boxes[5:].tolist()
    iou = np.array([[overlap(one, other) for other in true] for one in found])
    near = iou >= 0.2
    rows, columns = linear_sum_assignment(np.where(near, 1.0, 0.0), maximize=True)
    expected = int(near[rows, columns].sum())
    rule = {"iou": 0.2, "matching": "optimal"}
    table = BoxF1(metric="box_f1", **rule)
    assert hits(table, found, true).counts == (expected, 5 - expected, 4 - expected)
    assert figure(table, found, true) == pytest.approx(2 * expected / 9)
    assert figure(BoxPrecision(metric="box_precision", **rule), found, true) == pytest.approx(expected / 5)
    assert figure(BoxRecall(metric="box_recall", **rule), found, true) == pytest.approx(expected / 4)


def test_three_axes():
    field = BoxesField(kind="boxes", dimensions=3, unit="mm", probability=True)
    true = [[0, 1, 0, 0, 0, 10, 10, 10]]
    # Half of the object, of which the other half is shared with nothing: 500 / 1000.
    half = [[0, 0.9, 0, 0, 0, 10, 10, 5]]
    assert hits(BoxF1(metric="box_f1", iou=0.5), half, true, field).counts == (1, 0, 0)
    assert hits(BoxF1(metric="box_f1", iou=0.51), half, true, field).counts == (0, 1, 1)


TABLES = """\
[fields.boxes]
kind = "boxes"
probability = true

[tasks.detection]
metrics = ["box_f1", "box_precision", "box_recall", "box_froc"]
"""
SIDES = {"width": [100, 100], "height": [100, 100]}


@checked(box_froc=BY_HAND)
def test_several_boxes_of_one_object_are_not_false_where_any_hits(tmp_path):
    tables = TABLES.partition("[tasks")[0] + "[tasks.detection.metrics]\n"
    for name, matching in (("any", "any"), ("one_to_one", "by_confidence")):
        options = f'metric = "box_froc", matching = "{matching}", false_positives_per_case = [0.25]'
        tables += f"{name} = {{ {options} }}\n"
    phase = declared_phase(tmp_path / "phase", tables, {"name": ["a", "b"], **SIDES})
    true = {"case": ["a", "a"], "x1": [0, 20], "y1": [0, 20], "x2": [10, 30], "y2": [10, 30]}
    write_table(phase / "boxes.csv", true)
    found = {"case": ["a", "a", "a", "b"], "x1": [0, 0, 20, 1], "y1": [0, 0, 20, 1]}
    found |= {"x2": [10, 10, 30, 9], "y2": [9, 10, 29, 9], "probability": [0.9, 0.8, 0.7, 0.3]}
    figures = figures_of(phase, tmp_path, found)
    # One to one, the second box of the first object is false, half a one in each case, before the other hit.
    assert (figures["any"], figures["one_to_one"]) == (1, 0.5)


@checked(box_froc=BY_HAND)
def test_a_whole_phase(tmp_path):
    phase = declared_phase(tmp_path / "phase", TABLES, {"name": ["a", "b"], **SIDES})
    true = {"case": ["a", "a"], "x1": [0, 20], "y1": [0, 20], "x2": [10, 30], "y2": [10, 30]}
    write_table(phase / "boxes.csv", true)
    found = {"case": ["a", "a", "b"], "x1": [0, 0, 1], "y1": [0, 0, 1], "x2": [10, 10, 9], "y2": [9, 10, 9]}
    figures = figures_of(phase, tmp_path, {**found, "probability": [0.9, 0.8, 0.95]})
    # One hit, two false, one missed; by falling probability: false, hit, false. So the sensitivity is 0 up
    # to half a false positive per case, and from there on one half.
    expected = {"box_f1": 2 / 5, "box_precision": 1 / 3, "box_recall": 0.5, "box_froc": 0.5 * 5 / 7}
    assert {name: figures[name] for name in expected} == pytest.approx(expected, abs=5e-5)
    assert rehearsed(phase).problems == ()


@checked(box_iou="pycocotools.mask.iou")
def test_one_box_as_by_pycocotools(tmp_path):
    random = np.random.default_rng(6)
    low = random.integers(0, 50, (12, 2))
    true = np.hstack([low, low + random.integers(5, 40, (12, 2))])
    made = np.clip(true + random.integers(-4, 5, (12, 4)), 0, 100)
    made[0] = [0, 0, 0, 0]
    names, corners = [f"c{number:02d}" for number in range(12)], ("x1", "y1", "x2", "y2")
    cases = {"name": names, "width": [100] * 12, "height": [100] * 12}
    cases |= {f"organ_{of}": cells for of, cells in zip(corners, true.T.tolist(), strict=True)}
    tables = '[fields.organ]\nkind = "box"\n\n[tasks.location]\nmetrics = ["box_iou"]\n'
    phase = declared_phase(tmp_path / "phase", tables, cases)
    sizes = [np.hstack([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]]).astype(float) for boxes in (made, true)]
    expected = np.diag(coco_mask.iou(*sizes, [0] * 12)).mean()
    found = figures_of(phase, tmp_path, {"case": names, **dict(zip(corners, made.T.tolist(), strict=True))})
    assert found == {"box_iou": pytest.approx(expected, abs=5e-5)}
    assert rehearsed(phase).problems == ()
