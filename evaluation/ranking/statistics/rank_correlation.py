"""Kendall's τ-b between a ranking and many others."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_ENTRIES_AT_ONCE = 4_000_000


def kendall_tau_b(ranking: ArrayLike, others: ArrayLike) -> NDArray[np.float64]:
    """Return τ-b of a ranking with each of many over the same teams; NaN where all places of one are equal.

    ranking: shape (teams,). others: shape (rows, teams). Returns shape (rows,) in [−1, 1].
    τ-b = Σ sign(xᵢ − xⱼ)·sign(yᵢ − yⱼ) / √(untied pairs of x · untied pairs of y).
    Source: Kendall 1945, Biometrika 33:239.
    """
    first, rows = np.asarray(ranking), np.asarray(others)
    upper = np.triu_indices(first.size, 1)
    signs = np.sign(first[upper[0]] - first[upper[1]]).astype(np.float32)
    step = max(1, _ENTRIES_AT_ONCE // max(1, signs.size))
    taus = [np.empty(0)]
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        of_block = np.sign(block[:, upper[0]] - block[:, upper[1]]).astype(np.float32)
        # Sums of fewer than 2²⁴ ones are exact in float32.
        concordance = (of_block @ signs).astype(np.float64)
        untied = np.count_nonzero(of_block, axis=1) * float(np.count_nonzero(signs))
        with np.errstate(invalid="ignore"):
            taus.append(np.where(untied > 0, concordance / np.sqrt(untied), np.nan))
    return np.concatenate(taus)
