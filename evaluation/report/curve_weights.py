"""The case weights of the band around a curve, as in the phase's intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.core.resampling import Resampling, units_of
from evaluation.metrics.bootstrap import bootstrap_weights

_LARGEST_BAND = 20_000_000
"""Resamples times points above which a curve has no band."""


def curve_weights(
    resampling: Resampling, names: Sequence[str], strata: NDArray[np.int64], points: int | None = None
) -> list[NDArray[np.float64]]:
    """Return the blocks of weights of the cases, shape (rows, cases), as the phase's intervals draw them.

    strata: of every case, −1 where it does not enter. points: of the curve, where there are more than cases.
    Empty where the phase draws none, or for a curve that would take too long.
    """
    most = max(len(names), points or 0)
    if not resampling.resamples or not most or resampling.resamples * most > _LARGEST_BAND:
        return []
    units = units_of(resampling.clusters, names)
    return list(bootstrap_weights(strata, units, resampling.seed, resampling.resamples))
