"""Types of arrays, and quantiles and distinct values without the slow first call of NumPy's own."""

from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]
Positions = NDArray[np.intp]
Number = TypeVar("Number", bound=np.generic)

SIGNIFICANT_DIGITS = 12
"""The digits of published numbers: values that are equal in them are equal."""


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """Return the distinct values of an array of any shape, ascending; shape (values,).

    As `numpy.unique`, which imports masked arrays at its first call: that takes as long as a hundred of
    these. Values must not be NaN.
    """
    ordered = np.sort(values, axis=None)
    first = np.ones(ordered.size, dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


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
    return np.where(share < 0.5, lower + step * share, upper - step * (1 - share))


def ratio_or_nan(numerator: Floats, denominator: Floats) -> Floats:
    """Return the quotients of two arrays of matching shapes; NaN where the denominator is not above 0."""
    result = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    np.divide(numerator, denominator, out=result, where=denominator > 0)
    return result


def mean_of_defined(values: Floats, axis: int) -> Floats:
    """Return the means along an axis over the values that are not NaN; NaN where all are."""
    defined = ~np.isnan(values)
    return ratio_or_nan(np.where(defined, values, 0.0).sum(axis=axis), defined.sum(axis=axis) * 1.0)
