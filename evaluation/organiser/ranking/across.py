"""Rankings of several tasks or phases compared: consensus and agreement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.organiser.ranking.rank_tests import kendall_tau_b
from evaluation.phase.places import competition_ranks

MAX_EXACT = 12


@dataclass(frozen=True)
class Consensus:
    """A consensus of rankings; one entry per team.

    ``places`` count from 1. Several orders can be equally good: ``best`` and ``worst`` are the places of a
    team over all of them, and ``orders`` is their number (1 for Borda, where equal teams share a place).
    ``disagreements``: pairs that the consensus orders against a ranking, summed over the rankings.
    """

    method: Literal["Kemeny", "Borda"]
    places: tuple[int, ...]
    best: tuple[int, ...]
    worst: tuple[int, ...]
    orders: int
    disagreements: int


def consensus(places: ArrayLike) -> Consensus:
    """Return the consensus of rankings.

    places: shape (rankings, teams), lower is better, equal for a tie. A tie neither agrees nor disagrees with
    an order. Of several best orders, ``places`` is the one that follows the mean place first, then the order
    of the teams. Raises ValueError without any ranking or team.
    Source: Kemeny 1959, Daedalus 88:577; de Borda 1784.
    """
    given = np.asarray(places, dtype=np.float64)
    if given.ndim != 2 or not given.size:
        raise ValueError(f"places: expected shape (rankings, teams), found {given.shape}")
    # against[i, j]: the number of rankings that place j strictly before i.
    against = (given[:, np.newaxis, :] < given[:, :, np.newaxis]).sum(axis=0)
    borda = given.sum(axis=0)
    if given.shape[1] > MAX_EXACT:
        shared = competition_ranks(borda[np.newaxis], "lower")[0]
        before = shared[:, np.newaxis] < shared
        found = tuple(shared.tolist())
        return Consensus("Borda", found, found, found, 1, int(against[before].sum()))
    return _kemeny(against, np.argsort(borda, kind="stable"))


def _kemeny(against: NDArray[np.int64], preferred: NDArray[np.intp]) -> Consensus:
    """Return the best orders by dynamic programming over the sets of teams that are still to be placed.

    against[i, j]: the cost of placing i before j. preferred: the order in which ties are resolved.
    """
    teams = len(against)
    everyone = (1 << teams) - 1
    costs = against.tolist()
    after, orders = [0] * (everyone + 1), [1] * (everyone + 1)
    # first[rest]: the teams that a best order of the set begins with.
    first: list[list[int]] = [[]]
    for rest in range(1, everyone + 1):
        members = [team for team in range(teams) if rest >> team & 1]
        least = {i: after[rest ^ (1 << i)] + sum(costs[i][j] for j in members) for i in members}
        after[rest] = min(least.values())
        first.append([team for team, cost in least.items() if cost == after[rest]])
        orders[rest] = sum(orders[rest ^ (1 << team)] for team in first[rest])
    best, worst = [teams] * teams, [1] * teams
    reached = {everyone}
    for place in range(1, teams + 1):
        for team in {team for rest in reached for team in first[rest]}:
            best[team], worst[team] = min(best[team], place), max(worst[team], place)
        reached = {rest ^ (1 << team) for rest in reached for team in first[rest]}
    places, rest = [0] * teams, everyone
    for place in range(1, teams + 1):
        chosen = next(team for team in preferred.tolist() if team in first[rest])
        places[chosen], rest = place, rest ^ (1 << chosen)
    return Consensus("Kemeny", tuple(places), tuple(best), tuple(worst), orders[everyone], after[everyone])


@dataclass(frozen=True)
class ConsensusTeam:
    """A team's place in the consensus, and the best and worst one over all equally good orders."""

    team: str
    place: int
    best: int
    worst: int


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
    names = [teams[team] for team in common.tolist()]
    named = list(map(ConsensusTeam, names, found.places, found.best, found.worst))
    taus = np.array([kendall_tau_b(ranking, chosen) for ranking in chosen])
    ordered = tuple(sorted(named, key=lambda team: (team.place, team.team)))
    known = tuple(tuple(None if np.isnan(tau) else tau for tau in row) for row in taus.tolist())
    return AcrossRankings(tuple(rankings), found.method, ordered, found.orders, found.disagreements, known)
