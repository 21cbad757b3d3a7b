"""The task that most challenges have: telling by a likelihood who has a condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task
from evaluation.core.field import Field
from evaluation.core.metric import Metric, auc_of

LIKELIHOOD = "likelihood"
"""The column of the submitted likelihoods."""


def binary_classification(
    name: str,
    title: str,
    field: Field,
    label: str,
    metrics: Sequence[Metric] = (),
    details: Callable[[CaseTable], Mapping[str, Any]] = lambda table: {},
) -> Task:
    """Return the task whose one field is the likelihood of a condition, its reference the 0/1 label.

    ``label`` names the column of the labels, NaN where a case does not enter. ``metrics`` are by default the
    AUC alone; what a missing likelihood is worth follows from them.
    """
    return Task(
        name=name,
        title=title,
        fields=(field,),
        score=lambda prediction, reference: {
            LIKELIHOOD: prediction[field.name],
            label: reference[field.name],
        },
        metrics=tuple(metrics) or (auc(label),),
        worst=lambda case, reference: {label: reference[field.name]},
        details=details,
    )


def auc(label: str) -> Metric:
    """Return the area under the ROC curve of the likelihoods against a column of labels."""
    return Metric("auc", "AUC", auc_of(LIKELIHOOD, label), best=1, worst=0)
