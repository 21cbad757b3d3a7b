"""The decided class of a case, from any kind of field."""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.challenges.declared.classes import ClassField, ClassProbabilitiesField, DecisionField
from evaluation.challenges.declared.field_table import FieldTable
from evaluation.challenges.declared.measure import Comparison, Measure, MetricTable
from evaluation.challenges.declared.number import NumberField
from evaluation.challenges.declared.scalar import value_columns
from evaluation.challenges.declared.scores import check_classes
from evaluation.challenges.declared.table import key
from evaluation.core.case_table import CaseTable, Row
from evaluation.core.challenge import Values
from evaluation.core.class_aggregates import confusion_of
from evaluation.core.form import CaseForm
from evaluation.core.metric import Metric, proportion_of
from evaluation.metrics.confusion import Confusion, Floats, confusion


@dataclass(frozen=True)
class Decided:
    """How a field decides on a class: the classes, the columns, and the class index of a submitted value."""

    classes: tuple[str, ...]
    predicted: str
    true: str
    index: Callable[[Any], float]

    def row(self, comparison: Comparison) -> Row:
        """Return both class indices of a case; NaN for a case that does not enter."""
        return {self.predicted: self.index(comparison.submitted), self.true: float(comparison.reference)}

    def matrix(self, table: CaseTable) -> Mapping[str, Any]:
        """Return the numbers of cases by true and decided class, for the organiser."""
        ones = np.ones((1, len(table)))
        counts = confusion(table[self.true], table[self.predicted], ones, len(self.classes))
        content = {
            "classes": list(self.classes),
            "by_true_and_decided": counts.counts[0].astype(int).tolist(),
            "without_result": counts.missing[0].astype(int).tolist(),
        }
        return {f"{self.predicted.removesuffix('_predicted')}_confusion_matrix": content}


class DecisionMetric(MetricTable, ABC):
    """A metric of decided classes."""

    threshold: float | None = key(
        "Fields of kind `number`: from which number on a case is decided to be positive.",
        None,
        allow_inf_nan=False,
    )
    kinds = (ClassField, ClassProbabilitiesField, DecisionField, NumberField)

    def decided(self, name: str, field_name: str, table: FieldTable) -> Decided:
        """Return how a field decides. Raises ValueError for options that do not fit it."""
        predicted, true = value_columns(field_name)
        if isinstance(table, NumberField):
            threshold = _threshold(table, self.threshold)
            return Decided(
                ("negative", "positive"), f"{name}_predicted", true, lambda number: float(number >= threshold)
            )
        if self.threshold is not None:
            raise ValueError(f"threshold: expected none for a field of kind {table.kind!r}")
        if isinstance(table, DecisionField):
            return Decided(("negative", "positive"), predicted, true, float)
        assert isinstance(table, ClassField | ClassProbabilitiesField)
        index = _most_probable if isinstance(table, ClassProbabilitiesField) else float
        return Decided(tuple(map(str, table.classes)), predicted, true, index)

    def figure(
        self,
        name: str,
        field_name: str,
        table: FieldTable,
        figure: Callable[[Confusion], Floats],
        worst: float = 0.0,
    ) -> Measure:
        """Return a figure of the confusion matrix with the best value 1."""
        decided = self.decided(name, field_name, table)
        aggregate = confusion_of(decided.predicted, decided.true, len(decided.classes), figure)

        def worst_row(case: CaseForm, references: Values) -> Row:
            return {decided.predicted: math.nan, decided.true: float(references[field_name])}

        metric = Metric(name, self.title_of(name), aggregate, 1, worst)
        return Measure((metric,), decided.row, worst_row, decided.matrix)

    def share(
        self,
        name: str,
        field_name: str,
        table: FieldTable,
        right: Callable[[float, float], bool],
        enters: Callable[[float], bool] = lambda true: True,
    ) -> Measure:
        """Return the share of ``right`` predictions among the cases with a true class that ``enters``."""
        decided = self.decided(name, field_name, table)

        def row(comparison: Comparison) -> Row:
            predicted, true = decided.row(comparison).values()
            return {name: math.nan if math.isnan(true) or not enters(true) else float(right(predicted, true))}

        def worst_row(case: CaseForm, references: Values) -> Row:
            true = float(references[field_name])
            return {name: math.nan if math.isnan(true) or not enters(true) else 0.0}

        return Measure((Metric(name, self.title_of(name), proportion_of(name), 1, 0),), row, worst_row)


class OneClassMetric(DecisionMetric, ABC):
    """A metric of one class against all others."""

    of: str | None = key(
        "The class that is meant. Default: the second of two classes, of a decision the positive one.",
        None,
    )

    def class_index(self, name: str, field_name: str, table: FieldTable) -> int:
        """Return the index of the class. Raises ValueError for a class that the field does not have."""
        classes = self.decided(name, field_name, table).classes
        if self.of is None and len(classes) == 2:
            return 1
        if self.of not in classes:
            raise ValueError(f"of: expected one of {', '.join(classes)}, found {self.of or 'none'}")
        return classes.index(self.of)


def _threshold(table: NumberField, threshold: float | None) -> float:
    check_classes(table)
    if threshold is None:
        raise ValueError("threshold: expected a number for a field of kind 'number', found none")
    if table.minimum is None or table.maximum is None or not table.minimum < threshold <= table.maximum:
        raise ValueError("threshold: expected a field with minimum and maximum, and a number between them")
    return threshold


def _most_probable(probabilities: tuple[float, ...]) -> float:
    return float(probabilities.index(max(probabilities)))
