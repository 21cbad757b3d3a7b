"""The final leaderboard of a challenge with several phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evaluation.core.scheme import Scheme
from evaluation.ranking.across import across_rankings
from evaluation.ranking.boards import BoardPlaces, combine_phases
from evaluation.ranking.leaderboard import RankedPhase
from evaluation.ranking.leaderboard_file import FORMAT, FinalTeam, Leaderboard
from evaluation.ranking.results import RankingError
from evaluation.ranking.scheme_file import exact_text
from evaluation.ranking.stability import PlaceDistribution, place_distributions


def rank_phases(phases: Mapping[str, RankedPhase], scheme: Scheme) -> Leaderboard:
    """Return the leaderboard over all phases of a scheme, by role.

    A scheme that weighs no phases has no final places, only the consensus of the phases.
    Raises `RankingError` for other roles, and for a phase without an overall leaderboard.
    """
    if scheme.phases and set(phases) != set(scheme.phases):
        raise RankingError(
            f"the scheme combines the phases {', '.join(scheme.phases)}; given are {', '.join(phases)}"
        )
    teams = sorted({team for phase in phases.values() for team in phase.ranked_teams})
    overall = {
        role: _aligned(phase.overall, phase.ranked_teams, teams)
        for role, phase in phases.items()
        if phase.overall is not None
    }
    if without := [role for role in phases if role not in overall]:
        raise RankingError(*(f"{role}: has no overall leaderboard to combine" for role in without))
    notices = [f"{role}: {notice}" for role, phase in phases.items() for notice in phase.notices]
    boards = tuple(phase.board for phase in phases.values())
    across = across_rankings(teams, {role: places.places[0].tolist() for role, places in overall.items()})
    if not scheme.phases:
        return Leaderboard(FORMAT, boards, None, tuple(notices), across)
    ties = [
        _aligned(tie, phases[role].ranked_teams, teams)
        for role in scheme.phase_ties
        if (tie := phases[role].tie) is not None
    ]
    final = combine_phases(scheme, overall, ties)
    distributions: list[PlaceDistribution | None] = [None] * len(teams)
    resampled = {
        role: _aligned(phase.overall_resampled, phase.ranked_teams, teams)
        for role, phase in phases.items()
        if phase.overall_resampled is not None
    }
    rows = {len(standing.places) for standing in resampled.values()}
    if len(resampled) == len(phases) and len(rows) == 1:
        # Phases are drawn independently of each other, even where their seeds are the same.
        shifts = {role: shift for shift, role in enumerate(resampled)}
        apart = {role: _rolled(standing, shifts[role]) for role, standing in resampled.items()}
        ties_apart = [
            _rolled(_aligned(tie, phases[role].ranked_teams, teams), shifts[role])
            for role in scheme.phase_ties
            if (tie := phases[role].tie_resampled) is not None
        ]
        distributions = place_distributions(combine_phases(scheme, apart, ties_apart).places)
    rows_of_teams = []
    for position, team in enumerate(teams):
        score = final.score(position)
        rows_of_teams.append(
            FinalTeam(
                team,
                final.place(position),
                None if score is None else float(score),
                None if score is None else exact_text(score),
                {role: standing.place(position) for role, standing in overall.items()},
                distributions[position] if final.place(position) else None,
            )
        )
    rows_of_teams.sort(key=lambda row: (row.place is None, row.place, row.team))
    lacking = [row.team for row in rows_of_teams if row.place is None]
    if lacking:
        notices.append(f"no final place, since not placed in every phase: {', '.join(lacking)}")
    return Leaderboard(FORMAT, boards, tuple(rows_of_teams), tuple(notices), across)


def leaderboard_of(phases: Mapping[str, RankedPhase], schemes: Mapping[str, Scheme]) -> Leaderboard:
    """Return the leaderboard of one phase, or over several, given by role. Raises `RankingError`."""
    scheme = next(iter(schemes.values()))
    if len(phases) > 1:
        return rank_phases(phases, scheme)
    (phase,) = phases.values()
    notices = list(phase.notices)
    if scheme.phases:
        notices.append(
            f"the final ranking combines the phases {', '.join(scheme.phases)}; this is one of them"
        )
    return Leaderboard(FORMAT, (phase.board,), None, tuple(notices))


def _rolled(standing: BoardPlaces, shift: int) -> BoardPlaces:
    return replace(standing, places=np.roll(standing.places, shift, axis=0))


def _aligned(standing: BoardPlaces, teams: Sequence[str], wanted: Sequence[str]) -> BoardPlaces:
    """Return a leaderboard over other teams; teams missing from it have no place."""
    at = {team: position for position, team in enumerate(teams)}
    places = np.zeros((len(standing.places), len(wanted)), dtype=np.int64)
    numerators = np.zeros_like(places)
    for position, team in enumerate(wanted):
        if team in at:
            places[:, position] = standing.places[:, at[team]]
            numerators[:, position] = standing.numerators[:, at[team]]
    return BoardPlaces(places, numerators, standing.denominator)
