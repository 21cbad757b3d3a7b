"""Volumes cropped to the box of what is not 0, which saves memory and time for empty space."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.crop import NOTHING, Box, Crop

Three = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class VolumeCrop:
    """The values (z, y, x) of a volume from ``corner`` (z, y, x) on; everything else is 0.

    A volume of zeros has values of shape (0, 0, 0) at (0, 0, 0).
    """

    values: NDArray[Any]
    corner: Three

    @property
    def end(self) -> Three:
        """The corner opposite to ``corner``, just behind the last voxel."""
        z, y, x = self.corner
        planes, rows, columns = self.values.shape
        return z + planes, y + rows, x + columns

    def within(self, corner: Three, end: Three) -> NDArray[Any]:
        """Return the values in a box that contains this crop; around it they are 0."""
        if (corner, end) == (self.corner, self.end):
            return self.values
        shape = tuple(stop - start for start, stop in zip(corner, end, strict=True))
        values = np.zeros(shape, dtype=self.values.dtype)
        if self.values.size:
            inside = zip(corner, self.corner, self.end, strict=True)
            values[tuple(slice(start - first, stop - first) for first, start, stop in inside)] = self.values
        return values


def stack_of(planes: Iterable[Crop], dtype: np.dtype[Any] | type[np.generic]) -> VolumeCrop:
    """Return the volume whose planes those are, in order; the first is at z = 0."""
    filled = [(z, plane) for z, plane in enumerate(planes) if not plane.box.is_empty]
    if not filled:
        return VolumeCrop(np.zeros((0, 0, 0), dtype=dtype), (0, 0, 0))
    box = reduce(Box.union, (plane.box for _, plane in filled), NOTHING)
    first = filled[0][0]
    values = np.zeros((filled[-1][0] + 1 - first, *box.shape), dtype=dtype)
    for z, plane in filled:
        own = plane.box
        rows = slice(own.top - box.top, own.bottom - box.top)
        values[z - first, rows, own.left - box.left : own.right - box.left] = plane.values
    return VolumeCrop(values, (first, box.top, box.left))


def together(one: VolumeCrop, other: VolumeCrop) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return two crops of one volume in the smallest box around both."""
    if not one.values.size or not other.values.size:
        box = one if one.values.size else other
        corner, end = box.corner, box.end
    else:
        corner = _three(map(min, one.corner, other.corner))
        end = _three(map(max, one.end, other.end))
    return one.within(corner, end), other.within(corner, end)


def _three(numbers: Iterable[int]) -> Three:
    z, y, x = numbers
    return z, y, x
