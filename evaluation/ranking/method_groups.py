"""Results by the teams' methods, from columns of `teams.csv`, as in REFUGE's Tables 3 and 5.

A cell may list several values, such as "ResNet-50; DenseNet-201"; its team is in each group.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.phase.leaderboard import ELIGIBLE, TEAM
from evaluation.phase.organiser_tables import organiser_table
from evaluation.ranking.leaderboard_file import PhaseLeaderboard
from evaluation.ranking.results import RankingError
from evaluation.ranking.statistics.pairwise import holm
from evaluation.ranking.statistics.ranks import rank_sum_test
from evaluation.ranking.team_roles import COMPARE_WITH, LISTED, SEPARATOR

_ROLES = frozenset({TEAM, ELIGIBLE, LISTED, COMPARE_WITH})


@dataclass(frozen=True)
class Methods:
    """The methods in a table of teams: its columns without the roles, and the cells by team."""

    file: str
    columns: tuple[str, ...]
    cells: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class MethodGroup:
    """The ranked teams with one value in a column of methods, in one metric.

    ``p_value``: two-sided Mann–Whitney test against the other ranked teams with a value in the column; None
    where there are none. ``p_holm`` is corrected for the groups of the column. Teams chose their methods
    themselves, so a difference does not show its cause.
    """

    metric: str
    column: str
    value: str
    teams: int
    best: float
    mean: float
    median: float
    worst: float
    best_team: str
    p_value: float | None
    p_holm: float | None


def read_methods(path: Path) -> Methods:
    """Read a table of methods, with a column ``team``; it may have teams without results.

    Raises `PhaseError` listing every fault, such as a team in two rows.
    """
    cells: dict[str, Mapping[str, str]] = {}
    with organiser_table(path, (TEAM,)) as table:
        for row in table.rows:
            team = row.cells[TEAM]
            if team in cells:
                row.fault(TEAM, f"{team!r} is also in an earlier row")
            cells[team] = row.cells
        columns = tuple(column for column in table.columns if column and column not in _ROLES)
    return Methods(path.name, columns, cells)


def method_groups(
    phase: PhaseLeaderboard, methods: Methods, columns: Sequence[str]
) -> tuple[MethodGroup, ...]:
    """Return the groups of every column in every metric, the best mean first.

    Raises `RankingError` for a column that the table of methods does not have.
    """
    if unknown := [column for column in columns if column not in methods.columns]:
        known = ", ".join(methods.columns) or "none of methods"
        raise RankingError(*(f"{column}: no column of {methods.file}; it has {known}" for column in unknown))
    found: list[MethodGroup] = []
    for name, metric in phase.metrics.items():
        ranked = [team for team in phase.teams if team.eligible and name in team.metrics]
        values = {team.team: team.metrics[name].value for team in ranked}
        upwards = 1 if metric.better == "higher" else -1
        for column in columns:
            members = _members(methods, column, values)
            groups = [_group(name, column, group, members, values, upwards) for group in members]
            adjusted = holm([group.p_value for group in groups])
            corrected = [
                replace(group, p_holm=p_holm) for group, p_holm in zip(groups, adjusted, strict=True)
            ]
            found += sorted(corrected, key=lambda group: (-upwards * group.mean, group.value))
    return tuple(found)


def methods_rows(phase: PhaseLeaderboard, methods: Methods) -> list[dict[str, Any]]:
    """Return a row for each team in the order of the leaderboard: places, methods, metrics of the ranking."""
    ranked = [name for name, metric in phase.metrics.items() if metric.in_ranking]
    return [
        {
            TEAM: team.team,
            **{f"{name} place": board.place for name, board in team.boards.items()},
            **{column: methods.cells.get(team.team, {}).get(column, "") for column in methods.columns},
            **{name: team.metrics[name].value if name in team.metrics else None for name in ranked},
        }
        for team in phase.teams
    ]


def _members(methods: Methods, column: str, teams: Collection[str]) -> dict[str, list[str]]:
    """Return the teams by value of a column; a team without a cell is in no group."""
    members: dict[str, list[str]] = {}
    for team in teams:
        cell = methods.cells.get(team, {}).get(column, "")
        for value in dict.fromkeys(part.strip() for part in cell.split(SEPARATOR)):
            if value:
                members.setdefault(value, []).append(team)
    return members


def _group(
    metric: str,
    column: str,
    value: str,
    members: Mapping[str, Sequence[str]],
    values: Mapping[str, float],
    upwards: int,
) -> MethodGroup:
    own = members[value]
    others = sorted({team for teams in members.values() for team in teams} - set(own))
    numbers = [values[team] for team in own]
    best, worst = (max, min) if upwards > 0 else (min, max)
    return MethodGroup(
        metric,
        column,
        value,
        len(own),
        best(numbers),
        math.fsum(numbers) / len(numbers),
        float(np.median(numbers)),
        worst(numbers),
        min(team for team in own if values[team] == best(numbers)),
        rank_sum_test(numbers, [values[team] for team in others]).p_value,
        None,
    )
