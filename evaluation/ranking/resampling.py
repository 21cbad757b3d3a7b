"""The teams' metrics under resampled cases, paired: every team under the same weights.

Each metric is resampled as in the container (its own strata, the phase's seed), so that an interval here is
the one of the team's metrics.json. Metrics of equal strata share their draws; others are drawn apart, and
what they have in common over the cases does not enter the distribution of the ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.core.aggregation import fewest_units
from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.challenge import Composite
from evaluation.core.metric import Metric, Strata
from evaluation.metrics.intervals import bootstrap_weights
from evaluation.platform.result_file import SIGNIFICANT_DIGITS
from evaluation.ranking.results import CaseColumns, RankingError, ResamplingChoice

FloatArray = NDArray[np.float64]
Tables = Mapping[str, CaseTable]
_CLUSTER = "cluster"
_ENTRIES_PER_BLOCK = 2_000_000


@dataclass(frozen=True)
class TeamCases:
    """The case tables of several teams, by task; None for a team without any.

    ``clusters`` gives every case's cluster, None where cases are independent.
    """

    teams: tuple[str, ...]
    tables: tuple[Tables | None, ...]
    clusters: Mapping[str, str] | None = None

    def of_task(self, task: str) -> dict[int, CaseTable]:
        """Return the tables of a task by the teams' positions. Raises `RankingError` where cases differ."""
        found = {
            position: tables[task] for position, tables in enumerate(self.tables) if tables and task in tables
        }
        for position, table in found.items():
            first = next(iter(found))
            if table.names != found[first].names:
                raise RankingError(
                    f"{self.teams[position]}: task {task}: other cases than those of {self.teams[first]}"
                )
        return found

    def units(self, table: CaseTable) -> NDArray[np.int64] | None:
        """Return the cluster of every case of a table as an integer, None where cases are independent."""
        if self.clusters is None:
            return None
        labels = [self.clusters[name] or f"\0{name}" for name in table.names]
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def clusters_of(cases: CaseColumns) -> dict[str, str] | None:
    """Return the cluster of every case by name, None where the phase has none."""
    if _CLUSTER not in cases.columns:
        return None
    return dict(zip(cases.names, cases.columns[_CLUSTER], strict=True))


@dataclass(frozen=True)
class Resampled:
    """Metrics by name, shape (resamples, teams), NaN where a team lacks it; and why others are missing."""

    values: Mapping[str, FloatArray]
    missing: Mapping[str, str]


def resample(metrics: Mapping[str, Metric], cases: TeamCases, choice: ResamplingChoice) -> Resampled:
    """Return the bootstrap values of the metrics of all teams.

    Left out, with the reason: metrics with fewer cases in a stratum than the phase asks for or with more than
    can be resampled in time, and those that do not exist in every resample. Raises `RankingError` where the
    reference's columns differ between teams.
    """
    values: dict[str, FloatArray] = {}
    missing: dict[str, str] = {}
    groups: dict[tuple[str, bytes], dict[str, Metric]] = {}
    strata_of: dict[bytes, Strata] = {}
    for name, metric in metrics.items():
        tables = cases.of_task(name.partition(".")[0])
        if not tables:
            missing[name] = "no team has results per case"
            continue
        strata = _common_strata(name, metric, cases.teams, tables)
        most_cases = metric.aggregate.most_cases
        if most_cases is not None and len(strata) > (choice.interval_maximum or most_cases):
            missing[name] = f"{len(strata)} cases, more than {choice.interval_maximum or most_cases}"
            continue
        units = cases.units(next(iter(tables.values())))
        smallest = fewest_units(strata, units)
        if not choice.resamples or smallest < choice.interval_minimum:
            what = "cases" if units is None else "clusters"
            missing[name] = f"{smallest} {what} in a stratum, fewer than {choice.interval_minimum}"
            continue
        strata_of[strata.tobytes()] = strata
        groups.setdefault((name.partition(".")[0], strata.tobytes()), {})[name] = metric
    for (task, key), group in groups.items():
        tables = cases.of_task(task)
        units = cases.units(next(iter(tables.values())))
        weights = bootstrap_weights(strata_of[key], units, choice.seed, choice.resamples)
        for name, column in _under(group, tables, len(cases.teams), weights).items():
            if np.isnan(column[:, list(tables)]).any():
                missing[name] = "it does not exist in every resample"
            else:
                values[name] = column
    return Resampled({name: values[name] for name in metrics if name in values}, missing)


def leave_one_out(
    metrics: Mapping[str, Metric], cases: TeamCases, names: Sequence[str]
) -> Iterator[tuple[Sequence[str], dict[str, FloatArray]]]:
    """Yield blocks of case names and the metrics of all teams without each, shape (names, teams).

    To the digits of metrics.json, since they are for ranking.
    """
    rows = max(1, _ENTRIES_PER_BLOCK // max(1, len(names)))
    for start in range(0, len(names), rows):
        left_out = names[start : start + rows]
        block: dict[str, FloatArray] = {}
        for task in dict.fromkeys(name.partition(".")[0] for name in metrics):
            tables = cases.of_task(task)
            if not tables:
                continue
            positions = {name: i for i, name in enumerate(next(iter(tables.values())).names)}
            weights = np.ones((len(left_out), len(positions)))
            for row, name in enumerate(left_out):
                if name in positions:
                    weights[row, positions[name]] = 0
            of_task = {name: metric for name, metric in metrics.items() if name.partition(".")[0] == task}
            values = _under(of_task, tables, len(cases.teams), iter([weights]))
            block |= {name: as_written_values(column) for name, column in values.items()}
        yield left_out, block


def _common_strata(
    name: str, metric: Metric, teams: Sequence[str], tables: Mapping[int, CaseTable]
) -> Strata:
    first, *others = tables
    strata = metric.aggregate.strata(tables[first])
    for position in others:
        if not np.array_equal(metric.aggregate.strata(tables[position]), strata):
            raise RankingError(
                f"{teams[position]}: {name}: the reference differs from that of {teams[first]}"
            )
    return strata


def _under(
    metrics: Mapping[str, Metric],
    tables: Mapping[int, CaseTable],
    teams: int,
    blocks: Iterator[FloatArray],
) -> dict[str, FloatArray]:
    found: dict[str, list[FloatArray]] = {name: [] for name in metrics}
    for weights in blocks:
        columns = {name: np.full((len(weights), teams), np.nan) for name in metrics}
        for position, table in tables.items():
            weighted = WeightedCases(table, weights)
            for name, metric in metrics.items():
                columns[name][:, position] = metric.aggregate.values(weighted)
        for name, column in columns.items():
            found[name].append(column)
    return {name: np.concatenate(parts) for name, parts in found.items()}


def with_composites(
    values: Mapping[str, FloatArray], composites: Sequence[Composite]
) -> dict[str, FloatArray]:
    """Return values by metric and, for the composites whose metrics are all there, by composite."""
    return {
        **values,
        **{
            composite.name: np.asarray(composite.combine(*(values[name] for name in composite.metrics)))
            for composite in composites
            if values.keys() >= set(composite.metrics)
        },
    }


def as_written_values(values: FloatArray) -> FloatArray:
    """Return values to the digits of metrics.json, so that what ties there ties here."""
    magnitude = np.abs(values)
    ordinary = np.isfinite(values) & (magnitude > 0)
    exponent = np.floor(np.log10(magnitude, out=np.zeros_like(values), where=ordinary))
    scale = 10.0 ** (SIGNIFICANT_DIGITS - 1 - exponent)
    return np.where(ordinary, np.rint(values * scale) / scale, values)
