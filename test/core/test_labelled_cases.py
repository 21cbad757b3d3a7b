"""What figures of a 0/1 label share: cases without a label are left out of all of it."""

from fractions import Fraction
from functools import partial
from math import nan

import numpy as np
import pytest

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.class_estimators import (
    AveragePrecision,
    PartialRocArea,
    RocArea,
    SensitivityAtSpecificity,
    labelled_weights,
    roc_counts_of,
    roc_table_of,
    strata_of_labels,
)
from evaluation.metrics import auc, average_precision, partial_auc, sensitivity_at_specificity
from evaluation.metrics.bootstrap import UnitWeights
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


FIGURES = {
    "area": (RocArea("score", "label"), auc),
    "part of the area": (
        PartialRocArea("score", "label", Fraction(3, 4), Fraction(1), standardised=False),
        partial(partial_auc, min_specificity=0.75, standardised=False),
    ),
    "standardised part": (
        PartialRocArea("score", "label", Fraction(3, 4), Fraction(1), standardised=True),
        partial(partial_auc, min_specificity=0.75),
    ),
    "sensitivity": (
        SensitivityAtSpecificity("score", "label", Fraction(3, 4)),
        partial(sensitivity_at_specificity, specificity=0.75),
    ),
    "interpolated sensitivity": (
        SensitivityAtSpecificity("score", "label", Fraction(3, 4), "interpolated"),
        partial(sensitivity_at_specificity, specificity=0.75, definition="interpolated"),
    ),
    "average precision": (AveragePrecision("score", "label"), average_precision),
    "area of precisions": (
        AveragePrecision("score", "label", "trapezoid"),
        partial(average_precision, reading="trapezoid"),
    ),
}


@pytest.mark.parametrize(("estimator", "function"), FIGURES.values(), ids=FIGURES)
@pytest.mark.parametrize("clustered", [False, True])
def test_a_drawn_sample_has_the_figure_of_its_labelled_cases(estimator, function, clustered):
    rng = np.random.default_rng(4)
    label = rng.choice([0.0, 1.0, nan], 30)
    score = np.round(rng.normal(size=30) + np.nan_to_num(label), 1)
    table = CaseTable(
        [f"c{case}" for case in range(30)],
        [{"score": s, "label": y} for s, y in zip(score, label, strict=True)],
    )
    unit = np.arange(30) // 2 if clustered else np.arange(30)
    of_units = rng.integers(0, 3, (20, unit[-1] + 1))
    drawn = UnitWeights(of_units, unit)
    known = ~np.isnan(label)
    expected = [
        function(np.repeat(score[known], weights[known]), np.repeat(label[known], weights[known]))
        for weights in of_units[:, unit]
    ]
    for given in (drawn, of_units[:, unit]):
        assert estimator.values(WeightedCases(table, given)) == pytest.approx(expected, nan_ok=True)
