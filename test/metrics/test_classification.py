import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sklearn.metrics as oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import interp1d

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
    sensitivity_at_first_kept_point,
    sensitivity_between_kept_points,
    threshold_at_specificity,
    threshold_of_first_kept_point,
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


def test_a_decimal_specificity_is_exact():
    # 19 of 20 negatives are below 0.5: exactly 95 %.
    scores, labels = [*np.linspace(0, 0.4, 19), 0.6, 0.5], [0] * 20 + [1]
    assert sensitivity_at_specificity(scores, labels, 0.95) == 1
    assert sensitivity_at_specificity(scores, labels, 0.9500001) == 0


INF = float("inf")

AT_95 = Fraction(95, 100)

AT_85 = Fraction(85, 100)


def all_three(score, positive, target=AT_95, weights=None):
    table = roc_table(score, positive)
    rows = np.ones((1, len(score))) if weights is None else np.atleast_2d(weights)
    return (
        weighted_auc(table, rows),
        weighted_sensitivity_at_specificity(table, rows, target),
        weighted_interpolated_sensitivity(table, rows, target),
    )


def oracle_points(score, positive, weights):
    """Integer false and true positives of scikit-learn's curve; missing scores just beyond all the others."""
    finite = score[np.isfinite(score)]
    score = np.clip(score, finite.min(initial=0) - 1, finite.max(initial=0) + 1)
    false_rate, true_rate, _ = oracle.roc_curve(
        positive, score, sample_weight=weights, drop_intermediate=False
    )
    negatives, positives = int(weights[~positive].sum()), int(weights[positive].sum())
    return (
        [(round(f * negatives), round(t * positives)) for f, t in zip(false_rate, true_rate, strict=True)],
        negatives,
        positives,
    )


def oracle_step(score, positive, weights, target):
    points, negatives, positives = oracle_points(score, positive, weights)
    return max(Fraction(t, positives) for f, t in points if 1 - Fraction(f, negatives) >= target)


def oracle_interpolated(score, positive, weights, target):
    points, negatives, positives = oracle_points(score, positive, weights)
    x = (1 - target) * negatives
    on_line = [Fraction(t) for f, t in points if f == x]
    for (f0, t0), (f1, t1) in pairwise(points):
        if f0 < x < f1:
            on_line.append(t0 + (x - f0) * (t1 - t0) / (f1 - f0))
    return max(on_line) / positives


@st.composite
def graded_cases(draw):
    """Scores with many ties or missing, both classes present, and the weights of a few resamples."""
    n = draw(st.integers(2, 25))
    seed = draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    positive = generator.random(n) < draw(st.sampled_from([0.2, 0.5, 0.8]))
    positive[:2] = [True, False]
    score = generator.integers(0, draw(st.sampled_from([2, 6, 1000])), n).astype(float)
    lost = generator.random(n) < draw(st.sampled_from([0, 0.2]))
    score[lost] = np.where(positive[lost], -INF, INF)
    weights = generator.multinomial(n, np.full(n, 1 / n), size=3)
    weights = weights.astype(draw(st.sampled_from([np.int64, np.uint8, np.float64])))
    return score, positive, weights


@settings(max_examples=40)
@given(graded_cases(), st.sampled_from([AT_95, AT_85, Fraction(1, 2), Fraction(1), Fraction(1, 3)]))
def test_agrees_with_scikit_learn_under_bootstrap_weights(cases, target):
    score, positive, weights = cases
    weights = np.vstack((weights, np.ones_like(weights[:1])))
    weights = weights[(weights[:, positive].sum(axis=1) > 0) & (weights[:, ~positive].sum(axis=1) > 0)]
    area, step, interpolated = all_three(score, positive, target, weights)
    finite = score[np.isfinite(score)]
    clipped = np.clip(score, finite.min(initial=0) - 1, finite.max(initial=0) + 1)
    expected = [oracle.roc_auc_score(positive, clipped, sample_weight=row) for row in weights]
    np.testing.assert_allclose(area, expected, rtol=0, atol=1e-12)
    expected = [float(oracle_step(score, positive, row, target)) for row in weights]
    np.testing.assert_allclose(step, expected, rtol=0, atol=1e-12)
    expected = [float(oracle_interpolated(score, positive, row, target)) for row in weights]
    np.testing.assert_allclose(interpolated, expected, rtol=0, atol=1e-12)


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


@settings(max_examples=40)
@given(CASES, st.sampled_from([0.05, 0.1, 0.5, 0.9]))
def test_partial_area_as_scikit_learn(rows, rate):
    scores, labels, weights = (np.array(column) for column in zip(*rows, strict=True))
    for chosen in (None, weights):
        found = partial_auc(scores, labels, 1 - rate, standardised=True, weights=chosen)
        expected = oracle.roc_auc_score(labels, scores, max_fpr=rate, sample_weight=chosen)
        assert found == pytest.approx(expected, abs=1e-9)


@settings(max_examples=25)
@given(CASES, st.sampled_from([0.25, 0.6, 2 / 3]))
def test_parts_add_up_to_the_area(rows, middle):
    scores, labels, _ = (np.array(column) for column in zip(*rows, strict=True))
    parts = sum(
        partial_auc(scores, labels, *bounds, standardised=False) for bounds in ((middle, 1.0), (0.0, middle))
    )
    assert parts == pytest.approx(oracle.roc_auc_score(labels, scores), abs=1e-12)


@settings(max_examples=40)
@given(CASES, st.sampled_from([0.0, 0.5, 0.85, 0.95, 1.0]))
def test_specificity_is_the_best_point_of_scikit_learn(rows, sensitivity):
    scores, labels, weights = (np.array(column) for column in zip(*rows, strict=True))
    rates, sensitivities, _ = oracle.roc_curve(labels, scores, sample_weight=weights, drop_intermediate=False)
    reached = sensitivities >= sensitivity - 1e-12
    found = specificity_at_sensitivity(scores, labels, sensitivity, weights=weights)
    assert found == pytest.approx(1 - rates[reached].min(), abs=1e-12)


def test_empty_input():
    assert math.isnan(partial_auc([], [], 0.9))
    assert math.isnan(specificity_at_sensitivity([0.5], [1], 0.95))


SCORED = st.lists(
    st.tuples(st.integers(0, 6), st.booleans(), st.integers(1, 3)), min_size=2, max_size=30
).filter(lambda cases: len({positive for _, positive, _ in cases}) == 2)


def scored_columns(cases):
    score, positive, weights = (np.array(column) for column in zip(*cases, strict=True))
    return score.astype(float), positive.astype(bool), weights[None].astype(float)


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


@settings(max_examples=20)
@given(SCORED, st.sampled_from(["step", "interpolated"]), st.sampled_from([0.5, 0.85, 1.0]))
def test_weights_of_a_sensitivity_are_copies(cases, definition, specificity):
    score, positive, weights = scored_columns(cases)
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
@settings(max_examples=60)
def test_both_read_what_scikit_learn_keeps(cases, target):
    positive, score, weight, copies = weighted(cases)
    table, weights = roc_table(score, positive), weight[np.newaxis]
    first = sensitivity_at_first_kept_point(table, weights, target)[0]
    between = sensitivity_between_kept_points(table, weights, target)[0]
    if positive[copies].all() or not positive[copies].any():
        assert np.isnan([first, between]).all()
        return
    false, true, _ = oracle.roc_curve(positive[copies], score[copies])
    assert first == true[np.argmax(false >= 1 - float(target))]
    assert between == pytest.approx(float(interp1d(1 - false, true)(float(target))), abs=1e-12)


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


@settings(max_examples=25)
@given(CASES_OF_OPERATING_POINT, st.integers(0, 9))
def test_counts_are_those_of_the_confusion_matrix(cases, threshold):
    positive, score = (np.array(column) for column in zip(*cases, strict=True))
    point = point_at(roc_table(score, positive), threshold)
    matrix = oracle.confusion_matrix(positive, score >= threshold, labels=[False, True])
    assert [
        [point.true_negatives, point.false_positives],
        [point.false_negatives, point.true_positives],
    ] == matrix.tolist()


@settings(max_examples=40)
@given(CASES_OF_OPERATING_POINT, SPECIFICITIES)
def test_the_first_kept_point_is_on_the_curve_of_scikit_learn(cases, specificity):
    positive, score = (np.array(column) for column in zip(*cases, strict=True))
    table = roc_table(score, positive)
    threshold = threshold_of_first_kept_point(table, specificity)
    if positive.all() or not positive.any():
        assert math.isnan(threshold)
        return
    false, true, thresholds = oracle.roc_curve(positive, score)
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
