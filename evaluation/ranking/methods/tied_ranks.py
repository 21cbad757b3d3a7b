"""Ranks of many rows at once, and the rank that equal teams share."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.scheme import Ties

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
    order = np.argsort(ranks, axis=1, kind="stable")
    ordered = np.take_along_axis(ranks, order, axis=1)
    starts = np.ones((rows, teams), dtype=bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    if rule == "dense":
        shared = np.cumsum(starts & (ordered > NO_PLACE), axis=1)
    else:
        # The end of a group of equal ranks is where the next group starts.
        ends = np.full((rows, teams), teams, dtype=np.int64)
        ends[:, :-1] = np.where(starts[:, 1:], np.arange(1, teams), teams)
        ends = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
        highest = ends - np.count_nonzero(ranks == NO_PLACE, axis=1)[:, np.newaxis]
        shared = highest if rule == "max" else ordered + highest
    numerators = np.empty((rows, teams), dtype=np.int64)
    np.put_along_axis(numerators, order, shared, axis=1)
    return np.where(ranks > NO_PLACE, numerators, 0), 2 if rule == "average" else 1


def mid_ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Return ascending ranks of each row, shape (rows, values); equal values share the average rank."""
    numerators, denominator = shared_ranks(competition_ranks(values, "lower"), "average")
    return numerators / denominator


def shared_rank(ranks: IntArray, team: int, rule: Ties) -> float | None:
    """Return one team's rank in the first resample under a rule for ties, None where it has none."""
    numerators, denominator = shared_ranks(ranks[:1], rule)
    numerator = int(numerators[0, team])
    whole, rest = divmod(numerator, denominator)
    return None if numerator == 0 else whole if rest == 0 else numerator / denominator
