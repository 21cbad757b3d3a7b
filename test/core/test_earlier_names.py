"""A challenge of an organiser that calls estimators by their earlier names scores as it did."""

from fractions import Fraction

import numpy as np
import pytest

import evaluation.define as define
from evaluation.core.aggregation import metric_values
from evaluation.metrics.arrays import Floats
from evaluation.metrics.confusion import accuracy_of_confusion
from evaluation.metrics.regression import weighted_pearson_correlation

ROWS = [  # likelihood and label, two numbers, predicted and true class, found and present
    {"p": 0.9, "y": 1, "a": 3.0, "b": 4.0, "said": 0, "true": 0, "found": 1, "there": 1},
    {"p": 0.6, "y": 0, "a": 4.0, "b": 6.0, "said": 1, "true": 1, "found": 1, "there": 0},
    {"p": 0.4, "y": 1, "a": 0.0, "b": 2.0, "said": 1, "true": 0, "found": 0, "there": 1},
    {"p": 0.1, "y": 0, "a": 5.0, "b": 8.0, "said": 1, "true": 1, "found": 0, "there": 0},
]
TABLE = define.CaseTable(["A", "B", "C", "D"], [{**row, "q": 1 - row["p"], "event": 1} for row in ROWS])


def largest(cases: define.WeightedCases) -> Floats:
    return np.where(cases.weights > 0, cases.table["a"], 0).max(axis=1)


ESTIMATORS = {
    "Aggregate": (define.Aggregate(largest), 5),
    "mean_of": (define.mean_of("a"), 3),
    "sum_of": (define.sum_of("a"), 12),
    "proportion_of": (define.proportion_of("found"), 1 / 2),
    "ratio_of_sums": (define.ratio_of_sums("a", "b"), 12 / 20),
    "root_mean_square_of": (define.root_mean_square_of("a"), (50 / 4) ** 0.5),
    # Of the four pairs of a positive and a negative, only 0.4 and 0.6 are in the wrong order.
    "auc_of": (define.auc_of("p", "y"), 3 / 4),
    "partial_auc_of": (define.partial_auc_of("p", "y", Fraction(0), Fraction(1), False), 3 / 4),
    "sensitivity_at_specificity_of": (define.sensitivity_at_specificity_of("p", "y", Fraction(1)), 1 / 2),
    # Precision 1 at the first positive and 2/3 at the second.
    "average_precision_of": (define.average_precision_of("p", "y"), (1 + 2 / 3) / 2),
    "macro_auc_of": (define.macro_auc_of(("q", "p"), "y"), 3 / 4),
    "confusion_of": (define.confusion_of("said", "true", 2, accuracy_of_confusion), 3 / 4),
    "f1_of_presence_of": (define.f1_of_presence_of("found", "there"), 1 / 2),
    "agreement_of": (
        define.agreement_of("a", "b", weighted_pearson_correlation),
        np.corrcoef([3, 4, 0, 5], [4, 6, 2, 8])[0, 1],
    ),
    # All times are events and in the order of the predictions.
    "concordance_of": (define.concordance_of("a", "b", "event", False), 1),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_under_its_earlier_name(name):
    estimator, expected = ESTIMATORS[name]
    found = metric_values([define.Metric(name, name, estimator, best=10, worst=-10)], TABLE)
    assert found[name] == pytest.approx(expected)
