"""`leaderboard.csv`: results of other teams, among which the place of a submission is reported."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluation.core.fault import PhaseError, printable
from evaluation.phase.organiser_tables import TableRow, organiser_table

FILE_NAME = "leaderboard.csv"
TEAM, ELIGIBLE = "team", "eligible"
_YES, _NO = ("", "yes", "true", "1"), ("no", "false", "0")


@dataclass(frozen=True)
class TeamValues:
    """A team's values by metric ("task.metric"), without missing ones; only eligible teams are ranked."""

    team: str
    values: Mapping[str, float]
    eligible: bool = True


def read_leaderboard(path: Path, metrics: Collection[str]) -> tuple[TeamValues, ...]:
    """Return the rows of a leaderboard in their order.

    Columns: ``team``, metrics ("task.metric"; an empty cell: the team lacks it), optionally ``eligible`` (yes
    or no). Columns whose name has a space or no dot are remarks. Raises `PhaseError` listing every
    fault; a metric that is not in ``metrics`` is one.
    """
    with organiser_table(path, ()) as table:
        named = [column for column in table.columns if "." in column and " " not in column]
        table.faults.extend(
            f"{table.file}: column {column!r} is not a metric of this phase; known are {', '.join(metrics)}"
            for column in named
            if column not in metrics
        )
        if TEAM not in table.columns or not named:
            expected = f"the column {TEAM!r} and one for each metric"
            raise PhaseError(f"{table.file}: expected {expected}, found {', '.join(table.columns)}")
        teams = []
        for row in table.rows:
            values = {column: row.number(column) for column in named}
            existing = {column: value for column, value in values.items() if not math.isnan(value)}
            if not row.cells[TEAM]:
                row.faults.append(f"{row.place}: expected the name of a team, found nothing")
            teams.append(TeamValues(row.cells[TEAM], existing, is_eligible(row)))
        table.faults.extend(
            f"{table.file}: duplicate team {team!r} ({count} rows)"
            for team, count in Counter(row.team for row in teams).items()
            if count > 1 and team
        )
    return tuple(teams)


def is_eligible(row: TableRow) -> bool:
    """Return the value of the column ``eligible``, see `is_yes`."""
    return is_yes(row, ELIGIBLE)


def is_yes(row: TableRow, column: str) -> bool:
    """Return the value of a column; empty or absent means yes, anything but yes or no is a fault."""
    cell = row.cells.get(column, "")
    answer = cell.casefold()
    if answer not in (*_YES, *_NO):
        row.fault(column, f"expected yes or no, found {printable(cell)!r}")
    return answer not in _NO
