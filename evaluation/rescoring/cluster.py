"""Submissions scored by the workers of a Dask scheduler; the extra `cluster` installs Dask.

A task is one submission, or a slice of a large one. Only few more than there are threads are handed over at
once, which limits memory. If a worker dies, Dask runs its tasks elsewhere. A task with several dead workers
then runs alone, and fails only if more die.
"""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType

from evaluation.core.fault import PhaseError
from evaluation.rescoring.cluster_start import start_cluster, without_interrupts
from evaluation.rescoring.cluster_worker import score_on_worker
from evaluation.rescoring.scheduler import Given, Scheduler
from evaluation.rescoring.task import ATTEMPTS, Answer, Answers, Task, failed

_RECONNECT_SECONDS = 120.0


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
        self._where, self._workers, self._tell = where, workers, tell
        self._scheduler = Scheduler(where, score, tell, reconnect_seconds)
        self._closing = contextlib.ExitStack()

    def __enter__(self) -> OnCluster:
        """Start or find the cluster. Raises `PhaseError`."""
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        try:
            with without_interrupts():
                cluster = start_cluster(self._where, self._workers)
            if cluster is not None:
                self._closing.enter_context(cluster)
            self._scheduler.connect(cluster)
        except BaseException:
            self._closing.close()
            raise
        self._tell(f"Dask's dashboard: {self._scheduler.dashboard}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._scheduler.close()
        self._closing.close()

    def run(self, tasks: Iterator[Task | None]) -> Answers:
        """Yield every task with its answer, as they end. Raises `PhaseError` where the scheduler is lost."""
        scheduler = self._scheduler
        suspects: deque[Task] = deque()
        while True:
            while scheduler.has_room() and (task := next(tasks, None)) is not None:
                scheduler.give(task)
            if scheduler.is_idle():
                if not suspects:
                    return
                scheduler.give(suspects.popleft(), alone=True)
            given = scheduler.next()
            if given is not None:
                answer = self._answer(given)
                if answer is None:
                    suspects.append(given.task)
                elif not self._tries_elsewhere(given, answer):
                    yield given.task, answer

    def _tries_elsewhere(self, given: Given, answer: Answer) -> bool:
        """Hand a task over again after a failure of the worker's own, if there are other workers."""
        failed_on = (*given.failed_on, answer.worker)
        if not answer.elsewhere or len(failed_on) == ATTEMPTS:
            return False
        others = self._scheduler.others_than(failed_on)
        if others:
            self._scheduler.give(given.task, given.alone, failed_on, others)
        return bool(others)

    def _answer(self, given: Given) -> Answer | None:
        """Return the answer of a finished task, None if it must run again alone."""
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
