"""Binary classification: the likelihood of a condition, scored against 0/1 labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task
from evaluation.core.class_estimators import RocArea
from evaluation.core.field import Field
from evaluation.core.metric import Metric

if TYPE_CHECKING:
    from evaluation.core.operating_rule import OperatingRule

LIKELIHOOD = "likelihood"
"""The column of the submitted likelihoods."""


def binary_classification(
    name: str,
    title: str,
    field: Field,
    label: str,
    metrics: Sequence[Metric] = (),
    details: Callable[[CaseTable], Mapping[str, Any]] = lambda table: {},
    operating_point: OperatingRule | None = None,
) -> Task:
    """Return a task with one field, the likelihood of a condition, and a 0/1 label as reference.

    ``label`` names the column of the labels, NaN for a case that does not enter. ``metrics`` defaults to the
    AUC; the worst values of a missing likelihood follow from the metrics. With an ``operating_point`` the
    organiser's file holds the point, the wrongly decided cases and the curve.
    """

    def all_details(table: CaseTable) -> Mapping[str, Any]:
        if operating_point is None:
            return details(table)
        from evaluation.core.operating_rule import curve_details  # only the organiser's file needs it

        return {**details(table), **curve_details(operating_point, table)}

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
        details=all_details,
        operating_point=operating_point,
    )


def auc(label: str) -> Metric:
    """Return the area under the ROC curve of the likelihoods against a column of labels."""
    return Metric("auc", "AUC", RocArea(LIKELIHOOD, label), best=1, worst=0)
