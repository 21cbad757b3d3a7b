"""One-sided signed-rank tests of many pairs of teams, on every case once or on weighted cases."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

FloatArray = NDArray[np.float64]
# Equal decimals may differ as floats: 0.3 − 0.1 and 0.4 − 0.2.
_DECIMALS = 12
_ONE, _SIGN = np.uint64(1), np.uint64(63)


def one_sided_p_values(differences: ArrayLike) -> FloatArray:
    """Return the p-values of "differences are positive" and of "are negative", shape (pairs, 2).

    differences: shape (pairs, cases), NaN where a case does not enter.
    Wilcoxon's signed-rank test by the normal approximation, with corrections for ties and continuity; zeros
    are left out. p = 1 where nothing is left.
    Source: Wilcoxon 1945, Biometrics Bulletin 1:80; Hollander and Wolfe 1973, section 3.1.
    """
    given = np.round(np.asarray(differences, dtype=np.float64), _DECIMALS)
    given[np.isnan(given)] = 0.0
    given += 0.0  # no −0
    # The bits of a float without its sign are in the order of the magnitudes. With the sign as the last bit,
    # one sort of whole numbers gives magnitudes and signs.
    bits = given.view(np.uint64)
    keys = np.sort((bits << _ONE) | (bits >> _SIGN), axis=1)
    cases = keys.shape[1]
    negative = (keys & _ONE).astype(np.float64)
    zeros = cases - np.count_nonzero(keys, axis=1)
    total = (cases - zeros).astype(np.float64)
    from_ties, ties = _tied(keys, negative)
    # All sums are of halves, and so exact in any order.
    sum_of_negatives = negative @ np.arange(1.0, cases + 1) - zeros * negative.sum(axis=1) + from_ties
    statistic = total * (total + 1) / 4 - sum_of_negatives
    return _p_values(statistic, total, ties)


def weighted_p_values(differences: ArrayLike, weights: ArrayLike) -> FloatArray:
    """Return the p-values of one pair under weights of the cases, shape (rows, 2), see `one_sided_p_values`.

    differences: shape (cases,). weights: shape (rows, cases), whole numbers; a case is repeated by its
    weight.
    """
    given, rows = np.asarray(differences, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    given = np.round(given, _DECIMALS)
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
    return _p_values(statistic, total, (counts**3 - counts).sum(axis=1))


def _tied(keys: NDArray[np.uint64], negative: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ties' share of the sum of negative ranks of each row, and Σ(t³ − t) over the groups.

    keys: sorted rows. Both are sums over groups of t equal magnitudes, without the zeros.
    """
    rows, cases = keys.shape
    follows = np.zeros(keys.shape, dtype=np.bool_)  # the same magnitude as the one before
    follows[:, 1:] = (keys[:, 1:] ^ keys[:, :-1]) <= _ONE
    members = np.flatnonzero(follows)
    # The first column follows nothing, and so no group reaches over the end of a row.
    opens = np.diff(members, prepend=-2) != 1
    starts = members[opens] - 1
    sizes = np.diff(np.flatnonzero(opens), append=members.size) + 1
    nonzero = keys.ravel()[starts] != 0
    starts, sizes = starts[nonzero], sizes[nonzero]
    row = starts // cases
    if not starts.size:
        return np.zeros(rows), np.zeros(rows)
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    signs = negative.ravel()[np.repeat(starts, sizes) + within]
    groups = np.cumsum(sizes) - sizes
    negatives = np.add.reduceat(signs, groups)
    # Relative to the first rank of the group, the mid-rank is (t − 1) / 2.
    surplus = negatives * (sizes - 1) / 2 - np.add.reduceat(signs * within, groups)
    counts = sizes.astype(np.float64)
    by_row = (np.bincount(row, added, rows) for added in (surplus, counts**3 - counts))
    found, ties = (np.asarray(sums, dtype=np.float64) for sums in by_row)
    return found, ties


def _p_values(statistic: FloatArray, total: FloatArray, ties: FloatArray) -> FloatArray:
    """Return the two one-sided p-values, shape (rows, 2), of the surplus of the positive ranks."""
    deviation = np.sqrt(total * (total + 1) * (2 * total + 1) / 24 - ties / 48)
    with np.errstate(invalid="ignore", divide="ignore"):
        both = np.stack([(statistic - 0.5) / deviation, (-statistic - 0.5) / deviation], axis=1)
    return np.where(deviation[:, np.newaxis] > 0, ndtr(-both), 1.0)
