"""Sums and curves of detections: weights, and what a case without a result costs."""

import numpy as np

from evaluation.challenges.declared.detections import (
    CERTAIN,
    CaseDetections,
    Hits,
    froc_measure,
    missing_result,
    share_measure,
)
from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import worst_row

ONE_CLASS = CaseDetections(
    hits=lambda comparison: [comparison], objects=lambda references: [references.objects]
)
RATES = [0.5, 1.0, 2.0]
MEASURES = {
    "f1": share_measure("f1", "F1", "f1", ONE_CLASS),
    "precision": share_measure("precision", "Precision", "precision", ONE_CLASS),
    "recall": share_measure("recall", "Recall", "recall", ONE_CLASS),
    "froc": froc_measure("froc", "FROC", RATES, ONE_CLASS),
}


def table(measure, cases, missing=()):
    rows = [
        worst_row(measure.metrics, measure.worst(case)) if number in missing else measure.row(case)
        for number, case in enumerate(cases)
    ]
    return CaseTable([str(number) for number in range(len(cases))], rows)


def figures(measure, cases, missing=()):
    return metric_values(measure.metrics, table(measure, cases, missing))


def hits(found, false, objects):
    return Hits(np.array(found, dtype=float), np.array(false, dtype=float), objects)


def test_nothing_found_and_nothing_there():
    assert figures(MEASURES["precision"], [hits([], [], 2)]) == {"precision": 0}
    assert np.isnan(figures(MEASURES["f1"], [hits([], [0.5], 0)])["f1"])
    assert np.isnan(figures(MEASURES["froc"], [hits([], [0.5], 0)])["froc"])


def test_a_missing_result_is_a_missed_object_and_a_false_prediction_each():
    missing = missing_result(3)
    assert (missing.hits.tolist(), missing.false.tolist(), missing.objects) == ([], [CERTAIN] * 3, 3)
    assert missing.counts == (0, 3, 3)
    assert missing_result(0).counts == (0, 1, 0)
    cases = [hits([0.9], [], 1), hits([0.9], [], 1)]
    assert figures(MEASURES["f1"], cases, missing={1}) == {"f1": 0.5}
    assert figures(MEASURES["precision"], cases, missing={1}) == {"precision": 0.5}
    # The false prediction is above the hit: at ½ per case it has been passed.
    expected = {"froc_at_0_5": 0.5, "froc_at_1": 0.5, "froc_at_2": 0.5, "froc": 0.5}
    assert figures(MEASURES["froc"], cases, missing={1}) == expected
