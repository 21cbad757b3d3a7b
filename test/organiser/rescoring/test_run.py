"""A run over many submissions: what is scored, what is kept, and what two runs do to each other."""

import shutil
from dataclasses import replace

import pytest

import evaluation
from evaluation.organiser.rescoring.kept import Results
from evaluation.organiser.rescoring.run import Summary, score_all
from evaluation.organiser.rescoring.task import Answer
from test.failing_calls import Calls, counted
from test.in_process import forget_challenges
from test.phase.test_home import CHALLENGE, submission, write_phase

from .teams import BEFORE, Here, results_in, tasks_of, write_teams


@pytest.fixture
def tasks(tmp_path):
    return tasks_of(*write_teams(tmp_path))


def run(tasks, output, engine=None) -> dict[str, str]:
    return {task.place: answer.kind for task, answer in score_all(tasks, output, engine or Here())}


def test_a_second_run_keeps_all_but_what_has_changed_and_changes_no_byte(tasks, tmp_path):
    answers = score_all(tasks, tmp_path / "o", Here())
    first, _ = next(answers)
    answers.close()  # goes on where it was
    assert run(tasks, tmp_path / "o") == {**BEFORE, first.place: "kept"}
    before = results_in(tmp_path / "o")
    assert set(run(tasks, tmp_path / "o").values()) == {"kept"}
    assert results_in(tmp_path / "o") == before
    lines = {task.place: answer.line for task, answer in score_all(tasks, tmp_path / "o", Here())}
    assert lines["bad"] == "kept: rejected as before"
    (tmp_path / "submissions" / "bad" / "note.txt").write_text("")
    assert run(tasks, tmp_path / "o") == {"bad": "rejected", "folder": "kept", "packed": "kept"}
    other = [replace(task, source="tarball") for task in tasks]
    assert run(other, tmp_path / "o") == BEFORE


def test_a_result_that_was_copied_without_its_record_is_made_anew(tasks, tmp_path):
    run(tasks, tmp_path / "o")
    shutil.copytree(tmp_path / "o", tmp_path / "copy", ignore=shutil.ignore_patterns(".kept"))
    assert run(tasks, tmp_path / "copy") == BEFORE
    assert set(run(tasks, tmp_path / "copy").values()) == {"kept"}


def test_a_challenge_above_the_phase_is_a_part_of_what_a_result_is_made_of(tmp_path):
    phases = tmp_path / "phases"
    phase = write_phase(phases / "one")
    rules = phases / "challenge.py"
    rules.write_text(CHALLENGE, encoding="utf-8")
    evaluation.seal(phase)
    submission(tmp_path / "teams" / "team")
    tasks = tasks_of(phase, tmp_path / "teams")
    assert [run(tasks, tmp_path / "o"), run(tasks, tmp_path / "o")] == [{"team": "scored"}, {"team": "kept"}]
    rules.write_text(f"{CHALLENGE}\n# another rule\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:  # as in another process
        forget_challenges(patch)
        assert run(tasks, tmp_path / "o") == {"team": "scored"}


def test_a_failure_is_tried_again_and_leaves_a_result_that_holds(tasks, tmp_path):
    engine = Here({"folder": Answer.failed("no memory"), "packed": Answer.failed("no memory")})
    assert run(tasks[:2], tmp_path / "o") == {"bad": "rejected", "folder": "scored"}
    before = results_in(tmp_path / "o")
    assert run(tasks, tmp_path / "o", engine) == {"bad": "kept", "folder": "failed", "packed": "failed"}
    assert results_in(tmp_path / "o") == {**before, "packed/rejected.txt": b"not scored: no memory\n"}
    assert run(tasks, tmp_path / "o") == {"bad": "kept", "folder": "kept", "packed": "scored"}


def test_what_another_run_has_claimed_comes_last_and_is_kept(tasks, tmp_path, monkeypatch):
    """The other run finishes its submission while this one waits."""
    run([task for task in tasks if task.place == "bad"], tmp_path / "o")
    take, waited = Results.take, []

    def taken(self, place, wait=False):
        if place == "bad" and not wait:
            return False
        waited.extend([place] if wait else [])
        return take(self, place, wait)

    monkeypatch.setattr(Results, "take", taken)
    done = run(tasks, tmp_path / "o")
    assert list(done.items()) == [("folder", "scored"), ("packed", "scored"), ("bad", "kept")]
    assert waited == ["bad"]


def test_a_result_that_cannot_be_written_is_a_failure_and_the_others_go_on(tasks, tmp_path):
    summary = Summary()
    with counted(Calls(tmp_path / "o" / "folder", "rename", 1, "ENOSPC", lasts=True)):
        for task, answer in score_all(tasks, tmp_path / "o", Here()):
            summary.add(task.place, answer)
    assert summary.counts == {"rejected": 1, "scored": 1, "failed": 1}
    line = next(iter(summary.lines()))
    assert line.startswith(f"FAILED folder: not scored: cannot write {tmp_path / 'o' / 'folder'}")
    assert line.endswith("the machine is short of space on the disk")
    assert list((tmp_path / "o" / "folder").iterdir()) == []


NAMES = ["a", "a/metrics.json", "x", "x.json/y", "changes.json", "Rejected.TXT", "teams.csv", "b/cases.json"]


def test_no_name_of_a_submission_reaches_a_file_of_results(tasks, tmp_path):
    named = [replace(task, place=name) for name in NAMES for task in tasks if task.place == "folder"]
    answers = {task.place: answer for task, answer in score_all(named, tmp_path / "o", Here())}
    kinds = {place: answer.kind for place, answer in answers.items()}
    assert kinds == {
        **dict.fromkeys(NAMES, "failed"),
        **dict.fromkeys(["a", "x", "x.json/y"], "scored"),
    }
    assert "names a file of results" in answers["a/metrics.json"].line
    for place in ("a", "x", "x.json/y"):
        assert (tmp_path / "o" / place / "metrics.json").is_file()
    again = {task.place: answer.kind for task, answer in score_all(named, tmp_path / "o", Here())}
    assert [again[place] for place in ("a", "x", "x.json/y")] == ["kept"] * 3
