"""Numbers: likelihoods against two classes, and measurements against their true values."""

from __future__ import annotations

import math
from typing import Literal

from evaluation.challenges.declared.field_table import FieldTable, RowFieldTable
from evaluation.challenges.declared.measure import Comparison, Measure, MetricTable
from evaluation.challenges.declared.table import key
from evaluation.core.case_table import Row
from evaluation.core.challenge import FormColumn
from evaluation.core.field import CaseColumns, Field, Kind, Reference
from evaluation.core.form import STACK_INDEX, STACK_NAME
from evaluation.core.metric import Metric, auc_of, mean_of
from evaluation.io.kinds.number import Number
from evaluation.io.kinds.two_classes import TwoClasses


class NumberField(RowFieldTable):
    """A finite number: a likelihood, a score or a measurement.

    In an archive it is a column of a table, in an algorithm phase a JSON number. The reference is a column of
    `cases.csv`: the true number, or with `positive` the class of the case.
    """

    kind: Literal["number"]
    column: str | None = key("Column of the submission's table. Default: the field's name.", None)
    minimum: float | None = key("Smallest valid number. Default: none.", None, allow_inf_nan=False)
    maximum: float | None = key("Largest valid number. Default: none.", None, allow_inf_nan=False)
    unit: str = key("Unit of the number.", "")
    stacked: bool = key(
        "Algorithm phases: each job runs on a stack of images and writes a JSON list with a value for each. "
        "`cases.csv` then has the columns `stack_name` and `stack_index`.",
        False,
    )
    reference: str | None = key("Column of `cases.csv` with the reference. Default: the field's name.", None)
    positive: list[str] = key("Cells of the reference that mean that the condition is present.", [])
    negative: list[str] = key("Cells of the reference that mean that it is absent.", [])
    excluded: list[str] = key("Cells of the reference of cases that do not enter.", [])

    @property
    def has_classes(self) -> bool:
        """Whether the reference is one of two classes rather than a number."""
        return bool(self.positive or self.negative)

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        number = Number(low, high)
        reference: Kind = number
        if self.has_classes:
            reference = TwoClasses(tuple(self.positive), tuple(self.negative), tuple(self.excluded))
        return Field(
            name=name,
            title=self.title_of(name),
            kind=number,
            archive=self.columns_of((self.column or name,)),
            socket=self.socket_of(name, self.stacked),
            reference=Reference(reference, CaseColumns((self.reference or name,))),
        )

    def form_columns(self) -> tuple[FormColumn, ...]:
        """Return the columns of stacks."""
        names = (STACK_NAME, STACK_INDEX) if self.stacked else ()
        return tuple(FormColumn(name, algorithm_only=True) for name in names)


class AreaUnderCurve(MetricTable):
    """Area under the ROC curve: how well a number separates two classes.

    From 0 to 1, higher is better; ties count half. It needs a case of each class. A case without a result is
    ranked below all others if it is positive, and above them if it is negative.

    Oracle: scikit-learn, `roc_auc_score`. Source: Hanley and McNeil, Radiology 143:29, 1982.
    """

    metric: Literal["auc"]
    kinds = (NumberField,)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the area."""
        score, label = score_columns(field_name)
        return Measure(
            (Metric(name, self.title or "AUC", auc_of(score, label), best=1, worst=0),),
            row=score_and_label,
            worst=lambda case, references: {label: references[field_name]},
        )


class MeanAbsoluteError(MetricTable):
    """Mean absolute difference of a number from its reference.

    At least 0, lower is better, in the number's unit. A case without a result counts as `worst`.

    Oracle: scikit-learn, `mean_absolute_error`.
    """

    metric: Literal["mean_absolute_error"]
    worst: float | None = key(
        "Error of a case without a result. Default: the distance of the field's bounds.", None, ge=0
    )
    kinds = (NumberField,)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the mean of the absolute differences. Raises ValueError without a worst error."""
        assert isinstance(table, NumberField)
        worst = largest_error(table, self.worst)
        metric = Metric(name, self.title_of(name), mean_of(name), best=0, worst=worst, unit=table.unit)

        def row(comparison: Comparison) -> Row:
            return {name: abs(comparison.submitted - comparison.reference)}

        return Measure((metric,), row)


def score_columns(field_name: str) -> tuple[str, str]:
    """Return the names of the columns of a number and of its class (1, 0, or NaN: left out)."""
    return field_name, f"{field_name}_reference"


def score_and_label(comparison: Comparison) -> Row:
    """Return the columns that `score_columns` names."""
    score, label = score_columns(comparison.field)
    return {score: comparison.submitted, label: comparison.reference}


def largest_error(table: NumberField, stated: float | None) -> float:
    """Return the error of a case without a result. Raises ValueError if none is stated and none follows."""
    if stated is not None:
        return stated
    if table.minimum is None or table.maximum is None:
        raise ValueError(
            "worst: expected the error of a case without a result, since the field has no bounds"
        )
    return table.maximum - table.minimum


FIELDS = (NumberField,)
METRICS = (AreaUnderCurve, MeanAbsoluteError)
