"""Submissions scored on this machine: in several processes at once, or in this one."""

from __future__ import annotations

import selectors
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType

from evaluation.rescoring.lane import Lane, LaneDied, died_each_time
from evaluation.rescoring.scoring import Scorer
from evaluation.rescoring.task import ATTEMPTS, Answers, Task


@dataclass
class _Given:
    """A task, its lane, and the number of attempts."""

    task: Task
    attempts: int = 0


class Lanes:
    """Several processes that each score one submission at a time; a context manager."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._lanes: set[Lane] = set()

    def __enter__(self) -> Lanes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for lane in list(self._lanes):
            self._end(lane)

    def run(self, tasks: Iterator[Task | None]) -> Answers:
        """Yield every task with its answer, as they end.

        If its process dies, a task is given to a new one, three times in all.
        """
        again: deque[_Given] = deque()
        idle = list(self._lanes)
        with selectors.DefaultSelector() as busy:
            while True:
                while len(busy.get_map()) < self._count:
                    given = again.popleft() if again else _next(tasks)
                    if given is None:
                        break
                    lane = idle.pop() if idle else self._start()
                    given.attempts += 1
                    try:
                        lane.give(given.task)
                    except LaneDied as died:
                        self._end(lane)
                        yield from _after_death(given, died, again)
                        continue
                    busy.register(lane, selectors.EVENT_READ, given)
                if not busy.get_map():
                    return
                for key, _ in busy.select():
                    lane, given = key.fileobj, key.data  # type: ignore[assignment]
                    busy.unregister(lane)
                    try:
                        answer = lane.answer()
                    except LaneDied as died:
                        self._end(lane)
                        yield from _after_death(given, died, again)
                    else:
                        idle.append(lane)
                        yield given.task, answer

    def _start(self) -> Lane:
        lane = Lane()
        self._lanes.add(lane)
        return lane

    def _end(self, lane: Lane) -> None:
        self._lanes.discard(lane)
        lane.close()


def _next(tasks: Iterator[Task | None]) -> _Given | None:
    task = next(tasks, None)
    return None if task is None else _Given(task)


def _after_death(given: _Given, died: LaneDied, again: deque[_Given]) -> Answers:
    # A process does one task at a time, so no other submission can be to blame.
    if given.attempts < ATTEMPTS:
        again.append(given)
    else:
        yield given.task, died_each_time(str(died))


class InThisProcess:
    """Scores one submission after the other in this process, without workers; a context manager."""

    def __enter__(self) -> InThisProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave everything as it is."""

    def run(self, tasks: Iterator[Task | None]) -> Answers:
        """Yield every task with its answer, in order."""
        scorer = Scorer()
        while (task := next(tasks, None)) is not None:
            yield task, scorer.answer(task)
