"""Members of an ensemble by a leaderboard: the first k teams of one of its boards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluation.core.fault import PhaseError
from evaluation.phase.leaderboard import TEAM, is_eligible
from evaluation.phase.organiser_tables import OrganiserTable, organiser_table

FILE_NAME = "leaderboard.csv"
_PLACE, _SUBMISSION = "place", "submission"
_OVERALL = "overall"


@dataclass(frozen=True)
class Chosen:
    """The folders of the chosen teams by name, in the order of their places, and the column of places."""

    folders: Mapping[str, Path]
    column: str


def best_of_board(path: Path, folders: Mapping[str, Path], count: int, board: str | None = None) -> Chosen:
    """Return the first ``count`` teams of a leaderboard that `rank --output` wrote.

    path: `leaderboard.csv`, or the folder that holds it. folders: the candidates by the name of the team; a
    team with several submissions has the one that counts in a sub-folder. board: "<board> place" is the
    column of places; None: the overall one, or the only one. Teams that are not ranked are never chosen.
    Raises `PhaseError` for an unknown board, for fewer ranked teams, for a tie about the last place, and for
    chosen teams that are not among the candidates.
    """
    file = path / FILE_NAME if path.is_dir() else path
    with organiser_table(file, (TEAM,)) as table:
        column = _column(table, board)
        places: dict[str, float] = {}
        submissions: dict[str, str] = {}
        for row in table.rows:
            place = row.number(column)
            if is_eligible(row) and not math.isnan(place):
                places[row.cells[TEAM]] = place
                submissions[row.cells[TEAM]] = row.cells.get(_SUBMISSION, "")
    order = sorted(places, key=lambda team: (places[team], team))
    if len(order) < count:
        raise PhaseError(f"{file.name}, {column}: expected at least {count} ranked teams, found {len(order)}")
    chosen = order[:count]
    if len(order) > count and places[order[count]] == places[chosen[-1]]:
        tied = [team for team in order if places[team] == places[chosen[-1]]]
        raise PhaseError(
            f"{file.name}, {column}: {', '.join(tied)} share place {places[chosen[-1]]:g}; choose "
            f"{order.index(tied[0])} or {order.index(tied[0]) + len(tied)} teams"
        )
    if absent := [team for team in chosen if team not in folders]:
        raise PhaseError(
            *(f"{team}: is among the first {count}, but not among the submissions" for team in absent)
        )
    return Chosen({team: _submission(folders[team], submissions[team]) for team in chosen}, column)


def _column(table: OrganiserTable, board: str | None) -> str:
    columns = [name for name in table.columns if name == _PLACE or name.endswith(f" {_PLACE}")]
    boards = ", ".join(name.removesuffix(_PLACE).strip() or _OVERALL for name in columns) or "none"
    for name in (f"{board or _OVERALL} {_PLACE}", *([_PLACE] if board in (None, _OVERALL) else [])):
        if name in columns:
            return name
    if board is None and len(columns) == 1:
        return columns[0]
    if board is None:
        raise PhaseError(f"{table.file}: has no overall board; choose one of {boards}")
    raise PhaseError(f"{table.file}: expected one of the boards {boards}, found {board!r}")


def _submission(folder: Path, submission: str) -> Path:
    return folder / submission if submission and (folder / submission).is_dir() else folder
