"""A plane of a volume with known rows of zeros."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from evaluation.metrics.crop import Crop, box_of_content


@dataclass(frozen=True, slots=True)
class Plane:
    """The values (y, x) of a plane, of any numeric type; every bit before ``top`` and from ``bottom`` is 0.

    Most planes of most masks are nearly empty, which readers find in passing.
    """

    values: NDArray[Any]
    top: int
    bottom: int

    @property
    def crop(self) -> Crop:
        """A view of the plane, cropped to the box of its nonzero bits."""
        rows = self.values[self.top : self.bottom]
        box = box_of_content(rows)
        if box.is_empty:
            return Crop(self.values[:0, :0])
        return Crop(rows[box.slices], self.top + box.top, box.left)


def whole_plane(values: NDArray[Any]) -> Plane:
    """Return a plane without known rows of zeros."""
    return Plane(values, 0, len(values))
