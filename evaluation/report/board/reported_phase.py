"""One phase of a leaderboard, for the sections of its report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluation.charts.teams import TeamMarks
from evaluation.ranking.leaderboard_file import (
    BoardOfTeam,
    MetricOfPhase,
    OrganiserPart,
    PhaseLeaderboard,
    Team,
)
from evaluation.report.page import Block, Section


@dataclass(frozen=True)
class ReportedPhase:
    """A phase's leaderboard, the organiser's part, and the marks of the teams of all phases."""

    board: PhaseLeaderboard
    organiser: OrganiserPart
    marks: TeamMarks

    @property
    def teams(self) -> tuple[str, ...]:
        """The teams in the order of the leaderboard."""
        return tuple(team.team for team in self.board.teams)

    @property
    def ranked_metrics(self) -> dict[str, MetricOfPhase]:
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

    def title_of(self, metric: str) -> str:
        """Return the title of a metric, with its task where another metric has the same title."""
        known = self.board.metrics
        if metric not in known:
            return metric
        titles = [one.title for one in known.values()]
        title = known[metric].title
        return title if titles.count(title) == 1 else f"{title} ({metric.partition('.')[0]})"

    def axis_of(self, metric: str) -> str:
        """Return the title of a metric with its unit, for an axis."""
        known = self.board.metrics.get(metric)
        return f"{self.title_of(metric)} in {known.unit}" if known and known.unit else self.title_of(metric)

    def in_order_of(self, board: str) -> list[tuple[Team, BoardOfTeam]]:
        """Return the teams with a place in a board, best first."""
        found = [(team, team.boards[board]) for team in self.board.teams if board in team.boards]
        return sorted((one for one in found if one[1].place is not None), key=lambda one: one[1].place or 0)

    def by_value(self, metric: str) -> list[Team]:
        """Return the teams that have a metric, best first."""
        sign = -1 if self.board.metrics[metric].better == "higher" else 1
        found = [team for team in self.board.teams if metric in team.metrics]
        return sorted(found, key=lambda team: sign * team.metrics[metric].value)

    def section(self, name: str, title: str, blocks: Iterable[Block]) -> Section | None:
        """Return a section, with the role of the phase in its title; None without any block."""
        found = tuple(blocks)
        role = self.board.role
        return (
            Section(self.identifier(name), f"{title} ({role})" if role else title, found) if found else None
        )


def identifier(*words: str) -> str:
    """Return words as one name of lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", "-".join(words).casefold()).strip("-") or "unnamed"


def words_of(name: str) -> str:
    """Return the name of a board or group as words."""
    return name.replace("_", " ")


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
