"""Labels that a phase lists, and their positions in that list, in values of any numeric type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.pixels import values_in_words

LARGEST_LABEL = np.iinfo(np.uint16).max
MOST_LABELS = 254
_UNLISTED = 255


class ListedLabels:
    """Whole numbers that images may hold: the i-th label has position i, the background position 0."""

    def __init__(self, labels: Sequence[int], background: int) -> None:
        """Take 1 to 254 different labels from 0 to 65535. Raises `ValueError` for others."""
        listed = [background, *labels]
        if not 1 <= len(labels) <= MOST_LABELS or len(set(listed)) < len(listed):
            raise ValueError(f"expected 1 to {MOST_LABELS} labels, all different and not the background")
        if min(listed) < 0 or max(listed) > LARGEST_LABEL:
            raise ValueError(f"expected labels from 0 to {LARGEST_LABEL}")
        self._values = np.array(listed, dtype=np.uint16)
        self._are_positions = listed == list(range(len(listed)))
        self._positions = np.full(LARGEST_LABEL + 1, _UNLISTED, dtype=np.uint8)
        self._positions[self._values] = np.arange(len(listed), dtype=np.uint8)

    def positions(self, values: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the position of every value, possibly as a view. Raises `ReadError` for unlisted values."""
        if not values.size:
            return np.zeros(values.shape, dtype=np.uint8)
        highest = values.max()
        # One that is not a number passes neither comparison.
        if not (values.min() >= 0 and highest <= LARGEST_LABEL):
            raise self._unlisted(values)
        small = highest < _UNLISTED
        whole: NDArray[np.unsignedinteger[Any]] = values.astype(np.uint8 if small else np.uint16, copy=False)
        if values.dtype.kind == "f" and (whole != values).any():
            raise self._unlisted(values)
        if self._are_positions:
            if highest >= len(self._values):
                raise self._unlisted(values)
            return whole.astype(np.uint8, copy=False)
        positions: NDArray[np.uint8] = self._positions.take(whole)
        if positions.max() == _UNLISTED:
            raise self._unlisted(values)
        return positions

    def values(self, positions: NDArray[np.uint8]) -> NDArray[np.unsignedinteger[Any]]:
        """Return the listed values at those positions, as 8 bits if they fit."""
        fits = int(self._values.max()) <= np.iinfo(np.uint8).max
        return (self._values.astype(np.uint8) if fits else self._values)[positions]

    def in_words(self) -> str:
        """Return which values are listed, for example ``values 0, 1 or 4 only``."""
        listed = sorted(self._values.tolist())
        if len(listed) > 2 and listed[-1] - listed[0] == len(listed) - 1:
            return f"whole numbers from {listed[0]} to {listed[-1]} only"
        return f"values {', '.join(map(str, listed[:-1]))} or {listed[-1]} only"

    def _unlisted(self, values: NDArray[Any]) -> ReadError:
        listed = set(self._values.tolist())
        found = [value for value in np.unique(values).tolist() if value not in listed]
        hint = None
        if found[-1] == np.iinfo(np.uint8).max and max(listed) < found[-1]:
            hint = "grey values? Write the numbers of the labels"
        words = values_in_words([f"{value:.6g}" if isinstance(value, float) else value for value in found])
        return ReadError(FaultKind.WRONG_VALUE, self.in_words(), words, hint=hint)
