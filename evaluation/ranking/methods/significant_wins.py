"""Test then rank: a team's score is the number of teams that it beats significantly."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Floats
from evaluation.ranking.methods.signed_ranks import one_sided_p_values, weighted_p_values

_ENTRIES_PER_BLOCK = 1 << 17  # stays in the processor's cache


def significant_wins(
    values: ArrayLike,
    weights: ArrayLike,
    better: Literal["higher", "lower"],
    alpha: float,
    adjust: Literal["holm", "none"],
) -> Floats:
    """Return how many teams each team beats in a one-sided paired signed-rank test, shape (rows, teams).

    values: shape (teams, cases), to the digits in which differences are compared; a case enters a pair where
    both teams have a value. weights: shape (rows, cases), whole numbers; a case is repeated by its weight.
    All ordered pairs are one family of tests, see `one_sided_p_values`; a team wins where p ≤ alpha.
    Source: Wiesenfarth et al. 2021, Sci. Rep. 11:2369.
    """
    columns, rows = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    columns = columns if better == "higher" else -columns
    first, second = np.triu_indices(len(columns), 1)
    if not first.size:
        return np.zeros((len(rows), len(columns)))
    p_values = _repeated(columns, rows[0])[np.newaxis] if len(rows) == 1 else _weighted(columns, rows)
    flat = p_values.reshape(len(rows), -1)
    wins = flat <= alpha if adjust == "none" else _rejected_by_holm(flat, alpha)
    beats = np.zeros((len(rows), len(columns), len(columns)), dtype=np.bool_)
    beats[:, first, second], beats[:, second, first] = wins[:, ::2], wins[:, 1::2]
    return np.asarray(beats.sum(axis=2), dtype=np.float64)


def _repeated(columns: Floats, weights: Floats) -> Floats:
    """Return both p-values of every pair of teams, shape (pairs, 2), with the cases repeated by weight."""
    cases = np.repeat(columns, weights.astype(np.int64), axis=1)
    step = max(1, _ENTRIES_PER_BLOCK // max(1, cases.shape[1]))
    return np.concatenate(
        [
            one_sided_p_values(cases[team] - cases[start : start + step])
            for team in range(len(cases))
            for start in range(team + 1, len(cases), step)
        ]
    )


def _weighted(columns: Floats, rows: Floats) -> Floats:
    """Return both p-values of every pair of teams under each row of weights, shape (rows, pairs, 2)."""
    pairs = zip(*np.triu_indices(len(columns), 1), strict=True)
    return np.stack(
        [weighted_p_values(columns[first] - columns[second], rows) for first, second in pairs], axis=1
    )


def _rejected_by_holm(p_values: Floats, alpha: float) -> NDArray[np.bool_]:
    """Return which tests of each row (rows, tests) Holm's procedure rejects."""
    tests = p_values.shape[1]
    order = np.argsort(p_values, axis=1, kind="stable")
    adjusted = np.take_along_axis(p_values, order, axis=1) * (tests - np.arange(tests))
    kept = np.maximum.accumulate(adjusted, axis=1) <= alpha
    rejected = np.empty(p_values.shape, dtype=bool)
    np.put_along_axis(rejected, order, kept, axis=1)
    return rejected
