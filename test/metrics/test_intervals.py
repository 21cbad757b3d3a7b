import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import binomtest, norm, t

from evaluation.metrics.intervals import (
    Interval,
    area_interval,
    area_variance,
    components,
    percentile_interval,
    score_interval,
    student_quantile,
    wilson_interval,
)


def test_percentile_interval():
    # 0 … 1000: the quantiles of linear interpolation are the ranks themselves.
    interval = percentile_interval(np.random.default_rng(0).permutation(1001))
    assert interval.lower == pytest.approx(25)
    assert interval.upper == pytest.approx(975)
    assert interval.half_width == pytest.approx(475)
    assert percentile_interval([3, 1, 2], level=0.5) == Interval(1.5, 2.5)
    assert percentile_interval([4]) == Interval(4, 4)


@pytest.mark.parametrize(
    ("values", "level", "message"),
    [
        ([math.nan], 0.95, "^values:"),
        ([], 0.95, "^values:"),
        ([1, 2], 95, "^level:"),
    ],
)
def test_refused_percentile_input(values, level, message):
    with pytest.raises(ValueError, match=message):
        percentile_interval(values, level)


# JustRAIGS: expected half-widths of its metrics, in per cent.
@pytest.mark.parametrize(("proportion", "total", "half_width"), [(0.8, 1559, 1.98), (0.95, 8182, 0.47)])
def test_published_wilson_half_widths(proportion, total, half_width):
    assert round(100 * wilson_interval(proportion * total, total).half_width, 2) == half_width


@pytest.mark.parametrize(
    ("successes", "total"),
    [(34, 40), (328, 360), (0, 10), (10, 10), (0, 1), (1, 1), (1, 3), (385, 400), (0, 7)],
)
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_wilson_agrees_with_scipy(successes, total, level):
    expected = binomtest(successes, total).proportion_ci(level, method="wilson")
    found = wilson_interval(successes, total, level)
    assert found.lower == pytest.approx(expected.low, abs=1e-12)
    assert found.upper == pytest.approx(expected.high, abs=1e-12)
    assert 0 <= found.lower <= successes / total <= found.upper <= 1


@pytest.mark.parametrize(("successes", "total"), [(0, 0), (5, 4), (-1, 4), (float("nan"), 4)])
def test_refused_proportions(successes, total):
    with pytest.raises(ValueError, match=r"^successes of total:"):
        wilson_interval(successes, total)


@settings(max_examples=60, deadline=None)
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
    found, reversed_found = (area_interval(components(side * score, positive)) for side in (1, -1))
    assert found.lower == pytest.approx(area * 30 / 32)
    assert (reversed_found.lower, reversed_found.upper) == pytest.approx((1 - found.upper, 1 - found.lower))


def test_clusters_give_a_perfect_area_a_lower_bound():
    positive = np.arange(40) < 12
    alone = area_interval(components(positive.astype(float), positive))
    pairs = area_interval(components(positive.astype(float), positive, np.arange(40) // 2))
    assert pairs.lower < alone.lower


@settings(max_examples=30, deadline=None)
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


def test_an_area_outside_its_range():
    with pytest.raises(ValueError, match=r"^area:"):
        score_interval(1.1, 10, 10)


@pytest.mark.parametrize("true", [0.8, 0.95])
def test_coverage_at_forty_cases(true):
    # 1,000 sets: a coverage of 95 % is measured to ± 1.4 points. The percentile bootstrap reaches 86 to 91 %.
    rng = np.random.default_rng(4)
    positive = np.arange(40) < 12
    scores = rng.normal(size=(1000, 40)) + math.sqrt(2) * norm.ppf(true) * positive
    parts = components(scores, positive)
    found = [area_interval(parts.of(row)) for row in range(1000)]
    covered = np.mean([interval.lower <= true <= interval.upper for interval in found])
    assert 0.935 <= covered <= 0.99
