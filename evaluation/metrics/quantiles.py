"""Quantiles of a sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def quantiles(values: ArrayLike, levels: ArrayLike) -> NDArray[np.float64]:
    """Return quantiles along the first axis, by linear interpolation.

    values: shape (values, …), at least one value, no NaN. levels: shape (levels,), in [0, 1]. Returns shape
    (levels, …). As `numpy.quantile`, digit by digit; that imports masked arrays at its first call, which
    takes as long as many of these.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64), axis=0)
    place = np.asarray(levels, dtype=np.float64) * (len(ordered) - 1)
    before = np.floor(place).astype(np.intp)
    lower, upper = ordered[before], ordered[np.minimum(before + 1, len(ordered) - 1)]
    share = (place - before).reshape(-1, *[1] * (ordered.ndim - 1))
    step = upper - lower
    # From the nearer value, so that a share of one would give the upper one exactly.
    found: NDArray[np.float64] = np.where(share < 0.5, lower + step * share, upper - step * (1 - share))
    return found
