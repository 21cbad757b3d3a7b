"""Aggregates of predicted classes against true ones, as class indices from 0 on.

NaN as a true class leaves a case out; NaN as a prediction is a case without a result, which takes the answer
that is worst for the figure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evaluation.core.case_table import FloatArray, WeightedCases
from evaluation.core.labelled_cases import strata_of_labels
from evaluation.core.metric import Aggregate
from evaluation.metrics.confusion import Confusion, confusion
from evaluation.metrics.multiclass_roc import macro_auc


def confusion_of(
    predicted: str, true: str, classes: int, figure: Callable[[Confusion], FloatArray]
) -> Aggregate:
    """Return a figure of the confusion matrix of two columns of classes; figures share the matrix."""

    def count(cases: WeightedCases) -> Confusion:
        return confusion(cases.table[true], cases.table[predicted], cases.weights, classes)

    return Aggregate(
        values=lambda cases: figure(cases.derive(("confusion", predicted, true), count)),
        strata=lambda table: strata_of_labels(table, true),
    )


def macro_auc_of(scores: Sequence[str], true: str) -> Aggregate:
    """Return the mean AUC of each class against the rest; ``scores`` are the columns of the classes."""

    def values(cases: WeightedCases) -> FloatArray:
        table = cases.table
        return macro_auc(np.column_stack([table[column] for column in scores]), table[true], cases.weights)

    return Aggregate(values, strata=lambda table: strata_of_labels(table, true))
