import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import interp1d
from sklearn import metrics as oracle
from sklearn.metrics import confusion_matrix, roc_auc_score, roc_curve

from evaluation.metrics import partial_auc, sensitivity_at_specificity, specificity_at_sensitivity
from evaluation.metrics.classification import roc_table, weighted_auc, weighted_partial_auc
from evaluation.metrics.operating_points import (
    decided_at,
    point_at,
    sensitivity_at_first_kept_point,
    sensitivity_between_kept_points,
    threshold_at_specificity,
    threshold_of_first_kept_point,
    weighted_sensitivity_at_specificity,
)

CASES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans(), st.integers(1, 3)),
    min_size=2,
    max_size=15,
).filter(lambda rows: len({label for _, label, _ in rows}) == 2)


@given(CASES, st.sampled_from([0.05, 0.1, 0.5]))
def test_partial_area_as_scikit_learn(rows, rate):
    scores, labels, weights = (np.array(column) for column in zip(*rows, strict=True))
    for chosen in (None, weights):
        found = partial_auc(scores, labels, 1 - rate, standardised=True, weights=chosen)
        expected = oracle.roc_auc_score(labels, scores, max_fpr=rate, sample_weight=chosen)
        assert found == pytest.approx(expected, abs=1e-9)


@given(CASES)
def test_parts_add_up_to_the_area(rows):
    scores, labels, _ = (np.array(column) for column in zip(*rows, strict=True))
    parts = sum(
        partial_auc(scores, labels, *bounds, standardised=False) for bounds in ((0.6, 1.0), (0.0, 0.6))
    )
    assert parts == pytest.approx(oracle.roc_auc_score(labels, scores), abs=1e-12)


@given(CASES, st.sampled_from([0.0, 0.5, 0.85, 0.95, 1.0]))
def test_specificity_is_the_best_point_of_scikit_learn(rows, sensitivity):
    scores, labels, weights = (np.array(column) for column in zip(*rows, strict=True))
    rates, sensitivities, _ = oracle.roc_curve(labels, scores, sample_weight=weights, drop_intermediate=False)
    reached = sensitivities >= sensitivity - 1e-12
    found = specificity_at_sensitivity(scores, labels, sensitivity, weights=weights)
    assert found == pytest.approx(1 - rates[reached].min(), abs=1e-12)


def test_empty_input_and_bounds():
    assert math.isnan(partial_auc([], [], 0.9))
    assert math.isnan(specificity_at_sensitivity([0.5], [1], 0.95))
    with pytest.raises(ValueError, match=r"^min_specificity:"):
        partial_auc([0.5, 1], [0, 1], 90)
    with pytest.raises(ValueError, match=r"^specificities:"):
        partial_auc([0.5, 1], [0, 1], 0.9, 0.9)
    with pytest.raises(ValueError, match=r"^sensitivity:"):
        specificity_at_sensitivity([0.5, 1], [0, 1], math.nan)


SCORED = st.lists(
    st.tuples(st.integers(0, 6), st.booleans(), st.integers(1, 3)), min_size=2, max_size=30
).filter(lambda cases: len({positive for _, positive, _ in cases}) == 2)


def columns(cases):
    score, positive, weights = (np.array(column) for column in zip(*cases, strict=True))
    return score.astype(float), positive.astype(bool), weights[None].astype(float)


@given(SCORED, st.sampled_from([Fraction(1, 20), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)]))
def test_standardised_area_as_scikit_learn(cases, max_rate):
    score, positive, weights = columns(cases)
    expected = roc_auc_score(positive, score, sample_weight=weights[0], max_fpr=float(max_rate))
    found = weighted_partial_auc(roc_table(score, positive), weights, 1 - max_rate, standardised=True)
    assert found[0] == pytest.approx(expected, abs=1e-12)


@given(SCORED, st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(2, 3)]))
def test_parts_add_up_to_the_area_under_the_whole_curve(cases, specificity):
    score, positive, weights = columns(cases)
    table = roc_table(score, positive)
    upper = weighted_partial_auc(table, weights, specificity, standardised=False)
    lower = weighted_partial_auc(table, weights, Fraction(0), specificity, False) if specificity else 0.0
    np.testing.assert_allclose(upper + lower, weighted_auc(table, weights), atol=1e-12)


@given(SCORED, st.sampled_from([Fraction(1, 2), Fraction(17, 20), Fraction(1)]))
def test_specificity_at_sensitivity_is_the_best_point_of_the_curve(cases, target):
    score, positive, weights = columns(cases)
    rate, sensitivity, _ = roc_curve(positive, score, sample_weight=weights[0], drop_intermediate=False)
    reached = sensitivity * weights[0][positive].sum() >= float(target) * weights[0][positive].sum() - 1e-9
    found = specificity_at_sensitivity(score, positive, float(target), weights=weights[0])
    assert found == pytest.approx((1 - rate[reached]).max(), abs=1e-12)


def test_missing_results_are_worst():
    table = roc_table([-np.inf, 0.9, 0.1], [True, True, False])
    # The missing positive is detected nowhere, so the curve ends at one half.
    assert weighted_partial_auc(table, np.ones((1, 3)), Fraction(1, 2), standardised=False)[
        0
    ] == pytest.approx(0.25)


@pytest.mark.parametrize(
    "bounds", [(Fraction(1), Fraction(1)), (Fraction(-1, 2), Fraction(1)), (Fraction(0), Fraction(2))]
)
def test_refuses_bounds_that_are_no_specificities(bounds):
    with pytest.raises(ValueError, match=r"^specificities:"):
        weighted_partial_auc(roc_table([0.0, 1.0], [False, True]), np.ones((1, 2)), *bounds)


@pytest.mark.parametrize(("given", "expected"), [({}, 0.75), ({"standardised": False}, 0.5 * 0.75)])
def test_a_part_between_two_specificities_by_hand(given, expected):
    """Between the rates ¼ and ¾ the curve lies at ¾ and chance at ½ on average: halfway to the best."""
    scores, labels = [0.9] * 3 + [0.8, 0.6, 0.4, 0.2] + [0.1], [1] * 3 + [0] * 4 + [1]
    assert partial_auc(scores, labels, 0.25, 0.75, **given) == pytest.approx(expected)
    bounds = Fraction(1, 4), Fraction(3, 4)
    table = roc_table(np.array(scores), np.array(labels, dtype=bool))
    assert weighted_partial_auc(table, np.ones((1, 8)), *bounds, **given)[0] == pytest.approx(expected)


@given(SCORED, st.sampled_from(["step", "interpolated"]), st.sampled_from([0.5, 0.85, 1.0]))
def test_weights_of_a_sensitivity_are_copies(cases, definition, specificity):
    score, positive, weights = columns(cases)
    copies = weights[0].astype(int)
    expected = sensitivity_at_specificity(
        score.repeat(copies), positive.repeat(copies), specificity, definition=definition
    )
    found = sensitivity_at_specificity(
        score, positive, specificity, definition=definition, weights=weights[0]
    )
    assert found == pytest.approx(expected)


def test_a_missing_positive_is_on_no_kept_point():
    """One of two positives has no result: even where every score is above the threshold it is missed."""
    table = roc_table([-np.inf, 0.9, 0.1], [True, True, False])
    for read in (sensitivity_at_first_kept_point, sensitivity_between_kept_points):
        assert read(table, np.ones((1, 3)), Fraction(0)).tolist() == [0.5]


# Few scores, so that many are tied.
CASES_OF_KEPT_ROC = st.lists(
    st.tuples(st.booleans(), st.integers(0, 8), st.integers(0, 3)), min_size=2, max_size=40
)


def weighted(cases):
    positive, score, weight = (np.array(column) for column in zip(*cases, strict=True))
    copies = np.repeat(np.arange(len(cases)), weight)
    return positive, score, weight, copies


@given(CASES_OF_KEPT_ROC, st.sampled_from([Fraction(85, 100), Fraction(95, 100), Fraction(1, 2)]))
@settings(max_examples=300)
def test_both_read_what_scikit_learn_keeps(cases, target):
    positive, score, weight, copies = weighted(cases)
    table, weights = roc_table(score, positive), weight[np.newaxis]
    first = sensitivity_at_first_kept_point(table, weights, target)[0]
    between = sensitivity_between_kept_points(table, weights, target)[0]
    if positive[copies].all() or not positive[copies].any():
        assert np.isnan([first, between]).all()
        return
    false, true, _ = roc_curve(positive[copies], score[copies])
    assert first == true[np.argmax(false >= 1 - float(target))]
    assert between == pytest.approx(float(interp1d(1 - false, true)(float(target))), abs=1e-12)


def test_artefacts_by_hand():
    positive, ones = np.array([True, True, False, False]), np.ones((1, 4))
    perfect, constant = roc_table([3, 2, 1, 0], positive), roc_table([1, 1, 1, 1], positive)
    # The point at specificity 1/2 is dropped, which leaves the line from (0, 1) to (1, 0).
    assert sensitivity_between_kept_points(perfect, ones, Fraction(85, 100))[0] == pytest.approx(0.15)
    assert sensitivity_at_first_kept_point(constant, ones, Fraction(95, 100)).tolist() == [1.0]
    assert weighted_sensitivity_at_specificity(constant, ones, Fraction(95, 100)).tolist() == [0.0]


def test_a_missing_positive_is_never_detected():
    table = roc_table([2, -np.inf, 1, np.inf], [True, True, False, False])
    # False positives 1, 1, 2 of 2 and true positives 0, 1, 1 of 2.
    assert sensitivity_at_first_kept_point(table, np.ones((1, 4)), Fraction(1, 4)).tolist() == [0.5]


# Few scores, so that many are tied.
CASES_OF_OPERATING_POINT = st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=2, max_size=40)


SPECIFICITIES = st.sampled_from(
    [Fraction(95, 100), Fraction(80, 100), Fraction(1, 2), Fraction(0), Fraction(1)]
)


@given(CASES_OF_OPERATING_POINT, SPECIFICITIES)
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


@given(CASES_OF_OPERATING_POINT, st.integers(0, 9))
def test_counts_are_those_of_the_confusion_matrix(cases, threshold):
    positive, score = (np.array(column) for column in zip(*cases, strict=True))
    point = point_at(roc_table(score, positive), threshold)
    matrix = confusion_matrix(positive, score >= threshold, labels=[False, True])
    assert [
        [point.true_negatives, point.false_positives],
        [point.false_negatives, point.true_positives],
    ] == matrix.tolist()


@given(CASES_OF_OPERATING_POINT, SPECIFICITIES)
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
