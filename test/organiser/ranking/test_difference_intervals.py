"""Differences with interval and p of one procedure, Holm's correction, and tiers."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import norm, t, ttest_rel
from sklearn.metrics import roc_auc_score

from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import RocArea
from evaluation.core.estimator import Mean
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.organiser.ranking.differences import (
    Compared,
    corrected,
    detectable,
    holm,
    margin_test,
    significance_tiers,
    student_difference,
    with_unseen,
)
from evaluation.stats.areas import area_variance, components
from evaluation.stats.figure import Difference, Figure


def difference(first, second, level=0.95):
    """Return the difference of the means of two teams."""
    names = [f"C{case:02}" for case in range(len(first))]
    columns = {"first": first.tolist(), "second": second.tolist()}
    tables = {team: CaseTable(names, [{"x": x} for x in column]) for team, column in columns.items()}
    metric = Metric("x", "", Mean("x"), math.inf, -math.inf)
    return Compared(metric, tables, Resampling(0, 0, 2, level=level)).difference("first", "second")


@pytest.mark.parametrize("clusters", [1, 3])
def test_a_difference_of_means_is_students(clusters):
    """With equal cases in each cluster, the clusters are the cases."""
    rng = np.random.default_rng(clusters)
    first, second = rng.normal(0.2, 1, 40), rng.normal(0, 1, 40)
    expected = ttest_rel(first, second)
    found = difference(first, second)
    interval = expected.confidence_interval()
    assert found.p_value == pytest.approx(expected.pvalue)
    assert (found.lower, found.upper) == pytest.approx((interval.low, interval.high))
    assert (found.n, found.method, found.significant) == (40, "paired t", expected.pvalue < 0.05)
    wide = difference(first, second, level=0.99)
    assert (wide.lower, wide.upper) == pytest.approx(tuple(expected.confidence_interval(0.99)))


def test_a_difference_without_spread_is_certain():
    assert difference(np.full(20, 0.5), np.full(20, 0.5)).p_value == 1
    found = difference(np.linspace(0, 0.7, 20) + 0.1, np.linspace(0, 0.7, 20))
    assert (found.p_value, found.lower, found.upper) == (0, pytest.approx(0.1), pytest.approx(0.1))
    assert detectable(found) is None


def test_a_difference_of_that_size_is_found_with_80_percent_power():
    found = student_difference(0.01, 0.02, math.inf, "paired t")
    shift = detectable(found) / 0.02
    assert norm.sf(norm.ppf(0.975) - shift) == pytest.approx(0.80, abs=1e-9)
    assert detectable(found, span=0.05) is None


def test_an_unseen_failure_of_either_lengthens_the_side_that_it_moves():
    """The first may be 0.3 lower: 0.3 counts below the difference, and not above."""
    z = norm.ppf(0.975)
    field = student_difference(0.2, 0.05, math.inf, "paired t")
    first = Figure(0.9, with_unseen_failures=Figure(0.9, 0.6, 0.9 + z * 0.05))
    second = Figure(0.7, with_unseen_failures=Figure(0.7, 0.7 - z * 0.05, 0.7 + z * 0.05))
    found = with_unseen(field, first, second, (0.05, 0.05))
    assert (found.lower, found.upper, found.p_value) == (field.lower, field.upper, field.p_value)
    unseen = found.with_unseen_failures
    below = math.sqrt((z * 0.05) ** 2 + 0.3**2 - (z * 0.05) ** 2)
    assert unseen.lower == pytest.approx(0.2 - below, abs=1e-9)
    assert unseen.upper == pytest.approx(field.upper)
    assert unseen.p_value == pytest.approx(2 * norm.sf(0.2 / (below / z)))
    assert (unseen.lower > 0) == (unseen.p_value < 0.05)
    without = with_unseen(
        field, Figure(0.9, with_unseen_failures=Figure(0.9, reason="no worst")), second, (1, 1)
    )
    assert (without.with_unseen_failures.lower, without.with_unseen_failures.reason) == (None, "no worst")
    turned = found.reversed()
    assert (turned.lower, turned.with_unseen_failures.upper) == (-field.upper, -unseen.lower)


def test_margins_are_one_sided_tests_of_the_bounds():
    found = Difference(-0.01, -0.03, 0.02, degrees_of_freedom=30)
    tested, quantile = margin_test(found, 0.03), t.ppf(0.975, 30)
    # The lower bound is the margin itself: p is that of the level.
    assert tested[0] == pytest.approx(0.025)
    assert tested[1] == pytest.approx(max(0.025, t.cdf(-0.04 / (0.03 / quantile), 30)))
    assert margin_test(Difference(0.0), 0.1) is None


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        # By hand: 0.01·3, max(0.03, 0.02·2), max(0.04, 0.03·1).
        ([0.01, 0.02, 0.03], [0.03, 0.04, 0.04]),
        ([0.03, 0.01, 0.02], [0.04, 0.03, 0.04]),
        ([0.6, 0.5], [1.0, 1.0]),
        ([0.01, None, 0.02], [0.03, None, 0.04]),
        ([None], [None]),
        ([], []),
    ],
)
def test_holm(p_values, adjusted):
    assert holm(p_values) == [None if p is None else pytest.approx(p) for p in adjusted]


@pytest.mark.parametrize(
    ("teams", "different", "tiers"),
    [
        ([1, 2, 3], set(), [(1, 2, 3)]),
        ([1, 2, 3], {(1, 2), (1, 3), (2, 3)}, [(1,), (2,), (3,)]),
        # 3 is like 2, but it is the opener that counts.
        ([1, 2, 3], {(1, 3)}, [(1, 2), (3,)]),
        # 3 comes after the first that differs and cannot join again.
        ([1, 2, 3], {(1, 2)}, [(1,), (2, 3)]),
        ([], set(), []),
    ],
)
def test_tiers(teams, different, tiers):
    assert significance_tiers(teams, lambda a, b: (a, b) in different) == tuple(tiers)


@dataclass(frozen=True)
class Record:
    family: str
    difference: Difference
    p_holm: float | None = None


def test_holm_within_families_and_pairs_that_could_not_be_tested():
    # Of two: 0.01 twice, then 0.04. Of three, one not computed: 0.02 three times, then 0.03 twice, but 0.06.
    values = [("a", 0.04), ("b", 0.02), ("b", None), ("a", 0.01), ("b", 0.03)]
    tests = [Record(family, Difference(0.1, p_value=p_value)) for family, p_value in values]
    found = [test.p_holm for test in corrected(tests, lambda test: test.family)]
    assert found == [pytest.approx(0.04), pytest.approx(0.06), None, pytest.approx(0.02), pytest.approx(0.06)]
    assert corrected([], lambda test: test) == ()
    assert significance_tiers([1, 2], lambda a, b: None) is None
    # 2 opens a tier of its own, so that 1 and 3 need no test.
    answers = {(1, 2): True, (1, 3): None, (2, 3): False}
    assert significance_tiers([1, 2, 3], lambda a, b: answers[a, b]) == ((1,), (2, 3))


@pytest.mark.parametrize(("cases", "positives"), [(9, 2), (9, 6), (14, 2), (14, 7), (40, 15)])
def test_against_the_definition_and_scikit_learn(cases, positives):
    score = np.random.default_rng(cases + positives).integers(0, 5, (3, cases)).astype(float)
    positive = np.arange(cases) < positives
    # DeLong 1988, Eq. 4 and 5, as written.
    won = np.sign(score[:, :positives, None] - score[:, None, positives:]) / 2 + 0.5
    covariance = np.cov(won.mean(axis=2)) / positives + np.cov(won.mean(axis=1)) / (cases - positives)
    names = [f"C{case:02}" for case in range(cases)]
    tables = {
        team: CaseTable(
            names, [{"score": x, "label": y} for x, y in zip(of_team, positive * 1.0, strict=True)]
        )
        for team, of_team in enumerate(score.tolist())
    }
    metric = Metric("auc", "", RocArea("score", "label"), best=1, worst=0)
    compared = Compared(metric, tables, Resampling(0, 0, 2))
    for i, j in itertools.combinations(range(3), 2):
        parts, found = [components(one, positive) for one in score], compared.difference(i, j)
        areas = [one.area for one in parts]
        assert areas[i] == pytest.approx(roc_auc_score(positive, score[i]), abs=1e-12)
        expected = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
        assert found.standard_error == pytest.approx(math.sqrt(max(0, expected)), abs=1e-7)
        freedom = area_variance(parts[i].minus(parts[j])).degrees_of_freedom
        ratio = abs(areas[i] - areas[j]) / math.sqrt(max(expected, 1e-300))
        p_value = 2 * t.sf(ratio, freedom) if expected > 1e-12 else float(areas[i] == areas[j])
        assert found.p_value == pytest.approx(p_value)
