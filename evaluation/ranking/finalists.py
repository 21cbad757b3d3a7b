"""Finalists: the first teams of one phase, the only ones ranked in the others, such as REFUGE's twelve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from evaluation.core.scheme import Scheme
from evaluation.ranking.leaderboard import RankedPhase, rank_phase
from evaluation.ranking.rank_options import RankOptions
from evaluation.ranking.results import PhaseResults, RankingError


@dataclass(frozen=True)
class Selection:
    """The phase ``role`` and the ``number`` of its first teams that are ranked in the other phases."""

    role: str
    number: int


def finalists(phase: RankedPhase, number: int) -> tuple[str, ...]:
    """Return the teams whose overall place is at most ``number``, best first.

    Teams that share the last place are all included, so there may be more.
    Raises `RankingError` where the phase has no overall leaderboard.
    """
    if phase.overall is None:
        raise RankingError(f"{phase.board.phase}: has no overall leaderboard to select teams by")
    places = phase.overall.places[0].tolist()
    chosen = [(place, team) for place, team in zip(places, phase.ranked_teams, strict=True) if place]
    return tuple(team for place, team in sorted(chosen) if place <= number)


def rank_all(
    results: Mapping[str, PhaseResults],
    schemes: Mapping[str, Scheme],
    choices: Mapping[str, RankOptions],
    selection: Selection | None = None,
) -> dict[str, RankedPhase]:
    """Return the leaderboards of all phases by role, in their order.

    Teams outside of the selection are listed in the other phases without a place, and have no final place.
    Raises `RankingError`, also for a selection by a missing phase.
    Source: Orlando et al. 2020, Med. Image Anal. 59:101570 (REFUGE), section 3.2.
    """
    if selection is None:
        return {
            role: rank_phase(one, schemes[role], choices[role], role or None) for role, one in results.items()
        }
    role, number = selection.role, selection.number
    if role not in results or len(results) == 1:
        given = ", ".join(filter(None, results)) or "a single one"
        raise RankingError(f"finalists of {role}: expected a phase of several, given are {given}")
    first = rank_phase(results[role], schemes[role], choices[role], role)
    chosen = finalists(first, number)
    ranked: dict[str, RankedPhase] = {}
    for other, of_phase in results.items():
        if other == role:
            ranked[role] = replace(first, notices=(*first.notices, _notice(selection, chosen)))
            continue
        left_out = {submission.team for submission in of_phase.submissions} - set(chosen)
        eligible = replace(of_phase, ineligible=of_phase.ineligible | left_out)
        ranked[other] = rank_phase(eligible, schemes[other], choices[other], other)
    return ranked


def _notice(selection: Selection, chosen: tuple[str, ...]) -> str:
    more = "" if len(chosen) <= selection.number else f" ({len(chosen)}, since places are shared)"
    return f"the first {selection.number} teams{more} are ranked in the other phases: {', '.join(chosen)}"
