"""Large submissions are scored slice by slice, on as many processes as there are, with the same result.

    submission ──► its slices: read, scored ──► outcomes of all cases ──► figures and files, one more task
                      │ rejected, or they do not fit together
                      └─► the whole submission as one task

A slice reads its cases, and scores them if none has a fault. Once a slice is rejected, the submission is
scored again as a whole, since its full list of faults needs all its files. The reference may then have been
opened for one slice while another one was still being read. Participants cannot see the time this took, and
no process that decodes a submission holds a label.
"""

from __future__ import annotations

import math
import uuid
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from evaluation.core.challenge import fields_of
from evaluation.organiser.rescoring.task import Answer, Answers, Engine, ScoringTask
from evaluation.phase.phase import Phase
from evaluation.workers.batches import Slice, costs_of

# In pixels, see `costs_of`: 1,600 masks of 1634 × 1634, or 50 volumes of 512 × 512 × 320.
_COST_PER_SLICE = 1 << 32


def slices_of(phase: Phase, cases_per_task: int | None) -> int:
    """Return the number of slices of the submissions to a phase.

    Each has about the given number of cases, or with None about 4,300 million pixels or voxels.
    """
    if cases_per_task is not None:
        return math.ceil(len(phase.rows) / cases_per_task)
    cost = sum(costs_of(phase.cases.forms, fields_of(phase.tasks)))
    return min(len(phase.rows), math.ceil(cost / _COST_PER_SLICE))


class Slicing:
    """An engine that divides tasks into slices for another engine; a context manager."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __enter__(self) -> Slicing:
        self._engine.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._engine.__exit__(*error)

    def run(self, tasks: Iterator[ScoringTask | None]) -> Answers:
        """Yield every task with its answer, as they end. Raises the engine's errors."""
        parting = _Parting(tasks)
        for task, answer in self._engine.run(parting.to_do()):
            yield from parting.ended(task, answer)


@dataclass
class _Parted:
    """A submission that is scored by slices, with the outcomes so far by number."""

    task: ScoringTask
    answers: dict[int, Answer] = field(default_factory=dict)


class _Parting:
    """The pending tasks, and the submissions with only some slices done, by place."""

    def __init__(self, tasks: Iterator[ScoringTask | None]) -> None:
        self._tasks = tasks
        self._next: deque[ScoringTask] = deque()
        self._parted: dict[str, _Parted] = {}
        self._running = 0

    def to_do(self) -> Iterator[ScoringTask | None]:
        """Yield the next task; None while it depends on running ones."""
        while True:
            if not self._next:
                task = next(self._tasks, None)
                if task is not None and task.slices > 1:
                    self._parted[task.place] = _Parted(task)
                    parts = (Slice(number, task.slices) for number in range(task.slices))
                    once = uuid.uuid4().hex
                    self._next.extend(replace(task, part=part, once=once) for part in parts)
                elif task is not None:
                    self._next.append(task)
            if self._next:
                self._running += 1
                yield self._next.popleft()
            elif self._running:
                yield None
            else:
                return

    def ended(self, task: ScoringTask, answer: Answer) -> Answers:
        """Yield a submission with its answer, if this was its last task."""
        self._running -= 1
        if task.slices == 1:
            yield task, answer
            return
        parted = self._parted.get(task.place)
        if parted is None:
            return  # another slice has decided it
        if answer.kind == "slice":
            parted.answers[task.part.number] = answer
            if len(parted.answers) == task.slices:
                answers = [parted.answers[number] for number in range(task.slices)]
                if len({one.digest for one in answers}) == 1:
                    outcomes = tuple(one.outcomes for one in answers)
                    self._next.appendleft(replace(parted.task, scored=outcomes))
                else:  # the submission has changed meanwhile
                    del self._parted[task.place]
                    self._next.appendleft(replace(parted.task, slices=1))
            return
        del self._parted[task.place]
        self._next = deque(other for other in self._next if other.place != task.place)
        if answer.kind == "scored":
            yield parted.task, replace(answer, digest=parted.answers[0].digest)
        elif answer.kind == "rejected" or (answer.kind == "failed" and task.scored):
            self._next.appendleft(replace(parted.task, slices=1))
        else:
            yield parted.task, answer
