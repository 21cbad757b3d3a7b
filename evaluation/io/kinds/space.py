"""The space of points and boxes: its axes, its unit and its bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.core.fault import Fault
from evaluation.core.form import CaseForm
from evaluation.core.source import Source, fault_at
from evaluation.io.box_lines import MAX_COORDINATE

AXES = ("x", "y", "z")
FAR_AWAY = 1e6
"""A distance in millimetres or pixels beyond any image."""


@dataclass(frozen=True)
class Space:
    """Positions x, y and, with three axes, z.

    In pixels a position lies in the case's image, where the phase gives its size: 0 ≤ x ≤ width. World
    millimetres are bounded only to keep figures exact.
    """

    axes: Literal[2, 3] = 3
    unit: Literal["mm", "pixels"] = "mm"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the axes."""
        return AXES[: self.axes]

    def bounds(self, case: CaseForm) -> tuple[tuple[float, float], ...]:
        """Return the least and the largest coordinate along every axis."""
        if self.unit == "mm":
            return ((-MAX_COORDINATE, MAX_COORDINATE),) * self.axes
        sizes = (case.width, case.height, 0)[: self.axes]
        return tuple((0, size or MAX_COORDINATE) for size in sizes)

    def faults(
        self, source: Source, position: Sequence[float], case: CaseForm, suffix: str = ""
    ) -> Iterator[Fault]:
        """Yield a fault for every coordinate out of bounds; ``suffix`` follows the axis in its name."""
        for name, value, (low, high) in zip(self.names, position, self.bounds(case), strict=True):
            if not low <= value <= high:
                expected = f"{name}{suffix} from {low:.12g} to {high:.12g}"
                yield from fault_at(source, expected, f"{name}{suffix} = {value:.12g}").faults

    def farthest(self, position: Sequence[float], case: CaseForm) -> tuple[float, ...]:
        """Return a position far from another: across the image, or far outside of it."""
        if self.unit == "pixels" and case.width and case.height:
            sizes = (case.width, case.height)
            corner = tuple(
                0.0 if value > size / 2 else float(size) for value, size in zip(position, sizes, strict=False)
            )
            return (*corner, *map(float, position[2:]))
        step = FAR_AWAY if position[0] <= 0 else -FAR_AWAY
        moved = position[0] + step if self.unit == "mm" else position[0] + FAR_AWAY
        return (float(moved), *map(float, position[1:]))

    def in_words(self) -> str:
        """Return for example ``x, y, z in world millimetres``."""
        names = ", ".join(self.names)
        if self.unit == "mm":
            return f"{names} in world millimetres"
        return f"{names} in pixels, from 0 to the image's width or height"
