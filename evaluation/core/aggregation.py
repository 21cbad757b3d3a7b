"""From per-case columns to a task's figures: values, intervals, spread, subgroups."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable, FloatArray, WeightedCases
from evaluation.core.challenge import Task
from evaluation.core.metric import Metric, Strata
from evaluation.metrics.averages import spread
from evaluation.metrics.intervals import Interval, bootstrap_weights, percentile_interval

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Resampling:
    """How intervals are computed: seed, number of resamples, fewest cases of a stratum, clusters or None.

    Where there are clusters, a stratum needs as many of these.
    ``most_cases`` replaces the metrics' own numbers of cases above which they have no interval.
    """

    seed: int
    resamples: int
    fewest_cases: int
    clusters: NDArray[np.int64] | None = None
    most_cases: int | None = None


@dataclass(frozen=True)
class Subset:
    """A subgroup's cases; with ``against_all_negatives`` only its positives, set against all negatives."""

    members: Mask
    against_all_negatives: bool = False


def estimate(task: Task, table: CaseTable, resampling: Resampling, full_detail: bool) -> dict[str, Estimate]:
    """Return every metric of a task that exists for these cases, by name."""
    values = metric_values(task.metrics, table)
    existing = [metric for metric in task.metrics if not math.isnan(values[metric.name])]
    intervals = _intervals([metric for metric in existing if metric.resampled], table, resampling)
    return {
        metric.name: _estimate(metric, table, values[metric.name], intervals.get(metric.name), full_detail)
        for metric in existing
    }


def metric_values(metrics: Sequence[Metric], table: CaseTable) -> dict[str, float]:
    """Return the value of each metric by name, NaN where it does not exist for these cases."""
    cases = WeightedCases(table, np.ones((1, len(table)), dtype=np.int64))
    return {metric.name: float(metric.aggregate.values(cases)[0]) for metric in metrics}


def subgroup_values(
    metrics: Sequence[Metric], table: CaseTable, subset: Subset, fewest_cases: int
) -> dict[str, float]:
    """Return the metrics of a subgroup that has enough cases of every class that enters."""
    found = {}
    for metric in metrics:
        strata = metric.aggregate.strata(table)
        members = subset.members
        if subset.against_all_negatives:
            if not ((strata == 0).any() and (strata == 1).any()):
                continue
            members = (members & (strata == 1)) | (strata == 0)
        present = np.bincount(strata[strata >= 0]) > 0
        counts = np.bincount(strata[members & (strata >= 0)], minlength=present.size)[present]
        if counts.min(initial=len(table)) >= fewest_cases and counts.size:
            cases = WeightedCases(table, members[np.newaxis].astype(np.int64))
            value = float(metric.aggregate.values(cases)[0])
            if not math.isnan(value):
                found[metric.name] = value
    return found


def _intervals(metrics: Sequence[Metric], table: CaseTable, resampling: Resampling) -> dict[str, Interval]:
    """Return the bootstrap intervals by metric; metrics of equal strata share their resamples.

    A metric that does not exist in every resample (a class that few images have) has no interval.
    """
    groups: dict[bytes, list[Metric]] = defaultdict(list)
    strata_of: dict[bytes, Strata] = {}
    for metric in metrics:
        most_cases = metric.aggregate.most_cases
        if most_cases is not None and len(table) > (resampling.most_cases or most_cases):
            continue
        strata = metric.aggregate.strata(table)
        if resampling.resamples and fewest_units(strata, resampling.clusters) >= resampling.fewest_cases:
            key = strata.tobytes()
            strata_of[key] = strata
            groups[key].append(metric)
    return {
        name: percentile_interval(values)
        for key, group in groups.items()
        for name, values in _resampled(group, table, strata_of[key], resampling).items()
        if not np.isnan(values).any()
    }


def fewest_units(strata: Strata, clusters: NDArray[np.int64] | None) -> int:
    """Return the number of cases, or of clusters where these are drawn, in the smallest stratum."""
    units = np.arange(len(strata)) if clusters is None else clusters
    return min(
        (len(np.unique(units[strata == stratum])) for stratum in np.unique(strata) if stratum >= 0), default=0
    )


def _resampled(
    metrics: Sequence[Metric], table: CaseTable, strata: Strata, resampling: Resampling
) -> Mapping[str, FloatArray]:
    blocks: dict[str, list[FloatArray]] = defaultdict(list)
    clusters = resampling.clusters
    if (strata < 0).any():
        # Cases that do not enter take no part in the draws: leaving them out changes nothing but the time.
        members = np.flatnonzero(strata >= 0)
        table, strata = table.take(members), strata[members]
        clusters = None if clusters is None else clusters[members]
    for weights in bootstrap_weights(strata, clusters, resampling.seed, resampling.resamples, None):
        cases = WeightedCases(table, weights)
        for metric in metrics:
            blocks[metric.name].append(metric.aggregate.values(cases))
    return {name: np.concatenate(values) for name, values in blocks.items()}


def _estimate(
    metric: Metric, table: CaseTable, value: float, interval: Interval | None, full_detail: bool
) -> Estimate:
    further = metric.fixed_intervals(table) if metric.fixed_intervals else {}
    column = metric.aggregate.spread_column
    spread_over_cases = spread(table[column]) if column else None
    deviation = spread_over_cases.standard_deviation if spread_over_cases else math.nan
    detail = spread_over_cases if full_detail else None
    return Estimate(
        value=value,
        confidence_interval=_confidence_interval(interval) if interval else None,
        further_intervals={name: _confidence_interval(other) for name, other in further.items()} or None,
        standard_deviation=None if math.isnan(deviation) else deviation,
        median=detail.median if detail else None,
        first_quartile=detail.first_quartile if detail else None,
        third_quartile=detail.third_quartile if detail else None,
    )


def _confidence_interval(interval: Interval) -> ConfidenceInterval:
    return ConfidenceInterval(interval.lower, interval.upper, interval.half_width)


@dataclass(frozen=True)
class ConfidenceInterval:
    """A 95 % confidence interval; ``half_width`` is half its length, for the platform's error column."""

    lower: float
    upper: float
    half_width: float


@dataclass(frozen=True)
class Estimate:
    """A metric's value, with its interval and, where it is a mean over cases, its spread over them."""

    value: float
    confidence_interval: ConfidenceInterval | None = None
    further_intervals: dict[str, ConfidenceInterval] | None = None
    standard_deviation: float | None = None
    median: float | None = None
    first_quartile: float | None = None
    third_quartile: float | None = None


Estimates = dict[str, dict[str, Estimate]]
