"""Whole runs of a REFUGE phase: order of submissions, missing results, determinism, privacy."""

import argparse
import csv
import json
import shutil
from pathlib import Path

import pytest
from PIL import Image

from evaluation.core.fault import FaultKind
from evaluation.core.outcome import no_progress
from evaluation.evaluate import Rejection, Result, check, evaluate
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import Phase, load_phase
from evaluation.phase.scores import case_records
from evaluation.platform.result_file import render, write_metrics
from evaluation.workers.reports import ValuesOfBatch

refuge = pytest.importorskip("evaluation.organiser.samples.refuge")

QUALITIES = ("perfect", "good", "poor", "random")


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> Path:
    """A sealed phase of 30 small images with four submissions."""
    folder = tmp_path_factory.mktemp("sample")
    parser = argparse.ArgumentParser()
    refuge.add_arguments(parser)
    arguments = parser.parse_args(
        ["--cases", "30", "--width", "96", "--height", "80", "--glaucoma", "0.4", "--extension", ".png"]
    )
    arguments.output, arguments.name, arguments.seed = folder, "refuge-test", 7
    refuge.write(arguments, no_progress)
    phase_folder = folder / "ground-truth" / "refuge-test"
    seal(phase_folder, scan(phase_folder))
    return folder


@pytest.fixture
def phase(sample) -> Phase:
    return load_phase(sample / "ground-truth" / "refuge-test")


@pytest.fixture
def submission(sample, tmp_path) -> Path:
    """A copy of the good submission that a test may spoil."""
    return Path(shutil.copytree(sample / "submissions" / "good", tmp_path / "submission"))


def changed(phase: Phase, folder: Path, old: str, new: str) -> Phase:
    """Return a copy of a phase with a changed configuration."""
    copy = Path(shutil.copytree(phase.folder, folder))
    text = (copy / "phase.toml").read_text()
    assert old in text
    (copy / "phase.toml").write_text(text.replace(old, new))
    seal(copy, scan(copy))
    return load_phase(copy)


def values(result: Result | Rejection) -> dict[str, float]:
    assert isinstance(result, Result), result
    return {
        f"{task}.{name}": estimate.value
        for task, metrics in result.figures.aggregates.items()
        for name, estimate in metrics.items()
    }


def rewrite(path: Path, change) -> None:
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(change(rows))


def test_better_submissions_have_better_values(sample, phase):
    scores = [values(evaluate(phase, sample / "submissions" / quality, 0)) for quality in QUALITIES]
    for task in phase.tasks:
        for metric in task.metrics:
            name = f"{task.name}.{metric.name}"
            ordered = [score[name] for score in scores]
            assert ordered == sorted(ordered, reverse=metric.better == "higher"), name
            assert ordered[0] == metric.best, name
            assert len(set(ordered)) == 4, name


def test_auc_of_the_good_submission_is_the_chosen_one(sample, phase):
    auc = values(evaluate(phase, sample / "submissions" / "good", 0))["classification.auc"]
    assert auc == pytest.approx(0.95, abs=0.01)


def test_workers_and_order_of_files_change_no_byte(sample, phase, tmp_path):
    shuffled = tmp_path / "shuffled"
    for path in sorted((sample / "submissions" / "good").rglob("*.*"), reverse=True):
        target = shuffled / path.relative_to(sample / "submissions" / "good")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    rewrite(shuffled / "classification_results.csv", lambda rows: [rows[0], *reversed(rows[1:])])
    good = sample / "submissions" / "good"
    files = set()
    for number, (folder, workers) in enumerate(((good, 0), (good, 1), (good, 2), (shuffled, 2))):
        result = evaluate(phase, folder, workers)
        assert isinstance(result, Result)
        (tmp_path / str(number)).mkdir()
        files.add(write_metrics(result.metrics, tmp_path / str(number)).read_bytes())
    assert len(files) == 1


SPOILT = {
    "missing mask": (
        lambda folder: (folder / "segmentation" / "R0004.png").unlink(),
        (FaultKind.MISSING, "segmentation/R0004.bmp", "none"),
    ),
    "unknown mask": (
        lambda folder: shutil.copy(
            folder / "segmentation" / "R0001.png", folder / "segmentation" / "R9999.png"
        ),
        (FaultKind.UNKNOWN, "segmentation/R9999.png", "a file of another name"),
    ),
    "second mask": (
        lambda folder: shutil.copy(
            folder / "segmentation" / "R0001.png", folder / "segmentation" / "r0001.tif"
        ),
        (FaultKind.DUPLICATE, "segmentation/r0001.tif", "a second one beside segmentation/R0001.png"),
    ),
    "wrong size": (
        lambda folder: Image.new("L", (96, 79), 255).save(folder / "segmentation" / "R0002.png"),
        (FaultKind.WRONG_SIZE, "segmentation/R0002.png", "96 × 79 pixels"),
    ),
    "wrong values": (
        lambda folder: Image.new("L", (96, 80), 7).save(folder / "segmentation" / "R0003.png"),
        (FaultKind.WRONG_VALUE, "segmentation/R0003.png", "7"),
    ),
    "unreadable mask": (
        lambda folder: (folder / "segmentation" / "R0005.png").write_bytes(b"no image"),
        (FaultKind.UNREADABLE, "segmentation/R0005.png", "other content"),
    ),
    "malformed number": (
        lambda folder: rewrite(
            folder / "classification_results.csv", lambda rows: [*rows[:3], [rows[3][0], "high"], *rows[4:]]
        ),
        (FaultKind.MALFORMED, "classification_results.csv, line 4, Glaucoma Risk", '"high"'),
    ),
    "second row": (
        lambda folder: rewrite(folder / "classification_results.csv", lambda rows: [*rows, rows[1]]),
        (FaultKind.DUPLICATE, "classification_results.csv, line 32, FileName", "a second one beside line 2"),
    ),
    "unknown row": (
        lambda folder: rewrite(folder / "classification_results.csv", lambda rows: [*rows, ["R7777", "0.5"]]),
        (FaultKind.UNKNOWN, "classification_results.csv, line 32, FileName", "'R7777'"),
    ),
    "missing row": (
        lambda folder: rewrite(folder / "classification_results.csv", lambda rows: rows[:-1]),
        (FaultKind.MISSING, "classification_results.csv, FileName", "none"),
    ),
    "missing column": (
        lambda folder: rewrite(folder / "fovea_location_results.csv", lambda rows: [row[:2] for row in rows]),
        (FaultKind.MISSING, "fovea_location_results.csv, line 1", '"ImageName", "Fovea_X"'),
    ),
    "coordinate outside": (
        lambda folder: rewrite(
            folder / "fovea_location_results.csv",
            lambda rows: [rows[0], [rows[1][0], "96.5", "-1"], *rows[2:]],
        ),
        (FaultKind.WRONG_VALUE, "fovea_location_results.csv, line 2, Fovea_X, Fovea_Y", "x = 96.5"),
    ),
    "missing table": (
        lambda folder: (folder / "classification_results.csv").unlink(),
        (FaultKind.MISSING, "classification_results.csv", "none"),
    ),
    "missing folder": (
        lambda folder: shutil.rmtree(folder / "segmentation"),
        (FaultKind.MISSING, "segmentation/", "none"),
    ),
}


def told(rejection: Rejection) -> list[tuple[FaultKind, str, str]]:
    return [(fault.kind, fault.place, fault.found) for fault in rejection.faults]


@pytest.mark.parametrize(("spoil", "expected"), SPOILT.values(), ids=SPOILT)
def test_fault_is_reported_by_kind_and_place_with_what_was_found(phase, submission, spoil, expected):
    spoil(submission)
    result = evaluate(phase, submission, 0)
    assert isinstance(result, Rejection)
    assert expected in told(result)
    assert check(phase.form, submission, 0).faults == result.faults


# These hide others: without the table, say, no row of it can be malformed.
EXCLUDING = {"missing table", "missing folder", "missing row", "missing column"}


def test_all_faults_are_reported_at_once(phase, submission):
    compatible = [name for name in SPOILT if name not in EXCLUDING]
    for name in compatible:
        SPOILT[name][0](submission)
    result = evaluate(phase, submission, 2)
    assert isinstance(result, Rejection)
    # Rewriting the table moves the lines of rows that were added later.
    for name in set(compatible) - {"second row", "unknown row"}:
        assert SPOILT[name][1] in told(result), name


def test_optional_fovea_may_be_left_out(phase, submission):
    (submission / "fovea_location_results.csv").unlink()
    result = evaluate(phase, submission, 0)
    assert isinstance(result, Result)
    assert "fovea" not in result.figures.aggregates


def test_missing_results_take_worst_values_with_a_fixed_denominator(phase, submission, tmp_path):
    lenient = changed(
        phase, tmp_path / "lenient", 'challenge = "refuge"', 'challenge = "refuge"\nmissing = "worst"'
    )
    before = values(evaluate(lenient, submission, 0))
    table = evaluate(lenient, submission, 0).tables["segmentation"]
    (submission / "segmentation" / "R0004.png").unlink()
    rewrite(submission / "classification_results.csv", lambda rows: rows[:-1])
    result = evaluate(lenient, submission, 0)
    after = values(result)
    position = table.names.index("R0004")
    for name, worst in (("dice_cup", 0.0), ("dice_disc", 0.0), ("vertical_cup_to_disc_ratio_error", 1.0)):
        expected = before[f"segmentation.{name}"] + (worst - table[name][position]) / 30
        assert after[f"segmentation.{name}"] == pytest.approx(expected)
    assert after["classification.auc"] < before["classification.auc"]
    summary = result.metrics
    assert (summary.cases.expected, summary.cases.scored, summary.cases.worst) == (30, 28, 2)


@pytest.mark.parametrize("name", [f"R{number:04d}" for number in (1, 2, 3, 8)])
def test_a_missing_result_never_beats_a_present_one(phase, sample, tmp_path, name):
    lenient = changed(
        phase, tmp_path / "lenient", 'challenge = "refuge"', 'challenge = "refuge"\nmissing = "worst"'
    )
    folder = Path(shutil.copytree(sample / "submissions" / "poor", tmp_path / "poor"))
    before = values(evaluate(lenient, folder, 0))
    (folder / "segmentation" / f"{name}.png").unlink()
    for table in ("classification_results.csv", "fovea_location_results.csv"):
        rewrite(folder / table, lambda rows: [row for row in rows if row[0] != name])
    after = values(evaluate(lenient, folder, 0))
    for task in phase.tasks:
        for metric in task.metrics:
            figure = f"{task.name}.{metric.name}"
            worse_by = (before[figure] - after[figure]) * (1 if metric.better == "higher" else -1)
            assert worse_by >= 0, figure


def test_rejection_does_not_depend_on_the_labels(phase, submission, tmp_path):
    copy = Path(shutil.copytree(phase.folder, tmp_path / "exchanged"))
    rewrite(
        copy / "cases.csv",
        lambda rows: [rows[0], *([*row[:4], str(1 - int(row[4])), "1", "2"] for row in rows[1:])],
    )
    for path in (copy / "masks").iterdir():
        Image.open(path).transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(path)
    seal(copy, scan(copy))
    for name in ("wrong size", "unknown mask", "malformed number"):
        SPOILT[name][0](submission)
    assert evaluate(load_phase(copy), submission, 0) == evaluate(phase, submission, 0)
    assert load_phase(copy).form == phase.form


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


def test_subgroups_hold_the_means_of_their_members(phase, sample):
    result = evaluate(phase, sample / "submissions" / "good", 0)
    table = result.tables["segmentation"]
    labels = result.tables["classification"]["glaucoma"]
    of_glaucoma = result.figures.subgroups["glaucoma"]["1"]["segmentation"]
    assert of_glaucoma["dice_cup"] == pytest.approx(table["dice_cup"][labels == 1].mean())


def test_case_records_hold_every_case_with_its_columns(phase, sample):
    result = evaluate(phase, sample / "submissions" / "good", 0)
    records = json.loads(render(case_records(result)))
    assert [case["name"] for case in records["cases"]] == [f"R{number:04d}" for number in range(1, 31)]
    assert set(records["cases"][0]["tasks"]) == {"classification", "segmentation", "fovea"}
