"""Intervals that count what a sample may lack: exact shares, means and other figures of sums, differences."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from evaluation.core.case_table import CaseTable
from evaluation.core.estimator import (
    Mean,
    RatioOfSums,
    Share,
)
from evaluation.core.intervals import intervals
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.stats.unseen import (
    FigureOfSums,
    joint_distance,
    share_interval,
    size_of_unseen,
    unseen_interval,
)


def interval_of(estimator, columns, worst=0.0, best=1.0, units=None):
    names = [f"C{case}" for case in range(len(next(iter(columns.values()))))]
    rows = [dict(zip(columns, map(float, row), strict=True)) for row in zip(*columns.values(), strict=True)]
    clusters = None if units is None else {name: f"P{of}" for name, of in zip(names, units, strict=True)}
    metric, table = Metric("m", "", estimator, best, worst), CaseTable(names, rows)
    (found,) = intervals({"t.m": metric}, [table], Resampling(7, 2, 2, clusters=clusters)).found["t.m"]
    return found.with_unseen_failures, metric.estimator.value(table)


def bounds_of(values, level=0.95):
    """Return the bounds of a mean of values from 0 to 1, without the interval of the field."""
    table = CaseTable([f"C{case}" for case in range(values.size)], [{"x": one} for one in values.tolist()])
    return unseen_interval(Mean("x").of_sums(table, 0.0, 1.0), np.arange(values.size), 7, level=level)


@pytest.mark.parametrize("total", [1, 2, 40, 9741])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_shares_are_exact(total, level):
    for successes in {0, 1, total // 3, total - 1, total}:
        found = share_interval(successes, total, level)
        expected = binomtest(successes, total).proportion_ci(level, "exact")
        assert (found.lower, found.upper) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_a_ratio_of_nothing_may_be_any():
    """Such as the overlap of a class that no case has, neither in the reference nor in the prediction."""
    found, value = interval_of(RatioOfSums("a", "b", of_nothing=1.0), {"a": np.zeros(3), "b": np.zeros(3)})
    assert (value, found.lower, found.upper) == (1, 0, 1)


@pytest.mark.parametrize("failures", [0, 5, 12, 40])
def test_a_mean_of_zeros_and_ones_has_the_exact_interval(failures):
    values = (np.arange(40) >= failures) * 1.0
    found = bounds_of(values)
    exact, _ = interval_of(Share("x"), {"x": values})
    assert (found.lower, found.upper) == pytest.approx((exact.lower, exact.upper), abs=0.0015)


@pytest.mark.parametrize("size", [1, 4])
def test_equal_values_lack_a_share_of_failures_that_follows_from_the_units(size):
    """Of n + 1 exponential weights the last has more than a share s with probability (1 − s)ⁿ."""
    units = np.arange(40) // size
    share = 1 - 0.025 ** (size / 40)
    found, _ = interval_of(Mean("x"), {"x": np.full(40, 0.9)}, units=units)
    assert found.lower == pytest.approx(0.9 * (1 - share), abs=0.0006 * size)
    assert found.upper == pytest.approx(0.9 + 0.1 * share, abs=0.0005 * size)


def test_without_a_worst_value_nothing_bounds_a_failure():
    found, value = interval_of(Mean("x"), {"x": np.arange(300) % 7 + 1.0}, math.inf, 0.0)
    assert (found.value, found.lower, found.reason) == (
        value,
        None,
        "no largest value that a failure could have",
    )


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("failures", [0, 3])
def test_bounds_of_a_mean_are_quantiles_under_random_weights(failures, level):
    rng = np.random.default_rng(failures)
    values = rng.beta(9, 1, 30)
    values[:failures] = 0
    weights = rng.standard_exponential((200_000, 31))
    total = weights.sum(axis=1)
    found = bounds_of(values, level)
    lower, upper = ((weights @ np.append(values, end)) / total for end in (0, 1))
    assert found.lower == pytest.approx(np.quantile(lower, (1 - level) / 2), abs=0.001)
    assert found.upper == pytest.approx(np.quantile(upper, (1 + level) / 2), abs=0.001)


def test_figures_that_are_no_ratio_are_drawn():
    """The square of a mean, told as such and as a ratio: by 4,000 draws and by the saddle point."""
    columns = np.stack([np.random.default_rng(1).random(25), np.ones(25)])
    ends = np.array([[0.0, 1.0]]), np.array([[1.0, 1.0]])

    def square(sums):
        return (sums[..., 0] / sums[..., 1]) ** 2

    drawn, exact = (
        unseen_interval(FigureOfSums(columns, square, *ends, of_ratio=of_ratio), np.arange(25), 3)
        for of_ratio in (False, True)
    )
    assert (drawn.lower, drawn.upper) == pytest.approx((exact.lower, exact.upper), abs=0.01)


@pytest.mark.parametrize("size", [1, 3])
def test_influences_are_derivatives_by_the_share_of_a_case(size):
    figure = FigureOfSums(
        np.stack([np.arange(9.0), np.full(9, float(size))]),
        lambda sums: np.sqrt(sums[..., 0] / sums[..., 1]),
        np.zeros((1, 2)),
        np.zeros((1, 2)),
    )
    step = 1e-6
    slopes = [
        (figure.figure(figure.columns.sum(axis=1) + step * case) - figure.value) / step
        for case in figure.columns.T
    ]
    assert figure.influence() == pytest.approx(slopes, abs=1e-5)


def test_the_person_that_a_sample_lacks_has_the_size_of_the_large_ones():
    """Of 60 persons 12 have ten images: one who is missed has (12 · 100 + 48) / 168 of them, not 2.8."""
    sizes = np.array([10] * 12 + [1] * 48)
    persons = np.repeat(np.arange(60), sizes)
    assert size_of_unseen(persons) == pytest.approx(1248 / 168)
    found, _ = interval_of(Mean("x"), {"x": np.full(168, 0.9)}, units=persons)
    rng = np.random.default_rng(1)
    weights = rng.standard_exponential((20_000, 61)) * np.append(sizes, 1248 / 168)
    expected = np.quantile(0.9 * weights[:, :-1].sum(axis=1) / weights.sum(axis=1), 0.025)
    assert found.lower == pytest.approx(expected, abs=0.003)


# --- Differences ---


def test_what_intervals_reach_beyond_the_spread_adds_up_and_the_spread_keeps_its_correlation():
    # Errors of 0.1 and 0.1, correlated by 0.5: the difference has the error 0.1.
    z = 1.959963984540054
    assert joint_distance(0.1, [0.1 * z, 0.1 * z], [0.1, 0.1]) == pytest.approx(0.1 * z)
    longer = math.hypot(0.1 * z, 0.3)
    assert joint_distance(0.1, [longer, 0.1 * z], [0.1, 0.1]) == pytest.approx(math.hypot(0.1 * z, 0.3))
    # Intervals shorter than the spread do not shorten it.
    assert joint_distance(0.1, [0.0, 0.0], [0.1, 0.1]) == pytest.approx(0.1 * z)


def test_each_row_of_distances_is_added_by_itself():
    distances, errors = np.array([[0.3, 0.2], [0.5, 0.1]]), np.array([[0.1, 0.05], [0.2, 0.05]])
    alone = [joint_distance(0.1, *row) for row in zip(distances, errors, strict=True)]
    np.testing.assert_allclose(joint_distance(0.1, distances, errors), alone)


def test_independent_distances_add_as_squares():
    """Newcombe 1998, Stat. Med. 17:873, method 10, for 56 of 70 and 48 of 80: 0.0524 to 0.3339."""
    first, second = (binomtest(*counts).proportion_ci(method="wilson") for counts in ((56, 70), (48, 80)))
    down = joint_distance(0.0, [0.8 - first.low, second.high - 0.6], [0.0, 0.0])
    up = joint_distance(0.0, [first.high - 0.8, 0.6 - second.low], [0.0, 0.0])
    assert (0.2 - down, 0.2 + up) == pytest.approx((0.0524, 0.3339), abs=5e-5)
