"""Tables whose header is not the format's, as participants check and organisers score them."""

import shutil
from pathlib import Path

import pytest

from evaluation.evaluate import Rejection, check, evaluate
from evaluation.phase.manifest import scan
from evaluation.phase.named import named_phase
from evaluation.phase.phase import load_phase
from test.repository import REPOSITORY

FOVEA = "fovea_location_results.csv"
ROWS = {"a": ("0.9", "1", "late"), "b": ("0.1", "0", "none"), "c": ("0.4", "1", "none")}
PHASE = """\
name = "headers"
title = "Headers"
submission = "archive"
[fields.likelihood]
kind = "number"
minimum = 0
maximum = 1
[fields.stage]
kind = "class"
classes = ["none", "late"]
[tasks.t.metrics.mean_absolute_error]
field = "likelihood"
[tasks.u.metrics.accuracy]
field = "stage"
"""


@pytest.fixture(scope="module")
def form():
    return named_phase("refuge-onsite").form


def with_header(folder: Path, header: str | None, more: str = "") -> Path:
    """Return a submission whose table has another header, and more behind each of its rows."""
    submission = shutil.copytree(REPOSITORY / "test" / "input" / "refuge-onsite", folder / "submission")
    lines = [f"{line}{more}" for line in (submission / FOVEA).read_text().splitlines()[1:]]
    (submission / FOVEA).write_text("\n".join([*([] if header is None else [header]), *lines, ""]))
    return submission


@pytest.mark.parametrize("header", ["FileName,Y,X", "FileName,Fovea_Y,Fovea_X"])
def test_an_unknown_header_is_a_fault_with_the_names_that_are_expected(form, tmp_path, header):
    faults = check(form, with_header(tmp_path, header), 0).faults
    wanted = ("ImageName",) if "Fovea" in header else ("ImageName", "Fovea_X", "Fovea_Y")
    assert {(fault.place, fault.expected) for fault in faults} == {
        (f"{FOVEA}, line 1", f'column "{column}"') for column in wanted
    }
    assert all(header.partition(",")[0] in fault.found for fault in faults)


def test_positions_without_a_header_are_never_read_by_their_order(form, tmp_path):
    (fault,) = check(form, with_header(tmp_path, None), 0).faults
    assert (fault.place, fault.found) == (f"{FOVEA}, line 1", "none")
    assert fault.expected.endswith('"ImageName", "Fovea_X", "Fovea_Y"')


def test_columns_that_nobody_reads_are_named(form, tmp_path):
    checked = check(form, with_header(tmp_path, "ImageName,Fovea_X,Fovea_Y,spare", ",7"), 0)
    assert not checked.faults
    assert [notice.partition(": not")[0] for notice in checked.notices] == [f'{FOVEA}: "spare"']


@pytest.mark.parametrize(
    ("header", "columns", "faulty"),
    [
        ("case,likelihood,stage", (0, 2), False),
        ("stage,case,likelihood,spare", None, False),
        ("case,probability,grade", (0, 2), True),
        (None, (0, 2), True),  # by position, both fields would take one column
    ],
)
def test_fields_that_share_a_table_are_never_read_by_position(tmp_path, header, columns, faulty):
    folder, submission = tmp_path / "phase", tmp_path / "submission"
    for made in (folder, submission):
        made.mkdir()
    (folder / "phase.toml").write_text(PHASE)
    rows = [f"{name},{likelihood},{stage}" for name, (likelihood, _, stage) in ROWS.items()]
    (folder / "cases.csv").write_text("\n".join(["name,likelihood,stage", *rows, ""]))
    if columns is None:
        rows = [f"{stage},{name},{likelihood},7" for name, (likelihood, _, stage) in ROWS.items()]
    (submission / "predictions.csv").write_text("\n".join([*([header] if header else []), *rows, ""]))
    result = evaluate(load_phase(folder, scan(folder)), submission, 0)
    if faulty:
        assert isinstance(result, Rejection)
        assert {fault.file for fault in result.faults} == {"predictions.csv"}
    else:
        figures = result.figures.aggregates
        assert figures["t"]["mean_absolute_error"].value == 0
        assert figures["u"]["accuracy"].value == 1
