"""The operating point is the one that scikit-learn's curve has, with all its points or those it keeps."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, roc_curve

from evaluation.metrics.operating_point import (
    decided_at,
    point_at,
    threshold_at_specificity,
    threshold_of_first_kept_point,
)
from evaluation.metrics.roc import roc_table

# Few scores, so that many are tied.
CASES = st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=2, max_size=40)
SPECIFICITIES = st.sampled_from(
    [Fraction(95, 100), Fraction(80, 100), Fraction(1, 2), Fraction(0), Fraction(1)]
)


@given(CASES, SPECIFICITIES)
@settings(max_examples=200)
def test_the_highest_sensitivity_at_the_highest_threshold_that_has_it(cases, specificity):
    positive, score = (np.array(column) for column in zip(*cases, strict=True))
    table = roc_table(score, positive)
    threshold = threshold_at_specificity(table, specificity)
    if positive.all() or not positive.any():
        assert math.isnan(threshold)
        return
    false, true, thresholds = roc_curve(positive, score, drop_intermediate=False)
    kept = np.rint((1 - false) * (~positive).sum()) >= float(specificity) * (~positive).sum()
    best = true[kept].max()
    assert threshold == thresholds[kept][true[kept] == best].max()
    point = point_at(table, threshold)
    assert point.sensitivity == pytest.approx(best)
    assert point.specificity >= float(specificity)


@given(CASES, st.integers(0, 9))
def test_counts_are_those_of_the_confusion_matrix(cases, threshold):
    positive, score = (np.array(column) for column in zip(*cases, strict=True))
    point = point_at(roc_table(score, positive), threshold)
    matrix = confusion_matrix(positive, score >= threshold, labels=[False, True])
    assert [
        [point.true_negatives, point.false_positives],
        [point.false_negatives, point.true_positives],
    ] == matrix.tolist()


@given(CASES, SPECIFICITIES)
def test_the_first_kept_point_is_on_the_curve_of_scikit_learn(cases, specificity):
    positive, score = (np.array(column) for column in zip(*cases, strict=True))
    table = roc_table(score, positive)
    threshold = threshold_of_first_kept_point(table, specificity)
    if positive.all() or not positive.any():
        assert math.isnan(threshold)
        return
    false, true, thresholds = roc_curve(positive, score)
    first = np.argmax(false >= 1 - float(specificity))
    assert threshold == thresholds[first]
    assert point_at(table, threshold).sensitivity == pytest.approx(true[first])


def test_missing_results_are_wrong_at_every_threshold():
    # A missing positive (−inf) and a missing negative (+inf) beside two cases of each class.
    table = roc_table([3, 1, -np.inf, 2, 0, np.inf], [True, True, True, False, False, False])
    for threshold in (-np.inf, 0, 2.5, np.inf):
        decided = decided_at(table, threshold).tolist()
        assert (decided[2], decided[5]) == (False, True)
    # One of three negatives is lost, so 95 % is out of reach, and nothing is called positive but that one.
    threshold = threshold_at_specificity(table, Fraction(95, 100))
    point = point_at(table, threshold)
    assert (threshold, point.true_positives, point.false_positives) == (math.inf, 0, 1)
    assert point.specificity == pytest.approx(2 / 3)
    # At 60 %, a specificity of 2 of 3 allows the threshold 3, which finds one of three positives.
    point = point_at(table, threshold_at_specificity(table, Fraction(60, 100)))
    assert (point.threshold, point.true_positives, point.false_negatives) == (3, 1, 2)


def test_a_class_without_cases_has_no_share():
    point = point_at(roc_table([1.0, 2.0], [True, True]), 1.5)
    assert point.sensitivity == 0.5
    assert math.isnan(point.specificity)
