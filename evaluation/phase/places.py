"""Places of teams from their metrics, by a scheme and in exact arithmetic; the place of one submission."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.challenge import Challenge, Options
from evaluation.core.fault import PhaseError
from evaluation.core.scheme import Board, Combination, Scheme, Term, Ties
from evaluation.phase.leaderboard import TeamValues
from evaluation.platform.result_file import LeaderboardPlace

IntArray = NDArray[np.int64]
Better = Literal["higher", "lower"]
NO_PLACE = 0


def competition_ranks(values: ArrayLike, better: Better) -> IntArray:
    """Return the ranks ("1, 1, 3") of each row of values by exact equality; 0 where a value is NaN.

    values: shape (resamples, teams), numbers. Returns the same shape.
    """
    matrix = np.asarray(values, dtype=np.float64)
    return ranks_of_keys(-matrix if better == "higher" else matrix, ~np.isnan(matrix))


def ranks_of_keys(keys: NDArray[np.float64] | IntArray, present: NDArray[np.bool_]) -> IntArray:
    """Return competition ranks by ascending key among the present of each row, 0 for the others."""
    rows, teams = keys.shape
    order = np.lexsort((keys, ~present), axis=1)
    ordered = np.take_along_axis(keys, order, axis=1)
    starts = np.zeros((rows, teams), dtype=np.int64)
    starts[:, 1:] = np.where(ordered[:, 1:] != ordered[:, :-1], np.arange(1, teams), 0)
    ranks = np.empty((rows, teams), dtype=np.int64)
    np.put_along_axis(ranks, order, np.maximum.accumulate(starts, axis=1) + 1, axis=1)
    return np.where(present, ranks, NO_PLACE)


def shared_ranks(ranks: IntArray, rule: Ties) -> tuple[IntArray, int]:
    """Return competition ranks under another rule for ties, as numerators and their common denominator.

    ranks: shape (resamples, teams), 0 for a team without a rank, which stays 0.
    """
    if rule == "min":
        return ranks, 1
    rows, teams = ranks.shape
    keys = ranks + (teams + 1) * np.arange(rows)[:, np.newaxis]
    counts = np.bincount(keys.ravel(), minlength=rows * (teams + 1)).reshape(rows, teams + 1)
    counts[:, NO_PLACE] = 0
    if rule == "dense":
        return np.take_along_axis(np.cumsum(counts > 0, axis=1), ranks, axis=1), 1
    # The last of the places that the teams of a rank would take one by one.
    last = ranks + np.take_along_axis(counts, ranks, axis=1) - 1
    shared = last if rule == "max" else ranks + last
    return np.where(ranks > NO_PLACE, shared, 0), 2 if rule == "average" else 1


def shared_rank(ranks: IntArray, team: int, rule: Ties) -> float | None:
    """Return one team's rank in the first resample under a rule for ties, None where it has none."""
    numerators, denominator = shared_ranks(ranks[:1], rule)
    numerator = int(numerators[0, team])
    whole, rest = divmod(numerator, denominator)
    return None if numerator == 0 else whole if rest == 0 else numerator / denominator


# --- Places of teams from their metrics; all functions work on many resamples at once ---

_LARGEST = 1 << 62


@dataclass(frozen=True)
class BoardPlaces:
    """One leaderboard; arrays of shape (resamples, teams).

    ``places`` count from 1; 0 means no place. The score of a team with a place is
    ``numerators / denominator``, lower is better; integers, because in floating point (1, 1, 4) and (3, 3, 1)
    under REFUGE's weights differ.
    """

    places: IntArray
    numerators: IntArray
    denominator: int

    def score(self, team: int, resample: int = 0) -> Fraction | None:
        """Return the exact score of a team, None where it has no place."""
        if self.places[resample, team] == NO_PLACE:
            return None
        return Fraction(int(self.numerators[resample, team]), self.denominator)

    def place(self, team: int, resample: int = 0) -> int | None:
        """Return the place of a team, None where it has none."""
        return int(self.places[resample, team]) or None


@dataclass(frozen=True)
class Leaderboards:
    """The ranks by metric, of shape (resamples, teams) with 0 for none, and the leaderboards by name."""

    ranks: Mapping[str, IntArray]
    boards: Mapping[str, BoardPlaces]


def place_teams(
    scheme: Scheme, values: Mapping[str, ArrayLike], better: Mapping[str, Better]
) -> Leaderboards:
    """Return every rank and leaderboard of a scheme.

    values: by metric, shape (resamples, teams), NaN where a team lacks the metric. A team is ranked in every
    metric and leaderboard for which it has all required values. A metric of the scheme that is not in
    ``values`` is missing for all teams. better: the direction of every metric in ``values``.
    Raises ValueError where no metric of the scheme is given, `PhaseError` for weights of more than 62 bits.
    """
    given = {
        metric: np.asarray(values[metric], dtype=np.float64) for metric in scheme.metrics if metric in values
    }
    if not given:
        raise ValueError(f"expected values of one of {', '.join(scheme.metrics)}")
    ranks = {metric: np.zeros(next(iter(given.values())).shape, dtype=np.int64) for metric in scheme.metrics}
    if scheme.complete_only:
        incomplete = np.logical_or.reduce([np.isnan(column) for column in given.values()])
        incomplete |= len(given) < len(scheme.metrics)
        given = {metric: np.where(incomplete, np.nan, column) for metric, column in given.items()}
    ranks |= {metric: competition_ranks(column, better[metric]) for metric, column in given.items()}
    scaled = scheme.method.name == "min-max"
    columns = {
        metric: (*shared_ranks(rank, scheme.ties), rank > 0)
        if not scaled or metric not in given
        else _scaled(given[metric], better[metric])
        for metric, rank in ranks.items()
    }
    boards: dict[str, BoardPlaces] = {}
    for board in scheme.boards:
        boards[board.name] = _board(board, columns, boards, scheme.ties)
    return Leaderboards(ranks, boards)


_STEPS = 10**12  # of a scaled value, so that sums are exact
_Column = tuple[IntArray, int, NDArray[np.bool_]]


def _scaled(values: NDArray[np.float64], better: Better) -> _Column:
    """Return values from 0 for the best team of each row to 1 for the worst, ½ where all are equal."""
    present = ~np.isnan(values)
    # Half of the largest number stands for infinity, so that differences are finite.
    largest = np.finfo(np.float64).max / 2
    costs = np.clip(-values if better == "higher" else values, -largest, largest)
    low = np.where(present, costs, np.inf).min(axis=1, keepdims=True)
    high = np.where(present, costs, -np.inf).max(axis=1, keepdims=True)
    differ = present & (high > low)
    shares = np.divide(costs - low, high - low, out=np.full(values.shape, 0.5), where=differ)
    return np.rint(np.where(present, shares, 0) * _STEPS).astype(np.int64), _STEPS, present


def combine_phases(
    scheme: Scheme, overall: Mapping[str, BoardPlaces], ties: Sequence[BoardPlaces] = ()
) -> BoardPlaces:
    """Return the final leaderboard: the weighted sum of the overall places in all phases of the scheme.

    overall: the overall leaderboard of every phase by its role, over the same teams in the same order. A team
    without a place in one of them has no final place. ties: the leaderboards of ``scheme.phase_ties``.
    """
    terms = [
        _Term(overall[role].places, 1, overall[role].places > 0, Fraction(weight))
        for role, weight in scheme.phases.items()
    ]
    return _placed(terms, "sum", [tie.places for tie in ties])


@dataclass(frozen=True)
class _Term:
    """A term of a leaderboard: exact values, which teams have them, and their weight."""

    numerators: IntArray
    denominator: int
    present: NDArray[np.bool_]
    weight: Fraction


def _board(
    board: Board, columns: Mapping[str, _Column], earlier: Mapping[str, BoardPlaces], rule: Ties
) -> BoardPlaces:
    terms = [_column(term, columns, earlier, rule) for term in board.terms]
    ties = [_column(tie, columns, earlier, rule) for tie in board.ties]
    orders = [ranks_of_keys(tie.numerators, tie.present) for tie in ties]
    return _placed(terms, board.combination, orders)


def _placed(terms: Sequence[_Term], combination: Combination, orders: Sequence[IntArray]) -> BoardPlaces:
    """Return the places by a combination of terms; ``orders`` break its ties, teams without a rank last."""
    numerators, denominator = _combined(terms, combination)
    present = np.logical_and.reduce([term.present for term in terms])
    places = ranks_of_keys(numerators, present)
    teams = places.shape[1]
    for order in orders:
        last = np.where(order == NO_PLACE, teams + 1, order)
        places = ranks_of_keys(places * (teams + 2) + last, present)
    return BoardPlaces(places, numerators, denominator)


def _column(
    term: Term, columns: Mapping[str, _Column], earlier: Mapping[str, BoardPlaces], rule: Ties
) -> _Term:
    weight = Fraction(term.weight)
    if term.rank is not None:
        return _Term(*columns[term.rank], weight)
    standing = earlier[term.board]
    present = standing.places > 0
    if term.place is not None:
        return _Term(*shared_ranks(standing.places, rule), present, weight)
    return _Term(standing.numerators, standing.denominator, present, weight)


def _combined(terms: Sequence[_Term], combination: Combination) -> tuple[IntArray, int]:
    """Return the exact sum, mean or median of terms as numerators and their common denominator."""
    shares = [term.weight / term.denominator for term in terms]
    denominator = math.lcm(*(share.denominator for share in shares))
    factors = [int(share * denominator) for share in shares]
    weighed = list(zip(factors, terms, strict=True))
    if 2 * sum(factor * int(term.numerators.max(initial=0)) for factor, term in weighed) >= _LARGEST:
        weights = (Decimal(term.weight.numerator) / term.weight.denominator for term in terms)
        found = ", ".join(map(str, weights))
        raise PhaseError(f"weights of a leaderboard: expected fewer digits, for exact sums, found {found}")
    weighted = [term.numerators * factor for factor, term in weighed]
    if combination == "median":
        middle = np.sort(np.stack(weighted), axis=0)
        return middle[(len(terms) - 1) // 2] + middle[len(terms) // 2], 2 * denominator
    total = np.add.reduce(weighted)
    return total, denominator * (len(terms) if combination == "mean" else 1)


# --- The place of one submission among given teams ---


@dataclass(frozen=True)
class SubmissionPlaces:
    """The ranks by metric and the places by leaderboard that one submission takes."""

    ranks: Mapping[str, int]
    boards: Mapping[str, LeaderboardPlace]


def place_among(
    teams: Sequence[TeamValues], values: Mapping[str, float], scheme: Scheme, better: Mapping[str, Better]
) -> SubmissionPlaces:
    """Return the places that a submission with these metrics would take among the eligible teams.

    values: by metric. A missing metric gives no rank, and no place that needs this rank.
    """
    given = [*(team.values for team in teams if team.eligible), values]
    metrics = [metric for metric in scheme.metrics if metric in better]
    columns = {metric: [[team_values.get(metric, math.nan) for team_values in given]] for metric in metrics}
    if not metrics:
        return SubmissionPlaces({}, {})
    leaderboards = place_teams(scheme, columns, better)
    itself = len(given) - 1
    boards = {}
    for name, standing in leaderboards.boards.items():
        place, score = standing.place(itself), standing.score(itself)
        if place is not None and score is not None:
            placed, same = (int(found.sum()) for found in (standing.places > 0, standing.places == place))
            boards[name] = LeaderboardPlace(place, float(score), placed, same - 1)
    ranks = {
        metric: int(ranks[0, itself]) for metric, ranks in leaderboards.ranks.items() if ranks[0, itself]
    }
    return SubmissionPlaces(ranks, boards)


# --- The ranking scheme of a challenge, and the three schemes of the platform ---

PlatformMethod = Literal["absolute", "mean", "median"]
PLATFORM_METHODS: tuple[PlatformMethod, ...] = get_args(PlatformMethod)


def scheme_of(challenge: Challenge, options: Options) -> Scheme:
    """Return the ranking scheme of a challenge under a phase's options."""
    if challenge.ranking is not None:
        return challenge.ranking(options)
    return platform_scheme("mean", challenge.components)


def platform_scheme(method: PlatformMethod, metrics: Sequence[str]) -> Scheme:
    """Return one of the platform's schemes.

    metrics: the score, then the further ranked columns. "absolute" ranks by the score, "mean" and "median"
    by the mean and median of all ranks. The platform always leaves out submissions that lack one of the
    metrics.
    """
    if method == "absolute":
        # Weight 0: required, but without influence.
        terms = tuple(
            Term(rank=metric, weight=Decimal(position == 0)) for position, metric in enumerate(metrics)
        )
        return Scheme((Board("overall", terms),), overall="overall", complete_only=True)
    board = Board("overall", tuple(Term(rank=metric) for metric in metrics), combination=method)
    return Scheme((board,), overall="overall", complete_only=True)
