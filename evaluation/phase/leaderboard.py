"""`leaderboard.csv`: other teams' results, among which a submission is told its place."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluation.core.fault import PhaseError, ReadError, printable
from evaluation.io.numbers import parse_number

FILE_NAME = "leaderboard.csv"
TEAM, ELIGIBLE = "team", "eligible"
_YES, _NO = ("", "yes", "true", "1"), ("no", "false", "0")


@dataclass(frozen=True)
class TeamValues:
    """A team's metrics by name ("task.metric"), without those that it lacks; not eligible: never ranked."""

    team: str
    values: Mapping[str, float]
    eligible: bool = True


def read_leaderboard(path: Path, metrics: Collection[str]) -> tuple[TeamValues, ...]:
    """Return the rows of a leaderboard in their order.

    Columns: ``team``, metrics ("task.metric"; an empty cell: the team lacks it), optionally ``eligible`` (yes
    or no). Other columns, names without a dot or with a space, are remarks. Raises `PhaseError` listing every
    fault, a metric that is none of ``metrics`` among them.
    """
    name = path.name
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = [cell.strip() for cell in next(reader, [])]
            rows = [
                (reader.line_num, [cell.strip() for cell in cells])
                for cells in reader
                if any(cell.strip() for cell in cells)
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PhaseError(f"{name}: cannot be read: {error}") from None
    problems = [
        f"{name}: column {column!r} stands {count} times"
        for column, count in Counter(header).items()
        if count > 1
    ]
    named = [column for column in header if "." in column and " " not in column]
    problems += [
        f"{name}: column {column!r} is not a metric of this phase; known are {', '.join(metrics)}"
        for column in named
        if column not in metrics
    ]
    if TEAM not in header or not named:
        problems.append(f"{name}: expected the column {TEAM!r} and one for each metric, found {header}")
    problems += [
        f"{name}, line {line}: expected {len(header)} cells, found {len(cells)}"
        for line, cells in rows
        if len(cells) != len(header)
    ]
    if problems:
        raise PhaseError(*problems)
    teams = []
    for line, cells in rows:
        row = dict(zip(header, cells, strict=True))
        values = {}
        for column in named:
            try:
                if row[column]:
                    values[column] = parse_number(row[column])
            except ReadError as error:
                problems.append(f"{name}, line {line}, {column}: {error}")
        eligible = is_eligible(row.get(ELIGIBLE, ""))
        if eligible is None:
            problems.append(
                f"{name}, line {line}, {ELIGIBLE}: expected yes or no, found {printable(row[ELIGIBLE])!r}"
            )
        if not row[TEAM]:
            problems.append(f"{name}, line {line}: expected the name of a team, found nothing")
        teams.append(TeamValues(row[TEAM], values, eligible is not False))
    problems += [
        f"{name}: team {team!r} stands in {count} rows"
        for team, count in Counter(row.team for row in teams).items()
        if count > 1 and team
    ]
    if problems:
        raise PhaseError(*problems)
    return tuple(teams)


def is_eligible(cell: str) -> bool | None:
    """Return what a cell of the column ``eligible`` says, yes where it is empty; None for neither."""
    answer = cell.strip().casefold()
    return True if answer in _YES else False if answer in _NO else None
