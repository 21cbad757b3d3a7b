"""What figures of a 0/1 label share: cases without a label are left out of all of it."""

from math import nan

import numpy as np
import pytest

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.class_estimators import (
    labelled_weights,
    roc_counts_of,
    roc_table_of,
    strata_of_labels,
)
from evaluation.metrics.classification import weighted_auc

LABELS = [1, nan, 0, 1]
TABLE = CaseTable(
    list("abcd"),
    [{"score": score, "label": label} for score, label in zip([3, 9, 2, 1], LABELS, strict=True)],
)
WEIGHTS = np.array([[1, 1, 1, 1], [0, 5, 1, 2]])


def test_a_stratum_for_each_class():
    assert strata_of_labels(TABLE, "label").tolist() == [1, -1, 0, 1]


def test_weights_of_the_cases_with_a_label():
    assert labelled_weights(WeightedCases(TABLE, WEIGHTS), "label").tolist() == [[1, 1, 1], [0, 1, 2]]
    assert labelled_weights(WeightedCases(TABLE, WEIGHTS), "score") is WEIGHTS


def test_sorted_cases_and_their_counts_are_made_once():
    cases = WeightedCases(TABLE, WEIGHTS)
    table, counts = roc_table_of(TABLE, "score", "label"), roc_counts_of(cases, "score", "label")
    assert roc_table_of(TABLE, "score", "label") is table
    assert roc_counts_of(cases, "score", "label") is counts
    # Of the pairs with the one negative the first is right and the last wrong; then the last alone counts.
    assert weighted_auc(table, counts).tolist() == pytest.approx([0.5, 0.0])
