"""The second stage in its worker, which opens the reference and no file of a submission.

Submitted values come as arrays and numbers, which each field's kind checks before they are scored. If values
were too large to be kept, the reader at the scorer's side reads their files again.
"""

import dataclasses
import math
import pickle
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.core.case_table import Row
from evaluation.core.challenge import Task, Values, fields_of, references_of
from evaluation.core.fault import FormFault, PhaseError, printable
from evaluation.core.form import Form
from evaluation.core.outcome import CaseJob, Died, OrganiserFault, Outcome, Scored
from evaluation.core.trouble import trouble_of
from evaluation.io.handover import HandoverError
from evaluation.phase import registry
from evaluation.phase.reference import OpenReference, ReferenceFiles, ReferenceValues
from evaluation.phase.registry import RUN_SECONDS, rules_of
from evaluation.workers.batches import Columns, packed_outcomes
from evaluation.workers.reader import ReadJob
from evaluation.workers.reports import BatchReport, PackedValues
from evaluation.workers.worker import AskReader, Handler, ReaderTrouble, Reply, Tick

_NOT_AGAIN = "its files cannot be read again"
_CASES_TOGETHER = 128


@dataclass(frozen=True)
class ScoreJob:
    """The job to score cases of a batch, with their numbers in it."""

    numbers: Sequence[int]
    cases: Columns[CaseJob]
    values: bytes = b""
    content: bytes = b""
    again: Mapping[int, Mapping[str, str]] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class ScorerSetup:
    """The setup of a scorer: the form without its cases, the tasks to score, options and reference."""

    form: Form
    tasks: tuple[str, ...]
    options: Mapping[str, Any]
    reference: ReferenceFiles
    memory_bytes: int | None = None
    home: str | None = None
    functions: str | None = None

    @property
    def modules(self) -> Sequence[str]:
        """The modules of the challenge in the form."""
        return registry.modules_of(self.form.challenge)

    def open(self, ask_reader: AskReader | None) -> Handler:
        """Return the handler of a scorer's jobs."""
        if self.home is not None:
            registry.load(Path(self.home))
        if self.functions is not None:
            registry.know_functions(Path(self.functions))
        return CaseScorer(self, ask_reader)

    def confine(self) -> None:
        """Keep everything: a scorer opens nothing that a stranger wrote."""


# --- Scoring the cases of a job: the reference is opened, and no file of a submission ---


class UnreadableError(Exception):
    """Raised if the submitted values of a case, once read, are not available for scoring."""


class CaseScorer:
    """Scores cases of one phase in the tasks of a setup."""

    def __init__(self, setup: ScorerSetup, ask_reader: AskReader | None) -> None:
        rules = rules_of(setup.form.challenge, setup.options)
        self._tasks = rules.select_tasks(setup.tasks, setup.form.run_time, setup.form.interfaces)
        self._fields = {field.name: field for field in fields_of(self._tasks)}
        self._reference = OpenReference(setup.reference, references_of(self._tasks))
        self._ask_reader = ask_reader

    def __call__(self, job: ScoreJob, tick: Tick) -> Reply:
        """Return the packed outcomes of the cases of a job."""
        outcomes: list[Outcome] = []
        kept = cache(lambda: PackedValues(job.values, self._fields))  # once for all cases of the batch
        jobs = job.cases.instances()
        numbered = zip(job.numbers, jobs, strict=True)
        while together := list(islice(numbered, _CASES_TOGETHER)):
            tick(math.inf)
            all_known = self._known_of([case_job for _, case_job in together])
            for (number, case_job), known in zip(together, all_known, strict=True):
                tick(math.inf)
                submitted = partial(self._submitted, job, number, case_job, kept)
                outcomes.append(self._run(case_job, submitted, known))
        return [_portable(jobs, outcomes)]

    def _known_of(self, jobs: Sequence[CaseJob]) -> list[dict[str, Any]]:
        """Return the reference values of several cases that can be read together."""
        if any(job.mode != "score" for job in jobs):
            return [{} for _ in jobs]
        return self._reference.small_values([job.case for job in jobs], [job.reference for job in jobs])

    def _run(self, job: CaseJob, read: Callable[[], Values], known: Mapping[str, Any]) -> Outcome:
        """Return the outcome of one case; no exception is raised.

        ``read`` returns the submitted values; ``known`` are reference values that have been read.
        """
        try:
            predictions = read()
            reference = known
            if len(reference) < len(self._reference.fields):
                sealed = job.mode != "validate"
                reference = ReferenceValues(self._reference, job.case, job.reference, known, sealed)
            if job.mode == "validate" and (problems := self._validate(job, reference)):
                return OrganiserFault(problems)
            return self._score(job, predictions, reference)
        except UnreadableError as error:
            return Died(str(error))
        except HandoverError as error:
            # Of a reader at this scorer's side, or taken over so well that it misled the main process.
            return Died(f"its reader handed on values that no file holds: {error}")
        except MemoryError:
            # Of a metric: whether it comes to that can depend on a label, so that it costs the case and is
            # no way to a free attempt. A worker knows from its start that it gets the memory it is granted.
            return Died("out of memory")
        except SystemExit:
            return Died("stopped by SystemExit")
        except PhaseError as error:
            return OrganiserFault(error.problems)
        except FormFault as fault:  # of a reference that is read while it is scored
            return OrganiserFault(tuple(map(str, fault.faults)))
        except Exception as error:
            if trouble := trouble_of(error, "score", f"case {job.case.name}"):
                return Died(str(trouble), trouble)
            if place := registry.place_at_home(error):
                return OrganiserFault((f"{place}: {registry.words_of(error)}",), job.case.name, place)
            return OrganiserFault((f"case {job.case.name}: {traceback.format_exc(limit=-8)}",))

    def _validate(self, job: CaseJob, reference: Values) -> tuple[str, ...]:
        """Read every reference value of a case and return the faults."""
        problems: list[str] = []
        for field in references_of(self._tasks):
            if not field.cases(job.case):
                continue
            try:
                reference[field.name]
            except PhaseError as error:
                problems += error.problems
        return tuple(problems)

    def _score(self, job: CaseJob, predictions: Values, reference: Values) -> Scored:
        """Return the rows of one case in every task; where a prediction is missing, the worst values."""
        rows = {}
        worst, undefined = [], []
        for task in self._tasks:
            if not task.fields:
                if job.run_seconds is None:
                    worst.append(task.name)
                    rows[task.name] = task.worst_row(job.case, reference)
                else:
                    rows[task.name] = task.score({RUN_SECONDS: job.run_seconds}, reference)
                continue
            names = {field.name for field in task.fields_for(job.case)}
            if not names:
                continue
            if names <= predictions.keys():
                row = task.score(predictions, reference)
                unknown = _undefined(row, task, job)
                if unknown and (unannounced := task.unannounced(unknown, job.case, reference)):
                    undefined += [f"{task.name}.{name}" for name in unannounced]
                    row = {**row, **unannounced}
                rows[task.name] = row
                continue
            worst.append(task.name)
            row = task.worst_row(job.case, reference)
            if not names.isdisjoint(predictions):
                row = {**row, **task.score(predictions, reference)}
            rows[task.name] = row
        return Scored(rows, tuple(worst), undefined=tuple(undefined))

    def _submitted(
        self, job: ScoreJob, number: int, case_job: CaseJob, kept: Callable[[], PackedValues]
    ) -> dict[str, Any]:
        """Return the submitted values of a case. Raises `UnreadableError`, `HandoverError`."""
        if case_job.mode != "score" or not (job.values or number in job.again):
            return {}
        values = self._read_again(job, number) if number in job.again else kept()
        try:
            return values.of_case(number, case_job.case)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise HandoverError(printable(error)) from None

    def _read_again(self, job: ScoreJob, number: int) -> PackedValues:
        """Return the values of a batch after reading one case's files a second time."""
        again = ReadJob(job.content, (number,), room_bytes=math.inf, digests=job.again[number])
        if self._ask_reader is None:
            raise UnreadableError(_NOT_AGAIN)
        try:
            report, values = BatchReport.unpacked(self._ask_reader(again), number + 1)
        except ReaderTrouble as trouble:
            raise UnreadableError(f"{_NOT_AGAIN} ({trouble})") from None
        if report.faults or report.died or report.problems:
            raise UnreadableError(_NOT_AGAIN)
        return PackedValues(values, self._fields)


def _undefined(row: Row, task: Task, job: CaseJob) -> list[str]:
    """Return the columns that are NaN. Raises `PhaseError` for missing, infinite and other values."""
    wrong = dict.fromkeys(sorted(task.number_columns - row.keys()), "nothing")
    undefined = []
    for name, value in row.items():
        if isinstance(value, float):  # numpy's of 64 bits is one
            if value - value != 0:  # faster than asking for both
                if math.isinf(value):
                    wrong[name] = repr(value)
                else:
                    undefined.append(name)
        elif not isinstance(value, int) and _is_no_number(name, value, task):
            wrong[name] = repr(value)
    if wrong:
        place = f"case {job.case.name}: task {task.name!r}, column"
        raise PhaseError(*(f"{place} {name!r}: expected a number, found {wrong[name]}" for name in wrong))
    return undefined


def _is_no_number(column: str, value: object, task: Task) -> bool:
    if isinstance(value, np.number | np.bool_):
        return not np.isreal(value) or bool(np.isinf(value))
    if isinstance(value, str):
        return column not in task.text_columns
    return value is None or isinstance(value, complex) or column in task.number_columns


def _portable(jobs: Sequence[CaseJob], outcomes: list[Outcome]) -> bytes:
    """Return the packed outcomes; an outcome that cannot be pickled becomes an organiser's fault."""
    with suppress(Exception):
        return packed_outcomes(outcomes)
    portable: list[Outcome] = []
    for case_job, outcome in zip(jobs, outcomes, strict=True):
        try:
            pickle.dumps(outcome)
        except Exception as error:
            portable.append(unportable(case_job, error))
        else:
            portable.append(outcome)
    return packed_outcomes(portable)


def unportable(case_job: CaseJob, error: Exception) -> OrganiserFault:
    """Return the outcome of a case whose result cannot be pickled."""
    return OrganiserFault((f"case {case_job.case.name}: its result cannot leave the worker: {error}",))
