"""Teams beside the first place, and variants of a method beside the method (ADAM, Tables 10 and 13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.core.scheme import Rank, Scheme
from evaluation.ranking.leaderboard_file import PhaseLeaderboard, Team
from evaluation.ranking.methods.tied_ranks import Better
from evaluation.ranking.statistics.decimals import published_difference


@dataclass(frozen=True)
class Difference:
    """A metric of two teams, compared in the published digits.

    ``difference`` is value − other value, ``relative_change_percent`` the same in percent of the other
    value's size, None where that is 0. ``outcome`` is about ``team``, in the metric's better direction.
    ``board``: the leaderboard with the other team in first place, empty in a comparison for another reason.
    """

    board: str
    metric: str
    team: str
    value: float
    other: str
    other_value: float
    difference: float
    relative_change_percent: float | None
    outcome: Literal["better", "equal", "worse"]


def against_first_place(
    board: PhaseLeaderboard, scheme: Scheme, better: Mapping[str, Better]
) -> tuple[Difference, ...]:
    """Return every team, ranked or not, beside the first place of the board that ranks the metric.

    A metric belongs to the boards that the overall one combines (ADAM's Dice of drusen: the lesion board);
    without such boards to the overall one. Each team that shares the first place is compared with. better: by
    metric.
    """
    found: list[Difference] = []
    for name, metrics in _metrics_by_board(scheme):
        firsts = [team for team in board.teams if team.boards[name].place == 1]
        for metric in metrics:
            for first in firsts:
                others = [team for team in board.teams if team.boards[name].place != 1]
                found += _differences(name, [metric], others, first, better)
    return tuple(found)


def of_variants(
    board: PhaseLeaderboard, variants: Mapping[str, str], better: Mapping[str, Better]
) -> tuple[Difference, ...]:
    """Return the metrics of every variant beside its original team's.

    variants: the team by the variant's name. better: by metric.
    """
    teams = {team.team: team for team in board.teams}
    return tuple(
        difference
        for variant, team in sorted(variants.items())
        for difference in _differences(
            "", list(teams[variant].metrics), [teams[variant]], teams[team], better
        )
    )


def _differences(
    board: str,
    metrics: Sequence[str],
    teams: Sequence[Team],
    other: Team,
    better: Mapping[str, Better],
) -> Iterator[Difference]:
    for team in teams:
        for metric in metrics:
            if metric not in team.metrics or metric not in other.metrics:
                continue
            value, other_value = team.metrics[metric].value, other.metrics[metric].value
            difference = float(published_difference(value, other_value))
            upwards = difference if better[metric] == "higher" else -difference
            yield Difference(
                board,
                metric,
                team.team,
                value,
                other.team,
                other_value,
                difference,
                100 * difference / abs(other_value) if other_value else None,
                "better" if upwards > 0 else "worse" if upwards < 0 else "equal",
            )


def _metrics_by_board(scheme: Scheme) -> Iterator[tuple[str, list[str]]]:
    """Yield the boards that the overall one combines with their metrics, then the overall one with the rest.

    Without an overall one, the boards that no other combines.
    """
    boards = {board.name: board for board in scheme.boards}
    if scheme.overall is None:
        used = {term.board for board in scheme.boards for term in board.terms if not isinstance(term, Rank)}
        yield from ((name, list(scheme.metrics_of(name))) for name in boards if name not in used)
        return
    seen: set[str] = set()
    for term in boards[scheme.overall].terms:
        if not isinstance(term, Rank):
            metrics = list(scheme.metrics_of(term.board))
            seen.update(metrics)
            yield term.board, metrics
    if rest := [metric for metric in scheme.metrics_of(scheme.overall) if metric not in seen]:
        yield scheme.overall, rest
