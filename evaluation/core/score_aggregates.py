"""Aggregates of scores against 0/1 labels, beside those of `core.metric`.

A case without a result has the score −inf if it is positive, +inf if it is negative.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from evaluation.core.case_table import WeightedCases
from evaluation.core.labelled_cases import labelled_weights, roc_counts_of, roc_table_of, strata_of_labels
from evaluation.core.metric import Aggregate
from evaluation.metrics.arrays import Floats
from evaluation.metrics.classification import weighted_average_precision, weighted_partial_auc
from evaluation.metrics.probabilities import weighted_expected_calibration_error


def partial_auc_of(
    score: str, label: str, min_specificity: Fraction, max_specificity: Fraction, standardised: bool
) -> Aggregate:
    """Return the area under the ROC curve between two specificities (NaN labels: left out)."""

    def values(cases: WeightedCases) -> Floats:
        table = roc_table_of(cases.table, score, label)
        counts = roc_counts_of(cases, score, label)
        return weighted_partial_auc(table, counts, min_specificity, max_specificity, standardised)

    return Aggregate(values, strata=lambda table: strata_of_labels(table, label))


def average_precision_of(score: str, label: str) -> Aggregate:
    """Return the average precision of a score column against a 0/1 label column (NaN: left out)."""
    return Aggregate(
        values=lambda cases: weighted_average_precision(
            roc_table_of(cases.table, score, label), labelled_weights(cases, label)
        ),
        strata=lambda table: strata_of_labels(table, label),
    )


def calibration_error_of(probability: str, label: str, bins: int) -> Aggregate:
    """Return the expected calibration error of a column of probabilities (NaN labels: left out)."""

    def values(cases: WeightedCases) -> Floats:
        column = cases.table[probability]
        given = np.where(np.isfinite(column), column, np.nan)
        return weighted_expected_calibration_error(given, cases.table[label], cases.weights, bins)

    return Aggregate(values, strata=lambda table: strata_of_labels(table, label))
