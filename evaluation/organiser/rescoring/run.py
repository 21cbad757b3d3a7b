"""One run over many submissions: finds the missing results, scores, and writes them.

Large submissions are scored slice by slice, on as many processes as there are, with the same result.

    submission ──► its slices: read, scored ──► outcomes of all cases ──► figures and files, one more task
                      │ rejected, or they do not fit together
                      └─► the whole submission as one task

A slice reads its cases, and scores them if none has a fault. Once a slice is rejected, the submission is
scored again as a whole, since its full list of faults needs all its files. The reference may then have been
opened for one slice while another one was still being read. Participants cannot see the time this took, and
no process that decodes a submission holds a label.
"""

import math
import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evaluation.core.challenge import fields_of
from evaluation.core.fault import printable
from evaluation.core.trouble import MachineTrouble, trouble_of
from evaluation.io.files import sha256_of
from evaluation.organiser.rescoring.kept import Claims, Ingredients, Results, is_reserved, open_claims
from evaluation.organiser.rescoring.task import Answer, Answers, Engine, ScoringTask
from evaluation.phase import registry
from evaluation.phase.phase import Phase
from evaluation.workers.batches import WHOLE, Slice, costs_of

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


def _in_slices(engine: Engine, tasks: Iterator[ScoringTask | None]) -> Answers:
    """Yield every task with its answer, as they end; the engine gets tasks of several slices in slices."""
    slices = _Slices(tasks)
    for task, answer in engine.run(slices.to_do()):
        yield from slices.ended(task, answer)


class _Slices:
    """The pending tasks, and the answers for the slices so far, by place and number."""

    def __init__(self, tasks: Iterator[ScoringTask | None]) -> None:
        self._tasks = tasks
        self._next: deque[ScoringTask] = deque()
        self._parted: dict[str, dict[int, Answer]] = {}
        self._running = 0

    def to_do(self) -> Iterator[ScoringTask | None]:
        """Yield the next task; None while it depends on running ones."""
        while True:
            if not self._next:
                task = next(self._tasks, None)
                if task is not None and task.slices > 1:
                    self._parted[task.place] = {}
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
        answers = self._parted.get(task.place)
        if answers is None:
            return  # another slice has decided it
        undivided = replace(task, part=WHOLE, once="", scored=())
        if answer.kind == "slice":
            answers[task.part.number] = answer
            if len(answers) == task.slices:
                if len({one.digest for one in answers.values()}) == 1:
                    outcomes = tuple(answers[number].outcomes for number in range(task.slices))
                    self._next.appendleft(replace(undivided, scored=outcomes))
                else:  # the submission has changed meanwhile
                    del self._parted[task.place]
                    self._next.appendleft(replace(undivided, slices=1))
            return
        del self._parted[task.place]
        self._next = deque(other for other in self._next if other.place != task.place)
        if answer.kind == "scored":
            yield undivided, replace(answer, digest=answers[0].digest)
        elif answer.kind == "rejected" or (answer.kind == "failed" and task.scored):
            self._next.appendleft(replace(undivided, slices=1))
        else:
            yield undivided, answer


MOST_OF_NAME = 400
_NO_RECORD = "the result that was there had no record of what it was made of"


@dataclass
class Summary:
    """The number of submissions by result, and the reasons of failures."""

    counts: dict[str, int] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, place: str, answer: Answer) -> None:
        """Count an answer."""
        self.counts[answer.kind] = self.counts.get(answer.kind, 0) + 1
        if answer.kind == "failed":
            self.failures[place] = answer.line

    @property
    def done(self) -> int:
        """How many submissions are finished."""
        return sum(self.counts.values())

    def lines(self) -> Iterator[str]:
        """Yield the failures, one a line, and the counts in the last line."""
        for place, reason in sorted(self.failures.items()):
            # Not to be taken for other lines: the name of a team's folder, and those of a traceback.
            block = reason.replace("\n", "\n  ")
            yield f"FAILED {printable(place, MOST_OF_NAME)}: {block}"
        parts = ("scored", "kept", "rejected", "failed")
        noun = "submission" if self.done == 1 else "submissions"
        yield f"{self.done} {noun}: " + ", ".join(f"{self.counts.get(part, 0)} {part}" for part in parts)


def score_all(tasks: Sequence[ScoringTask], output: Path, engine: Engine) -> Answers:
    """Score submissions into OUTPUT/<place>/, and yield each with its answer once its result is written.

    A submission that another run has claimed comes last, when that run is done with it. One whose result
    cannot be written has failed, and so has one with the name of a file of results. Raises `MachineTrouble`
    and `OSError` where there can be no results at all, and the engine's errors.
    """
    results = Results(output)
    for task in tasks:
        if is_reserved(task.place):
            reason = f"{task.place} names a file of results; give the submission another name"
            yield task, Answer.failed(reason)
    tasks = [task for task in tasks if not is_reserved(task.place)]
    with open_claims(output) as claims, engine:
        busy: list[ScoringTask] = []
        yield from _published(_in_slices(engine, _claimed(tasks, claims, results, busy)), claims, results)
        for task in busy:
            # One at a time, and none of our own claims held: two runs never wait for each other.
            claims.take(task.place, wait=True)
            yield from _published(_in_slices(engine, iter([_with_kept(task, results)])), claims, results)


def _claimed(
    tasks: Sequence[ScoringTask], claims: Claims, results: Results, busy: list[ScoringTask]
) -> Iterator[ScoringTask]:
    for task in tasks:
        if claims.take(task.place):
            yield _with_kept(task, results)
        else:
            busy.append(task)


def _published(answers: Answers, claims: Claims, results: Results) -> Answers:
    for task, answer in answers:
        # A failure says nothing about an earlier result that may still hold.
        if answer.kind == "kept" and results.is_rejection(task.place):
            answer = replace(answer, line="kept: rejected as before")
        elif answer.kind != "kept" and not (answer.kind == "failed" and task.kept):
            if results.lacks_record(task.place):
                answer = replace(answer, line=f"{answer.line}; {_NO_RECORD}")
            try:
                results.publish(task.place, _ingredients(task), answer)
            except (OSError, MachineTrouble) as error:
                if answer.kind != "failed":
                    answer = Answer.failed(str(trouble_of(error, "write", task.place) or error))
        claims.release(task.place)
        yield task, answer


def _with_kept(task: ScoringTask, results: Results) -> ScoringTask:
    try:
        return replace(task, kept=results.kept(task.place, _ingredients(task)))
    except OSError:
        return task  # whoever scores it says why


def _ingredients(task: ScoringTask) -> Ingredients:
    seal, folder = task.seal, Path(task.phase)
    file = registry.find_file(folder)
    # A challenge that is programmed beside `phase.toml` is sealed with it, one in the folder above is not.
    if file is not None and file.parent != folder.absolute():
        for path in registry.files_at_home(file):
            seal = f"{seal}, {path.name} {sha256_of(path.read_bytes())}"
    return Ingredients(seal, task.source, task.environment)
