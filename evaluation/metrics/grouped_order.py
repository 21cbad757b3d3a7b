"""The order of detections within their groups, such as classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_LARGEST = 1 << 63


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
