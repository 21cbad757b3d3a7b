"""Several processes on this machine, some of which are killed."""

import json
import os
import pickle
import shutil
import signal
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest

from evaluation.isolated import Child
from evaluation.organiser.parallel import lanes as module
from evaluation.organiser.parallel.lanes import Lanes
from evaluation.organiser.rescoring.run import score_all
from evaluation.phase.manifest import scan, seal
from test.organiser.rescoring.teams import BEFORE, Here, many, results_in, tasks_of, write_teams

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="scores in processes"),
    pytest.mark.timeout(180),
]


def test_lanes_write_the_bytes_of_this_process(tmp_path):
    tasks = tasks_of(*write_teams(tmp_path))
    for name, chosen in (("here", Here()), ("there", Lanes(2))):
        done = {task.place: answer.kind for task, answer in score_all(tasks, tmp_path / name, chosen)}
        assert done == BEFORE
    assert results_in(tmp_path / "here") == results_in(tmp_path / "there")


def processes_of(engine: Lanes) -> list[int]:
    return [lane._process.pid for lane in set(engine._lanes)]


class Deadly(Child):
    """Dies of one submission, each time that it gets it."""

    given = 0

    def give(self, task):
        if task.place == "folder":
            Deadly.given += 1
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
        super().give(task)


def test_a_submission_that_kills_its_process_each_time_is_tried_three_times_and_blamed(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "Child", Deadly)
    with Lanes(1) as engine:
        answers = {t.place: a for t, a in engine.run(iter(tasks_of(*write_teams(tmp_path))))}
    assert {place: answer.kind for place, answer in answers.items()} == {**BEFORE, "folder": "failed"}
    assert answers["folder"].line == "not scored: its process was killed by SIGKILL, 3 times out of 3"
    assert Deadly.given == 3


def test_nothing_is_left_of_lanes_that_are_ended(tmp_path, monkeypatch):
    phase, submissions = write_teams(tmp_path)
    many(submissions, 4)
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    engine = Lanes(1)
    with engine, closing(engine.run(iter(tasks_of(phase, submissions)))) as answers:
        next(answers)
        folders = list((tmp_path / "scratch").glob("child-*"))
        assert len(folders) == 1
        processes = processes_of(engine)
        assert all(folder.is_dir() for folder in folders)
    assert not any(folder.exists() for folder in folders)
    time.sleep(0.1)
    assert not any(Path(f"/proc/{process}").exists() for process in processes)


# --- One process that scores in turn: how it ends, and that nothing of a hostile submission remains ---


@pytest.fixture
def tasks(tmp_path):
    return {task.place: task for task in tasks_of(*write_teams(tmp_path))}


def children_of(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def test_a_lane_scores_in_one_process_and_another_one_goes_on_after_its_death(tasks):
    with Lanes(1) as lanes:
        assert lanes.score(tasks["folder"]).kind == "scored"
        first = processes_of(lanes)
        assert lanes.score(tasks["packed"]).kind == "scored"
        assert processes_of(lanes) == first
        os.kill(*first, signal.SIGKILL)
        assert lanes.score(tasks["folder"]).kind == "scored"
        assert processes_of(lanes) != first


def test_a_lane_that_cannot_start_says_why(tasks, monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    answer = Lanes(1).score(tasks["folder"])
    assert answer.kind == "failed"
    assert "its process ended with 1" in answer.line
    assert "No module named" in answer.line


def test_a_lane_does_not_outlive_its_caller(tasks, tmp_path):
    (tmp_path / "task").write_bytes(pickle.dumps(tasks["folder"]))
    caller = os.fork()
    if caller == 0:
        lane = Child("evaluation.organiser.parallel.lanes:main()")
        lane.give(tasks["folder"])
        lane.answer()
        lane.give(tasks["packed"])
        processes = [lane._process.pid, *children_of(lane._process.pid)]
        (tmp_path / "processes.part").write_text(json.dumps(processes))
        (tmp_path / "processes.part").rename(tmp_path / "processes")
        time.sleep(100)
        os._exit(1)
    while not (tmp_path / "processes").exists():
        time.sleep(0.05)
    processes = json.loads((tmp_path / "processes").read_text())
    assert len(processes) == 2  # itself and the server of its workers
    os.kill(caller, signal.SIGKILL)
    os.waitpid(caller, 0)
    while any(Path(f"/proc/{process}").exists() for process in processes):  # ends by the time limit
        time.sleep(0.05)


def marks_in(answer) -> list[tuple[float, float]]:
    """Return how many marks were seen by the processes that read and scored each case."""
    rows = [case["tasks"]["task"] for case in json.loads(answer.files["cases.json"])["cases"]]
    return [(row["reader"], row["scorer"]) for row in rows]


def test_state_of_readers_and_scorers_is_as_new_after_a_hostile_submission(tmp_path):
    phase = tmp_path / "phase"
    phase.mkdir()
    shutil.copy(Path(__file__).with_name("tampering.py"), phase / "challenge.py")
    head = 'challenge = "tampering"\nname = "tampering"\ntitle = "Tampering"\nsubmission = "archive"\n'
    (phase / "phase.toml").write_text(f"{head}resamples = 0\n")
    (phase / "cases.csv").write_text("name,behaviour\na,look\nb,look\nc,look\n")
    seal(phase, scan(phase))
    for team, behaviour in {"hostile": "tamper", "honest": "look"}.items():
        (tmp_path / "teams" / team).mkdir(parents=True)
        rows = f"Name,Behaviour\na,look\nb,{behaviour}\nc,look\n"
        (tmp_path / "teams" / team / "behaviour.csv").write_text(rows)
    honest, hostile = tasks_of(phase, tmp_path / "teams")
    with Lanes(1) as lanes:
        before = marks_in(lanes.score(honest))
        server = children_of(*processes_of(lanes))
        attacked = marks_in(lanes.score(hostile))
        assert marks_in(lanes.score(honest)) == before == [(0, 0)] * 3
        assert children_of(*processes_of(lanes)) == server  # one server for all of them
    # The case after the one that tampers is in a process that differs: the marks do tell.
    assert attacked == [(0, 0), (3, 3), (3, 3)]
