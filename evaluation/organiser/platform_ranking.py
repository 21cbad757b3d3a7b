"""Differences between the platform's ranking and the challenge's own, which `rank` computes.

The platform ranks by one score, or by the mean or median of the ranks in several columns; all columns count
alike, equal teams share a place, and there is one ranking per phase.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.core.scheme import Board, Rank, Scheme
from evaluation.ranking.schemes import PlatformMethod


@dataclass(frozen=True)
class PlatformRanking:
    """The platform's method for a scheme, its metrics, and sentences on how its places differ.

    ``metrics`` is empty if no method of the platform gives the scheme's places.
    """

    method: PlatformMethod
    metrics: tuple[str, ...]
    differences: tuple[str, ...]


def platform_ranking(scheme: Scheme) -> PlatformRanking:
    """Return the method of the platform that comes closest to a scheme."""
    boards = {board.name: board for board in scheme.boards}
    differences = []
    if scheme.overall is None:
        names = ", ".join(boards)
        return PlatformRanking("absolute", (), (f"the challenge has several leaderboards ({names})",))
    overall = boards[scheme.overall]
    metrics = _equal_ranks(overall, boards)
    if metrics is None:
        method: PlatformMethod = "absolute"
        differences.append("the challenge weights ranks, or adds scores of several leaderboards")
    elif len(metrics) == 1:
        method = "absolute"
    else:
        method = "median" if overall.combination == "median" else "mean"
    if overall.ties:
        differences.append("the challenge breaks ties")
    if scheme.phases:
        differences.append("the challenge combines the places of several phases")
    return PlatformRanking(method, metrics or (), tuple(differences))


def notes_on_ranking(
    scheme: Scheme, method: PlatformMethod, columns: Sequence[str], titles: Sequence[str]
) -> list[str]:
    """Return how the platform's places differ from the scheme's: one sentence, or none.

    columns: the score and the ranked columns by name, in that order; titles: the same for people.
    """
    closest = platform_ranking(scheme)
    differences = list(closest.differences)
    ranked = set(columns[:1] if method == "absolute" else columns)
    if closest.metrics and (closest.method, set(closest.metrics)) != (method, ranked):
        differences.append("the phase ranks by other columns than the challenge")
    if not differences:
        return []
    by = titles[0] if method == "absolute" else f"the {method} of the ranks in {', '.join(titles)}"
    return [f"the platform ranks by {by}, but {'; '.join(differences)}: `rank` gives these places"]


def _equal_ranks(board: Board, boards: dict[str, Board]) -> tuple[str, ...] | None:
    """Return the metrics if a leaderboard adds their ranks with equal weights, else None."""
    metrics = []
    terms = [term for term in board.terms if term.weight]
    if len({term.weight for term in terms}) > 1:
        return None
    for term in terms:
        if isinstance(term, Rank):
            metrics.append(term.metric)
            continue
        inner = boards[term.board]
        ranked = _equal_ranks(inner, boards)
        # Ranking a single rank changes nothing.
        if ranked is None or len(ranked) > 1 or inner.ties:
            return None
        metrics += ranked
    return tuple(metrics)
