"""What a worker does with one case: read the submission, and only then open the reference and score."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.core.challenge import Task, Values, fields_of, references_of
from evaluation.core.fault import Fault, FaultKind, FormFault, PhaseError
from evaluation.core.form import Form
from evaluation.core.outcome import CaseJob, Died, Faulty, OrganiserFault, Outcome, Scored
from evaluation.core.source import JsonFileSource, StackSource, file_of
from evaluation.io.buffer import ReadBuffer
from evaluation.io.stream import FileStream
from evaluation.phase.reference import OpenReference, ReferenceFiles, ReferenceValues
from evaluation.phase.run_time import RUN_SECONDS
from evaluation.workers.json_values import JsonValues


@dataclass(frozen=True)
class RunSetup:
    """All that a worker needs to run cases; plain data that crosses into its process.

    ``form`` may lack its cases, since each travels with its job.
    ``tasks`` are those of the phase that the submission takes part in. ``reference`` is None where only the
    form is checked.
    """

    form: Form
    tasks: tuple[str, ...]
    submission: str
    options: Mapping[str, Any]
    reference: ReferenceFiles | None
    memory_bytes: int | None = None


class SubmissionFiles:
    """Files of the submission, read into one buffer."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._buffer = ReadBuffer()

    def read(self, path: str, limit_bytes: int, may_be_empty: bool = False) -> memoryview:
        """Return the bytes of a file, valid until the next call. Raises `ReadError`."""
        return self._buffer.read(self._root, path, limit_bytes=limit_bytes, may_be_empty=may_be_empty)

    def open(self, path: str, limit_bytes: int) -> FileStream:
        """Return a file to be read in pieces. Raises `ReadError`."""
        return FileStream(self._root, path, limit_bytes)


class CaseRunner:
    """Runs cases of one phase and submission; lets no exception out."""

    def __init__(self, setup: RunSetup, tasks: Sequence[Task]) -> None:
        self._tasks = tasks
        self._fields = fields_of(tasks)
        self._files = SubmissionFiles(setup.submission)
        self._json_values = JsonValues(self._files, setup.form.missing)
        self._reference = OpenReference(setup.reference, references_of(tasks)) if setup.reference else None

    def run(self, job: CaseJob, read_only: bool = False) -> Outcome:
        """Return the outcome of one case; ``read_only`` stops before the reference is opened."""
        try:
            predictions, faults = self.read(job) if job.mode == "score" else ({}, [])
            if faults:
                return Faulty(tuple(faults))
            if read_only or job.reference is None or self._reference is None:
                return Scored({})
            reference = ReferenceValues(self._reference, job.case, job.reference)
            if job.mode == "validate" and (problems := self._validate(job, reference)):
                return OrganiserFault(problems)
            return self.score(job, predictions, reference)
        except MemoryError:
            return Died("out of memory")
        except (KeyboardInterrupt, SystemExit) as stop:
            return Died(f"stopped by {type(stop).__name__}")
        except PhaseError as error:
            return OrganiserFault(error.problems)
        except FormFault as fault:  # predictions have been read: this is of a reference read while scoring
            return OrganiserFault(tuple(map(str, fault.faults)))
        except Exception:
            return OrganiserFault((f"case {job.case.name}: {traceback.format_exc(limit=-8)}",))

    def read(self, job: CaseJob) -> tuple[dict[str, Any], list[Fault]]:
        """Return the submitted values of a case by field, and the faults of those that could not be read."""
        predictions: dict[str, Any] = {}
        faults: list[Fault] = []
        for field in self._fields:
            source = job.sources.get(field.name)
            try:
                if isinstance(source, StackSource | JsonFileSource):
                    source = self._json_values.value(field.name, source, job.case)
                if source is not None:
                    predictions[field.name] = field.kind.read(source, job.case, self._files)
            except FormFault as fault:
                faults += fault.faults
            except (MemoryError, TypeError, PhaseError):
                raise
            except Exception as error:  # a decoder may raise anything on a hostile file
                found = f"one that cannot be decoded ({type(error).__name__})"
                file = file_of(job.sources[field.name])
                faults.append(Fault(FaultKind.UNREADABLE, file, "a readable file", found))
        return predictions, faults

    def _validate(self, job: CaseJob, reference: ReferenceValues) -> tuple[str, ...]:
        """Read every reference value of a case and return what is wrong with them."""
        problems: list[str] = []
        for field in references_of(self._tasks):
            if not field.cases(job.case):
                continue
            try:
                reference[field.name]
            except PhaseError as error:
                problems += error.problems
        return tuple(problems)

    def score(self, job: CaseJob, predictions: Values, reference: ReferenceValues) -> Scored:
        """Return the rows of one case in every task; where a prediction is missing, the worst values."""
        rows = {}
        worst = []
        for task in self._tasks:
            if not task.fields:
                if job.run_seconds is None:
                    worst.append(task.name)
                    rows[task.name] = task.worst_row(job.case, reference)
                else:
                    rows[task.name] = task.score({RUN_SECONDS: job.run_seconds}, reference)
                continue
            fields = task.fields_for(job.case)
            if not fields:
                continue
            submitted = [field.name in predictions for field in fields]
            row = task.score(predictions, reference) if any(submitted) else {}
            if not all(submitted):
                worst_row = task.worst_row(job.case, reference)
                row = {**worst_row, **row} if row else worst_row
                worst.append(task.name)
            rows[task.name] = row
        return Scored(rows, tuple(worst))
