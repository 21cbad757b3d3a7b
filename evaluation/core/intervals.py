"""Confidence intervals of metrics: which method each gets, and the intervals of equal strata."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.estimator import IntervalMethod, MethodInterval
from evaluation.core.metric import Metric
from evaluation.core.resampling import Group, Resampling, groups_of, values_under
from evaluation.core.side_by_side import side_by_side
from evaluation.metrics.arrays import Floats, distinct, quantiles
from evaluation.metrics.bootstrap import Bootstrap, UnitWeights, resampled_shares
from evaluation.metrics.intervals import (
    Evidence,
    Interval,
    area_interval,
    components,
    effective_interval,
    percentile_interval,
    student_quantile,
    wilson_bootstrap_interval,
)
from evaluation.metrics.unseen import share_interval, size_of_unseen, unseen_case_intervals


def default_method(metric: Metric, clustered: bool) -> IntervalMethod:
    """Return the default interval method of a metric, chosen by simulated coverage (see docs/intervals.md).

    logit-DeLong: areas under a ROC curve, with DeLong's standard error on the logit scale, or Obuchowski's
    where cases belong together. Gaffke: means over cases and figures of sums over them, by random weights of
    the cases and of one that the sample may lack. Clopper-Pearson: shares of independent cases, exact.
    Fisher-studentised: correlations, by the bootstrap of Fisher's z divided by its standard error.
    Wilson-jackknife: the concordance index, by Wilson's interval with the variance of the infinitesimal
    jackknife. Wilson-bootstrap: any other bounded metric, by Wilson's interval with the variance of the
    bootstrap. Percentile: any other.
    """
    return metric.estimator.interval_method(_is_bounded(metric), clustered)


def possible_methods(metric: Metric, clustered: bool) -> tuple[IntervalMethod, ...]:
    """Return the methods that a phase may choose for a metric, the default first."""
    others: tuple[IntervalMethod, ...] = ("percentile",)
    if _is_bounded(metric):
        others = ("Wilson-bootstrap", *others)
    return tuple(dict.fromkeys((default_method(metric, clustered), *others)))


def _is_bounded(metric: Metric) -> bool:
    return math.isfinite(metric.best) and math.isfinite(metric.worst)


# --- Intervals of metrics of equal strata, by the method of each ---


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
        resampled = self.shares or self.others or self.by("Fisher-studentised")
        return len(self.group.members) * self.resampling.resamples if resampled else 0

    @cached_property
    def shares(self) -> dict[str, Metric]:
        """The shares of cases that are resampled, in one stratum."""
        if self.group.strata.any():
            return {}
        return {name: metric for name, metric in self._resampled.items() if metric.estimator.share_column}

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

    def evidence(self, metric: Metric, table: CaseTable) -> Evidence:
        """Return the evidence behind a bounded metric of a table."""
        units = np.arange(len(table)) if self.group.units is None else self.group.units
        estimator = metric.estimator
        decisive = estimator.decisive(table)
        if decisive is not None:
            number = distinct(units[decisive]).size
        else:
            strata = estimator.strata(table)
            number = min(distinct(units[strata == one]).size for one in distinct(strata))
        low, high = sorted((metric.best, metric.worst))
        value = value_of(metric, table)
        unseen = estimator.with_unseen(table, size_of_unseen(units))
        return Evidence(value, (low, high), number, estimator.is_share, unseen)

    def share_columns(self) -> list[Floats]:
        """Return the columns of the shares that are resampled, of each table."""
        columns = [metric.estimator.share_column or "" for metric in self.shares.values()]
        return [table[column] for column in columns for table in self.tables]


def _resampled_values(samples: Sequence[Sample], rows: range) -> list[Values]:
    """Return for each sample the values of metrics by name in some successive resamples, (rows, tables)."""
    found: list[Values] = [{} for _ in samples]
    with_shares = [(sample, values) for sample, values in zip(samples, found, strict=True) if sample.shares]
    # Shares need no weights of cases; one draw serves all of them.
    shares = resampled_shares([(sample.bootstrap, sample.share_columns()) for sample, _ in with_shares], rows)
    for (sample, values), of_sample in zip(with_shares, shares, strict=True):
        values |= _by_metric(of_sample, sample.shares, sample.tables)
    for sample, values in zip(samples, found, strict=True):
        for name, metric in sample.by("Fisher-studentised").items():
            blocks = sample.bootstrap.unit_weights(rows)
            of_blocks = [[_fisher_z(metric, table, block) for table in sample.tables] for block in blocks]
            values[name] = np.concatenate([np.stack(block, axis=1) for block in of_blocks])
        if sample.others:
            values |= values_under(sample.others, sample.tables, sample.bootstrap.unit_weights(rows))
    return found


def _intervals_of_sample(sample: Sample, values: Values) -> Found:
    found = {name: _areas(metric, sample) for name, metric in sample.by("logit-DeLong").items()}
    for name, metric in sample.by("Clopper-Pearson").items():
        column = metric.estimator.share_column or ""
        found[name] = [share_interval(int(table[column].sum()), len(table)) for table in sample.tables]
    found |= _of_sums(sample)
    for name, metric in sample.by("Wilson-jackknife").items():
        found[name] = [_by_influence(metric, table, sample) for table in sample.tables]
    for name, metric in sample.by("Fisher-studentised").items():
        found[name] = [
            _correlation(metric, table, sample, of_table)
            for table, of_table in zip(sample.tables, values[name].swapaxes(0, 1), strict=True)
        ]
    for name in (*sample.shares, *sample.others):
        found[name] = [
            _from_values(sample.group.metrics[name], sample.methods[name], of_table, table, sample)
            for of_table, table in zip(values[name].T, sample.tables, strict=True)
        ]
    return {
        name: tuple(MethodInterval(interval, sample.methods[name]) for interval in of_tables)
        for name, of_tables in found.items()
    }


def _by_metric(values: Floats, metrics: Iterable[str], tables: Sequence[CaseTable]) -> Values:
    """Return values of shape (rows, metrics · tables) by metric."""
    of_metrics = values.reshape(len(values), -1, len(tables))
    return {name: of_metrics[:, position] for position, name in enumerate(metrics)}


def _from_values(
    metric: Metric, method: IntervalMethod, values: Floats, table: CaseTable, sample: Sample
) -> Interval:
    """Return the interval of bootstrap values, shape (resamples,)."""
    evidence = sample.evidence(metric, table)
    if method == "percentile":
        defined = values[~np.isnan(values)]
        return percentile_interval(defined if defined.size else [evidence.value])
    return wilson_bootstrap_interval(values, evidence)


def _fisher_z(metric: Metric, table: CaseTable, weights: UnitWeights) -> Floats:
    """Return Fisher's z of a correlation, and its standard error over units, shape (rows, 2)."""
    cases, units = WeightedCases(table, weights), weights.of_units.shape[1]
    order = np.argsort(weights.unit_of_case, kind="stable")
    starts = np.flatnonzero(np.diff(weights.unit_of_case[order], prepend=-1))
    of_units = np.add.reduceat(metric.estimator.weighted_influence(cases)[:, order], starts, axis=1)
    squares = np.einsum("ij,ij->i", weights.of_units, of_units**2) * units / (units - 1)
    value, total = metric.estimator.values(cases), weights.of_cases.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.column_stack([np.arctanh(value), np.sqrt(squares) / total / (1 - value**2)])


_NO_ERROR = 1e-9  # of Fisher's z: a constant prediction leaves rounding


def _correlation(metric: Metric, table: CaseTable, sample: Sample, resampled: Floats) -> Interval:
    """Return the studentised interval of Fisher's z, at least the symmetric one and Student's t interval.

    resampled: see `_fisher_z`. The standard error is at least the spread of the resamples, in a resample at
    least a third of the sample's, as for means.
    """
    units = sample.bootstrap.units
    whole = UnitWeights(np.ones((1, units), dtype=np.int64), sample.bootstrap.unit_of_case)
    ((z, error),) = _fisher_z(metric, table, whole).tolist()
    found, errors = resampled[np.isfinite(resampled).all(axis=1)].T
    if found.size < 2 or not (math.isfinite(z) and error > _NO_ERROR):
        evidence = sample.evidence(metric, table)
        return effective_interval(evidence.value, 0.0, evidence)
    ratios = (found - z) / np.maximum(errors, error / 3)
    student, spread = student_quantile(0.975, units - 1), max(error, float(found.std(ddof=1)))
    (symmetric,), (low, high) = quantiles(np.abs(ratios), (0.95,)), quantiles(ratios, (0.025, 0.975))
    below, above = (max(student, float(symmetric), float(side)) * spread for side in (high, -low))
    return Interval(math.tanh(z - below), math.tanh(z + above))


def _by_influence(metric: Metric, table: CaseTable, sample: Sample) -> Interval:
    of_units = np.bincount(sample.bootstrap.unit_of_case, metric.estimator.influence(table))
    evidence = sample.evidence(metric, table)
    variance = float(of_units @ of_units) * of_units.size / (of_units.size - 1)
    return effective_interval(evidence.value, variance, evidence)


def _areas(metric: Metric, sample: Sample) -> list[Interval]:
    curve = metric.estimator.curve
    assert curve is not None
    positive = sample.tables[0][curve.label] > 0
    scores = np.stack([table[curve.score] for table in sample.tables])
    parts = components(scores, positive, sample.group.units)
    return [area_interval(parts.of(position)) for position in range(len(sample.tables))]


def _of_sums(sample: Sample) -> dict[str, list[Interval]]:
    metrics = sample.by("Gaffke")
    if not metrics:
        return {}
    figures = [
        metric.estimator.of_sums(table, metric.worst, metric.best)
        for metric in metrics.values()
        for table in sample.tables
    ]
    resampling = sample.resampling
    units = sample.bootstrap.unit_of_case
    found = iter(unseen_case_intervals(figures, units, resampling.seed, resampling.resamples))
    intervals: dict[str, list[Interval]] = {}
    for name, metric in metrics.items():
        low, high = sorted((metric.worst, metric.best))
        intervals[name] = []
        for table in sample.tables:
            one, value = next(found), value_of(metric, table)
            lower, upper = (min(max(end, low), high) for end in (one.lower, one.upper))
            intervals[name].append(Interval(min(lower, value), max(upper, value)))
    return intervals


def value_of(metric: Metric, table: CaseTable) -> float:
    """Return the value of a metric for all cases of a table."""
    ones = np.ones((1, len(table)), dtype=np.int64)
    return float(metric.estimator.values(WeightedCases(table, ones))[0])


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

    Left out, with the reason: metrics that cannot be resampled (see `groups_of`), whatever the predictions.
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
        Intervals({name: of_part[name] for name in metrics if name in of_part}, reasons)
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
