import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sklearn.metrics as oracle
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from evaluation.metrics import auc, average_precision, roc_curve, sensitivity_at_specificity
from evaluation.metrics.classification import roc_points, roc_table, weighted_auc, weighted_macro_auc
from evaluation.metrics.operating_points import (
    weighted_interpolated_sensitivity,
    weighted_sensitivity_at_specificity,
)

# Few distinct scores, so that they tie; both classes, so that scikit-learn has a value.
cases = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans(), st.integers(1, 3)),
    min_size=2,
    max_size=15,
).filter(lambda rows: len({label for _, label, _ in rows}) == 2)


def columns(rows):
    return (np.array(column) for column in zip(*rows, strict=True))


@settings(max_examples=150, deadline=None)
@given(cases)
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


@settings(max_examples=150, deadline=None)
@given(cases, st.sampled_from([0.0, 0.5, 0.85, 0.95, 1.0]))
def test_sensitivity_is_the_best_point_of_scikit_learn(rows, specificity):
    scores, labels, _ = columns(rows)
    false_positives, sensitivities, _ = oracle.roc_curve(labels, scores, drop_intermediate=False)
    negatives = np.count_nonzero(~labels)
    reached = np.round((1 - false_positives) * negatives) * 100 >= round(specificity * 100) * negatives
    assert sensitivity_at_specificity(scores, labels, specificity) == pytest.approx(
        sensitivities[reached].max(), abs=1e-12
    )
    interpolated = sensitivity_at_specificity(scores, labels, specificity, definition="interpolated")
    # From the last point up to that rate on to the next one.
    rate = 1 - specificity
    last = np.searchsorted(false_positives, rate + 1e-12, side="right") - 1
    at_rate = np.interp(rate, false_positives[last : last + 2], sensitivities[last : last + 2])
    assert interpolated == pytest.approx(at_rate, abs=1e-9)


def test_a_decimal_specificity_is_exact():
    # 19 of 20 negatives are below 0.5: exactly 95 %.
    scores, labels = [*np.linspace(0, 0.4, 19), 0.6, 0.5], [0] * 20 + [1]
    assert sensitivity_at_specificity(scores, labels, 0.95) == 1
    assert sensitivity_at_specificity(scores, labels, 0.9500001) == 0


@pytest.mark.parametrize(("scores", "labels"), [([], []), ([0.5, 1], [0, 0]), ([0.5], [1])])
def test_without_a_class_there_is_no_value(scores, labels):
    assert math.isnan(auc(scores, labels))
    assert math.isnan(sensitivity_at_specificity(scores, labels, 0.9))
    points = roc_curve(scores, labels)
    rates = points.sensitivity if 1 not in labels else points.false_positive_rate
    assert np.isnan(rates).all()


def test_a_missing_score_loses():
    # By hand: one of two positives is missing; the other is above both negatives.
    assert auc([-math.inf, 0.9, 0.1, -math.inf], [1, 1, 0, 0]) == 0.5
    assert sensitivity_at_specificity([-math.inf, 0.9, 0.1, 0.2], [1, 1, 0, 0], 0.0) == 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: auc([0, 1], [0.1, 0.9]), "^labels:"),  # exchanged
        (lambda: auc([0.5, math.nan], [0, 1]), "^score:"),
        (lambda: auc([0.5], [0, 1]), "^score and positive:"),
        (lambda: auc([0.5, 1], [0, 1], weights=[1, -1]), "^weights:"),
        (lambda: roc_curve([0.5, 1], [0, 1], weights=[1]), "^weights:"),
        (lambda: sensitivity_at_specificity([0.5], [1], 1.5), "^specificity:"),
        (lambda: sensitivity_at_specificity([0.5], [1], math.nan), "^specificity:"),
        (lambda: sensitivity_at_specificity([0.5], [1], 0.9, definition="best"), "^definition:"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


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
def graded_cases(draw, missing=False):
    """Scores with many ties, both classes present, and the weights of a few resamples."""
    n = draw(st.integers(2, 25))
    seed = draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    positive = generator.random(n) < draw(st.sampled_from([0.2, 0.5, 0.8]))
    positive[:2] = [True, False]
    score = generator.integers(0, draw(st.sampled_from([2, 6, 1000])), n).astype(float)
    if missing:
        lost = generator.random(n) < 0.2
        score[lost] = np.where(positive[lost], -INF, INF)
    weights = generator.multinomial(n, np.full(n, 1 / n), size=3)
    return score, positive, weights


@settings(max_examples=60)
@given(
    graded_cases(missing=True), st.sampled_from([AT_95, AT_85, Fraction(1, 2), Fraction(1), Fraction(1, 3)])
)
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


def test_agrees_with_scikit_learn_on_a_large_phase():
    generator = np.random.default_rng(5)
    positive = generator.random(3000) < 0.16
    for score in (
        generator.normal(size=3000) + positive,
        np.round(generator.normal(size=3000) + positive, 1),
    ):
        weights = generator.multinomial(3000, np.full(3000, 1 / 3000), size=2)
        area, step, interpolated = all_three(score, positive, AT_95, weights)
        for row in range(2):
            expected = oracle.roc_auc_score(positive, score, sample_weight=weights[row])
            assert area[row] == pytest.approx(expected, abs=1e-12)
            assert step[row] == pytest.approx(float(oracle_step(score, positive, weights[row], AT_95)))
            expected = oracle_interpolated(score, positive, weights[row], AT_95)
            assert interpolated[row] == pytest.approx(float(expected))


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
    found = all_three(score, [c == "P" for c in classes], target)
    np.testing.assert_allclose(np.concatenate(found), [area, step, interpolated], rtol=0, atol=1e-15)


@pytest.mark.parametrize(("above", "step"), [(5, 1.0), (6, 0.0)])
def test_target_is_reached_exactly(above, step):
    # 5 of 100 negatives above the positive: specificity exactly 95 %.
    score = np.concatenate(([0.5], np.ones(above), np.zeros(100 - above)))
    positive = np.arange(101) == 0
    assert all_three(score, positive, AT_95)[1].tolist() == [step]


@pytest.mark.parametrize("negatives", range(20, 400, 20))
def test_target_is_reached_exactly_for_many_sizes(negatives):
    allowed = negatives // 20
    score = np.concatenate(([0.5], np.ones(allowed), np.zeros(negatives - allowed)))
    assert all_three(score, np.arange(negatives + 1) == 0, AT_95)[1].tolist() == [1.0]
    assert all_three(score, np.arange(negatives + 1) == 0, AT_95 + Fraction(1, 10**6))[1].tolist() == [0.0]


def test_rows_without_a_class_are_nan():
    weights = [[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0], [1, 0, 0, 1]]
    for values in all_three([4, 3, 2, 1], [True, True, False, False], AT_95, weights):
        np.testing.assert_array_equal(values, [np.nan, np.nan, np.nan, 1])
    for positive in ([True, True], [False, False]):
        for values in all_three([1, 2], positive):
            np.testing.assert_array_equal(values, [np.nan])
    for values in all_three([], []):
        np.testing.assert_array_equal(values, [np.nan])


@settings(max_examples=40)
@given(graded_cases(), st.randoms(use_true_random=False))
def test_invariants(cases, random):
    score, positive, weights = cases
    original = all_three(score, positive, AT_85, weights)

    order = list(range(len(score)))
    random.shuffle(order)
    # The order of the cases is irrelevant; only the interpolated value sums fractions, which may round.
    reordered = all_three(score[order], positive[order], AT_85, weights[:, order])
    np.testing.assert_array_equal(original[:2], reordered[:2])
    np.testing.assert_allclose(original[2], reordered[2], rtol=0, atol=1e-14)

    for weighted in (2 * weights, weights.astype(float), weights.astype(np.uint8)):
        for before, after in zip(original, all_three(score, positive, AT_85, weighted), strict=True):
            np.testing.assert_array_equal(before, after)

    for before, after in zip(
        original, all_three(np.exp(score / 100) - 3, positive, AT_85, weights), strict=True
    ):
        np.testing.assert_array_equal(before, after)  # only the order of the scores counts

    np.testing.assert_allclose(all_three(-score, positive, AT_85, weights)[0], 1 - original[0], atol=1e-12)
    seen = ~np.isnan(original[1])
    assert (original[1][seen] <= original[2][seen]).all()
    assert all(((v[seen] >= 0) & (v[seen] <= 1)).all() for v in original)


@settings(max_examples=60)
@given(graded_cases(missing=True), st.integers(0, 24), st.sampled_from([AT_95, Fraction(1, 2), Fraction(0)]))
def test_a_missing_likelihood_never_improves(cases, case, target):
    score, positive, weights = cases
    assume(case < len(score))
    lost = score.copy()
    lost[case] = -INF if positive[case] else INF
    rows = np.vstack((weights, np.ones_like(weights[:1])))
    for valid, missing in zip(
        all_three(score, positive, target, rows), all_three(lost, positive, target, rows), strict=True
    ):
        assert not (missing > valid + 1e-12).any()


def test_points_agree_with_scikit_learn():
    generator = np.random.default_rng(3)
    score = generator.integers(0, 12, 80).astype(float)
    positive = generator.random(80) < 0.4
    weights = generator.integers(0, 4, 80)
    points = roc_points(roc_table(score, positive), weights)
    false_rate, true_rate, threshold = oracle.roc_curve(
        positive, score, sample_weight=weights, drop_intermediate=False
    )
    np.testing.assert_array_equal(points.threshold, threshold)
    np.testing.assert_allclose(points.false_positive_rate, false_rate, atol=1e-12)
    np.testing.assert_allclose(points.sensitivity, true_rate, atol=1e-12)


def test_points_of_missing_likelihoods():
    points = roc_points(roc_table([2, -INF, INF, 1], [True, True, False, False]), np.ones(4))
    assert points.threshold.tolist() == [INF, INF, 2, 1]
    assert points.false_positive_rate.tolist() == [0, 0.5, 0.5, 1]
    assert points.sensitivity.tolist() == [0, 0, 0.5, 0.5]
    one_class = roc_points(roc_table([2, 1], [True, True]), np.ones(2))
    assert np.isnan(one_class.false_positive_rate).all()
    assert one_class.sensitivity.tolist() == [0, 0.5, 1]


def test_refused_input():
    with pytest.raises(ValueError, match=r"^score:"):
        roc_table([0, np.nan, np.nan], [True, False, True])
    with pytest.raises(ValueError, match=r"^score and positive:"):
        roc_table([0, 1], [True, False, True])
    table = roc_table([0, 1], [True, False])
    with pytest.raises(ValueError, match=r"^weights:"):
        weighted_auc(table, np.ones((1, 3)))
    with pytest.raises(ValueError, match=r"^weights_row:"):
        roc_points(table, np.ones((1, 2)))
    for function in (weighted_sensitivity_at_specificity, weighted_interpolated_sensitivity):
        with pytest.raises(ValueError, match=r"^target:"):
            function(table, np.ones((1, 2)), Fraction(95))


def test_cases_outside_a_subgroup_give_no_point():
    points = roc_points(roc_table([4, 3, 2, 1], [True, True, False, False]), [1, 0, 0, 1])
    assert points.threshold.tolist() == [INF, 4, 1]
    assert points.false_positive_rate.tolist() == [0, 0, 1]
    assert points.sensitivity.tolist() == [0, 1, 1]


@given(st.integers(3, 5), st.integers(0, 2**32 - 1))
def test_as_scikit_learn_under_weights(classes, seed):
    generator = np.random.default_rng(seed)
    truth = np.concatenate((np.arange(classes), generator.integers(0, classes, 15)))
    score = generator.multinomial(4, np.full(classes, 1 / classes), len(truth)) / 4  # many are tied
    weights = generator.integers(1, 4, len(truth))
    expected = roc_auc_score(truth, score, multi_class="ovr", average="macro", sample_weight=weights)
    assert weighted_macro_auc(score, truth, weights[None])[0] == pytest.approx(expected, abs=1e-12)


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


def test_shapes_must_fit():
    with pytest.raises(ValueError, match=r"^score, truth and weights:"):
        weighted_macro_auc(THREE, [0, 1, 2], np.ones((1, 3)))
