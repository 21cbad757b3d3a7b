"""Several processes on this machine, some of which are killed."""

import os
import random
import signal
import sys
import tempfile
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from evaluation.organiser.parallel import lanes as module
from evaluation.organiser.parallel.lanes import Lane, Lanes
from evaluation.organiser.rescoring.run import score_all
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


@pytest.mark.weekly
def test_lanes_killed_at_random_moments_lose_nothing(tmp_path):
    """Whole submissions, and in turn others that are scored in three slices."""
    phase, submissions = write_teams(tmp_path)
    many(submissions, 9)
    whole = tasks_of(phase, submissions)
    tasks = [replace(task, slices=1 + 2 * (number % 2)) for number, task in enumerate(whole)]
    list(score_all(tasks, tmp_path / "quiet", Here()))
    engine, moments, killed, ended = Lanes(2), random.Random(1), [], threading.Event()

    def kill_now_and_then() -> None:
        while len(killed) < 3 and not ended.wait(moments.uniform(0.1, 0.8)):
            if running := processes_of(engine):
                killed.append(moments.choice(running))
                os.kill(killed[-1], signal.SIGKILL)

    thread = threading.Thread(target=kill_now_and_then)
    thread.start()
    try:
        done = {t.place: a for t, a in score_all(tasks, tmp_path / "shot", engine)}
    finally:
        ended.set()
        thread.join()
    assert killed
    assert len(done) == len(tasks)
    # Three deaths of one submission are a failure that names it; the next run makes up for it.
    failures = [place for place, answer in done.items() if answer.kind == "failed"]
    again = {t.place: a.kind for t, a in score_all(tasks, tmp_path / "shot", Here())}
    assert [place for place, kind in again.items() if kind != "kept"] == sorted(failures)
    assert results_in(tmp_path / "shot") == results_in(tmp_path / "quiet")


class Deadly(Lane):
    """Dies of one submission, each time that it gets it."""

    given = 0

    def give(self, task):
        if task.place == "folder":
            Deadly.given += 1
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
        super().give(task)


def test_a_submission_that_kills_its_process_each_time_is_tried_three_times_and_blamed(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "Lane", Deadly)
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
        folders = list((tmp_path / "scratch").glob("lane-*"))
        assert len(folders) == 1
        processes = processes_of(engine)
        assert all(folder.is_dir() for folder in folders)
    assert not any(folder.exists() for folder in folders)
    time.sleep(0.1)
    assert not any(Path(f"/proc/{process}").exists() for process in processes)
