"""The teams' metrics over resampled cases; all teams share the weights of a resample.

The interval of a metric is the one in the team's metrics.json. For ranks, a resample draws the cases of all
tasks at once.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Composite
from evaluation.core.estimator import Strata
from evaluation.core.intervals import intervals
from evaluation.core.metric import Metric
from evaluation.core.resampling import (
    Resampling,
    joined,
    joint_weights,
    strata_or_reason,
    units_of,
    values_under,
)
from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.results import RankingError, Submission
from evaluation.platform.result_file import as_written_values
from evaluation.stats.figure import Figure
from evaluation.stats.unseen import joint_distance

Tables = Mapping[str, CaseTable]
_ENTRIES_PER_BLOCK = 2_000_000
_STEP = 1e-6
_NO_CASES = "no team has results per case"


@dataclass(frozen=True)
class TeamCases:
    """The case tables of several teams, by task; None for a team without any.

    ``clusters``: the cluster of every case, None where cases are independent.
    """

    teams: tuple[str, ...]
    tables: tuple[Tables | None, ...]
    clusters: Mapping[str, str] | None = None

    @classmethod
    def of(cls, submissions: Sequence[Submission], clusters: Mapping[str, str] | None = None) -> "TeamCases":
        """Return the case tables of submissions of different teams."""
        return cls(tuple(s.team for s in submissions), tuple(s.tables for s in submissions), clusters)

    def task_tables(self, task: str) -> dict[str, CaseTable]:
        """Return the tables of a task by team. Raises `RankingError` where cases differ."""
        given = zip(self.teams, self.tables, strict=True)
        found = {team: tables[task] for team, tables in given if tables and task in tables}
        first = next(iter(found), "")
        for team, table in found.items():
            names = found[first].names
            # Usually they are the same object, while a comparison looks at every name.
            if table.names is not names and table.names != names:
                raise RankingError(f"{team}: task {task}: other cases than those of {first}")
        return found

    def each_table(self, metrics: Mapping[str, Metric]) -> Iterator[tuple[str, Metric, str, CaseTable]]:
        """Yield every metric with its name, and the team and table of each team with results in its task."""
        for name, metric in metrics.items():
            for team, table in self.task_tables(name.partition(".")[0]).items():
                yield name, metric, team, table

    def units(self, table: CaseTable, metric: Metric | None = None) -> NDArray[np.int64] | None:
        """Return the cluster of every case of a table as an integer, None where cases are independent.

        metric: whose groups of cases are drawn as a whole, too.
        """
        groups = metric.estimator.groups(table) if metric else None
        return joined(units_of(self.clusters, table.names), groups)

    def columns(self, teams: Iterable[str], values: Mapping[str, Floats]) -> dict[str, Floats]:
        """Spread the values of some teams, shape (rows, teams), over all teams, with NaN for the rest."""
        found, positions = {}, [self.teams.index(team) for team in teams]
        for name, resampled_values in values.items():
            found[name] = np.full((len(resampled_values), len(self.teams)), np.nan)
            found[name][:, positions] = resampled_values
        return found


@dataclass(frozen=True)
class Resampled:
    """Metrics by name, shape (resamples, teams), and for every other one why it was not resampled."""

    values: Mapping[str, Floats]
    missing: Mapping[str, str]


@dataclass(frozen=True)
class TeamIntervals:
    """Figures with intervals by metric and team, and for every metric without any the reason."""

    found: Mapping[str, Mapping[str, Figure]]
    missing: Mapping[str, str]


def intervals_of_teams(
    metrics: Mapping[str, Metric], cases: TeamCases, resampling: Resampling
) -> TeamIntervals:
    """Return the intervals of the metrics of all teams, as in each team's metrics.json.

    Raises `RankingError` where the reference's columns differ between teams.
    """
    found: dict[str, dict[str, Figure]] = {}
    missing: dict[str, str] = {}
    for task, task_metrics in by_task(metrics).items():
        tables = cases.task_tables(task)
        if not tables:
            missing |= dict.fromkeys(task_metrics, _NO_CASES)
            continue
        _require_same_strata(task_metrics, tables)
        of_task = intervals(task_metrics, list(tables.values()), resampling)
        missing |= of_task.missing
        for name, of_tables in of_task.found.items():
            found[name] = dict(zip(tables, of_tables, strict=True))
    return TeamIntervals(found, missing)


@dataclass(frozen=True)
class Draws:
    """One bootstrap of the cases of all tasks, see `joint_weights`.

    names: the cases, sorted. strata: by metric that can be resampled, shape (cases,). ``missing``: by every
    other metric, the reason why it cannot.
    """

    names: tuple[str, ...]
    units: NDArray[np.int64] | None
    strata: Mapping[str, Strata]
    missing: Mapping[str, str]
    resampling: Resampling

    def weights(self, names: Sequence[str]) -> Iterator[Floats]:
        """Yield blocks of the weights of some of the cases, in their order."""
        if not self.strata:
            return
        position = {name: place for place, name in enumerate(self.names)}
        columns = np.array([position[name] for name in names])
        is_all = np.array_equal(columns, np.arange(len(self.names)))
        different = {strata.tobytes(): strata for strata in self.strata.values()}
        for block in joint_weights(np.stack(list(different.values())), self.units, self.resampling):
            yield block if is_all else block[:, columns]


def draw_cases(metrics: Mapping[str, Metric], cases: TeamCases, resampling: Resampling) -> Draws:
    """Return the draws in which all these metrics exist.

    They depend on the seed and the cases in the order of their names, not on the order of rows, tasks or
    metrics, nor on the names of clusters. Raises `RankingError` where the reference's columns differ between
    teams.
    """
    missing: dict[str, str] = {}
    found: dict[str, tuple[tuple[str, ...], Strata]] = {}
    groups: list[dict[str, int]] = []
    for task, of_task in by_task(metrics).items():
        tables = cases.task_tables(task)
        if not tables:
            missing |= dict.fromkeys(of_task, _NO_CASES)
            continue
        _require_same_strata(of_task, tables)
        table = next(iter(tables.values()))
        for name, metric in of_task.items():
            strata = strata_or_reason(metric, table, cases.units(table, metric), resampling)
            if isinstance(strata, str):
                missing[name] = strata
            else:
                found[name] = table.names, strata
                if (own := metric.estimator.groups(table)) is not None:
                    groups.append(dict(zip(table.names, own.tolist(), strict=True)))
    names = tuple(sorted({name for of_metric, _ in found.values() for name in of_metric}))
    position = {name: place for place, name in enumerate(names)}
    strata_of_all = {}
    for name, (of_metric, strata) in found.items():
        strata_of_all[name] = np.full(len(names), -1, dtype=np.int64)
        strata_of_all[name][[position[case] for case in of_metric]] = strata
    units = units_of(cases.clusters, names)
    for group_of in groups:
        units = joined(units, np.array([group_of.get(case, -1) for case in names], dtype=np.int64))
    return Draws(names, units, strata_of_all, missing, resampling)


def resample_teams(metrics: Mapping[str, Metric], cases: TeamCases, draws: Draws) -> Resampled:
    """Return the values of the metrics of all teams in every resample, NaN where a team lacks one."""
    values: dict[str, Floats] = {}
    missing = dict(draws.missing)
    for task, of_task in by_task(metrics).items():
        kept = {name: metric for name, metric in of_task.items() if name in draws.strata}
        if not kept:
            continue
        tables = cases.task_tables(task)
        names = next(iter(tables.values())).names
        found = values_under(kept, list(tables.values()), draws.weights(names))
        incomplete = [name for name, of_tables in found.items() if np.isnan(of_tables).any()]
        missing |= dict.fromkeys(incomplete, "it does not exist in every resample")
        values |= cases.columns(tables, {name: found[name] for name in kept if name not in incomplete})
    return Resampled({name: values[name] for name in metrics if name in values}, missing)


def leave_one_out(
    metrics: Mapping[str, Metric], cases: TeamCases, names: Sequence[str]
) -> Iterator[tuple[Sequence[str], dict[str, Floats]]]:
    """Yield blocks of case names and the metrics of all teams without each, shape (names, teams)."""
    rows = max(1, _ENTRIES_PER_BLOCK // max(1, len(names)))
    for start in range(0, len(names), rows):
        left_out = names[start : start + rows]
        block: dict[str, Floats] = {}
        for task, task_metrics in by_task(metrics).items():
            if tables := cases.task_tables(task):
                weights = all_but_one(next(iter(tables.values())).names, left_out)
                values = values_under(task_metrics, list(tables.values()), [weights])
                block |= cases.columns(tables, values)
        yield left_out, block


def all_but_one(names: Sequence[str], left_out: Sequence[str]) -> Floats:
    """Return the weights of cases without each of some, shape (left out, names)."""
    at = {name: position for position, name in enumerate(names)}
    weights = np.ones((len(left_out), len(names)))
    for row, name in enumerate(left_out):
        if name in at:
            weights[row, at[name]] = 0
    return weights


def by_task(metrics: Mapping[str, Metric]) -> dict[str, dict[str, Metric]]:
    """Return metrics by task and name."""
    groups: dict[str, dict[str, Metric]] = {}
    for name, metric in metrics.items():
        groups.setdefault(name.partition(".")[0], {})[name] = metric
    return groups


def _require_same_strata(metrics: Mapping[str, Metric], tables: Mapping[str, CaseTable]) -> None:
    first, *others = tables
    for name, metric in metrics.items():
        strata = metric.estimator.strata(tables[first])
        for team in others:
            if not np.array_equal(metric.estimator.strata(tables[team]), strata):
                raise RankingError(f"{team}: {name}: the reference differs from that of {first}")


def with_composites(values: Mapping[str, Floats], composites: Sequence[Composite]) -> dict[str, Floats]:
    """Return values by metric and by composite, without composites that lack a metric."""
    found = dict(values)
    for composite in composites:
        if values.keys() >= set(composite.metrics):
            parts = (values[name] for name in composite.metrics)
            found[composite.name] = np.asarray(composite.combine(*parts))
    return found


def with_composite_intervals(
    parts: TeamIntervals,
    composites: Sequence[Composite],
    values: Mapping[str, Mapping[str, float]],
    resampled: Mapping[str, Floats],
) -> TeamIntervals:
    """Add the intervals of composites, whose variances on each side are recovered from those of their parts.

    values: by team and figure. resampled: by metric, under the same resamples, (rows, teams) in that order.
    Distances and standard errors of the parts count with the derivatives of the composite, see
    `joint_distance`.
    """
    found, missing = dict(parts.found), dict(parts.missing)
    for composite in composites:
        names = composite.metrics
        if lacking := [name for name in names if name not in parts.found or name not in resampled]:
            missing[composite.name] = f"no interval of {lacking[0]}"
            continue
        found[composite.name] = {
            team: _of_composite(composite, own, [parts.found[name][team] for name in names], drawn)
            for position, (team, own) in enumerate(values.items())
            if composite.name in own
            and all(team in parts.found[name] for name in names)
            and np.isfinite(drawn := np.stack([resampled[name][:, position] for name in names])).all()
        }
    return TeamIntervals(found, missing)


def _of_composite(
    composite: Composite, values: Mapping[str, float], parts: Sequence[Figure], resampled: Floats
) -> Figure:
    figures, value = np.array([values[name] for name in composite.metrics]), values[composite.name]
    steps = _STEP * np.eye(len(figures))
    slopes = np.array(
        [composite.combine(*(figures + one)) - composite.combine(*(figures - one)) for one in steps]
    ) / (2 * _STEP)
    covariance = np.atleast_2d(np.cov(resampled)) * np.outer(slopes, slopes)
    errors = np.sqrt(np.diag(covariance))
    error = math.sqrt(max(0.0, float(covariance.sum())))
    low, high = sorted((composite.best, composite.worst))

    def around(given: Sequence[Figure | None]) -> Figure:
        ends = np.array(
            [(one.lower, one.upper) if one else (None, None) for one in given], dtype=np.float64
        ).T
        if np.isnan(ends).any():
            return Figure(value, reason="no such interval of one of its metrics")
        reach = [
            np.abs(slopes * (figures - np.where(slopes > 0, ends[side], ends[1 - side]))) for side in (0, 1)
        ]
        down, up = joint_distance(error, reach, [errors, errors]).tolist()
        return Figure(value, max(low, value - down), min(high, value + up), "MOVER")

    return replace(around(parts), with_unseen_failures=around([one.with_unseen_failures for one in parts]))


def as_ranked(values: Mapping[str, Floats], composites: Sequence[Composite]) -> dict[str, Floats]:
    """Return exact values by metric, and composites made of them, each rounded once like metrics.json."""
    return {name: as_written_values(found) for name, found in with_composites(values, composites).items()}
