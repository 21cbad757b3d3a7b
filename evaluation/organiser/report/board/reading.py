"""The files that `rank` wrote, as the sections need them."""

import csv
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from evaluation.challenges.declared.tables import title_of
from evaluation.charts.chart import Estimated
from evaluation.core.fault import PhaseError
from evaluation.core.trouble import raise_trouble_of
from evaluation.io.json_files import read_json
from evaluation.metrics.arrays import Floats
from evaluation.organiser.output import text_of_cell
from evaluation.organiser.ranking import leaderboard_file
from evaluation.organiser.ranking.comparisons import Comparison
from evaluation.organiser.ranking.leaderboard import CHOSEN_HERE
from evaluation.organiser.ranking.rank_tests import RANK_SUM, SIGNED_RANK
from evaluation.organiser.report.charts.teams import TeamMarks
from evaluation.organiser.report.page import (
    Block,
    Section,
    Table,
    figure_in_words,
    identifier,
    listed,
    shown_ends,
)
from evaluation.organiser.report.sentences import Names, names_in
from evaluation.phase.registry import challenge_named

# --- What sentences take of them ---


def size_in_words(pair: Comparison) -> str:
    """Return by how much two teams differ, with the interval; a test of ranks has that of the shift."""
    found = pair.difference if pair.difference.value >= 0 else pair.difference.reversed()
    if (ends := found.interval) is None:
        return figure_in_words(found.value)
    lower, upper = ends.lower, ends.upper
    if found.method in (SIGNED_RANK, RANK_SUM):
        shift = " to ".join(shown_ends(lower, upper, 4))
        return f"{figure_in_words(found.value)}, their cases by a shift of {shift}"
    return figure_in_words(found.value, (lower, upper))


# --- Reading of the files that `rank --output` writes ---

LEADERBOARD_FILE = "leaderboard.json"


def read_leaderboard(
    folder: Path,
) -> tuple[leaderboard_file.Leaderboard, tuple[leaderboard_file.OrganiserPart, ...]]:
    """Return a leaderboard and the organiser's files of each of its phases, in their order.

    The organiser's files may be missing. Raises `PhaseError` where `leaderboard.json` is missing, and for
    files that are not of this package.
    """
    path = folder / LEADERBOARD_FILE
    if not path.is_file():
        raise PhaseError(f"{path}: is missing; `rank {folder} --output FOLDER` writes it into another folder")
    board: leaderboard_file.Leaderboard = validated(path, leaderboard_file.Leaderboard, read_json(path))
    parts = (_organiser_part(folder, f"-{phase.role}" if phase.role else "") for phase in board.phases)
    return board, tuple(parts)


def _organiser_part(folder: Path, suffix: str) -> leaderboard_file.OrganiserPart:
    path = folder / f"organiser{suffix}.json"
    if not path.is_file():
        return leaderboard_file.OrganiserPart()
    content = read_json(path)
    if not isinstance(content, dict) or content.pop("format", None) != leaderboard_file.ORGANISER_FORMAT:
        raise PhaseError(f"{path}: expected the format {leaderboard_file.ORGANISER_FORMAT}")
    part: leaderboard_file.OrganiserPart = validated(path, leaderboard_file.OrganiserPart, content)
    return part


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a csv file that `rank` wrote, none where there is no file. Raises `PhaseError`."""
    if not path.is_file():
        return []
    try:
        with path.open(encoding="utf-8", newline="") as file:
            names, *rows = [list(map(text_of_cell, row)) for row in csv.reader(file)] or [[]]
            return [dict(zip(names, row, strict=True)) for row in rows]
    except (OSError, ValueError, csv.Error) as error:
        raise_trouble_of(error, "read", path)
        raise PhaseError(f"{path}: cannot be read: {error}") from None


def validated(path: Path, kind: Any, content: Any) -> Any:
    """Return a JSON value as an instance of a type."""
    try:
        return TypeAdapter(kind).validate_python(content)
    except (ValidationError, TypeError, AttributeError) as error:
        raise PhaseError(f"{path}: is not a file of this package ({error})") from None


# --- One phase of a leaderboard, for the sections of its report ---


@dataclass(frozen=True)
class ReportedPhase:
    """A phase's leaderboard, the organiser's part, and the marks of the teams of all phases."""

    board: leaderboard_file.PhaseLeaderboard
    organiser: leaderboard_file.OrganiserPart
    marks: TeamMarks

    @property
    def challenge(self) -> str | None:
        """The title of the challenge, None of one that the phase itself declares."""
        try:
            known = challenge_named(self.board.challenge)
        except PhaseError:
            return self.board.challenge
        return None if known.declare else known.title

    @property
    def teams(self) -> tuple[str, ...]:
        """The teams in the order of the leaderboard."""
        return tuple(team.team for team in self.board.teams)

    @property
    def ranked_metrics(self) -> dict[str, leaderboard_file.MetricOfPhase]:
        """The metrics of the scheme and of its composites."""
        return {
            name: metric
            for name, metric in self.board.metrics.items()
            if metric.in_ranking or metric.comparisons is not None
        }

    @property
    def boards(self) -> tuple[str, ...]:
        """The names of the boards, the overall one first."""
        names = [board["name"] for board in self.board.scheme["boards"]]
        overall = self.board.scheme.get("overall")
        return tuple(sorted(names, key=lambda name: name != overall))

    def identifier(self, *words: str) -> str:
        """Return the name of a figure or table: lower-case letters, digits and hyphens."""
        return identifier(self.board.role or "", *words)

    @cached_property
    def names(self) -> Names:
        """The words of the phase, else of its challenge, for names of boards, columns, groups and tasks."""
        return names_in(self.board.challenge, self.board.titles)

    def words(self, name: str) -> str:
        """Return the name of a board, column or task in words."""
        return self.names.of(name)

    def heading(self, name: str) -> str:
        """Return the same above a column or figure: without its article."""
        return self.words(name).removeprefix("the ")

    def title_of(self, metric: str) -> str:
        """Return the title of a metric, with its task where another metric has the same title.

        One that the phase does not publish, but the organiser's files hold, has its name in words.
        """
        known = self.board.metrics
        if metric not in known:
            task, _, name = metric.rpartition(".")
            return f"{title_of(name)} ({self.words(task)})" if task else title_of(name)
        titles = [one.title for one in known.values()]
        title = known[metric].title
        return title if titles.count(title) == 1 else f"{title} ({self.words(metric.partition('.')[0])})"

    def axis_of(self, metric: str) -> str:
        """Return the title of a metric with its unit, for an axis."""
        known, title = self.board.metrics.get(metric), self.title_of(metric)
        return f"{title} in {known.unit}" if known and known.unit and " in " not in title else title

    @property
    def chosen_here(self) -> str:
        """A sentence on the ensembles whose members were chosen on the same cases, empty without any."""
        names = [team.team for team in self.board.teams if team.chosen_here]
        return f" {listed(names)}: {CHOSEN_HERE}." if names else ""

    def timed(self, metric: str) -> list[leaderboard_file.Team]:
        """Return the teams that have a metric and a time per case, best value first."""
        return [team for team in self.by_value(metric) if team.seconds_per_case is not None]

    def front(self, metric: str) -> list[str]:
        """Return the ranked teams that no other team beats in one without losing in the other."""
        sign = self._sign(metric)
        costs = {
            team.team: (sign * team.metrics[metric].value, team.seconds_per_case or 0.0)
            for team in self.timed(metric)
            if team.eligible
        }
        return [
            team
            for team, (value, time) in costs.items()
            if not any(a <= value and b <= time and (a, b) != (value, time) for a, b in costs.values())
        ]

    def in_order_of(self, board: str) -> list[tuple[leaderboard_file.Team, leaderboard_file.BoardOfTeam]]:
        """Return the teams with a place in a board, best first."""
        found = [(team, team.boards[board]) for team in self.board.teams if board in team.boards]
        return sorted((one for one in found if one[1].place is not None), key=lambda one: one[1].place or 0)

    def by_value(self, metric: str) -> list[leaderboard_file.Team]:
        """Return the teams that have a metric, best first."""
        found = [team for team in self.board.teams if metric in team.metrics]
        return sorted(found, key=lambda team: self._sign(metric) * team.metrics[metric].value)

    def values(self, metric: str) -> list[Estimated]:
        """Return the values of a metric by team with their intervals, best first."""
        found = [(team.team, team.metrics[metric]) for team in self.by_value(metric)]
        return [Estimated(team, one.value, one.figure.lower, one.figure.upper) for team, one in found]

    def complete_values(self, metric: str) -> tuple[list[str], list[str], Floats]:
        """Return teams in the order of the leaderboard, cases, and values of shape (teams, cases).

        Cases in which any team has no value are left out; nothing where there are no values of single cases.
        """
        if (given := self.organiser.values.get(metric)) is None:
            return [], [], np.empty((0, 0))
        teams = [team for team in self.teams if team in given.teams]
        values = np.array([given.teams[team] for team in teams], dtype=np.float64)
        defined = np.flatnonzero(np.isfinite(values).all(axis=0))
        return teams, [given.cases[position] for position in defined.tolist()], values[:, defined]

    def hardest(self, metric: str, most: int) -> list[str]:
        """Return the cases with the worst mean over the teams, the worst first."""
        teams, cases, values = self.complete_values(metric)
        if not teams:
            return []
        chosen = np.argsort(-self._sign(metric) * values.mean(axis=0), kind="stable")[:most]
        return [cases[position] for position in chosen.tolist()]

    def _sign(self, metric: str) -> int:
        """Return by what a value is multiplied so that the least is the best."""
        return -1 if self.board.metrics[metric].better == "higher" else 1

    def tables(self, name: str, rows: Iterable[Any], more: str = "") -> Iterator[Table]:
        """Yield a declared table, see `Table.declared`, with its names in words; none without rows."""
        if found := list(map(self._in_words, rows)):
            yield Table.declared(name, found, self.identifier(name), more)

    def _in_words(self, row: Any) -> Any:
        """Return a record with the title of its metric, and the words of its column and groups."""
        told = {"metric": self.title_of(row.metric)} if hasattr(row, "metric") else {}
        if column := getattr(row, "column", ""):
            groups = [name for name in ("first", "second", "value") if hasattr(row, name)]
            told |= {name: self.names.of_value(column, getattr(row, name)) for name in groups}
            told["column"] = self.words(column)
        return dataclasses.replace(row, **told) if told else row

    def section(self, name: str, title: str, blocks: Iterable[Block], first: int = 0) -> Section:
        """Return a section, with the role of the phase in its title.

        ``first``: how many blocks are shown at once, see `Section`.
        """
        role = f" ({self.board.role})" if self.board.role else ""
        return Section(self.identifier(name), f"{title}{role}", tuple(blocks), first)


def are_first(teams: Sequence[str]) -> str:
    """Return the verb of the teams in the first place."""
    return "is first" if len(teams) == 1 else "share the first place"


def words_of(name: str) -> str:
    """Return the name of a board or group as words."""
    return name.replace("_", " ")
