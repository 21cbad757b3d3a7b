"""Scores of teams from their values in every case: ranks by case, and weighted quantiles."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.scheme import Ties
from evaluation.ranking.methods.tied_ranks import competition_ranks, shared_ranks

FloatArray = NDArray[np.float64]


def case_ranks(values: ArrayLike, better: Literal["higher", "lower"], ties: Ties) -> FloatArray:
    """Return the rank of every team in every case, 1 = best; a team without a value comes last.

    values: shape (teams, cases), NaN for a missing value. Equal floats share a rank by the rule for ties.
    Returns shape (teams, cases); NaN in a case in which no team has a value.
    """
    given = np.asarray(values, dtype=np.float64).T
    missing = np.isnan(given)
    last = -np.inf if better == "higher" else np.inf
    # Infinite values come before missing ones, so they are replaced by finite ones.
    largest = np.finfo(np.float64).max
    known = np.where(missing, last, np.clip(given, -largest, largest))
    numerators, denominator = shared_ranks(competition_ranks(known, better), ties)
    ranks = numerators / denominator
    ranks[missing.all(axis=1)] = np.nan
    return np.asarray(ranks.T)


def weighted_quantiles(values: ArrayLike, weights: ArrayLike, probability: float) -> FloatArray:
    """Return a quantile over the cases of every team, each case repeated by its weight.

    values: shape (teams, cases), NaN where a case does not enter. weights: shape (rows, cases), whole
    numbers. Linear interpolation between order statistics (type 7 of Hyndman and Fan 1996, Am. Stat. 50:361),
    so that ½ is the median. Returns shape (rows, teams), NaN where no case enters.
    """
    columns, rows = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    found = np.empty((len(rows), len(columns)))
    for team, column in enumerate(columns):
        order = np.argsort(column, kind="stable")[: np.count_nonzero(~np.isnan(column))]
        cumulative = np.cumsum(rows[:, order], axis=1)
        found[:, team] = _interpolated(column[order], cumulative, probability)
    return found


def _interpolated(ordered: FloatArray, cumulative: FloatArray, probability: float) -> FloatArray:
    """Return the quantile of ordered values (cases,) by cumulative weights (rows, cases)."""
    if not ordered.size:
        return np.full(len(cumulative), np.nan)
    total = cumulative[:, -1]
    position = np.maximum(total - 1, 0) * probability
    below = np.floor(position)
    lower, upper = (
        ordered[np.minimum((cumulative <= index[:, np.newaxis]).sum(axis=1), ordered.size - 1)]
        for index in (below, np.minimum(below + 1, total - 1))
    )
    fraction = position - below
    # Both neighbours are used as they are where there is nothing between them: ∞ − ∞ would be NaN.
    between = (fraction > 0) & (lower != upper)
    with np.errstate(invalid="ignore"):
        mixed = np.where(between, lower * (1 - fraction) + upper * fraction, lower)
    return np.where(total > 0, mixed, np.nan)
