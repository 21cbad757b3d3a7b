"""Places of teams from their metrics, by a scheme and in exact arithmetic.

All functions work on many resamples at once; a leaderboard is one resample. Scores are integers over
a common denominator, because in floating point (1, 1, 4) and (3, 3, 1) under REFUGE's weights differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.scheme import Board, Combination, Place, Rank, Scheme, Score, Term, Ties
from evaluation.ranking.methods.tied_ranks import (
    NO_PLACE,
    Better,
    IntArray,
    competition_ranks,
    ranks_of_keys,
    shared_ranks,
)

_LARGEST = 1 << 62


@dataclass(frozen=True)
class BoardPlaces:
    """One leaderboard; arrays of shape (resamples, teams).

    ``places`` count from 1; 0 means no place. The score of a team with a place is
    ``numerators / denominator``; lower is better.
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
    Raises ValueError where no metric of the scheme is given, and for weights that sum to more than 62 bits.
    """
    given = {
        metric: np.asarray(values[metric], dtype=np.float64) for metric in scheme.metrics if metric in values
    }
    if not given:
        raise ValueError(f"expected values of one of {', '.join(scheme.metrics)}")
    ranks = {metric: np.zeros(next(iter(given.values())).shape, dtype=np.int64) for metric in scheme.metrics}
    if not scheme.complete_only:
        ranks |= {metric: competition_ranks(column, better[metric]) for metric, column in given.items()}
    elif len(given) == len(scheme.metrics):
        incomplete = np.logical_or.reduce([np.isnan(column) for column in given.values()])
        ranks = {
            metric: competition_ranks(np.where(incomplete, np.nan, column), better[metric])
            for metric, column in given.items()
        }
    boards: dict[str, BoardPlaces] = {}
    for board in scheme.boards:
        boards[board.name] = _board(board, ranks, boards, scheme.ties)
    return Leaderboards(ranks, boards)


def combine_phases(
    scheme: Scheme, overall: Mapping[str, BoardPlaces], ties: Sequence[BoardPlaces] = ()
) -> BoardPlaces:
    """Return the final leaderboard: the weighted sum of the overall places in all phases of the scheme.

    overall: the overall leaderboard of every phase by its role, over the same teams in the same order. A team
    without a place in one of them has no final place. ties: the leaderboards of ``scheme.phase_ties``.
    """
    terms = [
        _Column(overall[role].places, 1, overall[role].places > 0, weight)
        for role, weight in scheme.phases.items()
    ]
    numerators, denominator = _combined(terms, "sum")
    present = np.logical_and.reduce([term.present for term in terms])
    places = ranks_of_keys(numerators, present)
    for tie in ties:
        places = _break_ties(places, tie.places, present)
    return BoardPlaces(places, numerators, denominator)


@dataclass(frozen=True)
class _Column:
    """A term of a leaderboard: exact values, which teams have them, and their weight."""

    numerators: IntArray
    denominator: int
    present: NDArray[np.bool_]
    weight: Fraction


def _board(
    board: Board, ranks: Mapping[str, IntArray], earlier: Mapping[str, BoardPlaces], rule: Ties
) -> BoardPlaces:
    terms = [_column(term, ranks, earlier, rule) for term in board.terms]
    present = np.logical_and.reduce([term.present for term in terms])
    numerators, denominator = _combined(terms, board.combination)
    places = ranks_of_keys(numerators, present)
    for tie in board.ties:
        column = _column(tie, ranks, earlier, rule)
        places = _break_ties(places, ranks_of_keys(column.numerators, column.present), present)
    return BoardPlaces(places, numerators, denominator)


def _break_ties(places: IntArray, order: IntArray, present: NDArray[np.bool_]) -> IntArray:
    """Return places with ties broken by another ranking; teams without it come last."""
    teams = places.shape[1]
    last = np.where(order == NO_PLACE, teams + 1, order)
    return ranks_of_keys(places * (teams + 2) + last, present)


def _column(
    term: Term, ranks: Mapping[str, IntArray], earlier: Mapping[str, BoardPlaces], rule: Ties
) -> _Column:
    if isinstance(term, Rank):
        rank = ranks[term.metric]
        return _Column(*shared_ranks(rank, rule), rank > 0, term.weight)
    standing = earlier[term.board]
    present = standing.places > 0
    if isinstance(term, Place):
        return _Column(*shared_ranks(standing.places, rule), present, term.weight)
    assert isinstance(term, Score)
    return _Column(standing.numerators, standing.denominator, present, term.weight)


def _combined(terms: Sequence[_Column], combination: Combination) -> tuple[IntArray, int]:
    """Return the exact sum, mean or median of terms as numerators and their common denominator."""
    shares = [term.weight / term.denominator for term in terms]
    denominator = math.lcm(*(share.denominator for share in shares))
    factors = [int(share * denominator) for share in shares]
    bound = sum(
        factor * int(term.numerators.max(initial=0)) for factor, term in zip(factors, terms, strict=True)
    )
    if 2 * bound >= _LARGEST:
        raise ValueError("the weights have too many digits for exact sums")
    weighted = [term.numerators * factor for factor, term in zip(factors, terms, strict=True)]
    if combination == "median":
        middle = np.sort(np.stack(weighted), axis=0)
        return middle[(len(terms) - 1) // 2] + middle[len(terms) // 2], 2 * denominator
    total = np.add.reduce(weighted)
    return total, denominator * (len(terms) if combination == "mean" else 1)
