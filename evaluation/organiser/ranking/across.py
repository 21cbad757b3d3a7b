"""Rankings of several tasks or phases compared: consensus and agreement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.organiser.ranking.rank_tests import kendall_tau_b
from evaluation.phase.places import competition_ranks


@dataclass(frozen=True)
class ConsensusTeam:
    """A team's place in the consensus, by its mean place in the rankings; equal means share a place."""

    team: str
    place: int
    mean_place: float


@dataclass(frozen=True)
class AcrossRankings:
    """The rankings of tasks or phases, over the teams that have a place in all of them.

    ``tau_b``: Kendall's τ-b of every two rankings, None where all teams of one share a place.
    """

    rankings: tuple[str, ...]
    teams: tuple[ConsensusTeam, ...]
    tau_b: tuple[tuple[float | None, ...], ...]


def across_rankings(teams: Sequence[str], rankings: Mapping[str, Sequence[int]]) -> AcrossRankings | None:
    """Return the comparison of rankings; None with fewer than two rankings or two common teams.

    rankings: places by name, in the order of the teams, 0 for a team without a place.
    Source: de Borda 1784.
    """
    if len(rankings) < 2:
        return None
    places = np.array(list(rankings.values()))
    common = np.flatnonzero((places > 0).all(axis=0))
    if common.size < 2:
        return None
    chosen = places[:, common]
    names = [teams[team] for team in common.tolist()]
    shared = competition_ranks(chosen.sum(axis=0)[np.newaxis], "lower")[0].tolist()
    found = map(ConsensusTeam, names, shared, chosen.mean(axis=0).tolist())
    taus = np.array([kendall_tau_b(ranking, chosen) for ranking in chosen])
    return AcrossRankings(
        tuple(rankings),
        tuple(sorted(found, key=lambda team: (team.place, team.team))),
        tuple(tuple(None if np.isnan(tau) else tau for tau in row) for row in taus.tolist()),
    )
