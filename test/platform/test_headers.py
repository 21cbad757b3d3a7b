"""Tables whose header is not the format's, as participants check and organisers score them."""

import json
import shutil
from pathlib import Path

import pytest

from test.repository import REPOSITORY
from test.started import run

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
def form(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("refuge")
    phase = shutil.copytree(REPOSITORY / "ground-truth" / "refuge-onsite", folder / "phase")
    assert run("seal", phase).returncode == 0
    assert run("form", phase, "--output", folder / "form.json").returncode == 0
    return folder / "form.json"


def with_header(folder: Path, header: str | None) -> Path:
    submission = shutil.copytree(REPOSITORY / "test" / "input" / "refuge-onsite", folder / "submission")
    lines = (submission / FOVEA).read_text().splitlines()[1:]
    (submission / FOVEA).write_text("\n".join([*([] if header is None else [header]), *lines, ""]))
    return submission


@pytest.mark.parametrize(
    "header", ["FileName,Y,X", "name,Y,X", "image,y_coord,x_coord", "FileName,Fovea_Y,Fovea_X", "a,b,c,d"]
)
def test_an_unknown_header_is_a_fault_with_the_names_that_are_expected(form, tmp_path, header):
    checked = run("check", "--form", form, with_header(tmp_path, header))
    assert checked.returncode == 1
    wanted = ("ImageName",) if "Fovea" in header else ("ImageName", "Fovea_X", "Fovea_Y")
    for column in wanted:
        assert (
            f'{FOVEA}, line 1: expected column "{column}", found "{header.partition(",")[0]}"'
            in checked.stdout
        )


@pytest.mark.parametrize(
    "header", [None, "imagename,fovea x,FOVEA_Y", "ImageName;Fovea_X;Fovea_Y".replace(";", " ,")]
)
def test_no_header_and_another_spelling_are_harmless(form, tmp_path, header):
    checked = run("check", "--form", form, with_header(tmp_path, header))
    assert (checked.returncode, checked.stdout.splitlines()[-1][:9]) == (0, "No faults")


def test_columns_that_nobody_reads_are_named(form, tmp_path):
    submission = with_header(tmp_path, "ImageName,Fovea_X,Fovea_Y")
    lines = (submission / FOVEA).read_text().splitlines()
    (submission / FOVEA).write_text(
        "\n".join(f"{line},{'spare' if n == 0 else n}" for n, line in enumerate(lines))
    )
    checked = run("check", "--form", form, submission)
    assert checked.returncode == 0
    assert f'Note: {FOVEA}: "spare": not part of the format and not read' in checked.stdout


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
    phase, submission = tmp_path / "phase", tmp_path / "submission"
    for folder in (phase, submission):
        folder.mkdir()
    (phase / "phase.toml").write_text(PHASE)
    rows = [f"{name},{likelihood},{stage}" for name, (likelihood, _, stage) in ROWS.items()]
    (phase / "cases.csv").write_text("\n".join(["name,likelihood,stage", *rows, ""]))
    if columns is None:
        rows = [f"{stage},{name},{likelihood},7" for name, (likelihood, _, stage) in ROWS.items()]
    (submission / "predictions.csv").write_text("\n".join([*([header] if header else []), *rows, ""]))
    assert run("seal", phase).returncode == 0
    arguments = ("--input", submission, "--ground-truth", phase, "--output", tmp_path / "o")
    done = run("evaluate", *arguments)
    assert done.returncode == int(faulty)
    if faulty:
        assert "predictions.csv" in done.stderr
    else:
        figures = json.loads((tmp_path / "o" / "metrics.json").read_text())["aggregates"]
        assert figures["t"]["mean_absolute_error"]["value"] == 0
        assert figures["u"]["accuracy"]["value"] == 1
