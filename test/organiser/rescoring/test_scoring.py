"""One submission after the other in one process, each with an answer and none with an exception."""

import errno
import os
import resource
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from evaluation.core.fault import PhaseError
from evaluation.organiser.rescoring import scorer as scoring
from evaluation.organiser.rescoring.scorer import Scorer
from evaluation.organiser.rescoring.task import environment
from evaluation.workers.pool import DeadlineExceeded
from test.repository import REPOSITORY

from .teams import BEFORE, tasks_of, write_teams


@pytest.fixture
def tasks(tmp_path):
    return {task.place: replace(task, workers=0) for task in tasks_of(*write_teams(tmp_path))}


def test_folders_and_zips_are_scored_or_rejected(tasks):
    scorer = Scorer()
    answers = {place: scorer.answer(task) for place, task in tasks.items()}
    assert {place: answer.kind for place, answer in answers.items()} == BEFORE
    assert all(answer.lasting and len(answer.digest) == 64 for answer in answers.values())
    assert list(answers["packed"].files) == ["cases.json", "metrics.json"]
    assert answers["packed"].files != answers["folder"].files
    assert answers["bad"].files["rejected.txt"].decode().splitlines()[0] == answers["bad"].line


@pytest.fixture
def scored_by(monkeypatch):
    """Return a function that lets another one score."""
    return lambda evaluate: monkeypatch.setattr(scoring, "evaluate", evaluate)


def raising(error):
    def evaluate(*arguments):
        raise error

    return evaluate


NO_SPACE = OSError(errno.ENOSPC, "No space left on device", "/tmp/x")
FAULTS = {
    "phase": (PhaseError("one", "two"), "not scored: one; two"),
    "disk": (NO_SPACE, "not scored: cannot score /tmp/x: the machine is short of space on the disk"),
    "memory": (MemoryError(), "not scored: cannot score folder: the machine is short of memory"),
    "time": (DeadlineExceeded(("V0001",)), "not scored: the budget of 3300 s was used up"),
    "defect": (ZeroDivisionError(), "not scored: fault of the evaluation itself:"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_not_the_submissions_fault_is_a_failure_that_does_not_last(tasks, scored_by, fault):
    error, line = FAULTS[fault]
    scored_by(raising(error))
    answer = Scorer().answer(tasks["folder"])
    assert (answer.kind, answer.lasting, answer.line.splitlines()[0]) == ("failed", False, line)


def test_a_limit_on_the_size_of_files_is_no_fault_of_a_zip(tasks):
    """As a full disk is, the write itself falls short."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
    try:
        answer = Scorer().answer(tasks["packed"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    told = "not scored: cannot unpack packed.zip: the machine is short of permitted size of files"
    assert (answer.kind, answer.line) == ("failed", told)


def test_a_submission_that_changes_meanwhile_has_no_result(tasks, scored_by):
    evaluate = scoring.evaluate

    def changing(phase, folder, workers):
        result = evaluate(phase, folder, workers)
        (folder / "late.txt").write_text("")
        return result

    scored_by(changing)
    assert Scorer().answer(tasks["folder"]).line == "not scored: the submission changed while it was scored"


def test_a_phase_that_was_sealed_again_and_other_code_are_refused(tasks):
    task = tasks["folder"]
    assert "was sealed again since the run began" in Scorer().answer(replace(task, seal="other")).line
    other = replace(task, environment=replace(environment(), version="9"))
    assert "another environment: version 9 of the package here" in Scorer().answer(other).line


def test_the_limit_of_memory_is_the_tasks_where_the_phase_has_none(tasks, scored_by):
    seen = []
    scored_by(lambda phase, *_: seen.append(phase.config.limits))
    scorer = Scorer()
    for memory_mb in (300, None):
        scorer.answer(replace(tasks["folder"], memory_mb=memory_mb))
    assert [limits.worker_memory_mb for limits in seen] == [300, None]


# --- The environment of a process, by which results are kept and workers compared ---


PROGRAM = "from evaluation.organiser.rescoring.task import environment; print(environment().sources, end='')"


def sources_in(folder) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_a_changed_metric_is_another_environment_and_a_copy_is_not(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "evaluation", tmp_path / "evaluation", ignore=ignored)
    assert sources_in(tmp_path) == environment().sources
    with (tmp_path / "evaluation" / "metrics" / "overlap.py").open("a") as file:
        file.write("# changed\n")
    assert sources_in(tmp_path) != environment().sources
