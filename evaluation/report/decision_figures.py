"""Confusion matrices of decisions, and their sensitivity and specificity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import Chart
from evaluation.charts.confusion_matrix import confusion_chart
from evaluation.core.challenge import Task
from evaluation.report.page import identifier
from evaluation.report.results import SubmissionResults


@dataclass(frozen=True)
class RightDecisions:
    """Numbers of cases and of right decisions, first for positive, then for negative cases."""

    cases: tuple[int, int]
    right: tuple[int, int]

    @property
    def sensitivity(self) -> float:
        """Share of the positive cases that are decided right."""
        return self.right[0] / self.cases[0]

    @property
    def specificity(self) -> float:
        """Share of the negative cases that are decided right."""
        return self.right[1] / self.cases[1]


def decision_charts(results: SubmissionResults, task: Task) -> Iterator[Chart]:
    """Yield the confusion matrices of decisions, one for each pair of columns."""
    table = results.tables[task.name]
    for metric in task.metrics:
        decision = metric.aggregate.decision
        if decision is None or metric.name not in results.estimates[task.name]:
            continue
        predicted, present = table[decision.predicted], table[decision.present]
        entering = ~np.isnan(present)
        yield confusion_chart(
            identifier(f"{task.name}-{metric.name}-confusion"),
            f"Confusion matrix. {metric.title}",
            counts_of_decisions(predicted[entering] > 0, present[entering] > 0),
            classes_of(decision.present),
            f"Decisions of {task.title}.",
        )
    if decided := right_decisions(results, task):
        positives, negatives = decided.cases
        found, cleared = decided.right
        yield confusion_chart(
            identifier(f"{task.name}-confusion"),
            f"Confusion matrix. {task.title}",
            np.array([[cleared, negatives - cleared], [positives - found, found]]),
            ("negative", "positive"),
            "Decisions as submitted.",
        )


def right_decisions(results: SubmissionResults, task: Task) -> RightDecisions | None:
    """Return the decisions of a task that have sensitivity and specificity as shares of cases."""
    table = results.tables[task.name]
    columns = [metric.aggregate.share_column for metric in task.metrics]
    if [metric.name for metric in task.metrics] != ["sensitivity", "specificity"] or not all(columns):
        return None
    sides = [table[str(column)] for column in columns]
    cases = [int(np.count_nonzero(~np.isnan(side))) for side in sides]
    if not all(cases):
        return None
    right = [int(np.nansum(side)) for side in sides]
    return RightDecisions((cases[0], cases[1]), (right[0], right[1]))


def counts_of_decisions(called: NDArray[np.bool_], positive: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the numbers of cases by true and predicted class, negative first."""
    return np.array(
        [[int((called[positive == true] == say).sum()) for say in (False, True)] for true in (False, True)]
    )


def classes_of(label: str) -> tuple[str, str]:
    """Return the names of the classes of a 0/1 label, negative first."""
    name = label.replace("_", " ")
    return f"no {name}", name
