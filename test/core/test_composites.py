"""Intervals of composites: against means of one column, and against the distances of their parts."""

import numpy as np
import pytest

from evaluation.core.aggregation import composite_estimates, estimates
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Composite, Task
from evaluation.core.estimator import Mean
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling

CASES = 400


def task(name, *columns):
    metrics = (Metric(column, column, Mean(column), best=1, worst=0) for column in columns)
    return Task(name, name, (), lambda predicted, true: {}, tuple(metrics))


def table(prefix="V", **columns):
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return CaseTable([f"{prefix}{number:03}" for number in range(len(rows))], rows)


def found(tasks, tables, combine, metrics, resampling=Resampling(3, 1000, 10)):  # noqa: B008 - it is frozen
    """Return the estimates of all metrics, and that of one composite of some of them."""
    of_metrics = estimates(tasks, tables, resampling, False)
    composite = Composite("final", "Final", metrics, combine, 1, 0)
    made = composite_estimates([composite], tasks, tables, of_metrics, resampling)
    return of_metrics, made["final"]


def draws(number, cases=CASES):
    return np.random.default_rng(9).beta(8, 2, (number, cases))


def half_widths(estimate):
    return [one.half_width for one in (estimate.confidence_interval, estimate.with_unseen_failures)]


@pytest.mark.parametrize("shared", [0.0, 0.5, 1.0])
def test_a_mean_of_two_metrics_has_the_interval_of_the_mean_of_its_cases(shared):
    a, other = draws(2)
    b = shared * a + (1 - shared) * other
    tables = {"t": table(a=a, b=b, both=(a + b) / 2)}
    of_metrics, both = found([task("t", "a", "b", "both")], tables, lambda a, b: (a + b) / 2, ("t.a", "t.b"))
    alone = of_metrics["t"]["both"]
    assert both.value == pytest.approx(alone.value)
    assert both.confidence_interval.method == "MOVER"
    # The bootstrap's variance has an error of 2 %, and ends have two digits.
    assert half_widths(both)[0] == pytest.approx(half_widths(alone)[0], rel=0.07)


def test_parts_that_cancel_leave_a_narrow_interval():
    (a,) = draws(1)
    of_metrics, both = found(
        [task("t", "a", "b")], {"t": table(a=a, b=1 - a)}, lambda a, b: (a + b) / 2, ("t.a", "t.b")
    )
    assert half_widths(both)[0] < 0.2 * half_widths(of_metrics["t"]["a"])[0]


def test_parts_of_other_cases_are_independent():
    a, b = draws(2)
    tasks = [task("s", "a"), task("t", "b")]
    tables = {"s": table("A", a=a), "t": table("B", b=b[:100])}
    of_metrics, both = found(tasks, tables, lambda a, b: 0.3 * a + 0.7 * b, ("s.a", "t.b"))
    alone = half_widths(of_metrics["s"]["a"]), half_widths(of_metrics["t"]["b"])
    expected = np.hypot(0.3 * np.array(alone[0]), 0.7 * np.array(alone[1]))
    assert half_widths(both) == pytest.approx(expected.tolist(), rel=0.05)


def test_an_interval_ends_at_the_best_and_the_worst_value():
    tables = {"t": table(a=draws(1, 12)[0])}
    _, one = found([task("t", "a")], tables, lambda a: 2 * a - 0.75, ("t.a",))
    assert (one.confidence_interval.upper, one.with_unseen_failures.upper) == (1, 1)
    assert one.with_unseen_failures.lower < one.confidence_interval.lower


@pytest.mark.parametrize(
    ("cases", "resamples", "reason"), [(9, 1000, "no interval of t.a"), (40, 0, "no interval of t.a")]
)
def test_without_the_interval_of_a_part_there_is_none(cases, resamples, reason):
    a, b = draws(2, cases)
    made = Resampling(3, resamples, 10)
    _, both = found([task("t", "a", "b")], {"t": table(a=a, b=b)}, min, ("t.a", "t.b"), made)
    assert (both.confidence_interval, both.interval) == (None, reason)
