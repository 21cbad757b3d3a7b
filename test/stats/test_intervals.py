import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import binomtest, bootstrap, norm, quantile_test, sem, t
from sklearn.metrics import roc_auc_score

from evaluation.metrics.intervals import area_of, auc_sample_size, class_sizes, wilson_of, wilson_sample_size
from evaluation.stats.areas import area_interval, area_variance, area_with_unseen, components, score_interval
from evaluation.stats.figure import Interval
from evaluation.stats.intervals import (
    bca_interval,
    fisher_interval,
    percentile_interval,
    quantile_interval,
    standard_error,
    steady,
    wilson_interval,
)
from evaluation.stats.student import student_quantile


def test_percentile_interval():
    # 0 … 1000: the quantiles of linear interpolation are the ranks themselves.
    interval = percentile_interval(np.random.default_rng(0).permutation(1001))
    assert interval.lower == pytest.approx(25)
    assert interval.upper == pytest.approx(975)
    assert interval.half_width == pytest.approx(475)
    assert percentile_interval([3, 1, 2], level=0.5) == Interval(1.5, 2.5)
    assert percentile_interval([4]) == Interval(4, 4)


def deviations(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.size


def test_a_symmetric_mean_has_students_interval():
    half = np.random.default_rng(1).normal(size=12)
    values = np.concatenate([3 + half, 3 - half])
    found = bca_interval(3.0, deviations(values))
    expected = t.interval(0.95, 23, 3.0, values.std(ddof=1) / math.sqrt(24))
    assert (found.lower, found.upper) == pytest.approx(expected)
    assert standard_error(deviations(values)) == pytest.approx(values.std(ddof=1) / math.sqrt(24))
    narrow = bca_interval(3.0, deviations(values), 0.5)
    assert found.lower < narrow.lower < narrow.upper < found.upper


@pytest.mark.parametrize("seed", range(3))
def test_a_skewed_mean_ends_at_the_bca_bootstrap_and_halfway_to_it_on_its_shorter_tail(seed):
    """SciPy draws its resamples, and reads them at quantiles of the normal law."""
    values = np.random.default_rng(seed).exponential(size=150)
    drawn = bootstrap(
        (values,), np.mean, n_resamples=20_000, rng=np.random.default_rng(7)
    ).confidence_interval
    found = bca_interval(values.mean(), deviations(values))
    width, by_student = drawn.high - drawn.low, t.interval(0.95, 149, values.mean(), sem(values))
    halfway = (drawn.low + by_student[0]) / 2
    assert (found.lower, found.upper) == pytest.approx((halfway, drawn.high), abs=0.035 * width)
    assert found.upper - values.mean() > 1.1 * (values.mean() - found.lower)
    # Reversed values have the reversed interval.
    mirrored = bca_interval(-values.mean(), -deviations(values))
    assert (mirrored.lower, mirrored.upper) == pytest.approx((-found.upper, -found.lower))


def test_without_spread_an_interval_is_its_value():
    assert bca_interval(0.5, np.zeros(20)) == Interval(0.5, 0.5)


def test_a_correlation_is_bounded_on_fishers_scale():
    of_cases = deviations(np.array([1.0, -1.0] * 20)) * 0.2
    found = fisher_interval(0.95, of_cases)
    half = t.ppf(0.975, 39) * standard_error(of_cases) / (1 - 0.95**2)
    assert (found.lower, found.upper) == pytest.approx(
        tuple(np.tanh(np.arctanh(0.95) + np.array([-half, half])))
    )


@pytest.mark.parametrize(("cases", "share"), [(12, 0.1), (40, 0.5), (41, 0.25), (300, 0.9)])
def test_quantiles_are_between_order_statistics_that_hold_for_any_distribution(cases, share):
    values = np.random.default_rng(cases).normal(size=cases).round(2)
    ends = (-9.0, 9.0)
    found = quantile_interval(values, np.arange(cases), share, ends)
    expected = quantile_test(values, q=0, p=share).confidence_interval(0.95)
    low, high = (end if np.isfinite(end) else limit for end, limit in zip(expected, ends, strict=True))
    assert (found.lower, found.upper) == (low, high)


def test_repeated_cases_of_a_person_tell_no_more_of_a_quantile():
    values = np.random.default_rng(3).normal(size=60)
    alone = quantile_interval(values, np.arange(60), 0.5, (-9, 9))
    three = quantile_interval(np.repeat(values, 3), np.repeat(np.arange(60), 3), 0.5, (-9, 9))
    assert three.lower == pytest.approx(alone.lower, abs=0.2)
    assert three.upper == pytest.approx(alone.upper, abs=0.2)
    as_if = quantile_interval(np.repeat(values, 3), np.arange(180), 0.5, (-9, 9))
    assert three.half_width > 1.4 * as_if.half_width


def test_few_persons_count_as_so_many_less_one_and_less_for_their_t():
    """15 persons with three equal cases each: 14 · (t₄₄ / t₁₄)² = 12.36 independent cases.

    P(B(12, ½) < 3) = 0.019 and P(B(12, ½) < 4) = 0.073: the bound is the third lowest of 12, case 10 of 45.
    """
    found = quantile_interval(np.repeat(np.arange(15.0), 3), np.repeat(np.arange(15), 3), 0.5, (-9, 99))
    assert found == Interval(3.0, 11.0)


def test_ends_that_depend_on_a_seed_have_two_digits_of_their_half_width():
    assert steady(Interval(0.8137, 0.9412), 0.9) == Interval(pytest.approx(0.813), pytest.approx(0.942))
    assert steady(Interval(0.31, 1.0), 1.0, (0, 1)) == Interval(pytest.approx(0.31), 1.0)
    assert steady(Interval(0.5, 0.5), 0.5) == Interval(0.5, 0.5)


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_wilson_agrees_with_scipy(level):
    for successes, total in ((34, 40), (0, 10), (10, 10), (0, 1), (1, 1), (1, 3), (385, 400)):
        expected = binomtest(successes, total).proportion_ci(level, method="wilson")
        for found in (wilson_interval(successes, total, level), wilson_of(successes / total, total, level)):
            assert (found.lower, found.upper) == pytest.approx((expected.low, expected.high), abs=1e-12)
            assert 0 <= found.lower <= successes / total <= found.upper <= 1


@settings(max_examples=40)
@given(st.floats(0.6, 0.999), st.floats(1, 2e6) | st.integers(1, 60))
def test_quantiles_are_scipys(probability, degrees_of_freedom):
    found = student_quantile(probability, degrees_of_freedom)
    assert found == pytest.approx(t.ppf(probability, degrees_of_freedom), rel=4e-6)


def test_the_normal_quantile():
    assert student_quantile(0.975, math.inf) == pytest.approx(norm.ppf(0.975))


@pytest.mark.parametrize("score", [1.0, -1.0])
def test_a_certain_area_has_its_level(score):
    """The wider level has the wider interval, where the score interval decides as elsewhere."""
    positive = np.arange(400) < 200
    narrow, wide = (area_interval(components(score * positive, positive), level) for level in (0.5, 0.99))
    spread = score_interval(float(score > 0), 200, 200, 0.99)
    assert (wide.lower, wide.upper) == (spread.lower, spread.upper)
    assert wide.upper - wide.lower > narrow.upper - narrow.lower


def test_two_positives_that_alone_differ_have_one_degree_of_freedom():
    """Both negatives are alike, so that all of the variance is that of two placements."""
    found = area_variance(components(np.array([0.9, 0.1, 0.5, 0.5]), np.array([True, True, False, False])))
    assert (found.variance, found.degrees_of_freedom) == (pytest.approx(0.25), pytest.approx(1))


def test_delongs_error_on_the_logit_scale():
    rng = np.random.default_rng(3)
    positive = np.arange(60) < 20
    parts = components(rng.normal(size=60) + 1.5 * positive, positive)
    area, variance = float(parts.area), area_variance(parts)
    half = t.ppf(0.975, variance.degrees_of_freedom) * math.sqrt(variance.variance) / (area * (1 - area))
    found = area_interval(parts)
    assert (found.lower, found.upper) == pytest.approx(expit([logit(area) - half, logit(area) + half]))


@pytest.mark.parametrize(("positives", "negatives"), [(12, 28), (40, 360)])
def test_a_perfect_area_has_a_bound(positives, negatives):
    positive = np.arange(positives + negatives) < positives
    found = area_interval(components(positive.astype(float), positive))
    assert found.upper == 1
    assert 0.8 < found.lower < 1
    worst = area_interval(components(-positive.astype(float), positive))
    assert (worst.lower, worst.upper) == pytest.approx((0, 1 - found.lower))
    # A likelihood that is always the same tells nothing, and has no variance either.
    constant = area_interval(components(np.zeros(positive.size), positive))
    assert constant.lower < 0.45
    assert constant.upper > 0.55


def test_an_area_reaches_to_that_with_two_units_that_no_case_shows():
    """One pair of 30 · 70 in the wrong order has little variance; two more positives below lose 2 / 32."""
    positive = np.arange(100) < 30
    score = np.where(positive, 10.0 + np.arange(100), 0.0)
    score[99] = 10.5
    area = 1 - 1 / (30 * 70)
    found, reversed_found = (area_with_unseen(components(side * score, positive)) for side in (1, -1))
    assert area_interval(components(score, positive)).lower > found.lower
    assert found.lower == pytest.approx(area * 30 / 32)
    assert (reversed_found.lower, reversed_found.upper) == pytest.approx((1 - found.upper, 1 - found.lower))


def test_clusters_give_a_perfect_area_a_lower_bound():
    positive = np.arange(40) < 12
    alone = area_interval(components(positive.astype(float), positive))
    pairs = area_interval(components(positive.astype(float), positive, np.arange(40) // 2))
    assert pairs.lower < alone.lower


@settings(max_examples=25)
@given(st.fractions(0, 1), st.integers(2, 50), st.integers(2, 50))
def test_limits_are_where_the_area_is_just_not_rejected(share, positives, negatives):
    pairs = positives * negatives
    area = round(2 * pairs * share) / (2 * pairs)  # a pair is won, lost or tied
    found = score_interval(area, positives, negatives)
    assert 0 <= found.lower <= area <= found.upper <= 1
    for theta in (found.lower, found.upper):
        if 0 < theta < 1:
            mean = (positives + negatives) / 2
            shared = (1 - theta) / (2 - theta) + theta / (1 + theta)
            variance = theta * (1 - theta) * (1 + (mean - 1) * shared) / (positives * negatives)
            assert abs(area - theta) == pytest.approx(norm.ppf(0.975) * math.sqrt(variance), rel=1e-6)
    other = score_interval(1 - area, positives, negatives)
    assert (other.lower, other.upper) == pytest.approx((1 - found.upper, 1 - found.lower), abs=1e-9)


def test_one_case_fewer_has_a_wider_interval():
    for proportion, half_width in itertools.product((0, 0.03, 0.5, 0.95, 1), (0.005, 0.02, 0.13, 0.39)):
        for level in (0.9, 0.95):
            cases = wilson_sample_size(proportion, half_width, level)
            assert wilson_of(proportion, cases, level).half_width <= half_width
            assert cases == 1 or wilson_of(proportion, cases - 1, level).half_width > half_width


def test_the_test_set_of_justraigs():
    # 9,741 eyes of which 16 % are referable; the design document's 2 % and 0.5 % are half-widths.
    assert class_sizes(9741, Fraction("0.16")) == (1559, 8182)
    assert [round(wilson_of(*one).half_width, 4) for one in ((0.8, 1559), (0.95, 8182))] == [0.0198, 0.0047]


@pytest.mark.parametrize(
    ("area", "prevalence", "half_width"),
    [(0.6, 0.05, 0.09), (0.6, 0.5, 0.02), (0.8, 0.7, 0.09), (0.8, 0.16, 0.02), (0.95, 0.5, 0.09)],
)
def test_the_fewest_cases_of_an_area(area, prevalence, half_width):
    cases = auc_sample_size(area, half_width, prevalence)

    def half_width_of(count):
        positives = math.floor(count * prevalence + 0.5)
        return score_interval(area, positives, count - positives).half_width

    assert half_width_of(cases) <= half_width < half_width_of(cases - 1)


def test_an_area_from_one_case_of_a_class_has_an_interval():
    assert area_of(0.8, 1, 50) == score_interval(0.8, 1, 50)
    assert area_of(0.8, 50, 1, 0.9) == score_interval(0.8, 50, 1, 0.9)
    for nothing_known in (area_of(0.8, 0, 50), area_of(0.8, 50, 0)):
        assert (nothing_known.lower, nothing_known.upper) == (0, 1)
    wide, narrow = area_of(0.8, 20, 50, 0.99), area_of(0.8, 20, 50, 0.5)
    assert wide.lower < narrow.lower < narrow.upper < wide.upper
    assert auc_sample_size(0.8, 0.1, 0.5, level=0.5) < auc_sample_size(0.8, 0.1, 0.5, level=0.99)


def placements(score: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """DeLong 1988, Eq. 4 and 5, as written."""
    won = np.array(
        [[1.0 if x > y else 0.5 if x == y else 0.0 for y in score[~positive]] for x in score[positive]]
    )
    return won.mean(axis=1), won.mean(axis=0)


def by_clusters(score: np.ndarray, positive: np.ndarray, units: np.ndarray) -> float:
    """Obuchowski 1997, as written: sums over clusters, one by one."""
    v10, v01 = placements(score, positive)
    area, m, n = v10.mean(), len(v10), len(v01)
    s10 = s01 = s11 = 0.0
    for unit in np.unique(units):
        of_positives = v10[units[positive] == unit]
        of_negatives = v01[units[~positive] == unit]
        first = of_positives.sum() - len(of_positives) * area
        second = of_negatives.sum() - len(of_negatives) * area
        s10, s01, s11 = s10 + first**2, s01 + second**2, s11 + first * second
    with_positive, with_negative = np.unique(units[positive]).size, np.unique(units[~positive]).size
    both = np.unique(units).size
    s10 *= with_positive / ((with_positive - 1) * m)
    s01 *= with_negative / ((with_negative - 1) * n)
    s11 *= both / (both - 1)
    return s10 / m + s01 / n + 2 * s11 / (m * n)


@settings(max_examples=25)
@given(
    score=st.lists(st.integers(0, 5), min_size=10, max_size=16),
    positives=st.integers(3, 6),
    size=st.sampled_from([1, 2, 3]),
    data=st.data(),
)
def test_against_the_definitions(score, positives, size, data):
    scores = np.array(score, dtype=float)
    positive = np.array(data.draw(st.permutations(np.arange(scores.size) < positives)))
    units = np.arange(scores.size) // size
    if min(np.unique(units[chosen]).size for chosen in (positive, ~positive)) < 2:
        return
    parts = components(scores, positive, units)
    assert float(parts.area) == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)
    expected = by_clusters(scores, positive, units)
    assert area_variance(parts).variance == pytest.approx(max(0.0, expected), abs=1e-12)
    if size == 1:
        v10, v01 = placements(scores, positive)
        delong = v10.var(ddof=1) / v10.size + v01.var(ddof=1) / v01.size
        assert area_variance(parts).variance == pytest.approx(delong, abs=1e-12)
        assert components(scores, positive).won.tolist() == parts.won.tolist()


def test_degrees_of_freedom_by_hand():
    # Positives place 1, 1, ½ and negatives ½ + ½/… : one of 3 × 3 pairs is tied and one is lost.
    parts = components([4, 3, 1, 2, 1, 0], np.arange(6) < 3)
    v10, v01 = np.array([1, 1, 0.5]), np.array([2 / 3, 2.5 / 3, 1])
    first, second = v10.var(ddof=1) / 3, v01.var(ddof=1) / 3
    found = area_variance(parts)
    assert found.variance == pytest.approx(first + second)
    assert found.degrees_of_freedom == pytest.approx((first + second) ** 2 / (first**2 / 2 + second**2 / 2))


def test_several_classifiers_and_their_difference():
    rng = np.random.default_rng(2)
    positive = np.arange(40) < 15
    score = rng.normal(size=(2, 40)) + positive
    first, second = (components(row, positive) for row in score)
    assert [first.area, second.area] == pytest.approx([roc_auc_score(positive, row) for row in score])
    difference = first.minus(second)
    v10, v01 = zip(*(placements(row, positive) for row in score), strict=True)
    expected = (v10[0] - v10[1]).var(ddof=1) / 15 + (v01[0] - v01[1]).var(ddof=1) / 25
    assert area_variance(difference).variance == pytest.approx(expected)
    assert area_variance(first.minus(first)).variance == 0
