"""Rankings of several tasks or phases compared: consensus, agreement, and a dendrogram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.ranking.consensus import consensus
from evaluation.ranking.statistics.ranks import kendall_tau_b


@dataclass(frozen=True)
class ConsensusTeam:
    """A team's place in the consensus, and the best and worst one over all equally good orders."""

    team: str
    place: int
    best: int
    worst: int


@dataclass(frozen=True)
class Merge:
    """A step of the dendrogram: two groups of rankings that are joined at a distance (1 − τ-b)."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    distance: float


@dataclass(frozen=True)
class AcrossRankings:
    """The rankings of tasks or phases, over the teams that have a place in all of them.

    ``tau_b``: Kendall's τ-b of every two rankings, None where all teams of one share a place.
    ``disagreements``: pairs of teams that the consensus orders against a ranking, summed over the rankings.
    """

    rankings: tuple[str, ...]
    method: Literal["Kemeny", "Borda"]
    teams: tuple[ConsensusTeam, ...]
    orders: int
    disagreements: int
    tau_b: tuple[tuple[float | None, ...], ...]
    dendrogram: tuple[Merge, ...]


def across_rankings(teams: Sequence[str], rankings: Mapping[str, Sequence[int]]) -> AcrossRankings | None:
    """Return the comparison of rankings; None with fewer than two rankings or two common teams.

    rankings: places by name, in the order of the teams, 0 for a team without a place.
    """
    places = np.array(list(rankings.values()))
    if len(rankings) < 2:
        return None
    common = np.flatnonzero((places > 0).all(axis=0))
    if common.size < 2:
        return None
    chosen = places[:, common]
    found = consensus(chosen)
    named = [
        ConsensusTeam(teams[team], place, best, worst)
        for team, place, best, worst in zip(
            common.tolist(), found.places, found.best, found.worst, strict=True
        )
    ]
    taus = np.array([kendall_tau_b(ranking, chosen) for ranking in chosen])
    return AcrossRankings(
        tuple(rankings),
        found.method,
        tuple(sorted(named, key=lambda team: (team.place, team.team))),
        found.orders,
        found.disagreements,
        tuple(tuple(None if np.isnan(tau) else tau for tau in row) for row in taus.tolist()),
        dendrogram(tuple(rankings), taus),
    )


def dendrogram(names: Sequence[str], taus: NDArray[np.float64]) -> tuple[Merge, ...]:
    """Return the steps of an average-linkage clustering by the distance 1 − τ-b.

    taus: shape (rankings, rankings); an undefined τ-b (NaN) counts as 0. Source: Wiesenfarth et al. 2021.
    """
    # Imported here, since it takes longer than most rankings.
    from scipy.cluster.hierarchy import linkage

    distances = 1 - np.nan_to_num(taus)[np.triu_indices(len(names), 1)]
    groups: list[tuple[str, ...]] = [(name,) for name in names]
    merges = []
    for first, second, distance, _ in linkage(np.maximum(distances, 0), "average").tolist():
        merges.append(Merge(groups[int(first)], groups[int(second)], distance))
        groups.append(groups[int(first)] + groups[int(second)])
    return tuple(merges)
