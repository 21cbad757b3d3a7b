"""The distinct values of an array."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """Return the distinct values of an array of any shape, ascending; shape (values,).

    As `numpy.unique`, which imports masked arrays at its first call: that takes as long as a hundred of
    these. Values must not be NaN.
    """
    ordered = np.sort(values, axis=None)
    first = np.ones(ordered.size, dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]
