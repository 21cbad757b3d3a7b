"""What runs in a worker process: how it starts, and a batch of cases under a watchdog."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import pickle
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pebble.common import CONSTS

from evaluation.core.outcome import CaseJob, OrganiserFault, Outcome
from evaluation.core.source import FileSource
from evaluation.phase.registry import challenge_named, select_tasks
from evaluation.workers.case_runner import CaseRunner, RunSetup

_OOM_SCORE = "800"
_PR_SET_PDEATHSIG = 1
# A worker that is killed between two batches may hold the lock of the pool, for which others wait so long.
_LOCK_SECONDS = 5.0

_runner: CaseRunner | None = None
_case_seconds: float | None = None


def make_runner(setup: RunSetup) -> CaseRunner:
    """Return what runs the cases of a phase and submission in this process."""
    challenge = challenge_named(setup.form.challenge)
    options = challenge.options.model_validate(setup.options)
    return CaseRunner(setup, select_tasks(challenge, options, setup.tasks, setup.form.run_time))


def start_worker(setup: RunSetup, case_seconds: float) -> None:
    """Make this process a worker: silent, limited, first to be killed for memory, and never an orphan."""
    import resource  # not on Windows, where there are no workers

    from evaluation.workers.warm_up import collect_rarely

    global _runner, _case_seconds
    _end_with_parent()
    CONSTS.channel_lock_timeout = _LOCK_SECONDS
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # a decoder's words could hold anything, and without end
        os.dup2(nowhere, stream)
    os.close(nowhere)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core would hold labels
    if setup.memory_bytes is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = setup.memory_bytes if hard == resource.RLIM_INFINITY else min(setup.memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    collect_rarely()
    _runner = make_runner(setup)
    _case_seconds = case_seconds


def run_batch(jobs: Sequence[CaseJob]) -> bytes:
    """Run a batch in a worker and return its outcomes, pickled; see `outcomes_of`.

    A watchdog ends the process where a case exceeds its time: a thread without the interpreter lock, so that
    a hang in C ends as well.
    """
    if _runner is None or _case_seconds is None:
        raise RuntimeError("the worker was not started")
    reads_files = any(isinstance(source, FileSource) for job in jobs for source in job.sources.values())
    outcomes: list[Outcome] = []
    with Path(os.devnull).open("w", encoding="ascii") as nowhere:
        try:
            for job in jobs:
                if reads_files or not outcomes:
                    faulthandler.dump_traceback_later(_case_seconds, exit=True, file=nowhere)
                outcomes.append(_runner.run(job))
        finally:
            faulthandler.cancel_dump_traceback_later()
    return _portable(jobs, outcomes)


def outcomes_of(data: bytes) -> list[Outcome]:
    """Return the outcomes that `run_batch` pickled."""
    outcomes: list[Outcome] = pickle.loads(data)  # noqa: S301 - from our own process
    return outcomes


def _portable(jobs: Sequence[CaseJob], outcomes: list[Outcome]) -> bytes:
    """Return the pickled outcomes; one that cannot be unpickled is the organiser's fault of that case.

    Tried here, where only that case is lost: in the other process it would cost the whole pool.
    """
    with contextlib.suppress(Exception):
        data = pickle.dumps(outcomes)
        outcomes_of(data)
        return data
    return pickle.dumps(
        [_portable_outcome(job, job_outcome) for job, job_outcome in zip(jobs, outcomes, strict=True)]
    )


def _portable_outcome(job: CaseJob, outcome: Outcome) -> Outcome:
    try:
        pickle.loads(pickle.dumps(outcome))  # noqa: S301 - as above
    except Exception as error:
        return OrganiserFault((f"case {job.case.name}: its result cannot leave the worker: {error}",))
    return outcome


def _end_with_parent() -> None:
    """Ask the system to kill this process when its parent ends: the server, which ends with the main process.

    The server waits for the end of a pipe that Python hands on to every worker, so that a worker that hangs
    would keep it alive; workers start no processes and need none of it.
    """
    from multiprocessing import forkserver  # as above

    server: Any = getattr(forkserver, "_forkserver", None)
    if (alive := getattr(server, "_forkserver_alive_fd", None)) is not None:
        os.close(alive)
        server._forkserver_alive_fd = None
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == 1:  # it ended before we asked
            os._exit(1)
