"""Confidence intervals of metrics: which method each gets, and the intervals of equal strata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.metric import IntervalMethod, Metric
from evaluation.core.resampling import Group, Resampling, groups_of, values_under
from evaluation.core.side_by_side import side_by_side
from evaluation.metrics.arrays import Floats
from evaluation.metrics.bootstrap import Bootstrap, resampled_shares
from evaluation.metrics.intervals import (
    Interval,
    StudentisedMeans,
    area_interval,
    components,
    percentile_interval,
    wilson_bootstrap_interval,
    wilson_interval,
)


def default_method(metric: Metric, clustered: bool) -> IntervalMethod:
    """Return the default interval method of a metric, chosen by simulated coverage (see docs/intervals.md).

    logit-DeLong: areas under a ROC curve, with DeLong's standard error on the logit scale, or Obuchowski's
    where cases belong together. Studentised: means over cases, by the bootstrap of the studentised mean.
    Wilson: shares of cases, by Wilson's score interval. Wilson-bootstrap: sensitivities at a specificity, and
    shares where cases belong together, by Wilson's interval with the variance of the bootstrap. Percentile:
    any other metric.
    """
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


# --- Intervals of metrics of equal strata, by the method of each ---


@dataclass(frozen=True)
class MethodInterval:
    """A confidence interval and its method."""

    interval: Interval
    method: IntervalMethod


Found = dict[str, tuple[MethodInterval, ...]]
Values = dict[str, Floats]


@dataclass(frozen=True)
class Sample:
    """Metrics of a group, and the tables whose intervals are computed."""

    group: Group
    all_tables: Sequence[CaseTable]
    resampling: Resampling

    @cached_property
    def methods(self) -> dict[str, IntervalMethod]:
        """The method of each metric."""
        chosen, clustered = self.resampling.methods, self.group.units is not None
        return {
            name: chosen.get(name) or default_method(metric, clustered)
            for name, metric in self.group.metrics.items()
        }

    @cached_property
    def tables(self) -> list[CaseTable]:
        """The tables of the cases that enter."""
        return [self.group.entering(table) for table in self.all_tables]

    @cached_property
    def bootstrap(self) -> Bootstrap:
        """The bootstrap of the cases that enter."""
        return self.group.bootstrap(self.resampling)

    @property
    def draws(self) -> int:
        """The number of cases that are drawn in all resamples."""
        resampled = self.shares or self.others or self.by("studentised")
        return len(self.group.members) * self.resampling.resamples if resampled else 0

    @cached_property
    def shares(self) -> dict[str, Metric]:
        """The shares of cases that are resampled, in one stratum."""
        if self.group.strata.any():
            return {}
        return {name: metric for name, metric in self._resampled.items() if metric.aggregate.share_column}

    @cached_property
    def others(self) -> dict[str, Metric]:
        """The other metrics that are resampled, without means."""
        return {name: metric for name, metric in self._resampled.items() if name not in self.shares}

    @property
    def _resampled(self) -> dict[str, Metric]:
        return self.by("percentile") | self.by("Wilson-bootstrap")

    def by(self, method: IntervalMethod) -> dict[str, Metric]:
        """Return the metrics with a method."""
        return {name: metric for name, metric in self.group.metrics.items() if self.methods[name] == method}

    @cached_property
    def means(self) -> StudentisedMeans:
        """The means over cases."""
        columns = [metric.aggregate.spread_column or "" for metric in self.by("studentised").values()]
        values = np.stack([table[column] for column in columns for table in self.tables])
        return StudentisedMeans(values, self.bootstrap.unit_of_case)

    def share_columns(self) -> list[Floats]:
        """Return the columns of the shares that are resampled, of each table."""
        columns = [metric.aggregate.share_column or "" for metric in self.shares.values()]
        return [table[column] for column in columns for table in self.tables]


def _resampled_values(samples: Sequence[Sample], rows: range) -> list[Values]:
    """Return for each sample the values of metrics by name in some successive resamples, (rows, tables).

    For a mean, the values are studentised differences to the mean of the whole sample.
    """
    found: list[Values] = [{} for _ in samples]
    with_shares = [(sample, values) for sample, values in zip(samples, found, strict=True) if sample.shares]
    # Shares need no weights of cases; one draw serves all of them.
    shares = resampled_shares([(sample.bootstrap, sample.share_columns()) for sample, _ in with_shares], rows)
    for (sample, values), of_sample in zip(with_shares, shares, strict=True):
        values |= _by_metric(of_sample, sample.shares, sample.tables)
    for sample, values in zip(samples, found, strict=True):
        if means := sample.by("studentised"):
            weights = (block.of_units for block in sample.bootstrap.unit_weights(rows))
            values |= _by_metric(sample.means.ratios(weights), means, sample.tables)
        if sample.others:
            values |= values_under(sample.others, sample.tables, sample.bootstrap.unit_weights(rows))
    return found


def _intervals_of_sample(sample: Sample, values: Values) -> Found:
    found = {name: _areas(metric, sample) for name, metric in sample.by("logit-DeLong").items()}
    for name, metric in sample.by("Wilson").items():
        column = metric.aggregate.share_column or ""
        found[name] = [wilson_interval(float(table[column].sum()), len(table)) for table in sample.tables]
    found |= _means(sample, values)
    for name in (*sample.shares, *sample.others):
        if not np.isnan(values[name]).any():
            found[name] = _from_values(name, values[name].T, sample)
    return {
        name: tuple(MethodInterval(interval, sample.methods[name]) for interval in of_tables)
        for name, of_tables in found.items()
    }


def _by_metric(values: Floats, metrics: Iterable[str], tables: Sequence[CaseTable]) -> Values:
    """Return values of shape (rows, metrics · tables) by metric."""
    of_metrics = values.reshape(len(values), -1, len(tables))
    return {name: of_metrics[:, position] for position, name in enumerate(metrics)}


def _from_values(name: str, values: Floats, sample: Sample) -> list[Interval]:
    """Return the intervals of bootstrap values of shape (tables, resamples)."""
    if sample.methods[name] == "percentile":
        return [percentile_interval(of_table) for of_table in values]
    metric = sample.group.metrics[name]
    return [
        wilson_bootstrap_interval(of_table, _value(metric, table), _cases(metric, table))
        for of_table, table in zip(values, sample.tables, strict=True)
    ]


def _areas(metric: Metric, sample: Sample) -> list[Interval]:
    curve = metric.aggregate.curve
    assert curve is not None
    positive = sample.tables[0][curve.label] > 0
    scores = np.stack([table[curve.score] for table in sample.tables])
    parts = components(scores, positive, sample.group.units)
    return [area_interval(parts.of(position)) for position in range(len(sample.tables))]


def _means(sample: Sample, values: Values) -> dict[str, list[Interval]]:
    metrics = sample.by("studentised")
    if not metrics:
        return {}
    number = len(sample.tables)
    worst_and_best = np.sort([(metric.worst, metric.best) for metric in metrics.values()], axis=1)
    lowest, highest = np.repeat(worst_and_best, number, axis=0).T
    ratios = np.concatenate([values[name] for name in metrics], axis=1)
    found = sample.means.intervals(ratios, (lowest, highest))
    return {name: found[position * number : (position + 1) * number] for position, name in enumerate(metrics)}


def _value(metric: Metric, table: CaseTable) -> float:
    ones = np.ones((1, len(table)), dtype=np.int64)
    return float(metric.aggregate.values(WeightedCases(table, ones))[0])


def _cases(metric: Metric, table: CaseTable) -> int:
    """Return the number of cases that enter a proportion."""
    curve = metric.aggregate.curve
    return int(np.count_nonzero(table[curve.label] > 0)) if curve else len(table)


_MANY_DRAWS = 3_000_000  # fewer are not worth a second process


@dataclass(frozen=True)
class Intervals:
    """The intervals of metrics by name, one per table, and the reasons why other metrics have none."""

    found: Mapping[str, tuple[MethodInterval, ...]]
    missing: Mapping[str, str]


def intervals(
    metrics: Mapping[str, Metric], tables: Sequence[CaseTable], resampling: Resampling
) -> Intervals:
    """Return the intervals of metrics in one or more tables of the same cases and strata.

    Left out, with the reason: metrics that cannot be resampled (see `groups_of`), and metrics that do not
    exist in every resample of every table.
    """
    return intervals_of([(metrics, tables)], resampling)[0]


def intervals_of(
    parts: Sequence[tuple[Mapping[str, Metric], Sequence[CaseTable]]], resampling: Resampling
) -> list[Intervals]:
    """Return `intervals` of each pair of metrics and tables, computed together."""
    missing: list[dict[str, str]] = []
    samples: list[Sample] = []
    part_of_sample: list[int] = []
    for number, (metrics, tables) in enumerate(parts):
        groups, reasons = groups_of(metrics, tables[0], resampling)
        missing.append(reasons)
        samples += [Sample(group, tables, resampling) for group in groups]
        part_of_sample += [number] * len(groups)
    found: list[Found] = [{} for _ in parts]
    for number, sample, values in zip(part_of_sample, samples, _values_of(samples, resampling), strict=True):
        found[number] |= _intervals_of_sample(sample, values)
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


def _values_of(samples: Sequence[Sample], resampling: Resampling) -> list[Values]:
    """Return the values of each sample's metrics in all resamples; a second process computes half of them."""
    rows = range(resampling.resamples)
    if len(rows) < 2 or sum(sample.draws for sample in samples) < _MANY_DRAWS:
        return _resampled_values(samples, rows)
    half = len(rows) // 2
    tasks = [partial(_resampled_values, samples, part) for part in (rows[:half], rows[half:])]
    first, second = side_by_side(tasks, [1, 1])
    return [
        {name: np.concatenate((of_half, other[name])) for name, of_half in one.items()}
        for one, other in zip(first, second, strict=True)
    ]
