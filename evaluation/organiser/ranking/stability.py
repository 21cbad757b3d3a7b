"""How sure places and ranks are: resampled places, sets of ranks, and several rankings compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.rank_tests import kendall_tau_b
from evaluation.phase.places import Better, BoardPlaces, IntArray, competition_ranks
from evaluation.stats.figure import Figure
from evaluation.stats.student import NORMAL
from evaluation.stats.unseen import joint_distance

# --- Places when cases are resampled ---

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


# --- Ranks in a metric that hold for all teams at once ---

_ENTRIES_PER_BLOCK = 1 << 17  # stays in the processor's cache


def rank_confidence_sets(
    values: ArrayLike,
    resampled: ArrayLike,
    better: Better,
    intervals: Sequence[Figure] | None = None,
    level: float = 0.95,
) -> NDArray[np.int64]:
    """Return the lowest and highest rank of every team, shape (teams, 2), that hold for all teams at once.

    values: shape (teams,), the estimates. resampled: shape (resamples, teams), paired bootstrap values.
    intervals: of the estimates with unseen failures, whose reach beyond their spread lengthens the standard
    error of a difference, see `joint_distance`; None: the resamples alone decide.
    All differences between two teams are tested one-sided in both directions, so that the probability of any
    false one is at most 1 − level: a difference counts where it exceeds c standard errors, c being the
    quantile of the largest studentised deviation over the pairs that are not yet decided, until no further
    pair is decided. A team's rank is larger than the number of teams that are surely better, and at most the
    number of teams that are not surely worse, itself included.
    Source: Mogstad, Romano, Shaikh and Wilhelm 2024, Rev. Econ. Stud. 91:476, section 3; stepwise as in
    Romano and Wolf 2005, J. Am. Stat. Assoc. 100:94.
    """
    sign = 1.0 if better == "higher" else -1.0
    estimates, columns = sign * np.asarray(values, dtype=np.float64), np.asarray(resampled) * sign
    teams = estimates.size
    first, second = np.nonzero(~np.eye(teams, dtype=np.bool_))
    if not first.size:
        return np.ones((teams, 2), dtype=np.int64)
    differences = estimates[first] - estimates[second]
    covariance = np.cov(columns, rowvar=False)
    both = np.diag(covariance)[first] + np.diag(covariance)[second]
    variance = both - 2 * covariance[first, second]
    # Equal columns leave only rounding errors.
    errors = np.sqrt(np.where(variance > 1e-14 * both, variance, 0.0))
    longer = errors
    if intervals is not None:
        ends = sign * np.array([[one.lower, one.upper] for one in intervals])
        lower, upper = np.sort(ends, axis=1).T
        reach = np.column_stack([(estimates - lower)[first], (upper - estimates)[second]])
        own = np.sqrt(np.diag(covariance))
        longer = joint_distance(errors, reach, np.column_stack([own[first], own[second]])) / NORMAL
    # Without any variance an unequal pair is decided and an equal one never is.
    with np.errstate(divide="ignore", invalid="ignore"):
        studentised = np.where(longer > 0, differences / longer, np.sign(differences) * np.inf)
    deviations = np.ascontiguousarray((columns - estimates).T)
    decided = np.zeros(first.size, dtype=np.bool_)
    while True:
        left = np.flatnonzero(~decided & (errors > 0))
        largest = _largest_deviations(deviations, first[left], second[left], errors[left])
        limit = float(np.quantile(largest, level, method="inverted_cdf")) if left.size else 0.0
        limit = max(limit, NORMAL) if intervals else limit
        further = ~decided & (studentised > limit)
        if not further.any():
            break
        decided |= further
    better_teams = np.bincount(second[decided], minlength=teams)
    worse_teams = np.bincount(first[decided], minlength=teams)
    return np.stack([1 + better_teams, teams - worse_teams], axis=1)


def _largest_deviations(
    deviations: Floats, first: NDArray[np.intp], second: NDArray[np.intp], errors: Floats
) -> Floats:
    """Return the largest studentised deviation of some pairs in each resample, shape (resamples,)."""
    largest = np.full(deviations.shape[1], -np.inf)
    step = max(1, _ENTRIES_PER_BLOCK // deviations.shape[1])
    for start in range(0, first.size, step):
        block = slice(start, start + step)
        spread = deviations[first[block]]
        spread -= deviations[second[block]]
        spread /= errors[block, np.newaxis]
        np.maximum(largest, spread.max(axis=0), out=largest)
    return largest


# --- Rankings of several tasks or phases: consensus and agreement ---


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
