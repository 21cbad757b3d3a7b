"""Types of arrays, and small functions of arrays that many metrics need."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]
Number = TypeVar("Number", bound=np.generic)
_LARGEST = 1 << 63


def ratio_or_nan(numerator: Floats, denominator: Floats) -> Floats:
    """Return the quotients of two arrays of matching shapes; NaN where the denominator is not above 0."""
    result = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    np.divide(numerator, denominator, out=result, where=denominator > 0)
    return result


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
    found: NDArray[np.float64] = np.where(share < 0.5, lower + step * share, upper - step * (1 - share))
    return found


def order_in_groups(groups: NDArray[np.int64], confidence: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the order by group, then by descending confidence, then by position.

    groups: integers of at least 0, confidence: no NaN; shape (detections,). As
    ``numpy.lexsort((-confidence, groups))``, but by one sort of integers that are all different, which takes
    a third of the time.
    """
    number = groups.size
    bits = number.bit_length()
    if int(groups.max(initial=0)) + 1 >= _LARGEST // max(1, number) >> bits:
        return np.lexsort((-confidence, groups))
    descending = np.argsort(-confidence)
    sorted_confidence = confidence[descending]
    lower = np.zeros(number, dtype=np.int64)
    lower[1:] = sorted_confidence[1:] != sorted_confidence[:-1]
    rank = np.empty(number, dtype=np.int64)
    rank[descending] = np.cumsum(lower)
    keys = ((groups * number + rank) << bits) + np.arange(number)
    keys.sort()
    order: NDArray[np.int64] = keys & ((1 << bits) - 1)
    return order
