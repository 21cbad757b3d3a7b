"""Figures of metrics with their intervals: the field's, and the one that allows for unseen failures."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evaluation.core.case_table import CaseTable
from evaluation.core.estimator import Quantile
from evaluation.core.metric import Metric
from evaluation.core.resampling import Group, Resampling, groups_of, values_under
from evaluation.metrics.arrays import Floats, Integers, distinct
from evaluation.stats.areas import Components, area_interval, area_with_unseen, components
from evaluation.stats.bootstrap import bootstrap_of
from evaluation.stats.figure import Figure, Interval, IntervalMethod
from evaluation.stats.intervals import (
    Evidence,
    bca_interval,
    effective_interval,
    fisher_interval,
    percentile_interval,
    quantile_interval,
    steady,
    wilson_bootstrap_interval,
    wilson_interval,
)
from evaluation.stats.unseen import of_units, share_interval, size_of_unseen, unseen_interval

_NO_SPREAD = 1e-12  # of what a unit contributes: rounding


def field_method(metric: Metric) -> IntervalMethod:
    """Return the method of a metric's field interval."""
    return metric.estimator.interval_method(math.isfinite(metric.best) and math.isfinite(metric.worst))


def unseen_method(metric: Metric, clustered: bool) -> IntervalMethod | None:
    """Return the method of the bounds with unseen failures; None where nothing bounds them."""
    field = field_method(metric)
    if metric.estimator.no_unseen(metric.worst):
        return None
    if metric.estimator.share_column and not clustered:
        return "Clopper-Pearson"
    return field if field in ("logit-DeLong", "Wilson-bootstrap", "order-statistics") else "Gaffke"


def area_components(metric: Metric, table: CaseTable, units: Integers | None) -> Components:
    """Return the shares of the cases in an area under a curve, once for a table.

    units: of its cases, which are the same ones whenever a table is asked for; None: each case is one.
    """
    curve = metric.estimator.curve
    assert curve is not None

    def build(table: CaseTable) -> Components:
        return components(table[curve.score], table[curve.label] > 0, units)

    return table.derive(("components", curve.score, curve.label), build)


@dataclass(frozen=True)
class Intervals:
    """The figures of metrics by name, one per table, and the reasons why other metrics have no interval."""

    found: Mapping[str, tuple[Figure, ...]]
    missing: Mapping[str, str]


def intervals(
    metrics: Mapping[str, Metric], tables: Sequence[CaseTable], resampling: Resampling
) -> Intervals:
    """Return the figures of metrics with their intervals in one or more tables of the same cases and strata.

    Left out, with the reason: metrics that cannot be resampled (see `groups_of`), whatever the predictions.
    """
    groups, missing = groups_of(metrics, tables[0], resampling)
    found: dict[str, tuple[Figure, ...]] = {}
    for group in groups:
        found |= _Sample(group, tables, resampling).figures()
    return Intervals({name: found[name] for name in metrics if name in found}, missing)


class _Sample:
    """The cases that enter metrics of equal strata, in the tables whose intervals are computed."""

    def __init__(self, group: Group, tables: Sequence[CaseTable], resampling: Resampling) -> None:
        self.group, self.resampling, self.level = group, resampling, resampling.level
        is_all = len(group.members) == len(tables[0])
        self.tables = [table if is_all else table.take(group.members) for table in tables]
        self.bootstrap = bootstrap_of(group.strata, group.units, resampling.seed, resampling.resamples)
        self.n, self.unit_of_case = self.bootstrap.units, self.bootstrap.unit_of_case

    @cached_property
    def resampled(self) -> dict[str, Floats]:
        """The values in all resamples of the metrics that need them, shape (resamples, tables)."""
        chosen = {
            name: metric
            for name, metric in self.group.metrics.items()
            if field_method(metric) in ("Wilson-bootstrap", "percentile")
        }
        if not chosen:
            return {}
        rows = range(self.resampling.resamples)
        return values_under(chosen, self.tables, self.bootstrap.unit_weights(rows))

    def figures(self) -> dict[str, tuple[Figure, ...]]:
        """Return the figures of all metrics, one per table."""
        return {
            name: tuple(self._figure(name, metric, position) for position in range(len(self.tables)))
            for name, metric in self.group.metrics.items()
        }

    def _figure(self, name: str, metric: Metric, position: int) -> Figure:
        value = metric.estimator.value(self.tables[position])
        if math.isnan(value):
            return Figure(value, n=self.n, reason="the figure does not exist for these cases")
        method = field_method(metric)
        found = Figure.of(value, self._field(name, metric, method, value, position), method, self.n)
        unseen = self._unseen(name, metric, value, position)
        if (ends := unseen.interval) and (field := found.interval):
            # Without any spread the sample says nothing about the next one.
            if field.lower == field.upper:
                found, field = unseen, ends
            lower, upper = min(ends.lower, field.lower), max(ends.upper, field.upper)
            unseen = replace(unseen, lower=lower, upper=upper)
        if self.resampling.interval == "any_distribution" and unseen.interval:
            found = unseen
        return replace(found, with_unseen_failures=unseen)

    def _field(
        self, name: str, metric: Metric, method: IntervalMethod, value: float, position: int
    ) -> Interval:
        table, estimator = self.tables[position], metric.estimator
        if method == "logit-DeLong":
            return area_interval(area_components(metric, table, self.group.units), self.level)
        if method == "order-statistics":
            return self._quantile(metric, table)
        if method in ("Wilson-bootstrap", "percentile"):
            values = self.resampled[name][:, position]
            if method == "percentile":
                defined = values[~np.isnan(values)]
                return steady(percentile_interval(defined if defined.size else [value], self.level), value)
            evidence = self._evidence(metric, table, value, estimator.corrected(table))
            return steady(wilson_bootstrap_interval(values, evidence, self.level), value, evidence.bounds)
        if estimator.share_column and self.group.units is None:
            return wilson_interval(float(table[estimator.share_column].sum()), len(table), self.level)
        contributions = estimator.influence(table, metric.worst, metric.best)
        assert contributions is not None, name
        units = of_units(np.nan_to_num(contributions), self.unit_of_case)
        spread = bool(np.abs(units).max(initial=0.0) > _NO_SPREAD)
        if method == "Wilson":
            if not spread and estimator.no_unseen(metric.worst) is None:
                return Interval(value, value)
            variance = float(units @ units) * units.size / max(1, units.size - 1)
            return effective_interval(value, variance, self._evidence(metric, table, value), self.level)
        if method == "Fisher":
            if abs(value) < 1 and spread:
                return fisher_interval(value, units, self.level)
            return effective_interval(value, 0.0, self._evidence(metric, table, value), self.level)
        low, high = sorted((metric.worst, metric.best))
        found = bca_interval(value, units, self.level)
        return Interval(min(value, max(low, found.lower)), max(value, min(high, found.upper)))

    def _unseen(self, name: str, metric: Metric, value: float, position: int) -> Figure:
        table, estimator = self.tables[position], metric.estimator
        if why := estimator.no_unseen(metric.worst):
            return Figure(value, n=self.n, reason=why)
        method = unseen_method(metric, self.group.units is not None)
        if method == "logit-DeLong":
            interval = area_with_unseen(area_components(metric, table, self.group.units), self.level)
        elif method == "order-statistics":
            interval = self._quantile(metric, table)
        elif method == "Wilson-bootstrap":
            more = estimator.with_unseen(table, size_of_unseen(self.unit_of_case))
            evidence = self._evidence(metric, table, value, (*estimator.corrected(table), *more))
            interval = wilson_bootstrap_interval(self.resampled[name][:, position], evidence, self.level)
            interval = steady(interval, value, evidence.bounds)
        elif method == "Clopper-Pearson":
            interval = share_interval(int(table[estimator.share_column or ""].sum()), len(table), self.level)
        else:
            sums = estimator.of_sums(table, metric.worst, metric.best)
            assert sums is not None, name
            found = unseen_interval(sums, self.unit_of_case, self.resampling.seed, self.level)
            interval = found if sums.of_ratio else steady(found, value)
        low, high = sorted((metric.worst, metric.best))
        ends = min(value, max(low, interval.lower)), max(value, min(high, interval.upper))
        return Figure(value, *ends, method, self.n)

    def _quantile(self, metric: Metric, table: CaseTable) -> Interval:
        assert isinstance(metric.estimator, Quantile)
        low, high = sorted((metric.worst, metric.best))
        values = table[metric.estimator.column]
        return quantile_interval(values, self.unit_of_case, metric.estimator.level, (low, high), self.level)

    def _evidence(
        self, metric: Metric, table: CaseTable, value: float, about: Sequence[float] = ()
    ) -> Evidence:
        units = np.arange(len(table)) if self.group.units is None else self.group.units
        estimator = metric.estimator
        decisive = estimator.decisive(table)
        if decisive is not None:
            number = distinct(units[decisive]).size
        else:
            strata = estimator.strata(table)
            number = min(distinct(units[strata == one]).size for one in distinct(strata))
        low, high = sorted((metric.best, metric.worst))
        is_share = estimator.is_share and field_method(metric) == "Wilson-bootstrap"
        return Evidence(value, (low, high), number, is_share, about)
