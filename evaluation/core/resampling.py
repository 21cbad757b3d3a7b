"""Metrics under a bootstrap of the cases: which can be resampled, and their values under case weights."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.estimator import Strata
from evaluation.core.metric import Metric
from evaluation.metrics.arrays import Floats, distinct
from evaluation.stats.bootstrap import UnitWeights, bootstrap_of
from evaluation.stats.columns import weighted_means
from evaluation.stats.figure import LEVEL, IntervalChoice

CLUSTER_COLUMN = "cluster"
"""The column of the case table that says which cases belong together, such as the eyes of a person."""

Units = NDArray[np.int64]


@dataclass(frozen=True)
class Resampling:
    """How a phase resamples its cases: seed of PCG64, number of resamples, fewest units of a stratum.

    Units are cases, or clusters if ``clusters`` maps every case name to its cluster (empty: the case alone).
    ``interval_maximum`` replaces the metrics' own numbers of cases above which they are not resampled.
    ``interval``: which interval comes first; ``level``: of both.
    """

    seed: int
    resamples: int
    interval_minimum: int
    interval_maximum: int | None = None
    clusters: Mapping[str, str] | None = None
    interval: IntervalChoice = "field"
    level: float = LEVEL


@dataclass(frozen=True)
class Group:
    """Metrics of equal strata, which share their draws.

    members: positions of the cases that enter; strata, units: of these cases (None: independent cases).
    """

    metrics: Mapping[str, Metric]
    members: NDArray[np.intp]
    strata: Strata
    units: Units | None


def units_of(clusters: Mapping[str, str] | None, names: Sequence[str]) -> Units | None:
    """Return the cluster of every case as an integer, shape (cases,); None where cases are independent.

    Clusters are numbered in the order in which they occur; their names do not matter.
    """
    if clusters is None:
        return None
    # A case with an empty cell is a cluster of its own: a person with one image.
    labels = [clusters[name] or f"\0{name}" for name in names]
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    return np.array([numbers[label] for label in labels], dtype=np.int64)


def joined(units: Units | None, groups: Strata | None) -> Units | None:
    """Return the units of cases that are drawn with their group (−1: none), and with their cluster.

    units: the cluster of every case. Clusters that share a group are one unit, and so are groups that share a
    cluster.
    """
    if groups is None:
        return units
    own = np.where(groups >= 0, groups, int(groups.max(initial=-1)) + 1 + np.arange(groups.size))
    if units is None:
        return own
    found = own
    while True:
        before = found
        for of in (units, own):
            least = np.full(int(of.max(initial=-1)) + 1, np.iinfo(np.int64).max)
            np.minimum.at(least, of, found)
            found = least[of]
        if np.array_equal(found, before):
            return found


def groups_of(
    metrics: Mapping[str, Metric], table: CaseTable, resampling: Resampling
) -> tuple[list[Group], dict[str, str]]:
    """Return the metrics that can be resampled, in groups of equal strata, and the reasons for the others.

    Left out are metrics with fewer units in a stratum than the phase asks for, and those with more cases than
    can be resampled in time. The reasons follow from the reference alone.
    """
    clusters = units_of(resampling.clusters, table.names)
    missing: dict[str, str] = {}
    groups: dict[tuple[bytes, bytes], tuple[dict[str, Metric], Strata, Units | None]] = {}
    for name, metric in metrics.items():
        groups_of_cases = metric.estimator.groups(table)
        units = joined(clusters, groups_of_cases)
        strata = strata_or_reason(metric, table, units, resampling)
        if not isinstance(strata, str):
            strata = metric.no_interval or strata
        if isinstance(strata, str):
            missing[name] = strata
        else:
            if metric.estimator.drawn_together:
                strata = np.where(strata >= 0, 0, -1)
            key = strata.tobytes(), b"" if units is None or groups_of_cases is None else units.tobytes()
            groups.setdefault(key, ({}, strata, units))[0][name] = metric
    found = []
    for group, strata, units in groups.values():
        # Cases that do not enter take no part in the draws: leaving them out saves time only.
        members = np.flatnonzero(strata >= 0)
        found.append(Group(group, members, strata[members], None if units is None else units[members]))
    return found, missing


def strata_or_reason(
    metric: Metric, table: CaseTable, units: Units | None, resampling: Resampling
) -> Strata | str:
    """Return the strata of a metric, or the reason why it cannot be resampled."""
    own = metric.estimator.max_cases
    limit = None if own is None else resampling.interval_maximum or own
    # With too many cases no strata are made, since that takes time, too.
    if limit is not None and len(table) > limit:
        return f"{len(table)} cases, more than {limit}"
    strata = metric.estimator.strata(table)
    if not resampling.resamples:
        return "no resamples were asked for"
    unit_of_case = np.arange(len(strata)) if units is None else units
    what = "cases" if units is None else "clusters" if metric.estimator.groups(table) is None else "groups"
    present = distinct(strata[strata >= 0]).tolist()
    chosen = {f" of class {stratum}" if len(present) > 1 else "": strata == stratum for stratum in present}
    if (decisive := metric.estimator.decisive(table)) is not None:
        chosen[" of the positive class"] = decisive
    for of, cases in (chosen or {"": strata >= 0}).items():
        if distinct(unit_of_case[cases]).size < resampling.interval_minimum:
            return f"fewer than {resampling.interval_minimum} {what}{of}"
    return strata


def values_under(
    metrics: Mapping[str, Metric], tables: Sequence[CaseTable], blocks: Iterable[Floats | UnitWeights]
) -> dict[str, Floats]:
    """Return metrics by name under blocks of weights, shape (rows of all blocks, tables)."""
    found: dict[str, list[Floats]] = {name: [] for name in metrics}
    for weights in blocks:
        weighted = [WeightedCases(table, weights) for table in tables]
        for name, metric in metrics.items():
            found[name].append(_values_of_tables(metric, weighted))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _values_of_tables(metric: Metric, weighted: Sequence[WeightedCases]) -> Floats:
    column = metric.estimator.mean_column
    if column is None or len(weighted) == 1:
        return np.stack([metric.estimator.values(cases) for cases in weighted], axis=1)
    # One matrix product gives the means of many tables and reads the weights once.
    return weighted_means([cases.table[column] for cases in weighted], weighted[0].weights)


# --- One bootstrap of the cases for metrics of different strata, so that shared cases are drawn once ---


def by_task(metrics: Mapping[str, Metric]) -> dict[str, dict[str, Metric]]:
    """Return metrics by "task.metric" as metrics by task and that name."""
    groups: dict[str, dict[str, Metric]] = defaultdict(dict)
    for name, metric in metrics.items():
        groups[name.partition(".")[0]][name] = metric
    return groups


@dataclass(frozen=True)
class Draws:
    """One bootstrap of the cases of all tasks, see `joint_weights`.

    names: the cases, sorted. strata: by metric that can be resampled, shape (cases,). ``missing``: by every
    other metric, the reason why it cannot.
    """

    names: tuple[str, ...]
    units: Units | None
    strata: Mapping[str, Strata]
    missing: Mapping[str, str]
    resampling: Resampling

    def weights(self, *names: Sequence[str]) -> Iterator[list[Floats]]:
        """Yield blocks of weights: for each sequence of names those of its cases, in their order."""
        if not self.strata:
            return
        position = {name: place for place, name in enumerate(self.names)}
        of_each = [np.array([position[name] for name in of_one]) for of_one in names]
        every = np.arange(len(self.names))
        different = {strata.tobytes(): strata for strata in self.strata.values()}
        for block in joint_weights(np.stack(list(different.values())), self.units, self.resampling):
            yield [block if np.array_equal(columns, every) else block[:, columns] for columns in of_each]


def joint_draws(
    metrics: Mapping[str, Metric], tables: Mapping[str, CaseTable], resampling: Resampling
) -> Draws:
    """Return the draws in which metrics by "task.metric" all exist; ``tables`` are by task.

    They depend on the seed and the cases in the order of their names, not on the order of rows, tasks or
    metrics, nor on the names of clusters.
    """
    missing: dict[str, str] = {}
    found: dict[str, tuple[tuple[str, ...], Strata]] = {}
    groups: list[dict[str, int]] = []
    for task, of_task in by_task(metrics).items():
        table = tables[task]
        clusters = units_of(resampling.clusters, table.names)
        for name, metric in of_task.items():
            own = metric.estimator.groups(table)
            strata = strata_or_reason(metric, table, joined(clusters, own), resampling)
            if isinstance(strata, str):
                missing[name] = strata
                continue
            found[name] = table.names, strata
            if own is not None:
                groups.append(dict(zip(table.names, own.tolist(), strict=True)))
    names = tuple(sorted({name for of_metric, _ in found.values() for name in of_metric}))
    position = {name: place for place, name in enumerate(names)}
    strata_of_all = {}
    for name, (of_metric, strata) in found.items():
        strata_of_all[name] = np.full(len(names), -1, dtype=np.int64)
        strata_of_all[name][[position[case] for case in of_metric]] = strata
    units = units_of(resampling.clusters, names)
    for group_of in groups:
        units = joined(units, np.array([group_of.get(case, -1) for case in names], dtype=np.int64))
    return Draws(names, units, strata_of_all, missing, resampling)


def resampled(
    metrics: Mapping[str, Metric], tables: Mapping[str, Sequence[CaseTable]], draws: Draws
) -> dict[str, Floats]:
    """Return those metrics that can be resampled in every resample, shape (resamples, tables of the task)."""
    kept = by_task({name: metric for name, metric in metrics.items() if name in draws.strata})
    found: dict[str, list[Floats]] = {name: [] for of_task in kept.values() for name in of_task}
    # Drawn once for all tasks.
    for blocks in draws.weights(*(tables[task][0].names for task in kept)):
        for (task, of_task), block in zip(kept.items(), blocks, strict=True):
            for name, values in values_under(of_task, tables[task], [block]).items():
                found[name].append(values)
    return {name: np.concatenate(parts) for name, parts in found.items()}


_MOST_DRAWS = 20  # for each resample that is wanted


def joint_weights(strata: Strata, units: Units | None, resampling: Resampling) -> Iterator[Floats]:
    """Yield blocks of case weights under which every metric exists, (rows, cases), ``resamples`` rows in all.

    strata: shape (metrics, cases), −1 where a case does not enter a metric. units: shape (cases,), the
    cluster of every case; None where cases are independent. Units in the same strata of all metrics are
    resampled among themselves. Combinations of strata with fewer units than the phase asks for in a stratum
    are resampled together, and a draw that leaves a stratum empty is repeated. There are fewer rows only if
    nearly all draws leave a stratum empty.
    """
    unit_of_case = np.arange(strata.shape[1]) if units is None else np.unique(units, return_inverse=True)[1]
    combination = _combinations(strata, unit_of_case.reshape(-1), resampling.interval_minimum)
    present = np.concatenate(
        [row == stratum for row in strata for stratum in distinct(row[row >= 0])[:, np.newaxis]]
    ).reshape(-1, strata.shape[1])
    wanted = resampling.resamples
    for block in bootstrap_of(combination, units, resampling.seed, wanted * _MOST_DRAWS).case_weights():
        complete = (block @ present.T.astype(np.float64) > 0).all(axis=1)
        rows = block[complete][:wanted]
        wanted -= len(rows)
        yield rows
        if not wanted:
            return


def _combinations(strata: Strata, unit_of_case: NDArray[np.intp], minimum: int) -> Strata:
    """Return for every case the number of its unit's combination of strata, small ones together."""
    kind_of_case = np.unique(strata, axis=1, return_inverse=True)[1].reshape(-1)
    has = np.zeros((int(unit_of_case.max(initial=-1)) + 1, int(kind_of_case.max(initial=-1)) + 1), np.bool_)
    has[unit_of_case, kind_of_case] = True
    # Units that enter no metric at all are not drawn.
    entering = np.zeros(len(has), dtype=np.bool_)
    entering[unit_of_case[(strata >= 0).any(axis=0)]] = True
    combination = np.unique(has, axis=0, return_inverse=True)[1].reshape(-1)
    small = np.bincount(combination)[combination] < minimum
    combination = np.where(small, combination.max(initial=-1) + 1, combination)
    # Numbered as they occur, so that the order of the metrics does not matter.
    _, first, number = np.unique(combination, return_index=True, return_inverse=True)
    in_order = np.argsort(np.argsort(first))[number]
    return np.where(entering, in_order, -1)[unit_of_case]
