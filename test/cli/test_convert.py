"""`convert`: archives as jobs and jobs as archives, which score alike."""

import json
from dataclasses import replace

import pytest

from evaluation.cli.main import main
from evaluation.evaluate import Result, check, evaluate
from evaluation.phase.manifest import scan
from evaluation.phase.named import named_phase
from evaluation.phase.phase import load_phase
from evaluation.platform.result_file import write_metrics
from test.challenges.declared.phases import declared_phase, write_table
from test.repository import REPOSITORY

write_repository = pytest.importorskip("evaluation.organiser.starter.repository").write_repository

ONE_NUMBER = """
[fields.{0}]
kind = "number"
minimum = 0
maximum = 1
reference_column = "{0}_class"
positive = ["1"]
negative = ["0"]

[tasks.{0}.metrics]
auc = {{ field = "{0}" }}
"""
TWO_NUMBERS = ONE_NUMBER.format("left") + ONE_NUMBER.format("right")


def convert(submission, phase, output) -> int:
    return main(["convert", str(submission), "--ground-truth", str(phase), "--output", str(output)])


def metrics_of(phase, submission, output) -> bytes:
    result = evaluate(phase, submission, 0)
    assert isinstance(result, Result), result
    output.mkdir()
    return write_metrics(result.metrics, output).read_bytes()


@pytest.mark.parametrize("like", ["detection", "ct-segmentation"])
def test_an_archive_of_a_declared_phase_scores_the_same_as_jobs_and_back(tmp_path, like):
    write_repository(tmp_path / "mine", like)
    folder, archive = tmp_path / "mine" / "phase", tmp_path / "mine" / "submission"
    assert convert(archive, folder, tmp_path / "jobs") == 0
    assert convert(tmp_path / "jobs", folder, tmp_path / "back") == 0
    phase = load_phase(folder, scan(folder))
    expected = metrics_of(phase, archive, tmp_path / "first")
    assert metrics_of(phase, tmp_path / "back", tmp_path / "second") == expected
    assert not list((tmp_path / "back").rglob("predictions.json"))
    of_jobs = replace(phase, config=phase.config.model_copy(update={"submission": "algorithm"}))
    assert metrics_of(of_jobs, tmp_path / "jobs", tmp_path / "third") == expected


def test_jobs_of_a_bundled_phase_score_the_same_after_an_archive(tmp_path):
    jobs = REPOSITORY / "test" / "input" / "justraigs-phase1"
    assert convert(jobs, "justraigs-phase1", tmp_path / "archive") == 0
    assert convert(tmp_path / "archive", "justraigs-phase1", tmp_path / "jobs") == 0
    phase = named_phase("justraigs-phase1")
    of_jobs = metrics_of(phase, jobs, tmp_path / "first")
    assert metrics_of(phase, tmp_path / "jobs", tmp_path / "second") == of_jobs
    archive = replace(phase.form, submission="archive")
    assert not check(archive, tmp_path / "archive", 0).faults


def two_numbers(tmp_path):
    cases = {"name": ["a", "b"], "left_class": [0, 1], "right_class": [1, 0]}
    keys = 'challenge = "declared"\nmissing = "worst"'
    return declared_phase(tmp_path / "phase", TWO_NUMBERS, cases, keys=keys)


def test_a_value_without_a_place_in_the_other_form_is_a_fault_and_nothing_is_written(tmp_path, capsys):
    """A row of a table has a cell for both eyes, where a job may lack the output of one."""
    phase = two_numbers(tmp_path)
    values = {"case": ["a", "b"], "left": [0.25, 0.5], "right": [0.5, 1.0]}
    write_table(tmp_path / "archive" / "predictions.csv", values)
    assert convert(tmp_path / "archive", phase, tmp_path / "jobs") == 0
    path = tmp_path / "jobs" / "predictions.json"
    jobs = json.loads(path.read_text())
    jobs[0]["outputs"] = [item for item in jobs[0]["outputs"] if item["socket"]["slug"] != "right"]
    path.write_text(json.dumps(jobs))
    capsys.readouterr()
    assert convert(tmp_path / "jobs", phase, tmp_path / "back") == 1
    line = 3 if jobs[0]["inputs"][0]["image"]["name"] == "b" else 2
    expected = "right: expected a finite number from 0 to 1, found nothing"
    assert f"predictions.csv, line {line}, {expected}" in capsys.readouterr().err
    assert not (tmp_path / "back").exists()


def test_a_submission_with_faults_is_not_converted(tmp_path, capsys):
    values = {"case": ["a", "x"], "left": [2, 0], "right": [0, 0]}
    write_table(tmp_path / "archive" / "predictions.csv", values)
    assert convert(tmp_path / "archive", two_numbers(tmp_path), tmp_path / "jobs") == 1
    assert "expected an image of this phase, found 'x'" in capsys.readouterr().err
    assert not (tmp_path / "jobs").exists()
