"""From per-case columns to a task's figures: values, intervals, spread, subgroups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.challenge import Composite, Task, metrics_of
from evaluation.core.composites import composite_figures
from evaluation.core.intervals import intervals
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling, units_of
from evaluation.stats.columns import spread
from evaluation.stats.figure import Figure, IntervalMethod

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Subset:
    """A subgroup's cases; with ``against_all_negatives`` only its positives, set against all negatives."""

    members: Mask
    against_all_negatives: bool = False


def estimates(
    tasks: Sequence[Task], tables: Mapping[str, CaseTable], resampling: Resampling, full_detail: bool
) -> Estimates:
    """Return every metric that exists for the cases of its task, by task and name; ``tables`` are by task."""
    found: Estimates = {}
    for task in tasks:
        table = tables[task.name]
        values = metric_values(task.metrics, table)
        metrics = {one.name: one for one in task.metrics if not math.isnan(values[one.name])}
        of_task = intervals(metrics, [table], resampling)
        without = {name: Figure(values[name], reason=why) for name, why in of_task.missing.items()}
        figures = {**without, **{name: figure for name, (figure,) in of_task.found.items()}}
        found[task.name] = {
            name: _estimate(metric, table, figures[name], resampling, full_detail)
            for name, metric in metrics.items()
        }
    return found


def composite_estimates(
    composites: Sequence[Composite],
    tasks: Sequence[Task],
    tables: Mapping[str, CaseTable],
    aggregates: Estimates,
    resampling: Resampling,
) -> dict[str, Estimate]:
    """Return the composites whose metrics all exist, by name; ``aggregates``: of all metrics, unrounded."""
    figures = {
        f"{task}.{name}": _as_figure(one) for task, of in aggregates.items() for name, one in of.items()
    }
    metrics = metrics_of(tasks)
    return {
        one.name: Estimate.of(composite_figures(one, metrics, [tables], [figures], resampling)[0])
        for one in composites
        if figures.keys() >= set(one.metrics)
    }


def metric_values(metrics: Sequence[Metric], table: CaseTable) -> dict[str, float]:
    """Return the value of each metric by name, NaN where it does not exist for these cases."""
    cases = WeightedCases(table, np.ones((1, len(table)), dtype=np.int64))
    return {metric.name: float(metric.estimator.values(cases)[0]) for metric in metrics}


def subgroup_values(
    metrics: Sequence[Metric], table: CaseTable, subset: Subset, min_cases: int
) -> dict[str, float]:
    """Return the metrics of a subgroup, if it has enough cases of every class."""
    found = {}
    of_members = WeightedCases(table, subset.members[np.newaxis].astype(np.int64))
    for metric in metrics:
        strata = metric.estimator.strata(table)
        members, cases = subset.members, of_members
        if subset.against_all_negatives:
            if not ((strata == 0).any() and (strata == 1).any()):
                continue
            members = (members & (strata == 1)) | (strata == 0)
            cases = WeightedCases(table, members[np.newaxis].astype(np.int64))
        present = np.bincount(strata[strata >= 0]) > 0
        counts = np.bincount(strata[members & (strata >= 0)], minlength=present.size)[present]
        if counts.min(initial=len(table)) >= min_cases and counts.size:
            value = float(metric.estimator.values(cases)[0])
            if not math.isnan(value):
                found[metric.name] = value
    return found


def _estimate(
    metric: Metric, table: CaseTable, figure: Figure, resampling: Resampling, full_detail: bool
) -> Estimate:
    found = Estimate.of(figure)
    if metric.fixed_intervals:
        units = units_of(resampling.clusters, table.names)
        further = metric.fixed_intervals(table, resampling.seed, units)
        of_further = {name: of for name, one in further.items() if (of := _confidence_interval(one))}
        found = replace(found, further_intervals=of_further or None)
    if column := metric.estimator.mean_column:
        of_cases = spread(table[column])
        deviation = of_cases.standard_deviation
        detail = asdict(of_cases) if full_detail else {}
        found = replace(
            found, **{**detail, "standard_deviation": None if math.isnan(deviation) else deviation}
        )
    return found


def _as_figure(estimate: Estimate) -> Figure:
    figure, unseen = (
        Figure(estimate.value, *((one.lower, one.upper) if one else ()))
        for one in (estimate.confidence_interval, estimate.with_unseen_failures)
    )
    return replace(figure, with_unseen_failures=unseen)


def _confidence_interval(found: Figure | None) -> ConfidenceInterval | None:
    if found is None or found.interval is None or found.method is None:
        return None
    interval = found.interval
    return ConfidenceInterval(interval.lower, interval.upper, interval.half_width, found.method)


@dataclass(frozen=True)
class ConfidenceInterval:
    """A 95 % confidence interval; ``half_width`` is the value of the platform's error column.

    `docs/intervals.md` says how often the interval of each ``method`` contains the true value.
    """

    lower: float
    upper: float
    half_width: float
    method: IntervalMethod


@dataclass(frozen=True)
class Estimate:
    """The value of a metric or composite, with its interval and, of a mean over cases, its spread.

    ``with_unseen_failures``: the bounds that allow for one unseen case at the worst value.
    ``interval``: the reason why there is no confidence interval, which follows from the reference alone.
    """

    value: float
    confidence_interval: ConfidenceInterval | None = None
    further_intervals: dict[str, ConfidenceInterval] | None = None
    standard_deviation: float | None = None
    median: float | None = None
    first_quartile: float | None = None
    third_quartile: float | None = None
    interval: str | None = None
    with_unseen_failures: ConfidenceInterval | None = None

    @classmethod
    def of(cls, figure: Figure) -> Estimate:
        """Return a figure without the spread of its cases."""
        ends, unseen = map(_confidence_interval, (figure, figure.with_unseen_failures))
        return cls(figure.value, ends, interval=figure.reason, with_unseen_failures=unseen)


Estimates = dict[str, dict[str, Estimate]]
