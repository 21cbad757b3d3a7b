"""Submissions scored by the workers of a Dask scheduler; the extra `cluster` of this package installs Dask.

A task is one submission. Few more are handed over than there are threads, so that memory stays flat. Dask
runs the tasks of a worker that ended elsewhere; one that was there when several workers ended is then run
alone, and is blamed only if workers end again. Where the scheduler ends, what was handed over is handed to
the next one.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import pickle
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker
from types import TracebackType
from typing import Any

from evaluation.core.fault import PhaseError
from evaluation.platform import machine
from evaluation.rescoring.cluster_worker import score_on_worker
from evaluation.rescoring.task import ATTEMPTS, Answer, Answers, Task, failed

QUEUES = {
    "slurm": "SLURMCluster",
    "pbs": "PBSCluster",
    "sge": "SGECluster",
    "lsf": "LSFCluster",
    "oar": "OARCluster",
    "htcondor": "HTCondorCluster",
    "moab": "MoabCluster",
}
"""Batch systems by their name here and in the configuration of dask-jobqueue, and its class for each."""

# Sent as text: the scheduler needs nothing of this package, and a worker without it answers with an error. It
# would end if it could not even unpickle the task.
_CALL = "getattr(__import__('importlib').import_module(module), function)(__import__('pickle').loads(task))"
_TASKS_PER_THREAD = 2
_LEAST_WINDOW = 4
_LOOK_SECONDS = 2.0
_RECONNECT_SECONDS = 120.0
_RECONNECTIONS = 5


@dataclass
class _Given:
    """A task that was handed over, its future, whether no other runs with it, and workers that failed it."""

    task: Task
    future: Any
    alone: bool
    failed_on: tuple[str, ...]


class OnCluster:
    """Scores submissions on the workers of a scheduler; a context manager.

    ``where`` is the address of a scheduler, "local", "kubernetes" or the name of a batch system. ``workers``
    is how many to ask for, None for Dask's own configuration. ``tell`` gets lines for the organiser.
    """

    def __init__(
        self,
        where: str,
        workers: int | None,
        tell: Callable[[str], None],
        score: Callable[[Task], Answer] = score_on_worker,
        reconnect_seconds: float = _RECONNECT_SECONDS,
    ) -> None:
        self._where, self._workers, self._tell, self._score = where, workers, tell, score
        self._reconnect_seconds = reconnect_seconds
        self._closing = contextlib.ExitStack()
        self._client: Any = None
        self._to: Any = where
        self._reconnections = 0
        self._given: dict[str, _Given] = {}
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._numbers = 0
        self._is_waiting = False
        self._window, self._looked = _LEAST_WINDOW, 0.0

    def __enter__(self) -> OnCluster:
        """Start or find the cluster. Raises `PhaseError`."""
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        try:
            with _without_interrupts():
                cluster = _start_cluster(self._where, self._workers)
            if cluster is not None:
                self._to = self._closing.enter_context(cluster)
            self._connect()
        except BaseException:
            self._closing.close()
            raise
        self._tell(f"Dask's dashboard: {self._client.dashboard_link}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(Exception):  # a scheduler that has ended
            self._client.cancel([given.future for given in self._given.values()], force=True)
        self._disconnect()
        self._closing.close()

    def run(self, tasks: Iterator[Task]) -> Answers:
        """Yield every task with its answer, as they end. Raises `PhaseError` where the scheduler is lost."""
        suspects: deque[Task] = deque()
        left = True
        while True:
            while left and len(self._given) < self._room():
                task = next(tasks, None)
                left = task is not None
                if task is not None:
                    self._give(task)
            if not self._given:
                if not suspects:
                    return
                self._give(suspects.popleft(), alone=True)
            given = self._next()
            if given is not None:
                answer = self._answer(given)
                if answer is None:
                    suspects.append(given.task)
                elif not self._tries_elsewhere(given, answer):
                    yield given.task, answer

    def _tries_elsewhere(self, given: _Given, answer: Answer) -> bool:
        """Hand a task over again that a worker failed for lack of its own, if there are others."""
        failed_on = (*given.failed_on, answer.worker)
        if not answer.elsewhere or len(failed_on) == ATTEMPTS:
            return False
        others: list[str] = []
        with contextlib.suppress(Exception):  # as in `_room`
            others = [address for address in self._client.nthreads() if address not in failed_on]
        if others:
            self._give(given.task, given.alone, failed_on, others)
        return bool(others)

    def _answer(self, given: _Given) -> Answer | None:
        """Return the answer of a task that has ended, None for one that must be run alone to be blamed."""
        from distributed import KilledWorker

        try:
            answer: Answer = given.future.result()
        except KilledWorker as killed:
            reason = (
                f"its worker ended each time it was run alone (the last was {killed.last_worker.address})"
            )
            return failed(reason) if given.alone else None
        except ModuleNotFoundError as error:
            raise PhaseError(
                f"the cluster's workers have no Python package {error.name!r}: install this package there too"
            ) from None
        except Exception as error:
            return failed(f"{type(error).__name__}: {error}")
        return answer

    def _give(
        self,
        task: Task,
        alone: bool = False,
        failed_on: tuple[str, ...] = (),
        workers: Sequence[str] | None = None,
    ) -> None:
        self._numbers += 1
        key = f"{task.place}#{self._numbers}"
        names = {
            "module": self._score.__module__,
            "function": self._score.__name__,
            "task": pickle.dumps(task),
        }
        future = self._client.submit(
            eval,
            _CALL,
            names,
            key=key,
            pure=False,
            workers=workers,
            # Rather there again than never, should the others end.
            allow_other_workers=workers is not None,
        )
        self._given[key] = _Given(task, future, alone, failed_on)
        self._listen(future)

    def _next(self) -> _Given | None:
        """Return a task that has ended, after waiting for a while; None where none has."""
        try:
            key = self._ended.get(timeout=_LOOK_SECONDS)
        except queue.Empty:
            if self._client.status != "running":
                self._reconnect()
            return None
        given = self._given.pop(key, None)
        if given is None or given.future.status in ("finished", "error"):
            return given
        self._given[key] = given
        if given.future.status == "cancelled":
            # The scheduler has ended, and with it all that was handed over.
            self._reconnect()
        else:
            # Its worker ended before the answer was fetched; Dask does it again.
            self._listen(given.future)
        return None

    def _listen(self, future: Any) -> None:
        future.add_done_callback(lambda done: self._ended.put(done.key))

    def _room(self) -> int:
        """Return how many tasks may be handed over: somewhat more than there are threads."""
        if time.monotonic() - self._looked > _LOOK_SECONDS:
            with contextlib.suppress(Exception):  # a scheduler that has ended is noticed elsewhere
                threads = sum(self._client.nthreads().values())
                self._window = max(_LEAST_WINDOW, _TASKS_PER_THREAD * threads)
                if threads == 0 and not self._is_waiting:
                    self._tell("The cluster has no worker; waiting for one")
                self._is_waiting = threads == 0
            self._looked = time.monotonic()
        return self._window

    def _connect(self) -> None:
        from distributed import Client

        try:
            self._client = Client(self._to, timeout=min(30.0, self._reconnect_seconds))
        except (OSError, ValueError) as error:
            raise PhaseError(f"--cluster {self._where}: no scheduler answers ({error})") from None

    def _disconnect(self) -> None:
        if self._client is not None:
            with contextlib.suppress(Exception):  # as above
                self._client.close(timeout=5)

    def _reconnect(self) -> None:
        """Find the next scheduler and hand everything over again. Raises `PhaseError` where there is none."""
        self._reconnections += 1
        if self._reconnections > _RECONNECTIONS:
            raise PhaseError(f"--cluster {self._where}: the scheduler ended {self._reconnections} times")
        self._tell("The scheduler has ended; waiting for the next one")
        self._disconnect()
        until = time.monotonic() + self._reconnect_seconds
        while True:
            try:
                self._connect()
                break
            except PhaseError:
                if time.monotonic() > until:
                    raise
                time.sleep(1.0)
        lost, self._given = self._given, {}
        for given in lost.values():
            self._give(given.task, given.alone, given.failed_on)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block SIGINT in all threads that are started within, and so in all processes that these start.

    A terminal sends it to the workers too, which would each print a traceback; we end them. The handler stays
    ours, which dask_jobqueue replaces when it is imported.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # The first process that is started unblocks the signal in its thread, unless this runs already.
    resource_tracker.ensure_running()
    handler = signal.getsignal(signal.SIGINT)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_cluster(where: str, workers: int | None) -> Any:
    """Return a cluster that has been started, None where ``where`` is the address of a scheduler."""
    try:
        import distributed

        if where == "local":
            count = machine.worker_count(workers) or 1
            return distributed.LocalCluster(
                n_workers=count, threads_per_worker=1, silence_logs=logging.CRITICAL, dashboard_address=":0"
            )
        if where == "kubernetes":
            start = importlib.import_module("dask_kubernetes.operator").KubeCluster
        elif where in QUEUES:
            start = getattr(importlib.import_module("dask_jobqueue"), QUEUES[where])
        else:
            if workers is not None:
                raise PhaseError(f"--workers: the scheduler at {where} has workers of its own")
            return None
    except ModuleNotFoundError as error:
        extra = "cluster" if where in ("local",) or "://" in where else where
        raise PhaseError(
            f"--cluster {where} needs the Python package {error.name!r}: install this package with its extra "
            f"{extra!r}"
        ) from None
    try:
        cluster = start()
    except (OSError, ValueError) as error:  # what the configuration lacks
        raise PhaseError(f"--cluster {where}: {error}") from None
    if workers is None:
        cluster.adapt()
    else:
        cluster.scale(workers)
    return cluster
