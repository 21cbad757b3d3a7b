"""One output for many cases, whose entries name theirs in each of the ways that there are."""

import json

import numpy as np
import pytest
import SimpleITK
from sklearn.metrics import f1_score

import evaluation
from evaluation.library import SubmissionRejected
from test.challenges.declared.phases import declared_phase, write_table
from test.challenges.declared.scalars import rehearsed
from test.faults import faulted

NAMES = ["eye_7", "eye_3", "eye_9"]
CASES = {
    "name": NAMES,
    "width": [50] * 3,
    "height": [50] * 3,
    "stack_name": ["eyes"] * 3,
    "stack_index": [1, 0, 2],
    "age": [30, 50, 70],
}
VERSION = {"version": {"major": 1, "minor": 0}}
CELLS = """\
[fields.cells]
kind = "points"
dimensions = 2
unit = "pixels"
probability = true
classes = ["stroma", "tumour"]
class_in = "third_coordinate"
stacked = "name"

[tasks.detection.metrics]
point_f1 = { radius = 3 }
"""
TEETH = """\
[fields.teeth]
kind = "boxes"
probability = true
stacked = "third_coordinate"

[tasks.detection.metrics]
box_f1 = {}
"""


def _phase(folder, tables, **references):
    phase = declared_phase(
        folder / "phase", tables, CASES, submission="algorithm", keys='missing = "worst"\n'
    )
    for name, table in references.items():
        write_table(phase / f"{name}.csv", table)
    evaluation.seal(phase)
    return phase


def _write_job(folder, output):
    given = {"socket": {"slug": "scan", "relative_path": "images/scan"}, "image": {"name": "eyes.mha"}}
    job = {"pk": "job1", "inputs": [given], "outputs": [output]}
    (folder / "submission" / "predictions.json").write_text(json.dumps([job]))


def _scored(phase, folder, slug, content):
    """Return the figures of a submission with one job."""
    output = folder / "submission" / "job1" / "output" / f"{slug}.json"
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(content))
    socket = {"slug": slug, "relative_path": f"{slug}.json"}
    _write_job(folder, {"socket": socket, "value": None})
    return _figures(phase, folder)


def _figures(phase, folder):
    (task,) = evaluation.evaluate(phase, folder / "submission", workers=0).to_dict()["aggregates"].values()
    return {name: figure["value"] for name, figure in task.items()}


def _points(*points):
    entries = [{"name": name, "point": list(point), "probability": 0.5} for name, point in points]
    return {"type": "Multiple points", "points": entries, **VERSION}


CELLS_OF = {
    "case": ["eye_7", "eye_3", "eye_3"],
    "x": [10, 10, 20],
    "y": [10, 10, 20],
    "class": ["tumour", "stroma", "tumour"],
}


def test_points_name_their_image_and_have_their_class_as_third_coordinate(tmp_path):
    phase = _phase(tmp_path, CELLS, cells=CELLS_OF)
    # The image of index 0 is eye_3. A hit of each class, one of the wrong class, one in another image.
    found = _points(
        ("image_0", (10, 11, 1)), ("eye_7.mha", (10, 10, 2)), ("image_0", (20, 20, 1)), ("eye_9", (20, 20, 2))
    )
    figures = _scored(phase, tmp_path, "cells", found)
    assert figures == pytest.approx(
        {"point_f1": 4 / 7, "point_f1_stroma": 2 / 3, "point_f1_tumour": 0.5}, abs=5e-5
    )
    assert rehearsed(phase).problems == ()


def test_an_algorithm_alone_needs_the_columns_of_stacks(tmp_path):
    without = {name: cells for name, cells in CASES.items() if not name.startswith("stack_")}
    archive = declared_phase(tmp_path / "archive", CELLS, without)
    write_table(archive / "cells.csv", CELLS_OF)
    evaluation.seal(archive)
    algorithm = declared_phase(tmp_path / "algorithm", CELLS, without, submission="algorithm")
    write_table(algorithm / "cells.csv", CELLS_OF)
    with faulted(evaluation.PhaseError, "cases.csv", "stack_name", "stack_index"):
        evaluation.seal(algorithm)


def test_an_entry_of_no_image_is_a_fault_with_its_place(tmp_path):
    phase = _phase(tmp_path, CELLS, cells=CELLS_OF)
    found = _points(("image_3", (1, 1, 1)), ("eye_4", (1, 1, 1)), ("image_0", (1, 1, 2)), (None, (1, 1, 1)))
    with pytest.raises(SubmissionRejected) as rejected:
        _scored(phase, tmp_path, "cells", found)
    places = [fault.field.rpartition("points")[2] for fault in rejected.value.faults]
    assert sorted(places) == ["[0]", "[1]", "[3]"]
    with pytest.raises(SubmissionRejected) as rejected:
        _scored(phase, tmp_path, "cells", _points(("image_0", (1, 1, 3)), ("image_1", (1, 1, 0.5))))
    assert [fault.found for fault in rejected.value.faults] == ["3", "0.5"]


def test_boxes_have_their_image_as_third_coordinate(tmp_path):
    phase = _phase(tmp_path, TEETH, teeth={"case": ["eye_3"], "x1": [5], "y1": [5], "x2": [15], "y2": [15]})

    def box_in(*planes):
        corners = [[x, y, z] for (x, y), z in zip([(5, 5), (15, 5), (15, 15), (5, 15)], planes, strict=True)]
        entry = {"corners": corners, "probability": 0.9}
        return {"type": "Multiple 2D bounding boxes", "boxes": [entry], **VERSION}

    for plane, figure in ((0, 1), (1, 0)):
        found = _scored(phase, tmp_path, "teeth", box_in(*[plane] * 4))
        assert found["box_f1"] == figure
    planes = (3,) * 4, (0.5,) * 4, (0, 0, 0, 1), (True,) * 4
    for wrong in (*(box_in(*of_box) for of_box in planes), [1, 2, 3], 5):
        with pytest.raises(SubmissionRejected):
            _scored(phase, tmp_path, "teeth", wrong)


ORGANS = """\
[fields.organs]
kind = "label_map"
dimensions = 2
labels = { 1 = "liver", 2 = "spleen" }
stacked = true

[tasks.segmentation.metrics]
dice = {}
"""


@pytest.mark.parametrize("extension", [".mha", ".tif"])
def test_label_maps_follow_each_other_in_one_volume(tmp_path, extension):
    random = np.random.default_rng(2)
    phase = declared_phase(tmp_path / "phase", ORGANS, CASES, submission="algorithm")
    in_order = ("eye_3", "eye_7", "eye_9")
    true = random.integers(0, 3, (3, 50, 50)).astype(np.uint8)
    (phase / "organs").mkdir()
    for name, values in zip(in_order, true, strict=True):
        SimpleITK.WriteImage(SimpleITK.GetImageFromArray(values), phase / "organs" / f"{name}.mha")
    evaluation.seal(phase)
    output = tmp_path / "submission" / "job1" / "output" / "images" / "organs"
    output.mkdir(parents=True)
    socket = {"slug": "organs", "relative_path": "images/organs"}
    _write_job(tmp_path, {"socket": socket, "image": {"name": "x"}})

    def write(planes):
        SimpleITK.WriteImage(SimpleITK.GetImageFromArray(planes), output / f"voi{extension}", True)

    made = np.where(random.random(true.shape) < 0.3, 1, true).astype(np.uint16)
    write(made)
    figures = _figures(phase, tmp_path)
    for label, name in ((1, "liver"), (2, "spleen")):
        dice = [f1_score(*((of == label).ravel() for of in pair)) for pair in zip(true, made, strict=True)]
        assert figures[f"dice_{name}"] == pytest.approx(np.mean(dice), abs=5e-5)
    assert rehearsed(phase).problems == ()
    made[1, 0, 0] = 9
    for planes, kind, case in ((made, "wrong value", "eye_7"), (made[:2], "wrong size", "eye_3")):
        write(planes)
        with pytest.raises(SubmissionRejected) as rejected:
            _figures(phase, tmp_path)
        first = min(rejected.value.faults, key=lambda fault: fault.field)
        assert (first.kind, first.field) == (kind, f"image {case} of the stack")
        assert first.file.endswith(f"images/organs/voi{extension}")
