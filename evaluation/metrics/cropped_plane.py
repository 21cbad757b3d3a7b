"""Planes of a volume cut down to the box that holds something, so that empty space costs no memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of a plane, ``top ≤ y < bottom`` and ``left ≤ x < right``; empty where it has no pixel."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def slices(self) -> tuple[slice, slice]:
        """The rectangle as an index of a plane (y, x)."""
        return slice(self.top, self.bottom), slice(self.left, self.right)

    @property
    def is_empty(self) -> bool:
        """Whether the rectangle has no pixel."""
        return self.top >= self.bottom or self.left >= self.right

    def union(self, other: Box) -> Box:
        """Return the smallest rectangle around both; an empty one adds nothing."""
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        return Box(
            min(self.top, other.top),
            max(self.bottom, other.bottom),
            min(self.left, other.left),
            max(self.right, other.right),
        )


NOTHING = Box(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class CroppedPlane:
    """The values (y, x) of a plane inside ``box``; everything outside of it is 0."""

    values: NDArray[Any]
    box: Box

    def within(self, box: Box) -> NDArray[Any]:
        """Return the values in a rectangle that contains this plane's box."""
        if box == self.box:
            return self.values
        values = np.zeros((box.bottom - box.top, box.right - box.left), dtype=self.values.dtype)
        if not self.box.is_empty:
            rows = slice(self.box.top - box.top, self.box.bottom - box.top)
            values[rows, self.box.left - box.left : self.box.right - box.left] = self.values
        return values


EMPTY_PLANE = CroppedPlane(np.zeros((0, 0), dtype=np.uint8), NOTHING)


def box_of_content(plane: NDArray[Any]) -> Box:
    """Return the smallest box of a plane (y, x) outside of which every bit is 0.

    The bits are looked at rather than the values: one vectorised pass, for NaN and −0.0 as well.
    """
    bits = plane.view(f"u{plane.dtype.itemsize}")
    rows = np.flatnonzero(np.bitwise_or.reduce(bits, axis=1))
    if not len(rows):
        return NOTHING
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    columns = np.flatnonzero(np.bitwise_or.reduce(bits[top:bottom], axis=0))
    return Box(top, bottom, int(columns[0]), int(columns[-1]) + 1)
