import math
from fractions import Fraction

import numpy as np
import pytest
import sklearn.metrics as oracle
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics import (
    auc,
    average_precision,
    partial_auc,
    roc_curve,
    sensitivity_at_specificity,
    specificity_at_sensitivity,
)
from evaluation.metrics.classification import (
    roc_points,
    roc_table,
    weighted_auc,
    weighted_macro_auc,
    weighted_partial_auc,
)
from evaluation.metrics.operating_points import (
    decided_at,
    point_at,
    threshold_at_specificity,
    weighted_interpolated_sensitivity,
    weighted_sensitivity_at_specificity,
)

# Few distinct scores, so that they tie; both classes, so that scikit-learn has a value.
CASES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans(), st.integers(1, 3)),
    min_size=2,
    max_size=15,
).filter(lambda rows: len({label for _, label, _ in rows}) == 2)


def columns(rows):
    return (np.array(column) for column in zip(*rows, strict=True))


@settings(max_examples=30)
@given(CASES)
def test_roc_is_that_of_scikit_learn(rows):
    scores, labels, weights = columns(rows)
    for chosen in (None, weights):
        assert auc(scores, labels, weights=chosen) == pytest.approx(
            oracle.roc_auc_score(labels, scores, sample_weight=chosen), abs=1e-12
        )
        assert average_precision(scores, labels, weights=chosen) == pytest.approx(
            oracle.average_precision_score(labels, scores, sample_weight=chosen), abs=1e-12
        )
        points = roc_curve(scores, labels, weights=chosen)
        expected = oracle.roc_curve(labels, scores, sample_weight=chosen, drop_intermediate=False)
        for found, wanted in zip(
            (points.false_positive_rate, points.sensitivity, points.threshold), expected, strict=True
        ):
            np.testing.assert_allclose(found, wanted, atol=1e-12)


INF = float("inf")

AT_95 = Fraction(95, 100)


def all_three(score, positive, target=AT_95, weights=None):
    table = roc_table(score, positive)
    rows = np.ones((1, len(score))) if weights is None else np.atleast_2d(weights)
    return (
        weighted_auc(table, rows),
        weighted_sensitivity_at_specificity(table, rows, target),
        weighted_interpolated_sensitivity(table, rows, target),
    )


# By hand. "P" and "N" give the class, in the order of the scores.
@pytest.mark.parametrize(
    ("score", "classes", "target", "area", "step", "interpolated"),
    [
        ([3, 2, 1, 0], "PPNN", AT_95, 1, 1, 1),  # perfect
        ([0, 1, 2, 3], "PPNN", AT_95, 0, 0, 0),  # reversed
        ([7, 7, 7, 7], "PPNN", AT_95, 0.5, 0, 0.05),  # constant: the line is the diagonal
        ([7, 7, 7, 7], "PPNN", Fraction(0), 0.5, 1, 1),
        ([3, 2, 2, 1], "PPNN", Fraction(1, 2), 0.875, 1, 1),
        ([3, 2, 2, 1], "PPNN", Fraction(3, 4), 0.875, 0.5, 0.75),  # half way up the tied group
        ([3, 2, 2, 1], "PPNN", Fraction(1), 0.875, 0.5, 0.5),
        ([3, 3, 1], "PNP", Fraction(1, 2), 0.25, 0, 0.25),
        # a missing positive (−inf) loses every pair and is detected at no threshold
        ([3, -INF, 1, 0], "PPNN", AT_95, 0.5, 0.5, 0.5),
        ([3, -INF, 1, 0], "PPNN", Fraction(0), 0.5, 0.5, 0.5),
        ([-INF, -INF, 1, 0], "PPNN", Fraction(0), 0, 0, 0),
        ([-INF, -INF, -INF, 0], "PPNN", Fraction(0), 0, 0, 0),
        # a missing negative (+inf) is a false positive at every threshold
        ([3, 2, INF, 0], "PPNN", AT_95, 0.5, 0, 0),
        ([3, 2, INF, 0], "PPNN", Fraction(1, 2), 0.5, 1, 1),
        ([3, 2, INF, INF], "PPNN", AT_95, 0, 0, 0),
        ([-INF, -INF, INF, INF], "PPNN", Fraction(0), 0, 0, 0),
    ],
)
def test_by_hand(score, classes, target, area, step, interpolated):
    positive = [c == "P" for c in classes]
    found = all_three(score, positive, target)
    np.testing.assert_allclose(np.concatenate(found), [area, step, interpolated], rtol=0, atol=1e-15)
    public = [
        sensitivity_at_specificity(score, positive, float(target), definition=definition)
        for definition in ("step", "interpolated")
    ]
    assert public == pytest.approx([step, interpolated])


def test_target_is_reached_exactly_for_many_sizes():
    """Of so many negatives exactly 5 % are above the one positive."""
    for negatives in range(20, 400, 20):
        allowed = negatives // 20
        score = np.concatenate(([0.5], np.ones(allowed), np.zeros(negatives - allowed)))
        positive = np.arange(negatives + 1) == 0
        assert all_three(score, positive, AT_95)[1].tolist() == [1.0]
        assert all_three(score, positive, AT_95 + Fraction(1, 10**6))[1].tolist() == [0.0]


def test_rows_without_a_class_are_nan():
    weights = [[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0], [1, 0, 0, 1]]
    for values in all_three([4, 3, 2, 1], [True, True, False, False], AT_95, weights):
        np.testing.assert_array_equal(values, [np.nan, np.nan, np.nan, 1])
    for positive in ([True, True], [False, False]):
        for values in all_three([1, 2], positive):
            np.testing.assert_array_equal(values, [np.nan])
    for values in all_three([], []):
        np.testing.assert_array_equal(values, [np.nan])


def test_points_of_missing_likelihoods():
    points = roc_points(roc_table([2, -INF, INF, 1], [True, True, False, False]), np.ones(4))
    assert points.threshold.tolist() == [INF, INF, 2, 1]
    assert points.false_positive_rate.tolist() == [0, 0.5, 0.5, 1]
    assert points.sensitivity.tolist() == [0, 0, 0.5, 0.5]
    one_class = roc_points(roc_table([2, 1], [True, True]), np.ones(2))
    assert np.isnan(one_class.false_positive_rate).all()
    assert one_class.sensitivity.tolist() == [0, 0.5, 1]


def test_cases_outside_a_subgroup_give_no_point():
    points = roc_points(roc_table([4, 3, 2, 1], [True, True, False, False]), [1, 0, 0, 1])
    assert points.threshold.tolist() == [INF, 4, 1]
    assert points.false_positive_rate.tolist() == [0, 0, 1]
    assert points.sensitivity.tolist() == [0, 1, 1]


THREE = np.array([[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4], [0.1, 0.6, 0.3]])


def test_a_class_without_a_case_does_not_enter():
    # Class 2 has no case; class 0: 0.8 against 0.2 and 0.1, class 1: 0.5 and 0.6 against 0.1. All right.
    assert weighted_macro_auc(THREE, [0, 1, np.nan, 1], np.ones((1, 4)))[0] == 1.0
    # One class alone has nothing to be compared with.
    assert np.isnan(weighted_macro_auc(THREE, [1, 1, 1, 1], np.ones((1, 4)))[0])
    assert np.isnan(weighted_macro_auc(np.zeros((0, 3)), [], np.ones((1, 0)))[0])


def test_a_case_without_a_result_loses_its_pairs():
    score = THREE.copy()
    score[0] = np.nan
    # Class 0: its only case loses both pairs. Class 1: the case of class 0 is above it, class 2 is not: each
    # of its two cases wins one pair of two. Class 2: 0.4 loses against the missing case, wins twice.
    expected = (0 + 2 / 4 + 2 / 3) / 3
    assert weighted_macro_auc(score, [0, 1, 2, 1], np.ones((1, 4)))[0] == pytest.approx(expected)


def test_empty_input():
    assert math.isnan(partial_auc([], [], 0.9))
    assert math.isnan(specificity_at_sensitivity([0.5], [1], 0.95))


def test_missing_results_are_worst():
    table = roc_table([-np.inf, 0.9, 0.1], [True, True, False])
    # The missing positive is detected nowhere, so the curve ends at one half.
    assert weighted_partial_auc(table, np.ones((1, 3)), Fraction(1, 2), standardised=False)[
        0
    ] == pytest.approx(0.25)


@pytest.mark.parametrize(("given", "expected"), [({}, 0.75), ({"standardised": False}, 0.5 * 0.75)])
def test_a_part_between_two_specificities_by_hand(given, expected):
    """Between the rates ¼ and ¾ the curve lies at ¾ and chance at ½ on average: halfway to the best."""
    scores, labels = [0.9] * 3 + [0.8, 0.6, 0.4, 0.2] + [0.1], [1] * 3 + [0] * 4 + [1]
    assert partial_auc(scores, labels, 0.25, 0.75, **given) == pytest.approx(expected)
    bounds = Fraction(1, 4), Fraction(3, 4)
    table = roc_table(np.array(scores), np.array(labels, dtype=bool))
    assert weighted_partial_auc(table, np.ones((1, 8)), *bounds, **given)[0] == pytest.approx(expected)


# Few scores, so that many are tied.
CASES_OF_OPERATING_POINT = st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=2, max_size=40)

SPECIFICITIES = st.sampled_from(
    [Fraction(95, 100), Fraction(80, 100), Fraction(1, 2), Fraction(0), Fraction(1)]
)


@given(CASES_OF_OPERATING_POINT, SPECIFICITIES)
@settings(max_examples=40)
def test_the_highest_sensitivity_at_the_highest_threshold_that_has_it(cases, specificity):
    positive, score = (np.array(column) for column in zip(*cases, strict=True))
    table = roc_table(score, positive)
    threshold = threshold_at_specificity(table, specificity)
    if positive.all() or not positive.any():
        assert math.isnan(threshold)
        return
    false, true, thresholds = oracle.roc_curve(positive, score, drop_intermediate=False)
    kept = np.rint((1 - false) * (~positive).sum()) >= float(specificity) * (~positive).sum()
    best = true[kept].max()
    assert threshold == thresholds[kept][true[kept] == best].max()
    point = point_at(table, threshold)
    assert point.sensitivity == pytest.approx(best)
    assert point.specificity >= float(specificity)


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
