"""Submissions on a real scheduler with real workers, which are killed: nothing is lost, no byte differs."""

import os
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from evaluation.core.fault import PhaseError
from evaluation.organiser.parallel.cluster import OnCluster, _HandedOver
from evaluation.organiser.rescoring.run import score_all
from evaluation.organiser.rescoring.task import Answer
from evaluation.phase.phase import load_phase
from test.faults import faulted
from test.organiser.rescoring.teams import BEFORE, Here, many, results_in, tasks_of, write_teams
from test.repository import REPOSITORY

from .dask_processes import Dask, free_port
from .deadly_worker import score_once_held, score_or_end, score_with_room, score_without_room

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="scores in processes"),
    pytest.mark.timeout(300),
    # What Dask leaves to the garbage collector when its scheduler is killed.
    pytest.mark.filterwarnings("ignore"),
]


def told() -> tuple[list[str], object]:
    lines: list[str] = []
    return lines, lines.append


def run(tasks, output, engine) -> dict[str, str]:
    return {task.place: answer.kind for task, answer in score_all(tasks, output, engine)}


@pytest.fixture(scope="module")
def teams(tmp_path_factory):
    """A phase, and a folder with the submissions of nine teams, which tests leave as they are."""
    phase, submissions = write_teams(tmp_path_factory.mktemp("teams"))
    many(submissions, 6)
    return phase, submissions


@pytest.fixture(scope="module")
def quiet(teams, tmp_path_factory):
    """The results of all teams when nothing happens."""
    output = tmp_path_factory.mktemp("quiet")
    run(tasks_of(*teams), output, Here())
    return results_in(output)


@pytest.fixture(scope="module")
def bucket(teams, tmp_path_factory):
    """A copy of the teams for `stand_in_s3`, as the bucket "b"."""
    root = tmp_path_factory.mktemp("far") / "buckets"
    for folder in teams:
        shutil.copytree(folder, root / "b" / folder.name)
    return root


@pytest.fixture(scope="module")
def dask(bucket, tmp_path_factory):
    """A scheduler with two workers, which take seconds to start; tests leave it with two.

    A task whose worker has died twice is blamed, in place of four times.
    """
    changes = {
        "STAND_IN_ROOT": str(bucket),
        "DASK_DISTRIBUTED__WORKER__PRELOAD": "['test.organiser.rescoring.stand_in_s3']",
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
    }
    with Dask(tmp_path_factory.mktemp("scratch"), 2, **changes) as started:
        yield started


def first(tasks):
    """Return the tasks of the three teams that are not alike."""
    return [task for task in tasks if task.place in BEFORE]


def test_a_cluster_writes_the_bytes_of_one_machine(dask, teams, tmp_path):
    lines, tell = told()
    tasks = first(tasks_of(*teams))
    run(tasks, tmp_path / "here", Here())
    assert run(tasks, tmp_path / "there", OnCluster(dask.address, None, tell)) == BEFORE
    by_address = [replace(task, submission=f"file://{task.submission}") for task in tasks]
    again = run(by_address, tmp_path / "there", OnCluster(dask.address, None, tell))
    assert set(again.values()) == {"kept"}
    assert results_in(tmp_path / "here") == results_in(tmp_path / "there")
    assert lines[0].startswith("Dask's dashboard: http://")


def test_addresses_are_read_once_per_worker_and_their_seal_is_verified(
    dask, bucket, teams, quiet, tmp_path, monkeypatch
):
    monkeypatch.setenv("STAND_IN_ROOT", str(bucket))
    from test.organiser.rescoring import stand_in_s3  # noqa: F401 - registers itself

    _, tell = told()
    seal = load_phase(teams[0]).manifest.digest
    far = tasks_of("s3://b/phase", "s3://b/submissions", seal=seal, workers=0)
    assert all(task.submission.startswith("s3://b/submissions/") for task in far)
    engine = OnCluster(dask.address, None, tell)
    assert set(run(far, tmp_path / "there", engine).values()) == {"scored", "rejected"}
    assert results_in(tmp_path / "there") == quiet
    read = bucket.parent / "read"
    notes = [line.split() for line in read.read_text().splitlines()]
    readers = {process for process, _ in notes}
    assert Counter(name for _, name in notes)["phase.toml"] == len(readers) <= 2
    assert Counter(name for _, name in notes)["packed.zip"] == 1
    other = [replace(far[0], seal="0" * 64, kept=None)]
    answers = [
        answer for _, answer in score_all(other, tmp_path / "other", OnCluster(dask.address, None, tell))
    ]
    assert "was sealed again" in answers[0].line


def test_a_worker_that_is_killed_while_it_holds_a_submission_loses_nothing(dask, teams, quiet, tmp_path):
    killed = []

    def kill_holder() -> None:
        while not (held := list(dask.folder.rglob("held"))):
            time.sleep(0.05)
        killed.append(int(held[0].read_text()))
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill_holder, daemon=True)
    killer.start()
    engine = OnCluster(dask.address, None, told()[1], score=score_once_held)
    done = run(tasks_of(*teams, workers=0), tmp_path / "o", engine)
    assert len(killed) == 1
    assert "failed" not in done.values()
    assert results_in(tmp_path / "o") == quiet


def test_a_submission_that_ends_its_worker_each_time_is_blamed_and_no_other(dask, teams, tmp_path):
    _, tell = told()
    engine = OnCluster(dask.address, None, tell, score=score_or_end)
    tasks = tasks_of(*teams, workers=0)[:3]
    answers = {t.place: a for t, a in score_all(tasks, tmp_path / "o", engine)}
    failures = {place: answer.line for place, answer in answers.items() if answer.kind == "failed"}
    assert list(failures) == ["folder"]
    assert "its worker ended each time it was run alone" in failures["folder"]
    assert len(answers) == 3


def test_a_package_that_workers_lack_is_named(dask, teams, tmp_path):
    call = SimpleNamespace(__module__="nowhere", __name__="score")
    answers = score_all(tasks_of(*teams), tmp_path / "o", OnCluster(dask.address, None, told()[1], call))
    with faulted(PhaseError, "'nowhere'"):
        next(answers)


def test_what_a_worker_without_room_fails_is_scored_on_another(dask, teams, quiet, tmp_path):
    tasks = tasks_of(*teams, workers=0)
    lines, tell = told()
    dask.wait_for_workers()  # else the first one has no other beside it
    engine = OnCluster(dask.address, None, tell, score=score_with_room)
    assert "failed" not in run(tasks, tmp_path / "there", engine).values()
    named = [line for line in lines if "No space left on device; tried on another worker" in line]
    assert len(named) == 1
    assert results_in(tmp_path / "there") == quiet
    engine = OnCluster(dask.address, None, tell, score=score_without_room)
    answers = [answer.line for _, answer in score_all(tasks[:2], tmp_path / "o", engine)]
    assert answers == ["not scored: No space left on device"] * 2


class WithAnswers(OnCluster):
    """Has workers that always give the same answer, the first one that may."""

    def __init__(self, answers, tell):
        super().__init__("tcp://nowhere", None, tell)
        self.answers, self.given = answers, []

    def has_room(self):
        return self.is_idle()

    def is_idle(self):
        return not self.given

    def others_than(self, failed_on):
        return tuple(address for address in self.answers if address not in failed_on)

    def give(self, task, alone=False, failed_on=(), only_on=()):
        address = (only_on or tuple(self.answers))[0]
        answer = replace(self.answers[address], worker=address)
        future = SimpleNamespace(result=lambda: answer)
        self.given.append(_HandedOver(task, future, alone, failed_on, only_on))

    def next(self):
        return self.given.pop()


FULL, OTHER = Answer.failed("no space", elsewhere=True), Answer.failed("another version", unsuited=True)


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        ([OTHER] * 5, "scored"),  # as many as there may be before the right one
        ([OTHER, FULL, OTHER, FULL, OTHER], "scored"),
        ([FULL] * 2, "scored"),
        ([FULL] * 3, "failed"),
        ([OTHER, FULL, FULL, OTHER, FULL], "failed"),
    ],
)
def test_a_worker_of_another_version_is_no_attempt(teams, answers, kind):
    _, tell = told()
    workers = {str(number): one for number, one in enumerate([*answers, Answer("scored", "")])}
    engine = WithAnswers(workers, tell)
    tasks = tasks_of(*teams)[:2]
    assert [answer.kind for _, answer in engine.run(iter(tasks))] == [kind] * 2


def test_a_scheduler_that_ends_ends_the_run(teams, tmp_path):
    with Dask(tmp_path / "scratch", 1, nanny="--no-nanny") as dask:
        answers = score_all(tasks_of(*teams), tmp_path / "o", OnCluster(dask.address, None, told()[1]))
        next(answers)
        dask.end()
        with faulted(PhaseError, dask.address):
            list(answers)


@pytest.mark.parametrize(
    ("where", "workers", "names"),
    [
        ("tcp://127.0.0.1:{port}", None, ()),
        ("tcp://127.0.0.1:{port}", 2, ("--workers",)),
        ("kubernetes", None, ("'dask_kubernetes'",)),
        ("slurm", None, ()),
    ],
)
def test_a_cluster_that_cannot_be_used_is_named(where, workers, names):
    place = where.format(port=free_port())
    engine = OnCluster(place, workers, told()[1], connect_seconds=1.0)
    with faulted(PhaseError, place, *names):
        engine.__enter__()


SLURM = {
    "sbatch": 'cp "$1" "$0.job"\nsetsid sh "$0.job" > "$0.log" 2>&1 &\necho "Submitted batch job $!"',
    "scancel": 'kill -- "-$1"',
}


def test_a_batch_system_is_started_and_ended_through_the_configuration_of_dask(teams, tmp_path, monkeypatch):
    """Of Slurm, sbatch and scancel are stand-ins that run a job's script here and end it."""
    import dask

    for name, body in SLURM.items():
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/calls\n{body}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    monkeypatch.chdir(tmp_path)
    slurm = {"cores": 1, "memory": "2GiB", "processes": 1, "interface": "lo", "python": sys.executable}
    _, tell = told()
    handler = signal.getsignal(signal.SIGINT)
    with dask.config.set({f"jobqueue.slurm.{key}": value for key, value in slurm.items()}):
        done = run(first(tasks_of(*teams, workers=0)), tmp_path / "o", OnCluster("slurm", 1, tell))
    assert done == BEFORE
    calls = (tmp_path / "calls").read_text().split()
    assert calls.count("sbatch") == 1
    assert "scancel" in calls
    assert signal.getsignal(signal.SIGINT) is handler
