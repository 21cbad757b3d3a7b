"""Scoring one case: the reference is opened, and no file of a submission."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.core.challenge import Task, Values, references_of
from evaluation.core.fault import FormFault, PhaseError
from evaluation.core.outcome import CaseJob, Died, OrganiserFault, Outcome, Scored
from evaluation.phase.reference import OpenReference, ReferenceFiles, ReferenceValues
from evaluation.phase.run_time import RUN_SECONDS


class UnreadableError(Exception):
    """Raised if the submitted values of a case, once read, are not available for scoring."""


class CaseScorer:
    """Scores cases of one phase in some or all tasks."""

    def __init__(self, reference: ReferenceFiles, tasks: Sequence[Task]) -> None:
        self._tasks = tasks
        self._reference = OpenReference(reference, references_of(tasks))

    def known_of(self, jobs: Sequence[CaseJob]) -> list[dict[str, Any]]:
        """Return the reference values of several cases that can be read together."""
        if any(job.mode != "score" for job in jobs):
            return [{} for _ in jobs]
        return self._reference.small_values([job.case for job in jobs], [job.reference for job in jobs])

    def run(
        self, job: CaseJob, read: Callable[[], Values], known: Mapping[str, Any] | None = None
    ) -> Outcome:
        """Return the outcome of one case; no exception is raised.

        ``read`` returns the submitted values; ``known`` are reference values that have been read.
        """
        try:
            predictions = read()
            reference = known or {}
            if len(reference) < len(self._reference.fields):
                reference = ReferenceValues(self._reference, job.case, job.reference, known)
            if job.mode == "validate" and (problems := self._validate(job, reference)):
                return OrganiserFault(problems)
            return self.score(job, predictions, reference)
        except UnreadableError as error:
            return Died(str(error))
        except MemoryError:
            return Died("out of memory")
        except (KeyboardInterrupt, SystemExit) as stop:
            return Died(f"stopped by {type(stop).__name__}")
        except PhaseError as error:
            return OrganiserFault(error.problems)
        except FormFault as fault:  # of a reference that is read while it is scored
            return OrganiserFault(tuple(map(str, fault.faults)))
        except Exception:
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

    def score(self, job: CaseJob, predictions: Values, reference: Values) -> Scored:
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
            names = {field.name for field in task.fields_for(job.case)}
            if not names:
                continue
            if names <= predictions.keys():
                rows[task.name] = task.score(predictions, reference)
                continue
            worst.append(task.name)
            row = task.worst_row(job.case, reference)
            if not names.isdisjoint(predictions):
                row = {**row, **task.score(predictions, reference)}
            rows[task.name] = row
        return Scored(rows, tuple(worst))
