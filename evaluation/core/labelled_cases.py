"""The cases of a 0/1 label (NaN: left out), as every figure of such labels needs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.metrics import roc
from evaluation.metrics.bootstrap import UnitWeights


@dataclass(frozen=True)
class Resolution:
    """The number of values that a figure of 0/1 labels can take (None: too many to count)."""

    positives: int
    negatives: int
    values: int | None


def resolution_of(label: str, values: Callable[[int, int], int | None]) -> Callable[[CaseTable], Resolution]:
    """Return the resolution of a figure whose number of values follows from the two class sizes."""

    def resolution_of_table(table: CaseTable) -> Resolution:
        labels = table[label]
        positives, negatives = (int(np.count_nonzero(labels == value)) for value in (1, 0))
        return Resolution(positives, negatives, values(positives, negatives))

    return resolution_of_table


def strata_of_labels(table: CaseTable, label: str) -> NDArray[np.int64]:
    """Return one stratum for each class of a 0/1 label column, −1 where it is NaN."""
    labels = table[label]
    return np.where(np.isnan(labels), -1, labels).astype(np.int64)


def roc_table_of(table: CaseTable, score: str, label: str) -> roc.RocTable:
    """Return the sorted cases that have a label, made once for a table."""

    def build(table: CaseTable) -> roc.RocTable:
        labelled = ~np.isnan(table[label])
        return roc.roc_table(table[score][labelled], table[label][labelled] > 0)

    return table.derive(("roc", score, label), build)


def labelled_weights(cases: WeightedCases, label: str) -> NDArray[np.number]:
    """Return the weights of the cases that have a label."""
    labelled = ~np.isnan(cases.table[label])
    return cases.weights if labelled.all() else cases.weights[:, labelled]


def roc_counts_of(cases: WeightedCases, score: str, label: str) -> roc.WeightedCounts:
    """Return the sums of weights that every figure of a ROC curve needs, made once for a table."""

    def count(cases: WeightedCases) -> roc.WeightedCounts:
        table = roc_table_of(cases.table, score, label)
        if not isinstance(cases.given, UnitWeights):
            return roc.weighted_counts(table, labelled_weights(cases, label))
        labelled = ~np.isnan(cases.table[label])
        return roc.weighted_counts(table, cases.given if labelled.all() else cases.given.among(labelled))

    return cases.derive(("roc", score, label), count)
