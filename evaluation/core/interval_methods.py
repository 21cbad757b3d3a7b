"""Confidence intervals of metrics: which method each gets, and the intervals by method.

The defaults were chosen by simulated coverage (`python -m benchmarks.coverage`; docs/intervals.md).

logit-DeLong      areas under a ROC curve: DeLong's standard error on the logit scale, by Obuchowski's where
                  cases belong together
studentised       means over cases: bootstrap of the studentised mean ("bootstrap-t")
Wilson            shares of cases: Wilson's score interval
Wilson-bootstrap  sensitivities at a specificity, and shares where cases belong together: Wilson's score
                  interval with the variance of the bootstrap
percentile        any other metric: the percentiles of its bootstrap values
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.metric import IntervalMethod, Metric
from evaluation.core.resampling import Group, Resampling, groups_of, values_under
from evaluation.core.side_by_side import side_by_side
from evaluation.metrics.area_interval import area_interval
from evaluation.metrics.delong import components
from evaluation.metrics.intervals import (
    Interval,
    percentile_interval,
    wilson_bootstrap_interval,
    wilson_interval,
)
from evaluation.metrics.studentised import studentised_intervals

_MANY_DRAWS = 1_000_000
_WITHOUT_DRAWS: frozenset[IntervalMethod] = frozenset({"logit-DeLong", "Wilson"})


@dataclass(frozen=True)
class MethodInterval:
    """A confidence interval and the method that it comes from."""

    interval: Interval
    method: IntervalMethod


_Found = dict[str, tuple[MethodInterval, ...]]


@dataclass(frozen=True)
class Intervals:
    """The intervals of metrics by name, one for each table, and for every other metric why it has none."""

    found: Mapping[str, tuple[MethodInterval, ...]]
    missing: Mapping[str, str]


def default_method(metric: Metric, clustered: bool) -> IntervalMethod:
    """Return the method that a metric gets unless the phase chooses another."""
    aggregate = metric.aggregate
    if aggregate.curve:
        return "logit-DeLong" if aggregate.curve.is_area else "Wilson-bootstrap"
    if aggregate.share_column:
        return "Wilson-bootstrap" if clustered else "Wilson"
    return "studentised" if aggregate.spread_column else "percentile"


def possible_methods(metric: Metric, clustered: bool) -> tuple[IntervalMethod, ...]:
    """Return the methods that a phase may choose for a metric, the default first."""
    default = default_method(metric, clustered)
    others: tuple[IntervalMethod, ...] = ("percentile",)
    if metric.aggregate.share_column and not clustered:
        others = ("Wilson-bootstrap", "percentile")
    return tuple(dict.fromkeys((default, *others)))


def intervals(
    metrics: Mapping[str, Metric], tables: Sequence[CaseTable], resampling: Resampling
) -> Intervals:
    """Return the intervals of metrics in one or more tables of the same cases and strata.

    Left out, with the reason: metrics that cannot be resampled (see `groups_of`), whatever their method, and
    those that do not exist in every resample of every table.
    """
    return intervals_of([(metrics, tables)], resampling)[0]


def intervals_of(
    parts: Sequence[tuple[Mapping[str, Metric], Sequence[CaseTable]]], resampling: Resampling
) -> list[Intervals]:
    """Return for each pair of metrics and tables what `intervals` returns; all are computed side by side."""
    found: list[_Found] = [{} for _ in parts]
    missing: list[dict[str, str]] = []
    tasks, costs, part_of_task = [], [], []
    for number, (metrics, tables) in enumerate(parts):
        groups, reasons = groups_of(metrics, tables[0], resampling)
        missing.append(reasons)
        tasks += [partial(_of_group, group, tables, resampling) for group in groups]
        costs += [_draws(group, resampling) for group in groups]
        part_of_task += [number] * len(groups)
    is_large = sum(costs) > _MANY_DRAWS
    results = side_by_side(tasks, costs) if is_large else [task() for task in tasks]
    for number, of_group in zip(part_of_task, results, strict=True):
        found[number] |= of_group
    return [
        Intervals(
            {name: of_part[name] for name in metrics if name in of_part},
            reasons
            | {
                name: "it does not exist in every resample"
                for name in metrics
                if name not in of_part and name not in reasons
            },
        )
        for (metrics, _), of_part, reasons in zip(parts, found, missing, strict=True)
    ]


def _draws(group: Group, resampling: Resampling) -> int:
    """Return how many cases are drawn for the metrics of a group."""
    methods = _methods_of(group, resampling).values()
    return len(group.members) * (0 if {*methods} <= _WITHOUT_DRAWS else resampling.resamples)


def _methods_of(group: Group, resampling: Resampling) -> dict[str, IntervalMethod]:
    return {
        name: resampling.methods.get(name) or default_method(metric, group.units is not None)
        for name, metric in group.metrics.items()
    }


def _of_group(group: Group, tables: Sequence[CaseTable], resampling: Resampling) -> _Found:
    """Return the intervals of the metrics of one group, without those that have none."""
    methods = _methods_of(group, resampling)
    group_tables = [group.entering(table) for table in tables]
    by_method: dict[IntervalMethod, dict[str, Metric]] = defaultdict(dict)
    for name, metric in group.metrics.items():
        by_method[methods[name]][name] = metric
    chosen = {
        **{name: _areas(metric, group_tables, group) for name, metric in by_method["logit-DeLong"].items()},
        **{
            name: [_share(metric, table) for table in group_tables]
            for name, metric in by_method["Wilson"].items()
        },
        **_means(by_method["studentised"], group_tables, group, resampling),
        **_resampled(
            {**by_method["percentile"], **by_method["Wilson-bootstrap"]},
            methods,
            group_tables,
            group,
            resampling,
        ),
    }
    return {
        name: tuple(MethodInterval(interval, methods[name]) for interval in chosen[name])
        for name in group.metrics
        if name in chosen
    }


def _resampled(
    metrics: Mapping[str, Metric],
    methods: Mapping[str, IntervalMethod],
    tables: Sequence[CaseTable],
    group: Group,
    resampling: Resampling,
) -> dict[str, list[Interval]]:
    """Return the intervals that come from the metrics' bootstrap values, of those that always exist."""
    found: dict[str, list[Interval]] = {}
    if not metrics:
        return found
    for name, values in values_under(metrics, tables, group.weights(resampling)).items():
        if np.isnan(values).any():
            continue
        if methods[name] == "percentile":
            found[name] = [percentile_interval(column) for column in values.T]
        else:
            found[name] = [
                wilson_bootstrap_interval(column, _value(metrics[name], table), _cases(metrics[name], table))
                for column, table in zip(values.T, tables, strict=True)
            ]
    return found


def _areas(metric: Metric, tables: Sequence[CaseTable], group: Group) -> list[Interval]:
    curve = metric.aggregate.curve
    assert curve is not None
    positive = tables[0][curve.label] > 0
    scores = np.stack([table[curve.score] for table in tables])
    parts = components(scores, positive, group.units)
    return [area_interval(parts.of(position)) for position in range(len(tables))]


def _means(
    metrics: Mapping[str, Metric], tables: Sequence[CaseTable], group: Group, resampling: Resampling
) -> dict[str, list[Interval]]:
    """Return the intervals of means over cases, all from one pass over the weights."""
    if not metrics:
        return {}
    columns = [metric.aggregate.spread_column or "" for metric in metrics.values()]
    values = np.stack([table[column] for column in columns for table in tables])
    worst_and_best = np.sort([(metric.worst, metric.best) for metric in metrics.values()], axis=1)
    lowest, highest = np.repeat(worst_and_best, len(tables), axis=0).T
    found = studentised_intervals(values, group.units, group.weights(resampling), (lowest, highest))
    return {
        name: found[position * len(tables) : (position + 1) * len(tables)]
        for position, name in enumerate(metrics)
    }


def _share(metric: Metric, table: CaseTable) -> Interval:
    column = metric.aggregate.share_column
    assert column is not None
    return wilson_interval(float(table[column].sum()), len(table))


def _value(metric: Metric, table: CaseTable) -> float:
    ones = np.ones((1, len(table)), dtype=np.int64)
    return float(metric.aggregate.values(WeightedCases(table, ones))[0])


def _cases(metric: Metric, table: CaseTable) -> int:
    """Return the number of cases of which a proportion is the share."""
    curve = metric.aggregate.curve
    return int(np.count_nonzero(table[curve.label] > 0)) if curve else len(table)
