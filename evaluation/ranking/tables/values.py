"""The values of a table by task and metric, as arrays of teams and cases, with missing ones replaced."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas
from numpy.typing import NDArray

from evaluation.phase.leaderboard import TEAM
from evaluation.ranking.tables.definition import MetricDefinition, TableDefinition
from evaluation.ranking.tables.long_form import CASE, METRIC, TASK, VALUE, definition_of, report_rows

FloatArray = NDArray[np.float64]
_MAX_FAULTS = 20


@dataclass(frozen=True)
class MetricValues:
    """The values of one metric of one task, shape (teams, cases), NaN where the table has none."""

    definition: MetricDefinition
    values: FloatArray


def values_by_task(
    path: Path,
    long: pandas.DataFrame,
    teams: Sequence[str],
    cases: Sequence[str],
    definition: TableDefinition,
    problems: list[str],
) -> dict[str, dict[str, MetricValues]]:
    """Return the values by task and metric, in the order of the table; faults are added to problems.

    teams, cases: the order of the arrays' axes. A team without any value of a task takes no part in it. Any
    other missing value takes the metric's worst one; a case without the value of any team is undefined.
    """
    keys = [TASK, METRIC, TEAM] + ([CASE] if CASE in long else [])
    report_rows(
        problems,
        path,
        long.index[long.duplicated(keys)].unique(),
        f"the same {', '.join(keys)} as in an earlier line",
    )
    found: dict[str, dict[str, MetricValues]] = {}
    team_at = {team: position for position, team in enumerate(teams)}
    case_at = {case: position for position, case in enumerate(cases)}
    for (task, metric), rows in long.groupby([TASK, METRIC], sort=False):
        described = definition_of(f"{task}.{metric}", definition)
        if described is None:
            problems.append(f"{path}: metric {metric!r} is not defined (--metric {metric}=higher|lower)")
            continue
        values = np.full((len(teams), len(cases)), math.nan)
        columns = rows[CASE].map(case_at).to_numpy() if CASE in rows else 0
        values[rows[TEAM].map(team_at).to_numpy(), columns] = rows[VALUE].to_numpy(dtype=np.float64)
        found.setdefault(str(task), {})[str(metric)] = MetricValues(described, values)
    return {
        task: {
            name: _filled(path, task, name, entry, metrics, teams, cases, problems)
            for name, entry in metrics.items()
        }
        for task, metrics in found.items()
    }


def _filled(
    path: Path,
    task: str,
    name: str,
    entry: MetricValues,
    metrics: Mapping[str, MetricValues],
    teams: Sequence[str],
    cases: Sequence[str],
    problems: list[str],
) -> MetricValues:
    """Return the values with missing ones replaced by the worst one."""
    takes_part = np.logical_or.reduce([~np.isnan(other.values).all(axis=1) for other in metrics.values()])
    defined = ~np.isnan(entry.values).all(axis=0)
    missing = np.isnan(entry.values) & defined & takes_part[:, np.newaxis]
    if len(cases) == 1 and cases[0] == "":
        # An aggregated value that is missing leaves the team out of the metric.
        missing &= entry.definition.worst is not None
    worst = entry.definition.worst
    if worst is None:
        places = [f"{teams[team]}, {cases[case]}" for team, case in np.argwhere(missing).tolist()]
        lines = [
            f"{path}: {task}.{name}: the value of {place} is missing, and no worst value is defined"
            for place in places[:_MAX_FAULTS]
        ]
        problems += lines + ([f"{path}: {task}.{name}: {len(places)} values are missing"] if lines else [])
        return entry
    return replace(entry, values=np.where(missing, worst, entry.values))
