"""Metrics under a bootstrap of the cases: what can be resampled, and its values in every resample.

A submission's intervals and the uncertainty of a leaderboard come from here, so that they are the same. Every
table is taken under the same weights. Metrics of equal strata share their draws; others are drawn apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable, FloatArray, WeightedCases
from evaluation.core.metric import Metric, Strata
from evaluation.metrics.intervals import bootstrap_weights

CLUSTER_COLUMN = "cluster"
"""The column of the case table that says which cases belong together, such as the eyes of a person."""

Units = NDArray[np.int64]


@dataclass(frozen=True)
class Resampling:
    """How a phase resamples its cases: seed of PCG64, number of resamples, fewest units of a stratum.

    Units are cases, or clusters where ``clusters`` gives that of every case by name (empty: the case alone).
    ``interval_maximum`` replaces the metrics' own numbers of cases above which they are not resampled.
    """

    seed: int
    resamples: int
    interval_minimum: int
    interval_maximum: int | None = None
    clusters: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Resampled:
    """Metrics by name, shape (resamples, tables), and for every other one why it was not resampled."""

    values: Mapping[str, FloatArray]
    missing: Mapping[str, str]


def units_of(clusters: Mapping[str, str] | None, names: Sequence[str]) -> Units | None:
    """Return the cluster of every case as an integer, shape (cases,); None where cases are independent."""
    if clusters is None:
        return None
    # An empty cell is a cluster of its own: a person of whom there is one image only.
    labels = [clusters[name] or f"\0{name}" for name in names]
    return np.unique(labels, return_inverse=True)[1].astype(np.int64).reshape(-1)


def resample(metrics: Mapping[str, Metric], tables: Sequence[CaseTable], resampling: Resampling) -> Resampled:
    """Return the bootstrap values of metrics in one or more tables of the same cases and strata.

    Left out, with the reason: metrics with fewer units in a stratum than the phase asks for or with more
    cases than can be resampled in time, and those that do not exist in every resample (a class that few
    images have).
    """
    first = tables[0]
    units = units_of(resampling.clusters, first.names)
    missing: dict[str, str] = {}
    groups: dict[bytes, dict[str, Metric]] = defaultdict(dict)
    strata_of: dict[bytes, Strata] = {}
    for name, metric in metrics.items():
        # Strata are not made where there are too many cases: making them takes its time too.
        reason = _too_many(metric, len(first), resampling)
        if reason is None:
            strata = metric.aggregate.strata(first)
            reason = _too_few(strata, units, resampling)
        if reason is None:
            strata_of[strata.tobytes()] = strata
            groups[strata.tobytes()][name] = metric
        else:
            missing[name] = reason
    values: dict[str, FloatArray] = {}
    for key, group in groups.items():
        for name, column in _resampled(group, tables, strata_of[key], units, resampling).items():
            if np.isnan(column).any():
                missing[name] = "it does not exist in every resample"
            else:
                values[name] = column
    return Resampled({name: values[name] for name in metrics if name in values}, missing)


def values_under(
    metrics: Mapping[str, Metric], tables: Sequence[CaseTable], blocks: Iterable[NDArray[np.float64]]
) -> dict[str, FloatArray]:
    """Return metrics by name under blocks of case weights, shape (rows of all blocks, tables)."""
    found: dict[str, list[FloatArray]] = {name: [] for name in metrics}
    for weights in blocks:
        weighted = [WeightedCases(table, weights) for table in tables]
        for name, metric in metrics.items():
            found[name].append(np.stack([metric.aggregate.values(cases) for cases in weighted], axis=1))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _too_many(metric: Metric, cases: int, resampling: Resampling) -> str | None:
    own = metric.aggregate.max_cases
    limit = None if own is None else resampling.interval_maximum or own
    return None if limit is None or cases <= limit else f"{cases} cases, more than {limit}"


def _too_few(strata: Strata, units: Units | None, resampling: Resampling) -> str | None:
    if not resampling.resamples:
        return "no resamples were asked for"
    unit_of_case = np.arange(len(strata)) if units is None else units
    sizes = [np.unique(unit_of_case[strata == stratum]).size for stratum in np.unique(strata[strata >= 0])]
    smallest, what = min(sizes, default=0), "cases" if units is None else "clusters"
    if smallest >= resampling.interval_minimum:
        return None
    return f"{smallest} {what} in a stratum, fewer than {resampling.interval_minimum}"


def _resampled(
    metrics: Mapping[str, Metric],
    tables: Sequence[CaseTable],
    strata: Strata,
    units: Units | None,
    resampling: Resampling,
) -> dict[str, FloatArray]:
    if (strata < 0).any():
        # Cases that do not enter take no part in the draws: leaving them out changes nothing but the time.
        members = np.flatnonzero(strata >= 0)
        tables, strata = [table.take(members) for table in tables], strata[members]
        units = None if units is None else units[members]
    weights = bootstrap_weights(strata, units, resampling.seed, resampling.resamples)
    return values_under(metrics, tables, weights)
