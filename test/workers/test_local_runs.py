"""`check` of an algorithm's local runs: a folder for each, without the platform's list of jobs."""

import json
import shutil
import subprocess
import sys

import pytest

from evaluation.cli.main import main
from evaluation.core.fault import FaultKind
from evaluation.library import check
from evaluation.phase.form_file import write_form
from test.phases import FIELDS, loaded_phase, refuge_submission
from test.repository import REPOSITORY

from .unruly_phase import write_unruly

ALGORITHM = {"submission": "algorithm"}


@pytest.fixture(scope="module")
def form(tmp_path_factory):
    folder = tmp_path_factory.mktemp("form")
    path = folder / "form.json"
    path.write_bytes(write_form(loaded_phase(folder / "phase", keys=ALGORITHM).form))
    return path


@pytest.fixture
def runs(tmp_path, form):
    """Return the outputs of one run for each image, as a container leaves them."""
    archive = refuge_submission(tmp_path / "archive")
    rows = {
        name: [line.split(",") for line in (archive / name).read_text().splitlines()[1:]]
        for name in ("classification_results.csv", "fovea_location_results.csv")
    }
    slugs = {field.name: field.socket.path(field.socket.slug) for field in FIELDS}
    for name, risk in rows["classification_results.csv"]:
        output = tmp_path / "runs" / name / "output"
        mask = output / slugs["segmentation"]
        mask.mkdir(parents=True)
        (mask / "output.png").write_bytes((archive / "segmentation" / f"{name}.png").read_bytes())
        (output / slugs["glaucoma_risk"]).write_text(risk)
    for name, *point in rows["fovea_location_results.csv"]:
        output = tmp_path / "runs" / name / "output" / slugs["fovea"]
        output.write_text(json.dumps([float(value) for value in point]))
    return tmp_path / "runs"


def kinds(form, runs):
    return [fault.kind for fault in check(form, runs, workers=0).faults]


def test_runs_are_a_submission_and_are_left_as_they_are(form, runs):
    before = {path: path.stat().st_nlink for path in runs.rglob("*")}
    assert kinds(form, runs) == []
    assert {path: path.stat().st_nlink for path in runs.rglob("*")} == before


def test_faults_of_runs_speak_of_their_folders(form, runs):
    (runs / "V0001" / "output" / "glaucoma-risk.json").write_text('"high"')
    (runs / "V0002" / "output" / "fovea-location.json").unlink()
    (runs / "V0003").rename(runs / "V3")
    assert sorted(map(str, check(form, runs, workers=0).faults)) == [
        "V0001/output/glaucoma-risk.json: expected a finite number, found the text 'high'",
        "V0002/output/fovea-location.json: expected an output, found none",
        "V3/: expected the name of an image of this phase, found 'V3' (no run for image V0003)",
    ]


def test_a_lacking_run_is_a_lacking_folder(form, runs):
    shutil.rmtree(runs / "V0003")
    assert list(map(str, check(form, runs, workers=0).faults)) == [
        "V0003/output: expected a run for image V0003, found none"
    ]
    for path in runs.iterdir():
        (path / "output").rename(path / "outputs")
    (fault,) = check(form, runs, workers=0).faults
    expected = "the outputs of a run for each image or stack, such as V0001/output"
    assert str(fault) == f"*/output: expected {expected}, found none in V0001, V0002, V0004"


def test_a_list_of_jobs_counts_where_there_is_one(form, runs):
    (runs / "predictions.json").write_text("[]")
    assert set(kinds(form, runs)) == {FaultKind.MISSING}


@pytest.mark.parametrize("workers", [0, 1])
def test_nothing_but_json_is_written_to_stdout(workers, tmp_path):
    """Whatever the libraries write that decode a file in this process."""
    phase, submission = write_unruly(tmp_path, {3: "read:noise"})
    assert main(["form", str(phase), "--output", str(tmp_path / "form.json")]) == 0
    given = ["--form", tmp_path / "form.json", submission, "--json", "--workers", workers]
    done = subprocess.run(
        [sys.executable, "-m", "evaluation", "check", *map(str, given)],
        cwd=REPOSITORY,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    assert json.loads(done.stdout)["passed"] is True
    assert ("noise" in done.stderr) == (workers == 0)
