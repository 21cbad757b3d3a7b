"""Whole runs of a REFUGE phase: order of submissions, faults, missing results, values that no file holds.

Each kind of fault alone, and that none depends on labels, is in `test.messages` and `test.hostile`.
"""

import csv
import shutil
from pathlib import Path

import pytest
from PIL import Image

from evaluation.core.fault import FaultKind
from evaluation.evaluate import Rejection, Result, check, evaluate
from evaluation.phase.phase import Phase, load_phase
from evaluation.platform.result_file import write_metrics
from evaluation.workers.reports import ValuesOfBatch
from test.phases import HEIGHT, WIDTH, imperfect, refuge_phase, refuge_submission

CASES = 12


@pytest.fixture(scope="module")
def phase(tmp_path_factory) -> Phase:
    return load_phase(refuge_phase(tmp_path_factory.mktemp("p") / "phase", CASES))


@pytest.fixture
def submission(tmp_path) -> Path:
    return refuge_submission(tmp_path / "submission", CASES, change=imperfect)


def rewrite(path: Path, change) -> None:
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(change(rows))


def test_workers_and_order_of_files_change_no_byte(phase, submission, tmp_path):
    shuffled = tmp_path / "shuffled"
    for path in sorted(submission.rglob("*.*"), reverse=True):
        target = shuffled / path.relative_to(submission)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    rewrite(shuffled / "classification_results.csv", lambda rows: [rows[0], *reversed(rows[1:])])
    files = set()
    for number, (folder, workers) in enumerate(((submission, 0), (submission, 1), (shuffled, 2))):
        result = evaluate(phase, folder, workers)
        assert isinstance(result, Result)
        (tmp_path / str(number)).mkdir()
        files.add(write_metrics(result.metrics, tmp_path / str(number)).read_bytes())
    assert len(files) == 1


def told(rejection: Result | Rejection) -> set[tuple[FaultKind, str, str]]:
    assert isinstance(rejection, Rejection)
    return {(fault.kind, fault.place, fault.found) for fault in rejection.faults}


def test_all_faults_are_reported_at_once_by_kind_and_place_with_what_was_found(phase, submission):
    masks, fovea = submission / "segmentation", submission / "fovea_location_results.csv"
    risks = submission / "classification_results.csv"
    shutil.copy(masks / "V0001.png", masks / "V9999.png")
    shutil.copy(masks / "V0001.png", masks / "v0001.tif")
    Image.new("L", (WIDTH, HEIGHT - 1), 255).save(masks / "V0002.png")
    Image.new("L", (WIDTH, HEIGHT), 7).save(masks / "V0003.png")
    (masks / "V0004.png").unlink()
    (masks / "V0005.png").write_bytes(b"no image")
    rewrite(risks, lambda rows: [*rows[:3], [rows[3][0], "high"], *rows[4:], rows[1], ["V7777", "0.5"]])
    rewrite(fovea, lambda rows: [rows[0], [rows[1][0], "16.5", "5"], *rows[2:]])
    result = evaluate(phase, submission, 2)
    assert told(result) == {
        (FaultKind.UNKNOWN, "segmentation/V9999.png", "a file of another name"),
        (FaultKind.DUPLICATE, "segmentation/v0001.tif", "a second one beside segmentation/V0001.png"),
        (FaultKind.WRONG_SIZE, "segmentation/V0002.png", "16 × 11 pixels"),
        (FaultKind.WRONG_VALUE, "segmentation/V0003.png", "7"),
        (FaultKind.MISSING, "segmentation/V0004.bmp", "none"),
        (FaultKind.UNREADABLE, "segmentation/V0005.png", "other content"),
        (FaultKind.MALFORMED, "classification_results.csv, line 4, Glaucoma Risk", '"high"'),
        (FaultKind.DUPLICATE, "classification_results.csv, line 14, FileName", "a second one beside line 2"),
        (FaultKind.UNKNOWN, "classification_results.csv, line 15, FileName", "'V7777'"),
        (FaultKind.WRONG_VALUE, "fovea_location_results.csv, line 2, Fovea_X, Fovea_Y", "x = 16.5"),
    }
    assert check(phase.form, submission, 0).faults == result.faults


def test_values_that_no_file_holds_reject_the_submission_with_a_note(phase, submission, monkeypatch):
    """As a reader might that was taken over by a file; scorers check what it hands on."""
    packed = ValuesOfBatch.packed

    def lies(self):
        values = packed(self)
        values["segmentation"][1][0] = ["no", "mask"]
        return values

    monkeypatch.setattr(ValuesOfBatch, "packed", lies)
    found = evaluate(phase, submission, workers=0)
    assert isinstance(found, Rejection)
    (fault,) = found.faults
    assert (fault.file, fault.found) == (".", "one that misleads its reader")
    note, where, *_ = found.notes
    assert "may have taken it over" in note
    assert where.startswith(f"case {phase.cases.forms[0].name}: ")
