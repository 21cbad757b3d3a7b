"""Test then rank: a team's score is the number of teams that it beats significantly."""

from __future__ import annotations

from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

FloatArray = NDArray[np.float64]


def significant_wins(
    values: ArrayLike,
    weights: ArrayLike,
    better: Literal["higher", "lower"],
    alpha: float,
    adjust: Literal["holm", "none"],
) -> FloatArray:
    """Return how many teams each team beats in a one-sided paired signed-rank test, shape (rows, teams).

    values: shape (teams, cases), to the digits in which differences are compared; a case enters a pair where
    both teams have a value. weights: shape (rows, cases), whole numbers; a case is repeated by its weight.
    All ordered pairs are one family of tests, see `one_sided_p_values`; a team wins where p ≤ alpha.
    Source: Wiesenfarth et al. 2021, Sci. Rep. 11:2369.
    """
    columns, rows = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    sign = 1.0 if better == "higher" else -1.0
    pairs = list(combinations(range(len(columns)), 2))
    if not pairs:
        return np.zeros((len(rows), len(columns)))
    p_values = np.empty((len(rows), 2 * len(pairs)))
    for position, (first, second) in enumerate(pairs):
        differences = sign * (columns[first] - columns[second])
        p_values[:, 2 * position : 2 * position + 2] = one_sided_p_values(differences, rows)
    wins = p_values <= alpha if adjust == "none" else _rejected_by_holm(p_values, alpha)
    found = np.zeros((len(rows), len(columns)))
    for position, (first, second) in enumerate(pairs):
        found[:, first] += wins[:, 2 * position]
        found[:, second] += wins[:, 2 * position + 1]
    return found


def one_sided_p_values(differences: ArrayLike, weights: ArrayLike) -> FloatArray:
    """Return the p-values of "differences are positive" and of "are negative", shape (rows, 2).

    differences: shape (cases,), NaN where a case does not enter. weights: shape (rows, cases), whole numbers.
    Wilcoxon's signed-rank test by the normal approximation, with corrections for ties and continuity; zeros
    are left out. p = 1 where nothing is left.
    Source: Wilcoxon 1945, Biometrics Bulletin 1:80; Hollander and Wolfe 1973, section 3.1.
    """
    given, rows = np.asarray(differences, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    # Equal decimals may differ as floats: 0.3 − 0.1 and 0.4 − 0.2.
    given = np.round(given, 12)
    entering = np.flatnonzero(np.nan_to_num(given) != 0)
    if not entering.size:
        return np.ones((len(rows), 2))
    # The order of equal magnitudes does not matter: only whole numbers are summed over them.
    order = entering[np.argsort(np.abs(given[entering]))]
    magnitudes = np.abs(given[order])
    starts = np.flatnonzero(np.r_[True, magnitudes[1:] != magnitudes[:-1]])
    chosen = rows[:, order]
    counts, positives = (
        np.add.reduceat(entries, starts, axis=1) for entries in (chosen, chosen * (given[order] > 0))
    )
    total = counts.sum(axis=1)
    mid_ranks = np.cumsum(counts, axis=1) - (counts - 1) / 2
    statistic = (positives * mid_ranks).sum(axis=1) - total * (total + 1) / 4
    ties = (counts**3 - counts).sum(axis=1)
    deviation = np.sqrt(total * (total + 1) * (2 * total + 1) / 24 - ties / 48)
    with np.errstate(invalid="ignore", divide="ignore"):
        both = np.stack([(statistic - 0.5) / deviation, (-statistic - 0.5) / deviation], axis=1)
    return np.where(deviation[:, np.newaxis] > 0, ndtr(-both), 1.0)


def _rejected_by_holm(p_values: FloatArray, alpha: float) -> NDArray[np.bool_]:
    """Return which tests of each row (rows, tests) Holm's procedure rejects."""
    tests = p_values.shape[1]
    order = np.argsort(p_values, axis=1, kind="stable")
    adjusted = np.take_along_axis(p_values, order, axis=1) * (tests - np.arange(tests))
    kept = np.maximum.accumulate(adjusted, axis=1) <= alpha
    rejected = np.empty(p_values.shape, dtype=bool)
    np.put_along_axis(rejected, order, kept, axis=1)
    return rejected
