"""Runs the cases of a submission in isolated workers, or one after the other in this process.

A batch of cases goes to a worker at once. Where a worker dies, every case of its batch is run again, alone in
a fresh worker; a case that dies there too is then only read: if that kills the worker as well, it is a fault
of the file, else the case has failed. Everything else goes on.
"""

from __future__ import annotations

import contextlib
import faulthandler
import itertools
import math
import os
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path

import pebble

from evaluation.challenges import challenge_named, select_tasks
from evaluation.model.fault import Fault, FaultKind
from evaluation.model.outcome import CaseJob, Died, Faulty, OrganiserFault, Outcome, Scored
from evaluation.model.source import FileSource, JsonFileSource, file_of
from evaluation.workers.case_runner import CaseRunner, RunSetup
from evaluation.workers.warm_up import collect_rarely, worker_context

_LARGEST_BATCH = 512
_LARGEST_FILE_BATCH = 16
_START_SECONDS = 30.0
_GRACE_SECONDS = 1.0
_OOM_SCORE = "800"

Progress = Callable[[int], None]
_runner: CaseRunner | None = None
_case_seconds: float | None = None


def no_progress(done: int) -> None:
    """Take the number of cases done and show nothing."""


class DeadlineExceeded(Exception):  # noqa: N818 - the platform's word
    """Raised where the budget of a phase ran out before all cases were run."""


@dataclass(frozen=True)
class PoolSettings:
    """How cases are run: number of workers (0: in this process) and limits in seconds.

    ``deadline`` is of `time.monotonic`; with ``fill_at_deadline`` the cases that it cuts off have failed.
    """

    workers: int
    case_seconds: float
    deadline: float | None = None
    fill_at_deadline: bool = False


def run_cases(
    jobs: Sequence[CaseJob], setup: RunSetup, settings: PoolSettings, progress: Progress = no_progress
) -> list[Outcome]:
    """Return the outcome of every job, in the order of the jobs.

    ``progress`` is called with the number of cases done. Raises `DeadlineExceeded`.
    """
    if settings.workers == 0:
        return _run_serially(jobs, setup, progress)
    outcomes: dict[int, Outcome] = {}
    try:
        for positions, batch in _run_batches(jobs, setup, settings):
            outcomes.update((p, o) for p, o in zip(positions, batch, strict=True) if not isinstance(o, Died))
            progress(len(outcomes))
        for position, job in enumerate(jobs):
            if position not in outcomes:
                outcomes[position] = _run_alone(job, setup, settings)
                progress(len(outcomes))
    except DeadlineExceeded:
        if not settings.fill_at_deadline:
            raise
        outcomes.update(_fail_rest(jobs, outcomes, setup, settings))
    return [outcomes[position] for position in range(len(jobs))]


def _fail_rest(
    jobs: Sequence[CaseJob], outcomes: Mapping[int, Outcome], setup: RunSetup, settings: PoolSettings
) -> dict[int, Outcome]:
    """Return the worst values of the cases that the deadline cut off."""
    rest = [position for position in range(len(jobs)) if position not in outcomes]
    worst = run_cases(
        [replace(jobs[position], mode="worst") for position in rest], setup, replace(settings, deadline=None)
    )
    return {
        position: replace(outcome, failure="out of time") if isinstance(outcome, Scored) else outcome
        for position, outcome in zip(rest, worst, strict=True)
    }


def _run_serially(jobs: Sequence[CaseJob], setup: RunSetup, progress: Progress) -> list[Outcome]:
    runner = _make_runner(setup)
    outcomes: dict[int, Outcome] = {}
    for position in itertools.chain.from_iterable(_groups(jobs)):
        outcomes[position] = runner.run(jobs[position])
        progress(len(outcomes))
    return [outcomes[position] for position in range(len(jobs))]


def _run_batches(
    jobs: Sequence[CaseJob], setup: RunSetup, settings: PoolSettings
) -> Iterator[tuple[Sequence[int], list[Outcome]]]:
    """Yield the outcomes of each batch; batches whose worker died are left out."""
    batches = list(_batches(jobs, settings.workers))
    with _pool(setup, settings, settings.workers) as pool:
        futures = [_schedule(pool, [jobs[position] for position in batch], settings) for batch in batches]
        for batch, future in zip(batches, futures, strict=True):
            with contextlib.suppress(*_DEATHS):
                yield batch, _result(future, len(batch), settings)


def _batches(jobs: Sequence[CaseJob], workers: int) -> Iterator[list[int]]:
    """Yield the positions of the jobs of each batch; those that share a file stay together where they can."""
    reads_files = any(isinstance(source, FileSource) for job in jobs for source in job.sources.values())
    largest = _LARGEST_FILE_BATCH if reads_files else _LARGEST_BATCH
    size = max(1, min(largest, len(jobs) // (8 * workers)))
    batch: list[int] = []
    for group in _groups(jobs):
        if batch and len(batch) + len(group) > size:
            yield batch
            batch = []
        batch += group
        while len(batch) > largest:
            yield batch[:largest]
            batch = batch[largest:]
    if batch:
        yield batch


def _groups(jobs: Sequence[CaseJob]) -> Iterable[list[int]]:
    """Return the positions of all jobs, those together whose values lie in one file."""
    groups: dict[str, list[int]] = {}
    for position, job in enumerate(jobs):
        stacked = (
            source.path
            for source in job.sources.values()
            if isinstance(source, JsonFileSource) and source.entries is not None
        )
        groups.setdefault(next(stacked, f"\0{position}"), []).append(position)
    return groups.values()


def _schedule(
    pool: pebble.ProcessPool, batch: Sequence[CaseJob], settings: PoolSettings
) -> pebble.ProcessFuture:
    # The workers' own watchdog is faster; this is for a worker that leaves with status 0, no death to pebble.
    seconds = len(batch) * settings.case_seconds + _GRACE_SECONDS
    return pool.schedule(_run_batch, args=[batch], timeout=seconds)


class _Stalled(Exception):  # noqa: N818 - a state, not an error
    """A batch took longer than all its cases' limits together."""


_DEATHS = (pebble.ProcessExpired, BrokenProcessPool, CancelledError, _Stalled)


def _result(future: pebble.ProcessFuture, cases: int, settings: PoolSettings) -> list[Outcome]:
    """Return what a batch gave, waiting no longer than its cases' limits and the deadline allow.

    Raises `DeadlineExceeded`, or one of the deaths of its worker.
    """
    stalled = time.monotonic() + settings.workers * (cases * settings.case_seconds + _START_SECONDS)
    deadline = math.inf if settings.deadline is None else settings.deadline
    try:
        outcomes: list[Outcome] = future.result(timeout=max(0.0, min(stalled, deadline) - time.monotonic()))
    except TimeoutError:
        if not future.done() and deadline <= stalled:
            raise DeadlineExceeded from None
        raise _Stalled from None
    except _DEATHS:
        raise
    except Exception as error:  # what a worker returned cannot be pickled
        return [OrganiserFault((f"a result cannot leave its worker: {error}",))] * cases
    return outcomes


def _run_alone(job: CaseJob, setup: RunSetup, settings: PoolSettings) -> Outcome:
    """Return the outcome of a case whose worker died, telling a fault of the file from a failed case."""
    outcome = _attempt(job, setup, settings)
    if not isinstance(outcome, Died):
        return outcome
    if isinstance(_attempt(replace(job, reference=None), setup, settings), Died):
        files = sorted({file_of(source) for source in job.sources.values()})
        found = "one that takes too much memory or time, or crashes its reader"
        return Faulty(tuple(Fault(FaultKind.UNREADABLE, file, "a readable file", found) for file in files))
    worst = _attempt(replace(job, mode="worst"), setup, settings)
    return replace(worst, failure=outcome.reason) if isinstance(worst, Scored) else worst


def _attempt(job: CaseJob, setup: RunSetup, settings: PoolSettings) -> Outcome:
    started = time.monotonic()
    try:
        with _pool(setup, settings, 1) as pool:
            return _result(_schedule(pool, [job], settings), 1, settings)[0]
    except _DEATHS:
        took = time.monotonic() - started
        return Died("out of time" if took >= settings.case_seconds else "crashed or killed")


@contextlib.contextmanager
def _pool(setup: RunSetup, settings: PoolSettings, workers: int) -> Iterator[pebble.ProcessPool]:
    context = worker_context()
    setup = replace(setup, form=replace(setup.form, cases=()))
    pool = pebble.ProcessPool(
        max_workers=workers,
        initializer=_start_worker,
        initargs=[setup, settings.case_seconds],
        context=context,
    )
    try:
        yield pool
    finally:
        pool.stop()
        pool.join()


def _start_worker(setup: RunSetup, case_seconds: float) -> None:
    """Make this process a worker: first to be killed for memory, limited, and ready to run cases."""
    global _runner, _case_seconds
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")
    if setup.memory_bytes is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = setup.memory_bytes if hard == resource.RLIM_INFINITY else min(setup.memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    collect_rarely()
    _runner = _make_runner(setup)
    _case_seconds = case_seconds


def _make_runner(setup: RunSetup) -> CaseRunner:
    challenge = challenge_named(setup.form.challenge)
    options = challenge.options.model_validate(setup.options)
    return CaseRunner(setup, select_tasks(challenge, options, setup.tasks))


def _run_batch(jobs: Sequence[CaseJob]) -> list[Outcome]:
    """Run a batch in a worker. A watchdog ends the process where a case exceeds its time.

    The watchdog is a thread without the interpreter lock, so that a hang in C ends as well.
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
    return outcomes
