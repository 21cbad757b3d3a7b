import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import binomtest, norm, sem, t

from evaluation.metrics.bootstrap import bootstrap_of, bootstrap_weights
from evaluation.metrics.intervals import (
    Interval,
    StudentisedMeans,
    Unseen,
    area_interval,
    area_variance,
    components,
    percentile_interval,
    score_interval,
    student_quantile,
    wilson_interval,
    with_unseen_case,
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
        ([math.nan], 0.95, "expected numbers, found none"),
        ([], 0.95, "expected numbers, found none"),
        ([1, 2], 95, "level: expected a number between 0 and 1, found 95"),
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
    with pytest.raises(ValueError, match="expected 0 ≤ successes ≤ total > 0, found"):
        wilson_interval(successes, total)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.6, 0.999), st.floats(1, 2e6) | st.integers(1, 60))
def test_quantiles_are_scipys(probability, degrees_of_freedom):
    found = student_quantile(probability, degrees_of_freedom)
    assert found == pytest.approx(t.ppf(probability, degrees_of_freedom), rel=4e-6)


def test_the_normal_quantile():
    assert student_quantile(0.975, math.inf) == pytest.approx(norm.ppf(0.975))


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
    with pytest.raises(ValueError, match=r"area: expected a number between 0 and 1, found 1\.1"):
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


def weights(cases: int, units: np.ndarray | None = None, resamples: int = 400):
    return bootstrap_weights(np.zeros(cases, dtype=int), units, 3, resamples)


def studentised_intervals(values, units, worst=math.inf, resamples=400):
    bootstrap = bootstrap_of(np.zeros(np.shape(values)[1], dtype=int), units, 3, resamples)
    means = StudentisedMeans(values, bootstrap.unit_of_case)
    halves = [range(resamples // 2), range(resamples // 2, resamples)]
    ratios = [means.ratios(block.of_units for block in bootstrap.unit_weights(half)) for half in halves]
    unseen = [Unseen(value) for value in np.broadcast_to(worst, len(values))]
    return means.intervals(np.concatenate(ratios), unseen)


def error_of(values: np.ndarray, units: np.ndarray) -> float:
    """Standard error of a mean over clusters: residuals summed by cluster."""
    residual = values - values.mean()
    sums = np.array([residual[units == unit].sum() for unit in np.unique(units)])
    return math.sqrt(sums.size / (sums.size - 1) * (sums**2).sum()) / values.size


def loop(values: np.ndarray, units: np.ndarray, rows: np.ndarray) -> list[float]:
    """Efron and Tibshirani 1993, Eq. 12.20–12.22: draw clusters one by one, each with a name of its own."""
    ratios = []
    for row in rows.astype(int):
        drawn, names = [], []
        for unit in np.unique(units):
            for copy in range(row[units == unit][0]):
                drawn.append(values[units == unit])
                names.append(np.full(drawn[-1].size, unit * 1000 + copy))
        sample = np.concatenate(drawn)
        ratios.append((sample.mean() - values.mean()) / error_of(sample, np.concatenate(names)))
    high, low = np.quantile(ratios, (0.975, 0.025))
    error, student = error_of(values, units), t.ppf(0.975, np.unique(units).size - 1)
    return [values.mean() - max(high, student) * error, values.mean() - min(low, -student) * error]


@pytest.mark.parametrize(
    "units", [np.arange(30), np.arange(30) // 2, np.repeat(np.arange(9), [1, 2, 3, 4, 5, 6, 4, 3, 2])]
)
def test_against_a_loop(units):
    values = np.random.default_rng(1).gamma(2, size=30)
    given = None if units[-1] == 29 else units
    rows = np.concatenate(list(weights(30, given)))
    (found,) = studentised_intervals([values], given)
    assert [found.lower, found.upper] == pytest.approx(loop(values, units, rows), rel=1e-9)


def test_several_means_at_once():
    values = np.random.default_rng(2).uniform(0.5, 0.9, (3, 25))
    together = studentised_intervals(values, None, np.array([0.0, np.inf, 1.0]))
    for row, one, worst in zip(values, together, (0.0, np.inf, 1.0), strict=True):
        (alone,) = studentised_intervals([row], None, worst)
        assert (alone.lower, alone.upper) == pytest.approx((one.lower, one.upper))


def test_half_a_failure_among_forty_values_of_one():
    # The mean of 40 ones and half a 0 is 40 / 40.5, the sum of squares about it 40 · 0.5 / 40.5.
    found = with_unseen_case(Interval(1, 1), 1.0, 0.0, 40, Unseen(0.0, 0.5))
    error = math.sqrt(20 / 40.5 / 39.5 / 40.5)
    assert found == Interval(pytest.approx(40 / 40.5 - t.ppf(0.975, 39.5) * error), 1)


@pytest.mark.parametrize(("worst", "side"), [(0.0, "lower"), (3.0, "upper")])
def test_one_more_case_with_the_worst_value_moves_the_bound_on_its_side(worst, side):
    values = np.random.default_rng(3).normal(1.5, 0.1, 30)
    (plain,), (found,) = (studentised_intervals([values], None, one) for one in (math.inf, worst))
    low, high = t.interval(0.95, 30, np.append(values, worst).mean(), sem(np.append(values, worst)))
    other = "upper" if side == "lower" else "lower"
    assert getattr(found, side) == pytest.approx(low if side == "lower" else high)
    assert getattr(found, other) == getattr(plain, other)


def test_values_that_are_all_equal_have_an_interval_of_no_width():
    (found,) = studentised_intervals(np.full((1, 12), 0.3), None)
    assert (found.lower, found.upper) == pytest.approx((0.3, 0.3), abs=1e-12)


def test_resamples_without_spread_leave_the_interval_finite():
    # One failure among forty: 36 % of the resamples lack it.
    values = np.ones((1, 40))
    values[0, 7] = 0.0
    (found,) = studentised_intervals(values, None, math.inf, 1000)
    assert 0.8 < found.lower < 0.975 < found.upper < 1.1


@pytest.mark.parametrize("mirrored", [False, True])
def test_resamples_with_almost_no_spread_do_not_span_the_range(mirrored):
    # One failure among twelve: a third of the resamples lack it. Their means differ from the sample's by at
    # most 0.871 − 0.788 = 0.083, and their errors are at least a third of the sample's.
    values = np.append(0.86 + 0.001 * np.arange(11), 0.0)
    (found,) = studentised_intervals([1 - values if mirrored else values], None)
    near, far = (1 - found.upper, 1 - found.lower) if mirrored else (found.lower, found.upper)
    assert values.mean() - 3 * (values[:11].max() - values.mean()) < near < values.mean() - 2.2 * sem(values)
    assert far > values.mean() + 2.2 * sem(values)


def test_scale_and_shift():
    values = np.random.default_rng(5).normal(size=(1, 20))
    (plain,) = studentised_intervals(values, None)
    (moved,) = studentised_intervals(1e6 + 8 * values, None)
    assert (moved.lower - 1e6) / 8 == pytest.approx(plain.lower, abs=1e-7)
    assert (moved.upper - 1e6) / 8 == pytest.approx(plain.upper, abs=1e-7)


def test_coverage_of_a_skewed_mean():
    # Log-normal distances of forty cases: the percentile bootstrap covers 88 %, this one 94 %.
    rng = np.random.default_rng(6)
    sets = np.exp(rng.normal(size=(1500, 40)))
    found = studentised_intervals(sets, None, math.inf, 1000)
    true = math.exp(0.5)
    covered = np.mean([interval.lower <= true <= interval.upper for interval in found])
    assert covered == pytest.approx(0.94, abs=0.02)
    assert covered > 0.91
