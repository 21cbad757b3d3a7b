"""A point in an image, in pixels."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from evaluation.core.fault import Fault, FaultKind, FormFault
from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.core.source import CellsSource, FileAccess, JsonSource, Source, fault_at
from evaluation.core.variant import Variant
from evaluation.io.handover import Packed, list_of, number_within
from evaluation.io.json_files import json_kind
from evaluation.io.kinds.number import number_of_cell, number_of_json
from evaluation.metrics.points import euclidean_distance


@dataclass(frozen=True, slots=True)
class Point:
    """A position in pixels; x to the right, y downwards. A point that was read has its image's width."""

    x: float
    y: float
    image_width: int = field(default=0, compare=False)


def distance(first: Point, second: Point) -> float:
    """Return the Euclidean distance of two points, in pixels."""
    return float(euclidean_distance((first.x, first.y), (second.x, second.y)))


@dataclass(frozen=True)
class PointInImage(Kind):
    """A point (x, y) with 0 ≤ x ≤ width and 0 ≤ y ≤ height of the case's image.

    With ``may_be_invisible``, (0, 0) means that the point is invisible.
    """

    needs_size: ClassVar[bool] = True

    may_be_invisible: bool = False

    def is_visible(self, point: Point) -> bool:
        """Return whether a point is visible."""
        return not self.may_be_invisible or point.x != 0 or point.y != 0

    def read(self, source: Source, case: CaseForm, files: FileAccess) -> Point:
        """Return the point at a source. Raises `FormFault` with the faults of both coordinates."""
        expected = "a finite number"
        if isinstance(source, JsonSource) and not _is_list_of_coordinates(source.value):
            raise fault_at(source, "a list [x, y]", json_kind(source.value), FaultKind.MALFORMED)
        values: list[float] = []
        faults: list[Fault] = []
        for position, limit in enumerate((case.width, case.height)):
            try:
                value = _coordinate(source, position, expected)
                if not 0 <= value <= limit:
                    axis = "xy"[position]
                    raise fault_at(source, f"{axis} from 0 to {limit}", f"{axis} = {value:.12g}")
                values.append(value)
            except FormFault as fault:
                faults += fault.faults
        if faults:
            raise FormFault(faults)
        return Point(values[0], values[1], case.width)

    def pack(self, value: Point) -> Packed:
        """Return x and y."""
        return [value.x, value.y]

    def unpack(self, packed: Packed, case: CaseForm) -> Point:
        """Return the point. Raises `HandoverError` unless it lies in the image."""
        x, y = list_of(packed, 2)
        return Point(number_within(x, 0, case.width), number_within(y, 0, case.height), case.width)

    def rehearse(self, reference: Point, case: CaseForm, variant: Variant) -> Point:
        """Return the point, a point one pixel nearer to the centre, the centre, or the farthest corner."""
        x, y = case.width / 2, case.height / 2
        if variant is Variant.PERFECT:
            return reference
        if variant is Variant.NEAR:
            x = reference.x + max(-1.0, min(1.0, x - reference.x))
            y = reference.y
        elif variant is Variant.INVERTED:
            x, y = (0.0 if reference.x > x else case.width), (0.0 if reference.y > y else case.height)
        return replace(reference, x=float(x), y=float(y))

    def write_cells(self, value: Point) -> tuple[str, ...]:
        """Return x and y as the shortest texts that read back the same."""
        return (repr(float(value.x)), repr(float(value.y)))

    def write_json(self, value: Point) -> list[float]:
        """Return ``[x, y]``."""
        return [float(value.x), float(value.y)]

    def describe(self) -> str:
        """Return the description for participants."""
        invisible = "; both 0 where it is invisible" if self.may_be_invisible else ""
        return f"x and y in pixels, each from 0 to the image's width or height{invisible}"

    def describe_json(self) -> str:
        """Return the description of a list."""
        return f"a list [x, y]: {self.describe()}"


def _coordinate(source: Source, position: int, expected: str) -> float:
    if isinstance(source, CellsSource):
        return number_of_cell(source, position, expected)
    if isinstance(source, JsonSource):
        return number_of_json(source, source.value[position], expected)
    raise TypeError(f"no point can be read from {type(source).__name__}")


def _is_list_of_coordinates(value: object) -> bool:
    # The platform's own points have a third coordinate.
    return isinstance(value, list) and len(value) in (2, 3)
