"""Submissions scored by the workers of a Dask scheduler; the extra `cluster` installs Dask.

A task is one submission. Only few more than there are threads are handed over at
once, which limits memory. If a worker dies, Dask runs its tasks elsewhere. A task with several dead workers
then runs alone, and fails only if more die.

A worker fetches files from elsewhere, and scores in a lane: each of its threads has one. A phase at an
address is read once per worker; the lane verifies its seal.
"""

import contextlib
import importlib
import logging
import pickle
import queue
import signal
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from evaluation.core.fault import PhaseError
from evaluation.organiser.parallel.lanes import Lanes
from evaluation.organiser.rescoring.submissions import fetch, local_path
from evaluation.organiser.rescoring.task import ATTEMPTS, Answer, Answers, Engine, ScoringTask
from evaluation.platform import machine

_MEBIBYTE = 1 << 20
# The process of a lane, which decodes nothing, beside its workers.
_LANE_MB = 512
_LEAST_MB = 512
_of_thread = threading.local()
_phases: dict[tuple[str, str], Path] = {}
_one_fetches = threading.Lock()


def score_on_worker(task: ScoringTask) -> Answer:
    """Score a submission on a thread of a Dask worker."""
    from distributed import get_worker

    worker = get_worker()
    # Dask removes this folder, even if the worker was killed.
    folder = Path(worker.local_directory)
    if not hasattr(_of_thread, "lanes"):
        _of_thread.lanes = Lanes(1, folder)
    answer = score_fetched(task, folder, _share_mb(worker, task.workers), _of_thread.lanes)
    return replace(answer, worker=worker.address)


def score_fetched(task: ScoringTask, folder: Path, memory_mb: int | None, lanes: Lanes) -> Answer:
    """Fetch a remote phase and submission into a folder, three times at most, and score in a lane."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            phase = _fetched_phase(task, folder)
            with _fetched(task, folder) as submission:
                here = replace(task, phase=str(phase), submission=str(submission), memory_mb=memory_mb)
                return lanes.score(here)
        except PhaseError as error:
            return Answer.failed("; ".join(error.problems))
        except Exception as error:  # file systems of fsspec raise any exception
            if attempt == ATTEMPTS:
                return Answer.failed(f"{task.submission}: {type(error).__name__}: {error}", elsewhere=True)
    raise AssertionError("unreachable")


def _fetched_phase(task: ScoringTask, folder: Path) -> Path:
    if (path := local_path(task.phase)) is not None:
        return path
    key = (task.phase, task.seal)
    with _one_fetches:
        if key not in _phases or not _phases[key].is_dir():
            _phases[key] = fetch(task.phase, Path(tempfile.mkdtemp(prefix="phase-", dir=folder)))
        return _phases[key]


@contextlib.contextmanager
def _fetched(task: ScoringTask, folder: Path) -> Iterator[Path]:
    path = local_path(task.submission)
    if path is not None:
        yield path
    else:
        with tempfile.TemporaryDirectory(prefix="submission-", dir=folder) as temporary:
            yield fetch(task.submission, Path(temporary))


def _share_mb(worker: Any, workers: int) -> int | None:
    """Return the memory of one process that reads or scores cases, None where the worker has no limit."""
    limit = worker.memory_manager.memory_limit
    if not limit:
        return None
    share: int = limit // _MEBIBYTE // max(1, worker.state.nthreads)
    return max(_LEAST_MB, (share - _LANE_MB) // max(1, workers))


# --- Start of a Dask cluster, on this machine or through Dask's packages for batch systems and Kubernetes ---

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


@contextlib.contextmanager
def without_interrupts() -> Iterator[None]:
    """Block SIGINT in all threads that are started within, and in their processes.

    A terminal sends it to the workers too, which would each print a traceback. The handler is restored
    afterwards, since importing dask_jobqueue replaces it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # The first started process unblocks the signal in its thread, unless this runs already.
    resource_tracker.ensure_running()
    handler = signal.getsignal(signal.SIGINT)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start_cluster(where: str, workers: int | None) -> Any:
    """Start and return a cluster; None where ``where`` is the address of a scheduler."""
    try:
        import distributed

        if where == "local":
            count = machine.worker_count(workers) or 1
            start = partial(
                distributed.LocalCluster,
                n_workers=count,
                threads_per_worker=1,
                silence_logs=logging.CRITICAL,
                # It shows what runs to all who reach it: it is off, and its port open to this machine.
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
            )
        elif where == "kubernetes":
            # By default it draws its own progress on the terminal.
            start = partial(importlib.import_module("dask_kubernetes.operator").KubeCluster, quiet=True)
        elif where in QUEUES:
            start = getattr(importlib.import_module("dask_jobqueue"), QUEUES[where])
            if where == "sge":
                _require_resources()
        else:
            if workers is not None:
                raise PhaseError(f"--workers: the scheduler at {where} has workers of its own")
            return None
    except ModuleNotFoundError as error:
        extra = "cluster" if where == "local" or "://" in where else where
        raise PhaseError(
            f"--cluster {where} needs the Python package {error.name!r}: install this package with its extra "
            f"{extra!r}"
        ) from None
    # A worker of this machine that dies while it starts ends its cluster: another one is started.
    for attempt in range(ATTEMPTS if where == "local" else 1, 0, -1):
        try:
            cluster = start()
            break
        except Exception as error:  # Dask's packages report a lacking configuration in many ways
            if attempt == 1:
                raise PhaseError(f"--cluster {where}: {str(error) or type(error).__name__}") from None
    if where == "local":
        return cluster
    if workers is None:
        cluster.adapt()
    else:
        cluster.scale(workers)
    return cluster


def _require_resources() -> None:
    """Refuse jobs of SGE that ask for nothing: dask-jobqueue derives no request there from their memory."""
    import dask

    if not dask.config.get("jobqueue.sge.resource-spec", None):
        raise PhaseError(
            "--cluster sge: expected jobqueue.sge.resource-spec in Dask's configuration, for example "
            "'h_vmem=2G' (and slots, with job-extra-directives), found none: jobs would ask for no memory"
        )


# --- Submissions handed to the workers of a scheduler ---

# Sent as text: the scheduler does not need this package, and a worker without it answers with an error. It
# would die if it could not unpickle the task.
_CALL = "getattr(__import__('importlib').import_module(module), function)(__import__('pickle').loads(task))"
_TASKS_PER_THREAD = 2
_LEAST_WINDOW = 4


@dataclass
class _HandedOver:
    """A task that was handed over; ``only_on``: the only workers that may do it now, if any."""

    task: ScoringTask
    future: Any
    alone: bool
    failed_on: tuple[str, ...]
    only_on: tuple[str, ...]


@dataclass
class OnCluster(Engine):
    """Scores submissions on the workers of a scheduler.

    ``where`` is the address of a scheduler, "local", "kubernetes" or the name of a batch system. ``workers``
    is how many to ask for, None for Dask's own configuration. ``tell`` gets lines for the organiser;
    ``score`` is called by the workers. The scheduler is asked for its workers every ``look_seconds``.
    """

    where: str
    workers: int | None
    tell: Callable[[str], None]
    score: Callable[[ScoringTask], Answer] = score_on_worker
    connect_seconds: float = 30.0
    look_seconds: float = 2.0
    _client: Any = field(init=False, default=None)
    _closing: contextlib.ExitStack = field(init=False, default_factory=contextlib.ExitStack)
    _given: dict[str, _HandedOver] = field(init=False, default_factory=dict)
    _ended: queue.SimpleQueue[str] = field(init=False, default_factory=queue.SimpleQueue)
    _numbers: int = field(init=False, default=0)
    _is_waiting: bool = field(init=False, default=False)
    _window: int = field(init=False, default=_LEAST_WINDOW)
    _looked: float = field(init=False, default=0.0)
    _named: set[str] = field(init=False, default_factory=set)
    _unsuited: set[str] = field(init=False, default_factory=set)

    def __enter__(self) -> "OnCluster":
        """Start or find the cluster. Raises `PhaseError`."""
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        with contextlib.ExitStack() as opened:
            with without_interrupts():
                cluster = start_cluster(self.where, self.workers)
            if cluster is not None:
                opened.enter_context(cluster)
            from distributed import Client

            try:
                self._client = Client(cluster or self.where, timeout=self.connect_seconds)
            except (OSError, ValueError) as error:
                raise PhaseError(f"--cluster {self.where}: no scheduler answers ({error})") from None
            self._closing = opened.pop_all()
        if self.where != "local":
            self.tell(f"Dask's dashboard: {self._client.dashboard_link}")
        return self

    def __exit__(self, *error: object) -> None:
        """Cancel pending tasks, disconnect, and end a cluster that was started here."""
        with contextlib.suppress(Exception):  # a scheduler that has ended
            self._client.cancel([given.future for given in self._given.values()], force=True)
        with contextlib.suppress(Exception):  # as above
            self._client.close(timeout=5)
        self._closing.close()

    def run(self, tasks: Iterator[ScoringTask]) -> Answers:
        """Yield every task with its answer, as they end. Raises `PhaseError` where the scheduler is lost."""
        suspects: deque[ScoringTask] = deque()
        while True:
            while self.has_room() and (task := next(tasks, None)) is not None:
                self.give(task)
            if self.is_idle():
                if not suspects:
                    return
                self.give(suspects.popleft(), alone=True)
            if (given := self.next()) is None:
                continue
            if (answer := self._answer(given)) is None:
                suspects.append(given.task)
            elif not self._tries_elsewhere(given, answer):
                yield given.task, answer

    def _tries_elsewhere(self, given: _HandedOver, answer: Answer) -> bool:
        """Hand a task over again after a failure of the worker's own, if there are other workers.

        Workers that are unsuited, as those of another version, count for no attempt. The first failure of
        each worker is told, since the others hide it.
        """
        failed_on = (*given.failed_on, answer.worker)
        if answer.unsuited:
            self._unsuited.add(answer.worker)
        if not answer.elsewhere or len(set(failed_on) - self._unsuited) == ATTEMPTS:
            return False
        if others := self.others_than((*failed_on, *self._unsuited)):
            self.give(given.task, given.alone, failed_on, others)
            if answer.worker not in self._named:
                self.tell(f"{answer.worker}: {answer.line}; tried on another worker")
                self._named.add(answer.worker)
        return bool(others)

    def _answer(self, given: _HandedOver) -> Answer | None:
        """Return the answer of a finished task, None if it must run again alone."""
        from distributed import KilledWorker

        try:
            answer: Answer = given.future.result()
        except KilledWorker as killed:
            last = killed.last_worker.address
            reason = f"its worker ended each time it was run alone (the last was {last})"
            return Answer.failed(reason) if given.alone else None
        except ModuleNotFoundError as error:
            raise PhaseError(
                f"the cluster's workers have no Python package {error.name!r}: install this package there too"
            ) from None
        except Exception as error:
            return Answer.failed(f"{type(error).__name__}: {error}")
        return answer

    # --- What is handed over to the scheduler ---

    def is_idle(self) -> bool:
        """Return whether no task is pending."""
        return not self._given

    def has_room(self) -> bool:
        """Return whether another task may be handed over; there may be slightly more than threads."""
        if time.monotonic() - self._looked > self.look_seconds:
            with contextlib.suppress(Exception):  # a scheduler that has ended is noticed elsewhere
                threads_of = self._client.nthreads()
                self._free(set(threads_of))
                threads = sum(threads_of.values())
                self._window = max(_LEAST_WINDOW, _TASKS_PER_THREAD * threads)
                if threads == 0 and not self._is_waiting:
                    self.tell("The cluster has no worker; waiting for one")
                self._is_waiting = threads == 0
            self._looked = time.monotonic()
        return len(self._given) < self._window

    def others_than(self, failed_on: tuple[str, ...]) -> tuple[str, ...]:
        """Return the addresses of all other workers."""
        with contextlib.suppress(Exception):  # as above
            return tuple(address for address in self._client.nthreads() if address not in failed_on)
        return ()

    def give(
        self,
        task: ScoringTask,
        alone: bool = False,
        failed_on: tuple[str, ...] = (),
        only_on: tuple[str, ...] = (),
    ) -> None:
        """Hand over a task, to all workers or to some of them."""
        self._numbers += 1
        key = f"{task.place}#{self._numbers}"
        score, data = self.score, pickle.dumps(task)
        names = {"module": score.__module__, "function": score.__name__, "task": data}
        future = self._client.submit(eval, _CALL, names, key=key, pure=False, workers=list(only_on) or None)
        self._given[key] = _HandedOver(task, future, alone, failed_on, only_on)
        self._listen(future)

    def next(self) -> _HandedOver | None:
        """Wait for a while, and return a finished task or None. Raises `PhaseError` without a scheduler."""
        try:
            key = self._ended.get(timeout=self.look_seconds)
        except queue.Empty:
            if self._client.status != "running":
                raise self._ended_itself() from None
            return None
        given = self._given.pop(key, None)
        if given is None or given.future.status in ("finished", "error"):
            return given
        self._given[key] = given
        if given.future.status == "cancelled":
            raise self._ended_itself()
        # Its worker ended before the answer was fetched; Dask does it again.
        self._listen(given.future)
        return None

    def _ended_itself(self) -> PhaseError:
        again = "the same command goes on with what is left"
        return PhaseError(f"--cluster {self.where}: the scheduler has ended: {again}")

    def _listen(self, future: Any) -> None:
        future.add_done_callback(lambda done: self._ended.put(done.key))

    def _free(self, workers: set[str]) -> None:
        """Release tasks for workers that have ended to all workers, even ones that failed before."""
        for key, given in list(self._given.items()):
            if given.only_on and workers.isdisjoint(given.only_on):
                del self._given[key]
                given.future.cancel()
                self.give(given.task, given.alone, given.failed_on)
