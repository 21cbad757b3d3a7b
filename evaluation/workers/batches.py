"""Runs batches of cases in a pool of workers that may die, and says of which batches the worker died.

pebble's pool replaces a worker that dies and names the task that it had. What it leaves open is closed here:
a pool that breaks or stalls as a whole is replaced, and its batches that had not begun are run in the next.
"""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace

import pebble

from evaluation.core.fault import PhaseError
from evaluation.core.outcome import CaseJob, Died, OrganiserFault, Outcome
from evaluation.workers.case_runner import RunSetup
from evaluation.workers.worker import outcomes_of, run_batch, start_worker

OUT_OF_TIME = "out of time"
_START_SECONDS = 30.0
_GRACE_SECONDS = 1.0
_LOOK_SECONDS = 0.25
_FRUITLESS_POOLS = 3

Batch = Sequence[int]


class DeadlineExceeded(Exception):  # noqa: N818 - the platform's word
    """Raised where the budget of a phase ran out before all cases were run; ``unfinished`` names these."""

    def __init__(self, unfinished: tuple[str, ...] = ()) -> None:
        self.unfinished = unfinished
        super().__init__(f"{len(unfinished)} cases were not finished")


@dataclass(frozen=True)
class PoolSettings:
    """How cases are run: number of workers (0: in this process) and limits in seconds.

    ``deadline`` is of `time.monotonic`; with ``fill_at_deadline`` the cases that it cuts off have failed.
    """

    workers: int
    case_seconds: float
    deadline: float | None = None
    fill_at_deadline: bool = False


def run_batches(
    jobs: Sequence[CaseJob], batches: Sequence[Batch], setup: RunSetup, settings: PoolSettings
) -> Iterator[tuple[Batch, list[Outcome]]]:
    """Yield the outcomes of every batch; those of a batch whose worker died are all `Died`.

    Raises `DeadlineExceeded`, and `PhaseError` where no worker can do anything.
    """
    fruitless = 0
    while batches and fruitless < _FRUITLESS_POOLS:
        left: list[Batch] = []
        fruitless += 1
        with contextlib.suppress(BrokenProcessPool), _pool(setup, settings) as pool:
            for batch, outcomes in _run_in(pool, jobs, batches, settings):
                if outcomes is None:
                    left.append(batch)
                else:
                    fruitless = 0
                    yield batch, outcomes
            batches = left
    if batches:
        raise PhaseError(f"the workers cannot do anything: {_FRUITLESS_POOLS} pools of them broke in a row")


def _run_in(
    pool: pebble.ProcessPool, jobs: Sequence[CaseJob], batches: Sequence[Batch], settings: PoolSettings
) -> Iterator[tuple[Batch, list[Outcome] | None]]:
    """Yield the outcomes of each batch in one pool, None where the pool broke before it began."""
    longest = max(map(len, batches)) * settings.case_seconds + _GRACE_SECONDS
    futures: list[pebble.ProcessFuture] = []
    with contextlib.suppress(RuntimeError):  # what pebble raises once the pool is broken
        for batch in batches:
            # The workers' own watchdog is faster; this is for one that does not even run that.
            seconds = len(batch) * settings.case_seconds + _GRACE_SECONDS
            work = [jobs[position] for position in batch]
            futures.append(pool.schedule(run_batch, args=[work], timeout=seconds))
    last_event = time.monotonic()
    broken = False
    for batch, future in zip(batches, futures, strict=False):
        while not (future.done() or broken):
            _wait(future, settings.deadline)
            stalled = time.monotonic() - last_event > longest + _START_SECONDS
            broken = not future.done() and (stalled or not pool.active)
        yield batch, _outcomes(future, len(batch), time.monotonic() - last_event >= settings.case_seconds)
        last_event = time.monotonic()
    for batch in batches[len(futures) :]:
        yield batch, None


def _wait(future: pebble.ProcessFuture, deadline: float | None) -> None:
    """Wait for a future a moment. Raises `DeadlineExceeded`."""
    left = math.inf if deadline is None else deadline - time.monotonic()
    if left <= 0:
        raise DeadlineExceeded
    with contextlib.suppress(TimeoutError, CancelledError):
        future.exception(timeout=min(_LOOK_SECONDS, left))


def _outcomes(future: pebble.ProcessFuture, cases: int, slow: bool) -> list[Outcome] | None:
    """Return what became of a batch, None where it had not begun when the pool broke."""
    if not future.done():
        return [Died("its worker stalled")] * cases if future.running() else None
    try:
        return outcomes_of(future.result())
    except (BrokenProcessPool, CancelledError):
        return None
    except TimeoutError:
        return [Died(OUT_OF_TIME)] * cases
    except pebble.ProcessExpired as death:
        return [Died(OUT_OF_TIME if slow and death.exitcode == 1 else _cause(death.exitcode))] * cases
    except Exception as error:
        return [OrganiserFault((f"a result cannot leave its worker: {error}",))] * cases


def _cause(exit_code: int) -> str:
    if exit_code == -signal.SIGKILL:
        return "killed by SIGKILL, probably for the machine's memory"
    if exit_code < 0:
        return f"crashed with {signal.Signals(-exit_code).name}"
    return "ended its worker"


_closing: list[threading.Thread] = []


@contextlib.contextmanager
def _pool(setup: RunSetup, settings: PoolSettings) -> Iterator[pebble.ProcessPool]:
    """Yield a pool that has the machine to itself; it closes while its results are already in use."""
    from evaluation.workers.warm_up import worker_context  # only Linux has workers

    while _closing:
        _closing.pop().join()
    pool = pebble.ProcessPool(
        max_workers=settings.workers,
        initializer=start_worker,
        initargs=[replace(setup, form=replace(setup.form, cases=())), settings.case_seconds],
        context=worker_context(),
    )
    try:
        yield pool
    finally:
        pool.stop()
        # pebble's threads look around every tenth of a second: nobody but the next pool waits for them.
        _closing.append(threading.Thread(target=pool.join))
        _closing[-1].start()
