"""Stability of the places when cases are resampled or left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.core.challenge import Composite
from evaluation.core.metric import Metric
from evaluation.core.scheme import Scheme
from evaluation.organiser.ranking.rank_tests import kendall_tau_b
from evaluation.organiser.ranking.resampling import TeamCases, as_ranked, leave_one_out
from evaluation.organiser.ranking.scheme_scores import SchemeScores
from evaluation.phase.places import BoardPlaces, IntArray, Leaderboards, place_teams

_LEVEL = (0.025, 0.5, 0.975)


@dataclass(frozen=True)
class PlaceDistribution:
    """The places of one team over the resamples: interval, median, mean, and probability by place."""

    lower: int
    median: int
    upper: int
    mean: float
    probabilities: dict[int, float]


@dataclass(frozen=True)
class RankingAgreement:
    """Kendall's τ-b between the ranking and each resample's: 95 % interval, median, mean, and all values."""

    lower: float
    median: float
    upper: float
    mean: float
    taus: tuple[float, ...]


@dataclass(frozen=True)
class Influence:
    """The effect of leaving out one case: number of teams that move, largest move, winners, τ-b.

    ``tau_b``: Kendall's τ-b to the places with all cases, None where all teams share one place.
    """

    board: str
    case: str
    teams_moved: int
    max_move: int
    winners: tuple[str, ...]
    tau_b: float | None


def place_distributions(places: IntArray) -> list[PlaceDistribution | None]:
    """Return the distribution of every team's place; None for a team without a place.

    places: shape (resamples, teams), 0 for none. Quantiles are observed places (inverted distribution).
    """
    found: list[PlaceDistribution | None] = []
    for team_places in places.T:
        if (team_places == 0).any():
            found.append(None)
            continue
        lower, median, upper = np.quantile(team_places, _LEVEL, method="inverted_cdf").tolist()
        place, count = np.unique(team_places, return_counts=True)
        shares = dict(zip(place.tolist(), (count / len(team_places)).tolist(), strict=True))
        found.append(PlaceDistribution(lower, median, upper, float(team_places.mean()), shares))
    return found


def agreement(standing: BoardPlaces, places: IntArray) -> RankingAgreement | None:
    """Return the agreement of the resamples' places with a leaderboard, None with fewer than two teams."""
    ranked = standing.places[0] > 0
    if ranked.sum() < 2:
        return None
    taus = kendall_tau_b(standing.places[0, ranked], places[:, ranked])
    taus = taus[~np.isnan(taus)]
    if not taus.size:
        return None
    lower, median, upper = np.quantile(taus, _LEVEL).tolist()
    return RankingAgreement(lower, median, upper, float(taus.mean()), tuple(taus.tolist()))


def influences(
    scheme: Scheme,
    leaderboards: Leaderboards,
    metrics: Mapping[str, Metric],
    composites: Sequence[Composite],
    cases: TeamCases,
    names: Sequence[str],
    scores: SchemeScores,
) -> list[Influence]:
    """Return the cases whose removal changes a place, the most influential first.

    leaderboards: on all cases, over the teams of ``cases``.
    """
    found: list[Influence] = []
    for left_out, values in leave_one_out(metrics, cases, names):
        ranked_values = scores.given(as_ranked(values, composites)) | scores.without(left_out)
        without = place_teams(scheme, ranked_values, scores.better)
        for board, standing in leaderboards.boards.items():
            places = without.boards[board].places
            ranked = standing.places[0] > 0
            moves = np.where(ranked, np.abs(places - standing.places), 0)
            moving = np.flatnonzero(moves.any(axis=1))
            taus = kendall_tau_b(standing.places[0, ranked], places[np.ix_(moving, ranked)])
            for row, tau in zip(moving.tolist(), taus, strict=True):
                winners = tuple(cases.teams[team] for team in np.flatnonzero(places[row] == 1))
                moved, furthest = int((moves[row] > 0).sum()), int(moves[row].max())
                tau_b = None if np.isnan(tau) else float(tau)
                found.append(Influence(board, left_out[row], moved, furthest, winners, tau_b))
    boards = list(leaderboards.boards)
    return sorted(found, key=lambda i: (boards.index(i.board), -i.teams_moved, -i.max_move, i.case))
