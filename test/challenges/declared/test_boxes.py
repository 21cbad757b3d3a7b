"""Declared boxes: hits by overlap and by centre, matching rules against SciPy, and three axes."""

import json

import numpy as np
import pytest
from pycocotools import mask as coco_mask
from scipy.optimize import linear_sum_assignment

import evaluation
from evaluation.challenges.declared.boxes import BoxesField, BoxF1, BoxFroc, BoxPrecision, BoxRecall
from evaluation.challenges.declared.tables import FieldComparison
from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.fault import PhaseError
from evaluation.io.kinds.boxes import Boxes
from evaluation.organiser.rehearsal import rehearse
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import declared_phase, write_table
from test.oracles import BY_HAND, checked

FIELD = BoxesField(kind="boxes", probability=True)


def hits(table, found, true, field=FIELD):
    references = {"boxes": Boxes(np.array(true, float).reshape(-1, 2 + 2 * field.axes))}
    submitted = Boxes(np.array(found, float).reshape(-1, 2 + 2 * field.axes))
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
    assert hits(BoxF1(metric="box_f1", minimum_probability=0.85), found, true).counts == (1, 0, 1)


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_near_objects_the_one_with_the_larger_overlap_is_hit(order):
    true = [[0, 1, 0, 0, 10, 10], [0, 1, 2, 0, 12, 10]][::order]
    # The first overlaps 8/12 and all of them; the second 6/14, too little, and 8/12 of what is then taken.
    found = [[0, 0.9, 2, 0, 12, 10], [0, 0.8, 4, 0, 14, 10]]
    assert hits(BoxF1(metric="box_f1"), found, true).counts == (1, 1, 1)


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


@pytest.mark.parametrize("seed", range(20))
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
    field = BoxesField(kind="boxes", axes=3, unit="mm", probability=True)
    true = [[0, 1, 0, 0, 0, 10, 10, 10]]
    # Half of the object, of which the other half is shared with nothing: 500 / 1000.
    half = [[0, 0.9, 0, 0, 0, 10, 10, 5]]
    assert hits(BoxF1(metric="box_f1", iou=0.5), half, true, field).counts == (1, 0, 0)
    assert hits(BoxF1(metric="box_f1", iou=0.51), half, true, field).counts == (0, 1, 1)


def test_options_that_do_not_fit():
    without = BoxesField(kind="boxes")
    with pytest.raises(ValueError, match=r"^matching:"):
        BoxF1(metric="box_f1").measure("box_f1", "boxes", without)
    BoxF1(metric="box_f1", matching="optimal").measure("box_f1", "boxes", without)
    with pytest.raises(ValueError, match="expected probability = true in field 'boxes'"):
        BoxFroc(metric="box_froc", matching="optimal").measure("box_froc", "boxes", without)


TABLES = """\
[fields.boxes]
kind = "boxes"
axes = {axes}
probability = true

[tasks.detection]
metrics = ["box_f1", "box_precision", "box_recall", "box_froc"]
"""


def test_three_axes_have_no_socket(tmp_path):
    phase = declared_phase(tmp_path, TABLES.format(axes=3), {"name": ["a"]}, submission="algorithm")
    (phase / "boxes.csv").write_text("case,x1,y1,z1,x2,y2,z2\na,1,1,1,2,2,2\n")
    with pytest.raises(PhaseError) as error:
        evaluation.seal(phase)
    assert error.value.problems == (
        "phase.toml: submission: the platform has no socket for field 'boxes'; expected 'archive'",
    )


@checked(
    box_froc=BY_HAND,
)
def test_a_whole_algorithm_phase(tmp_path):
    cases = {"name": ["a", "b"], "width": [50, 50], "height": [50, 50]}
    phase = declared_phase(tmp_path / "phase", TABLES.format(axes=2), cases, submission="algorithm")
    reference = {"case": ["a", "a"], "x1": [0, 20], "y1": [0, 20], "x2": [10, 30], "y2": [10, 30]}
    write_table(phase / "boxes.csv", reference)
    evaluation.seal(phase)
    boxes = {"a": [(0, 0, 10, 9, 0.9), (0, 0, 10, 10, 0.8)], "b": [(1, 1, 9, 9, 0.95)]}
    jobs = []
    for name, found in boxes.items():
        entries = [
            {"corners": [[x1, y1, 0], [x2, y1, 0], [x2, y2, 0], [x1, y2, 0]], "probability": probability}
            for x1, y1, x2, y2, probability in found
        ]
        value = {
            "type": "Multiple 2D bounding boxes",
            "boxes": entries,
            "version": {"major": 1, "minor": 0},
        }
        given = {"slug": "photograph", "relative_path": "images/photograph"}
        made = {"slug": "boxes", "relative_path": "boxes.json"}
        inputs = [{"socket": given, "image": {"name": f"{name}.mha"}}]
        jobs.append({"pk": name, "inputs": inputs, "outputs": [{"socket": made, "value": value}]})
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "predictions.json").write_text(json.dumps(jobs))
    result = evaluation.evaluate(phase, tmp_path / "in", workers=0).to_dict()["aggregates"]["detection"]
    figures = {name: result[name]["value"] for name in ("box_f1", "box_precision", "box_recall", "box_froc")}
    # One hit, two false, one missed; by falling probability: false, hit, false. So the sensitivity is 0 up
    # to half a false positive per case, and from there on one half.
    assert figures == pytest.approx(
        {"box_f1": 2 / 5, "box_precision": 1 / 3, "box_recall": 0.5, "box_froc": 0.5 * 5 / 7}, abs=5e-5
    )
    assert rehearse(load_phase(phase)).problems == ()


ONE_BOX = '[fields.organ]\nkind = "box"\n\n[tasks.location]\nmetrics = ["box_iou"]\n'


@pytest.mark.parametrize("submission", ["archive", "algorithm"])
@checked(
    box_iou="pycocotools.mask.iou",
)
def test_one_box_as_by_pycocotools(tmp_path, submission):
    random = np.random.default_rng(6)
    low = random.integers(0, 50, (12, 2))
    true = np.hstack([low, low + random.integers(5, 40, (12, 2))])
    found = np.clip(true + random.integers(-4, 5, (12, 4)), 0, 100)
    found[0] = [0, 0, 0, 0]
    names = [f"c{number:02d}" for number in range(12)]
    columns = dict(zip(("x1", "y1", "x2", "y2"), true.T.tolist(), strict=True))
    cases = {"name": names, "width": [100] * 12, "height": [100] * 12}
    cases |= {f"organ_{column}": cells for column, cells in columns.items()}
    phase = declared_phase(tmp_path / "phase", ONE_BOX, cases, submission=submission)
    evaluation.seal(phase)
    (tmp_path / "in").mkdir()
    if submission == "archive":
        columns = dict(zip(("x1", "y1", "x2", "y2"), found.T.tolist(), strict=True))
        write_table(tmp_path / "in" / "predictions.csv", {"case": names, **columns})
    else:
        jobs = []
        for name, (x1, y1, x2, y2) in zip(names, found.tolist(), strict=True):
            corners = [[x1, y1, 0], [x2, y1, 0], [x2, y2, 0], [x1, y2, 0]]
            value = {"type": "2D bounding box", "corners": corners, "version": {"major": 1, "minor": 0}}
            given = {"slug": "ct", "relative_path": "images/ct"}
            inputs = [{"socket": given, "image": {"name": f"{name}.mha"}}]
            outputs = [{"socket": {"slug": "organ", "relative_path": "organ.json"}, "value": value}]
            jobs.append({"pk": name, "inputs": inputs, "outputs": outputs})
        (tmp_path / "in" / "predictions.json").write_text(json.dumps(jobs))
    sizes = [np.hstack([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]]).astype(float) for boxes in (found, true)]
    expected = np.diag(coco_mask.iou(*sizes, [0] * 12)).mean()
    result = evaluation.evaluate(phase, tmp_path / "in", workers=0).to_dict()["aggregates"]["location"]
    assert result["box_iou"]["value"] == pytest.approx(expected, abs=5e-5)
    assert rehearse(load_phase(phase)).problems == ()
