"""One process that scores in turn: how it ends, and that nothing of a hostile submission remains in it."""

import json
import os
import pickle
import signal
import sys
import time
from pathlib import Path

import pytest

import evaluation.challenges
from evaluation.organiser.parallel import lanes as module
from evaluation.organiser.parallel.lanes import Lane, Lanes
from evaluation.phase.manifest import scan, seal
from test.organiser.rescoring.teams import tasks_of, write_teams

CHALLENGES = str(Path(__file__).parent / "challenges")

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="scores in processes"),
    pytest.mark.timeout(120),
]


@pytest.fixture
def tasks(tmp_path):
    return {task.place: task for task in tasks_of(*write_teams(tmp_path))}


def children_of(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def process_of(lanes: Lanes) -> int:
    (lane,) = lanes._lanes
    return lane._process.pid


def test_a_lane_scores_in_one_process_and_another_one_goes_on_after_its_death(tasks):
    with Lanes(1) as lanes:
        assert lanes.score(tasks["folder"]).kind == "scored"
        first = process_of(lanes)
        assert lanes.score(tasks["packed"]).kind == "scored"
        assert process_of(lanes) == first
        os.kill(first, signal.SIGKILL)
        assert lanes.score(tasks["folder"]).kind == "scored"
        assert process_of(lanes) != first


def test_a_lane_that_cannot_start_says_why(tasks, monkeypatch):
    monkeypatch.setattr(module.sys, "path", [])
    answer = Lanes(1).score(tasks["folder"])
    assert answer.kind == "failed"
    assert "its process ended with 1" in answer.line
    assert "No module named" in answer.line


def test_a_lane_does_not_outlive_its_caller(tasks, tmp_path):
    (tmp_path / "task").write_bytes(pickle.dumps(tasks["folder"]))
    caller = os.fork()
    if caller == 0:
        lane = Lane()
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


def states(answer) -> list[tuple[float, float]]:
    """Return fingerprints of the processes that read and scored each case, before the next case."""
    rows = [case["tasks"]["task"] for case in json.loads(answer.files["cases.json"])["cases"]]
    return [(row["reader"], row["scorer"]) for row in rows]


def test_state_of_readers_and_scorers_is_as_new_after_a_hostile_submission(tmp_path, monkeypatch):
    """A lane that has scored a submission that tampers with its processes is compared with a new lane."""
    monkeypatch.setenv("EVALUATION_CHALLENGES", CHALLENGES)
    monkeypatch.setattr(evaluation.challenges, "__path__", [*evaluation.challenges.__path__, CHALLENGES])
    phase = tmp_path / "phase"
    phase.mkdir()
    head = 'challenge = "tampering"\nname = "tampering"\ntitle = "Tampering"\nsubmission = "archive"\n'
    (phase / "phase.toml").write_text(f"{head}resamples = 0\n")
    (phase / "cases.csv").write_text("name,behaviour\na,look\nb,look\nc,look\n")
    seal(phase, scan(phase))
    for team, behaviour in {"hostile": "tamper", "honest": "look"}.items():
        (tmp_path / "teams" / team).mkdir(parents=True)
        rows = f"Name,Behaviour\na,look\nb,{behaviour}\nc,look\n"
        (tmp_path / "teams" / team / "behaviour.csv").write_text(rows)
    honest, hostile = tasks_of(phase, tmp_path / "teams")
    with Lanes(1) as used, Lanes(1) as new:
        # What the first worker imports itself is there in all that come after it.
        used.score(honest)
        new.score(honest)
        before, attacked, after = (states(used.score(task)) for task in (honest, hostile, honest))
        fresh = states(new.score(honest))
        server = children_of(process_of(used))
        used.score(hostile)
        assert children_of(process_of(used)) == server  # one server for all of them
    # The case after the one that tampers is in a process that differs: the fingerprints do tell.
    assert attacked[0] == before[0]
    assert attacked[2][0] != before[2][0]
    assert attacked[2][1] != before[2][1]
    assert before == after == fresh
