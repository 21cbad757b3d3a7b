"""Studentised intervals against a loop over resamples, and their coverage."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from evaluation.metrics.bootstrap import bootstrap_of, bootstrap_weights
from evaluation.metrics.studentised import StudentisedMeans

WHOLE = (-math.inf, math.inf)


def weights(cases: int, units: np.ndarray | None = None, resamples: int = 400):
    return bootstrap_weights(np.zeros(cases, dtype=int), units, 3, resamples)


def studentised_intervals(values, units, bounds, resamples=400):
    bootstrap = bootstrap_of(np.zeros(np.shape(values)[1], dtype=int), units, 3, resamples)
    means = StudentisedMeans(values, bootstrap.unit_of_case)
    halves = [range(resamples // 2), range(resamples // 2, resamples)]
    ratios = [means.ratios(block.of_units for block in bootstrap.unit_weights(half)) for half in halves]
    return means.intervals(np.concatenate(ratios), bounds)


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
    error = error_of(values, units)
    return [values.mean() - high * error, values.mean() - low * error]


@pytest.mark.parametrize(
    "units", [np.arange(30), np.arange(30) // 2, np.repeat(np.arange(9), [1, 2, 3, 4, 5, 6, 4, 3, 2])]
)
def test_against_a_loop(units):
    values = np.random.default_rng(1).gamma(2, size=30)
    given = None if units[-1] == 29 else units
    rows = np.concatenate(list(weights(30, given)))
    (found,) = studentised_intervals([values], given, WHOLE)
    assert [found.lower, found.upper] == pytest.approx(loop(values, units, rows), rel=1e-9)


def test_several_means_at_once_and_their_bounds():
    values = np.random.default_rng(2).uniform(0.5, 0.9, (3, 25))
    bounds = (np.array([0, 0, 0.68]), np.array([1, 0.7, 1]))
    together = studentised_intervals(values, None, bounds)
    for row, one, lowest, highest in zip(values, together, *bounds, strict=True):
        (alone,) = studentised_intervals([row], None, WHOLE)
        assert max(alone.lower, lowest) == pytest.approx(one.lower)
        assert min(alone.upper, highest) == pytest.approx(one.upper)
    assert together[1].upper == 0.7
    assert together[2].lower == 0.68


def test_values_that_are_all_equal_have_an_interval_of_no_width():
    (found,) = studentised_intervals(np.full((1, 12), 0.3), None, WHOLE)
    assert (found.lower, found.upper) == pytest.approx((0.3, 0.3), abs=1e-12)


def test_resamples_without_spread_leave_the_interval_finite():
    # One failure among forty: 36 % of the resamples lack it.
    values = np.ones((1, 40))
    values[0, 7] = 0.0
    (found,) = studentised_intervals(values, None, (0.0, 1.0), 1000)
    assert 0.85 < found.lower < 0.975 < found.upper <= 1


def test_scale_and_shift():
    values = np.random.default_rng(5).normal(size=(1, 20))
    (plain,) = studentised_intervals(values, None, WHOLE)
    (moved,) = studentised_intervals(1e6 + 8 * values, None, WHOLE)
    assert (moved.lower - 1e6) / 8 == pytest.approx(plain.lower, abs=1e-7)
    assert (moved.upper - 1e6) / 8 == pytest.approx(plain.upper, abs=1e-7)


def test_coverage_of_a_skewed_mean():
    # Log-normal distances of forty cases: the percentile bootstrap covers 88 %, the studentised one 93 %.
    rng = np.random.default_rng(6)
    sets = np.exp(rng.normal(size=(1500, 40)))
    found = studentised_intervals(sets, None, (0.0, math.inf), 1000)
    true = math.exp(0.5)
    covered = np.mean([interval.lower <= true <= interval.upper for interval in found])
    assert covered == pytest.approx(0.93, abs=0.02)
    assert covered > 0.91
    assert norm.cdf(1.96) > covered  # it is still no exact interval
