"""The attacker's view of a phase: submissions, and the `metrics.json` of each."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.core.challenge import Task, references_of
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.core.outcome import CaseJob
from evaluation.core.variant import Variant
from evaluation.evaluate import tables_of
from evaluation.phase.phase import Phase
from evaluation.phase.reference import OpenReference, ReferenceValues
from evaluation.phase.scores import Scores
from evaluation.platform.result_file import render
from evaluation.summary import summarise
from evaluation.workers.case_scorer import CaseScorer

Predictions = Mapping[str, Mapping[str, Any]]


class OutOfSubmissionsError(Exception):
    """The attacker may make no further submission."""


@dataclass(frozen=True)
class Recovered:
    """The labels that an attack recovered with a number of submissions.

    ``figures``: the published numbers that it uses. ``labels``: by name of the case, without uncertain ones.
    """

    method: str
    figures: tuple[str, ...]
    submissions: int
    labels: Mapping[str, str]


class Oracle:
    """Scores submissions to one task of a phase, up to the allowed number."""

    def __init__(self, phase: Phase, task: Task, allowed: int) -> None:
        self._phase = phase
        self._task = task
        self._allowed = allowed
        self._scorer = CaseScorer(phase.reference, [task])
        self._reference = OpenReference(phase.reference, references_of([task]))
        self._rows = {case.name: row for case, row in zip(phase.cases.forms, phase.rows, strict=True)}
        self.submissions = 0
        self.cases: Sequence[CaseForm] = [case for case in phase.cases.forms if task.fields_for(case)]

    def submit(self, predictions: Predictions) -> dict[str, Any]:
        """Return the `metrics.json` of predictions by case and field. Raises `OutOfSubmissionsError`."""
        if self.submissions >= self._allowed:
            raise OutOfSubmissionsError
        self.submissions += 1
        outcomes = []
        for case, row in zip(self._phase.cases.forms, self._phase.rows, strict=True):
            reference = ReferenceValues(self._reference, case, row)
            outcomes.append(self._scorer.score(CaseJob(case, row), predictions.get(case.name, {}), reference))
        tables = tables_of([self._task], self._phase.cases.forms, outcomes)
        metrics = summarise(Scores(self._phase, (self._task,), tables, tuple(outcomes)))
        content: dict[str, Any] = json.loads(render(dataclasses.asdict(metrics)))
        return content

    def empty(self, field: Field, case: CaseForm) -> Any:
        """Return a prediction that finds nothing and uses nothing of the reference."""
        return field.kind.rehearse(self._own(field, case), case, Variant.EMPTY)

    def skilled(self, field: Field, case: CaseForm) -> Any:
        """Return a skilled participant's prediction: the near-perfect one of the rehearsal."""
        return field.kind.rehearse(self._own(field, case), case, Variant.NEAR)

    def skilled_again(self, field: Field, case: CaseForm, opinion: Any) -> Any:
        """Return a second opinion, as far from the first as the first from the reference."""
        return field.kind.rehearse(opinion, case, Variant.NEAR)

    def _own(self, field: Field, case: CaseForm) -> Any:
        return ReferenceValues(self._reference, case, self._rows[case.name])[field.name]


def value_of(content: Mapping[str, Any], task: str, metric: str) -> float | None:
    """Return a published value, None where there is none."""
    estimate = content["aggregates"].get(task, {}).get(metric)
    return None if estimate is None else float(estimate["value"])
