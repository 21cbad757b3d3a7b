"""The connection to a Dask scheduler; if it breaks, its pending tasks go to the next one."""

from __future__ import annotations

import contextlib
import pickle
import queue
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evaluation.core.fault import PhaseError
from evaluation.rescoring.task import Answer, Task

# Sent as text: the scheduler does not need this package, and a worker without it answers with an error. It
# would die if it could not unpickle the task.
_CALL = "getattr(__import__('importlib').import_module(module), function)(__import__('pickle').loads(task))"
_TASKS_PER_THREAD = 2
_LEAST_WINDOW = 4
_LOOK_SECONDS = 2.0
_RECONNECTIONS = 5


@dataclass
class Given:
    """A task that was handed over, its future, and whether it runs alone.

    ``failed_on``: workers that failed. ``only_on``: workers that may do it now; empty: all.
    """

    task: Task
    future: Any
    alone: bool
    failed_on: tuple[str, ...]
    only_on: tuple[str, ...]


class Scheduler:
    """Hands tasks to a scheduler, and returns finished ones.

    ``where`` names it in messages; ``score`` is called by its workers; ``tell`` gets lines for the organiser.
    """

    def __init__(
        self,
        where: str,
        score: Callable[[Task], Answer],
        tell: Callable[[str], None],
        reconnect_seconds: float,
    ) -> None:
        self._where, self._score, self._tell = where, score, tell
        self._reconnect_seconds = reconnect_seconds
        self._client: Any = None
        self._to: Any = where
        self._reconnections = 0
        self._given: dict[str, Given] = {}
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._numbers = 0
        self._is_waiting = False
        self._window, self._looked = _LEAST_WINDOW, 0.0

    @property
    def dashboard(self) -> str:
        """The address of Dask's dashboard."""
        return str(self._client.dashboard_link)

    def connect(self, cluster: Any) -> None:
        """Connect to a cluster that was started here, None for the address. Raises `PhaseError`."""
        self._to = self._where if cluster is None else cluster
        self._connect()

    def close(self) -> None:
        """Cancel pending tasks, and disconnect."""
        with contextlib.suppress(Exception):  # a scheduler that has ended
            self._client.cancel([given.future for given in self._given.values()], force=True)
        self._disconnect()

    def is_idle(self) -> bool:
        """Return whether no task is pending."""
        return not self._given

    def has_room(self) -> bool:
        """Return whether another task may be handed over; there may be slightly more than threads."""
        return len(self._given) < self._room()

    def others_than(self, failed_on: tuple[str, ...]) -> tuple[str, ...]:
        """Return the addresses of all other workers."""
        with contextlib.suppress(Exception):  # as in `_room`
            return tuple(address for address in self._client.nthreads() if address not in failed_on)
        return ()

    def give(
        self,
        task: Task,
        alone: bool = False,
        failed_on: tuple[str, ...] = (),
        only_on: tuple[str, ...] = (),
    ) -> None:
        """Hand over a task, to all workers or to some of them."""
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
            workers=list(only_on) or None,
        )
        self._given[key] = Given(task, future, alone, failed_on, only_on)
        self._listen(future)

    def next(self) -> Given | None:
        """Wait for a while, and return a finished task or None."""
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
            # The scheduler has ended, and all pending tasks with it.
            self._reconnect()
        else:
            # Its worker ended before the answer was fetched; Dask does it again.
            self._listen(given.future)
        return None

    def _listen(self, future: Any) -> None:
        future.add_done_callback(lambda done: self._ended.put(done.key))

    def _room(self) -> int:
        """Return how many tasks may be handed over: slightly more than there are threads."""
        if time.monotonic() - self._looked > _LOOK_SECONDS:
            with contextlib.suppress(Exception):  # a scheduler that has ended is noticed elsewhere
                threads_of = self._client.nthreads()
                self._free(set(threads_of))
                threads = sum(threads_of.values())
                self._window = max(_LEAST_WINDOW, _TASKS_PER_THREAD * threads)
                if threads == 0 and not self._is_waiting:
                    self._tell("The cluster has no worker; waiting for one")
                self._is_waiting = threads == 0
            self._looked = time.monotonic()
        return self._window

    def _free(self, workers: set[str]) -> None:
        """Release tasks for workers that have ended to all workers, even ones that failed before."""
        for key, given in list(self._given.items()):
            if given.only_on and workers.isdisjoint(given.only_on):
                del self._given[key]
                given.future.cancel()
                self.give(given.task, given.alone, given.failed_on)

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
        """Find the next scheduler and hand all tasks over again. Raises `PhaseError` without any."""
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
            self.give(given.task, given.alone, given.failed_on)
