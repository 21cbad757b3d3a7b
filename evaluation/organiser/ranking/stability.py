"""Stability of the places when cases are resampled."""

from dataclasses import dataclass

import numpy as np

from evaluation.organiser.ranking.rank_tests import kendall_tau_b
from evaluation.phase.places import BoardPlaces, IntArray

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
