"""The teams' metrics over resampled cases; all teams share the weights of a resample.

Each metric is resampled as in the container (its own strata, the phase's seed), so that its interval is the
one in the team's metrics.json. Metrics with different strata are resampled independently, so their
covariance over cases does not enter the distribution of the ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Composite
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampled, Resampling, resample, units_of, values_under
from evaluation.platform.result_file import as_written_values
from evaluation.ranking.results import RankingError

FloatArray = NDArray[np.float64]
Tables = Mapping[str, CaseTable]
_ENTRIES_PER_BLOCK = 2_000_000


@dataclass(frozen=True)
class TeamCases:
    """The case tables of several teams, by task; None for a team without any.

    ``clusters``: the cluster of every case, None where cases are independent.
    """

    teams: tuple[str, ...]
    tables: tuple[Tables | None, ...]
    clusters: Mapping[str, str] | None = None

    def task_tables(self, task: str) -> dict[int, CaseTable]:
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
        return units_of(self.clusters, table.names)

    def columns(
        self, tables: Mapping[int, CaseTable], values: Mapping[str, FloatArray]
    ) -> dict[str, FloatArray]:
        """Return values of some teams, shape (rows, tables), as those of all, NaN for the rest."""
        found = {}
        for name, resampled_values in values.items():
            found[name] = np.full((len(resampled_values), len(self.teams)), np.nan)
            found[name][:, list(tables)] = resampled_values
        return found


def resample_teams(metrics: Mapping[str, Metric], cases: TeamCases, resampling: Resampling) -> Resampled:
    """Return the bootstrap values of the metrics of all teams, NaN where a team lacks one.

    Raises `RankingError` where the reference's columns differ between teams.
    """
    values: dict[str, FloatArray] = {}
    missing: dict[str, str] = {}
    for task, task_metrics in _by_task(metrics).items():
        tables = cases.task_tables(task)
        if not tables:
            missing |= dict.fromkeys(task_metrics, "no team has results per case")
            continue
        _require_same_strata(task_metrics, cases.teams, tables)
        found = resample(task_metrics, list(tables.values()), resampling)
        values |= cases.columns(tables, found.values)
        missing |= found.missing
    return Resampled({name: values[name] for name in metrics if name in values}, missing)


def leave_one_out(
    metrics: Mapping[str, Metric], cases: TeamCases, names: Sequence[str]
) -> Iterator[tuple[Sequence[str], dict[str, FloatArray]]]:
    """Yield blocks of case names and the metrics of all teams without each, shape (names, teams).

    Values are rounded like metrics.json, since they are ranked.
    """
    rows = max(1, _ENTRIES_PER_BLOCK // max(1, len(names)))
    for start in range(0, len(names), rows):
        left_out = names[start : start + rows]
        block: dict[str, FloatArray] = {}
        for task, task_metrics in _by_task(metrics).items():
            tables = cases.task_tables(task)
            if not tables:
                continue
            positions = {name: i for i, name in enumerate(next(iter(tables.values())).names)}
            weights = np.ones((len(left_out), len(positions)))
            for row, name in enumerate(left_out):
                if name in positions:
                    weights[row, positions[name]] = 0
            values = values_under(task_metrics, list(tables.values()), [weights])
            block |= cases.columns(
                tables, {name: as_written_values(column) for name, column in values.items()}
            )
        yield left_out, block


def _by_task(metrics: Mapping[str, Metric]) -> dict[str, dict[str, Metric]]:
    groups: dict[str, dict[str, Metric]] = {}
    for name, metric in metrics.items():
        groups.setdefault(name.partition(".")[0], {})[name] = metric
    return groups


def _require_same_strata(
    metrics: Mapping[str, Metric], teams: Sequence[str], tables: Mapping[int, CaseTable]
) -> None:
    first, *others = tables
    for name, metric in metrics.items():
        strata = metric.aggregate.strata(tables[first])
        for position in others:
            if not np.array_equal(metric.aggregate.strata(tables[position]), strata):
                raise RankingError(
                    f"{teams[position]}: {name}: the reference differs from that of {teams[first]}"
                )


def with_composites(
    values: Mapping[str, FloatArray], composites: Sequence[Composite]
) -> dict[str, FloatArray]:
    """Return values by metric and by composite, without composites that lack a metric."""
    return {
        **values,
        **{
            composite.name: np.asarray(composite.combine(*(values[name] for name in composite.metrics)))
            for composite in composites
            if values.keys() >= set(composite.metrics)
        },
    }
