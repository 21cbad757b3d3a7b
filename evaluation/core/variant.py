"""Predictions that are derived from a reference to rehearse a phase."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Variant(StrEnum):
    """The difference between a prediction and the reference that it is derived from.

    Perfect: no difference. Near-perfect: the smallest difference that its kind allows. Empty: nothing is
    found, whatever the reference is. Inverted: wrong everywhere.
    """

    PERFECT = "perfect"
    NEAR = "near-perfect"
    EMPTY = "empty"
    INVERTED = "inverted"


def grow_by_a_pixel(image: NDArray[Any], background: int) -> None:
    """Give the first background pixel to the right of a region the region's label, if such a pixel exists."""
    ends = (image[:, :-1] != background) & (image[:, 1:] == background)
    if ends.any():
        y, x = np.unravel_index(int(ends.argmax()), ends.shape)
        image[y, x + 1] = image[y, x]
