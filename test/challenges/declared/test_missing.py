"""A case without a value, for every kind of field, under both rules and in both kinds of phase."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import evaluation
from evaluation.challenges.declared.declarable import FIELDS, METRICS, name_of
from evaluation.core.form import CaseForm
from evaluation.io.kinds.displacement import Displacement, DisplacementField
from evaluation.io.volume_header import DEPTH, geometry_columns
from evaluation.io.volumes import write_image
from test.challenges.declared.images import geometry_of_values
from test.challenges.declared.phases import declared_phase, write_table
from test.challenges.declared.scalars import rehearsed

CASES = ["a", "b", "c"]
LESION = np.zeros((2, 20, 20), np.uint8)
LESION[1, 1:3, 2] = 1
CORNERS = {"x1": 2, "y1": 2, "x2": 6, "y2": 6}
POINT = {"x": 1, "y": 1, "z": 1}


@dataclass
class Example:
    """A field with a metric, and one value: the rows of a table, or an image."""

    metric: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    keys: str = ""
    options: str = ""
    cells: dict[str, Any] | None = None
    """The reference in `cases.csv`; None where it is a table of the same rows, or an image."""
    image: np.ndarray | None = None


CLASSES = 'classes = ["x", "y"]'
KINDS = {
    "number": Example("mean_absolute_error", [{"number": 1}], options="worst = 9", cells={"number": 1}),
    "class": Example("accuracy", [{"class": "x"}], CLASSES, cells={"class": "x"}),
    "decision": Example(
        "accuracy", [{"decision": 1}], 'positive = ["x"]\nnegative = ["y"]', cells={"decision": "x"}
    ),
    "class_probabilities": Example(
        "accuracy", [{"x": 1, "y": 0}], CLASSES, cells={"class_probabilities": "x"}
    ),
    "flags": Example("hamming_distance", [{"f": 1}], 'classes = ["f"]', cells={"f": 1}),
    # Comparable pairs need times that differ.
    "survival": Example("concordance_index", [{"survival": 1}], cells={"time": [1, 2, 3], "event": 1}),
    "point": Example(
        "mean_radial_error", [POINT], options="worst = 9", cells={f"point_{axis}": 1 for axis in "xyz"}
    ),
    "box": Example("box_iou", [CORNERS], cells={f"box_{name}": cell for name, cell in CORNERS.items()}),
    "keypoints": Example(
        "mean_radial_error", [{**POINT, "name": name} for name in "nm"], 'classes = ["n", "m"]', "worst = 9"
    ),
    "points": Example("point_f1", [POINT], options="radius = 1"),
    "boxes": Example("box_f1", [CORNERS], options='matching = "optimal"'),
    "label_map": Example("dice", keys='labels = { 1 = "lesion" }', image=LESION),
    "instance_map": Example(
        "recognition_quality",
        keys='labels = { 1 = "lesion" }',
        image=LESION,
    ),
    "image": Example("image_mean_absolute_error", options="worst = 9", image=LESION.astype(np.float32)),
    "probability_map": Example("dice_at_threshold", image=LESION.astype(np.float32)),
    "presence_probabilities": Example(
        "macro_average_precision", [{"u": 1, "v": 0}], 'classes = ["u", "v"]', cells={"u": 1, "v": 0}
    ),
    "displacement_field": Example(
        "dice",
        keys='labels = { 1 = "lesion" }\nfixed_labels = "label_map"\nmoving_labels = "label_map"',
        image=np.zeros((3, *LESION.shape), np.float32),
    ),
    "detection_map": Example("lesion_average_precision", image=LESION.astype(np.float32)),
}


def example_of(table):
    """Return an example of a kind in cells that is declared by its name alone, with its first metric."""
    of = table.model_validate({"kind": name_of(table)}).field(name_of(table))
    value = of.kind.example(CaseForm("a"), np.random.default_rng(0))
    metric = next(name_of(metric) for metric in METRICS if issubclass(table, metric.kinds))
    row, true = of.kind.write_cells(value), of.reference.kind.write_cells(value)
    cells = dict(zip(of.reference.location.columns, true, strict=True))
    return Example(metric, [dict(zip(of.archive.columns, row, strict=True))], cells=cells)


KINDS |= {name_of(table): example_of(table) for table in FIELDS if name_of(table) not in KINDS}
# A table of these says of every case what it has: a case without a row has no object.
HAVE_EMPTY_LISTS = {"points", "boxes"}


def write_rows(path, cases, rows):
    table = [{"case": case, **row} for case in cases for row in rows]
    write_table(path, {column: [row[column] for row in table] for column in table[0]})


def write_map(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    if values.ndim > 3:
        field = Displacement(values, (1.0, 1.0, 1.0))
        path.with_suffix(".nii.gz").write_bytes(DisplacementField().write_file(field, ".nii.gz"))
        return
    path.write_bytes(write_image(values, geometry_of_values(values), ".mha", 3))


def write_phase(folder, submission, rule):
    geometry = geometry_columns(geometry_of_values(LESION), DEPTH)
    cells = [geometry, *(example.cells or {} for example in KINDS.values())]
    columns = {
        name: cell if isinstance(cell, list) else [cell] * len(CASES)
        for row in cells
        for name, cell in row.items()
    }
    tables = "".join(
        f'[fields.{kind}]\nkind = "{kind}"\n{example.keys}\n'
        + (f'table = "{kind}_found.csv"\n' if example.rows else "")
        + f'[tasks.{kind}.metrics.{example.metric}]\nfield = "{kind}"\n{example.options}\n'
        for kind, example in KINDS.items()
    )
    phase = declared_phase(
        folder, tables, {"name": CASES, **columns}, submission=submission, keys=f'missing = "{rule}"'
    )
    for kind, example in KINDS.items():
        if example.image is not None and example.image.ndim == 3:
            for case in CASES:
                write_map(phase / kind / f"{case}.mha", LESION)
        elif example.rows and example.cells is None:
            write_rows(phase / f"{kind}.csv", CASES, example.rows)
    evaluation.seal(phase)
    return phase


def write_archive(folder, cases):
    for kind, example in KINDS.items():
        if example.image is None:
            write_rows(folder / f"{kind}_found.csv", cases, example.rows)
        else:
            for case in cases:
                write_map(folder / kind / f"{case}.mha", example.image)


def test_a_case_without_a_value_takes_the_worst(tmp_path):
    phase = write_phase(tmp_path / "phase", "archive", "worst")
    write_archive(tmp_path / "submission", CASES[:2])
    result = evaluation.evaluate(phase, tmp_path / "submission", workers=0)
    missing = [kind for kind, of in KINDS.items() if kind not in HAVE_EMPTY_LISTS]
    assert [record["worst"] for record in result.records["cases"]] == [[], [], missing]


@pytest.mark.parametrize("submission", ["archive", "algorithm"])
def test_a_phase_of_all_kinds_is_rehearsed(tmp_path, submission):
    result = rehearsed(write_phase(tmp_path, submission, "worst"))
    assert (result.problems, result.without_perfect) == ((), ("displacement_field.dice",))


def test_a_case_without_a_value_is_a_fault(tmp_path):
    phase = write_phase(tmp_path / "phase", "archive", "reject")
    write_archive(tmp_path / "submission", CASES[:2])
    faults = evaluation.check(phase, tmp_path / "submission", workers=0).faults
    files = {
        f"{kind}/c{'.mha' if example.image.ndim == 3 else '.nii.gz'}"
        for kind, example in KINDS.items()
        if example.image is not None
    }
    tables = {f"{kind}_found.csv" for kind in KINDS if KINDS[kind].rows} - {
        f"{kind}_found.csv" for kind in HAVE_EMPTY_LISTS
    }
    assert {fault.file for fault in faults} == files | tables
