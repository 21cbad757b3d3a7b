"""Points in an image or volume, each with a class and a probability where the phase asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import Fault, FormFault
from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.core.source import CellsSource, FileAccess, JsonSource, RowsSource, Source, fault_at
from evaluation.core.variant import Variant
from evaluation.io.handover import HandoverError, Packed
from evaluation.io.kinds.annotation_json import (
    POINTS,
    Annotation,
    read_annotation,
    read_annotations,
    written_alone,
    written_annotation,
    written_list,
)
from evaluation.io.kinds.number import number_of_cell
from evaluation.io.kinds.objects import NO_ATTRIBUTES, Attributes, all_or_faults, objects_of, rows_of_case
from evaluation.io.kinds.space import Space

NEAR_MM = 0.001
_AXES_IN_JSON = 3


@dataclass(frozen=True, slots=True, eq=False)
class PointSet:
    """The points of a case in their order.

    positions: shape (points, axes), x, y and z, in mm or pixels. classes: shape (points,), indices.
    probabilities: shape (points,), 1 for a point without one. diameters: shape (points,), NaN without any.
    """

    positions: NDArray[np.float64]
    classes: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    diameters: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.positions)


def point_set(rows: Iterable[tuple[float, ...]], axes: int) -> PointSet:
    """Return the points of rows of coordinates, class index, probability and diameter."""
    table = np.array(list(rows), dtype=np.float64).reshape(-1, axes + 3)
    return PointSet(table[:, :axes], table[:, axes].astype(np.int64), table[:, axes + 1], table[:, axes + 2])


@dataclass(frozen=True)
class Points(Kind):
    """Any number of points up to ``max_points``, or with ``single`` exactly one per case.

    In a table a point is a row: its coordinates, then class, probability and diameter where there are several
    classes, ``with_probability`` and ``with_diameter``. The diameter of a reference object is in the unit of
    the coordinates. An empty cell or a negative number stands for ``unknown_diameter``, and is a fault
    without it.
    """

    average_items: ClassVar[int] = 1000
    max_json_values: ClassVar[int] = 100_000

    space: Space
    attributes: Attributes = NO_ATTRIBUTES
    with_diameter: bool = False
    unknown_diameter: float | None = None
    single: bool = False
    max_points: int = 10_000

    @property
    def columns(self) -> tuple[str, ...]:
        """The usual names of a table's columns, in their order."""
        return (*self.space.names, *self.attributes.columns, *("diameter",) * self.with_diameter)

    @property
    def socket_kind(self) -> str:
        """The platform's kind of socket."""
        return POINTS.one if self.single else POINTS.many

    def read(self, source: Source, case: CaseForm, files: FileAccess) -> PointSet:
        """Return the points at a source. Raises `FormFault` with the faults of all points."""
        faults: list[Fault] = []
        rows = all_or_faults(self._rows(source, case, faults), faults)
        return point_set(rows, self.space.axes)

    def _rows(self, source: Source, case: CaseForm, faults: list[Fault]) -> Iterator[tuple[float, ...]]:
        """Yield coordinates, class index, probability and diameter of every point."""
        if isinstance(source, CellsSource):
            yield self._of_cells(source, case, faults)
        elif isinstance(source, RowsSource):
            for row in rows_of_case(source, case, 1 if self.single else self.max_points, self.single):
                yield self._of_cells(row, case, faults)
        elif isinstance(source, JsonSource):
            if self.single:
                yield self._of_annotation(read_annotation(source, POINTS), case, faults)
                return
            for found in read_annotations(source, POINTS, self.max_points):
                if isinstance(found, FormFault):
                    faults += found.faults
                else:
                    yield self._of_annotation(found, case, faults)
        else:
            raise TypeError(f"no points can be read from {type(source).__name__}")

    def _of_cells(self, row: CellsSource, case: CaseForm, faults: list[Fault]) -> tuple[float, ...]:
        position = position_of_cells(row, self.space, case, faults)
        label, probability = self.attributes.of_cells(row, self.space.axes, faults)
        return (*position, label, probability, self._diameter(row, faults))

    def _diameter(self, row: CellsSource, faults: list[Fault]) -> float:
        if not self.with_diameter:
            return float("nan")
        if not row.cells[-1] and self.unknown_diameter is not None:
            return self.unknown_diameter
        try:
            diameter = number_of_cell(row, len(row.cells) - 1, "a diameter")
            if diameter < 0 and self.unknown_diameter is None:
                raise fault_at(row, "a diameter of at least 0", f"{diameter:.12g}")
        except FormFault as fault:
            faults += fault.faults
            return float("nan")
        return self.unknown_diameter if diameter < 0 and self.unknown_diameter is not None else diameter

    def _of_annotation(self, found: Annotation, case: CaseForm, faults: list[Fault]) -> tuple[float, ...]:
        position = found.coordinates[0][: self.space.axes]
        faults += self.space.faults(found.source, position, case)
        return (*position, *self.attributes.of_annotation(found, faults), float("nan"))

    def items(self, value: PointSet) -> int:
        """Return the number of points."""
        return len(value)

    def pack(self, value: PointSet) -> Packed:
        """Return a table of coordinates, class index and probability."""
        return np.column_stack([value.positions, value.classes, value.probabilities])

    def unpack(self, packed: Packed, case: CaseForm) -> PointSet:
        """Return points of known classes within the bounds of the space. Raises `HandoverError`."""
        axes = self.space.axes
        rows = objects_of(packed, axes + 2, 1 if self.single else self.max_points)
        low, high = np.transpose(self.space.bounds(case))
        if not ((rows[:, :axes] >= low) & (rows[:, :axes] <= high)).all() or (self.single and not len(rows)):
            raise HandoverError("expected points within the bounds of the image")
        self.attributes.check(rows[:, axes], rows[:, axes + 1])
        return point_set(np.column_stack([rows, np.full(len(rows), np.nan)]), axes)

    def rehearse(self, reference: PointSet, case: CaseForm, variant: Variant) -> PointSet | None:
        """Return the points, all a little aside, none, or each far away from where it is.

        A case without points has one far away in the inverted variant. A single point is never left out.
        """
        if variant is Variant.EMPTY:
            return None if self.single else point_set([], self.space.axes)
        moved = moved_points(reference, self.space, case, variant)
        if variant is Variant.INVERTED and not len(moved):
            corner = self.space.farthest((0.0,) * self.space.axes, case)
            return point_set([(*corner, 0.0, 1.0, float("nan"))], self.space.axes)
        return moved

    def write_rows(self, value: PointSet) -> list[tuple[str, ...]]:
        """Return the cells of every point."""
        points = zip(value.positions, value.classes, value.probabilities, value.diameters, strict=True)
        return [
            (
                *(repr(float(number)) for number in position),
                *self.attributes.cells(label, probability),
                *(repr(float(diameter)),) * self.with_diameter,
            )
            for position, label, probability, diameter in points
        ]

    def write_cells(self, value: PointSet) -> tuple[str, ...]:
        """Return the cells of a single point."""
        (row,) = self.write_rows(value)
        return row

    def write_json(self, value: PointSet) -> dict[str, object]:
        """Return the platform's `Point` or `Multiple points`."""
        entries = [
            written_annotation(
                [triple_of(position)], POINTS, self.attributes.name(label), self.attributes.probability(share)
            )
            for position, label, share in zip(
                value.positions, value.classes, value.probabilities, strict=True
            )
        ]
        return written_alone(entries[0], POINTS) if self.single else written_list(entries, POINTS)

    def describe(self) -> str:
        """Return the content of a row."""
        many = "one point" if self.single else f"one point a row, at most {self.max_points} for an image"
        return f"{many}: {self.space.in_words()}{self.attributes.in_words()}"

    def describe_json(self) -> str:
        """Return the platform's type and its content."""
        attributes = self.attributes.in_words_of_json()
        return f"the type `{self.socket_kind}`; {self.space.in_words()}{attributes}"


def position_of_cells(
    row: CellsSource, space: Space, case: CaseForm, faults: list[Fault]
) -> tuple[float, ...]:
    """Return the coordinates in the first cells of a row; the faults of each are added."""
    position: list[float] = []
    for number in range(space.axes):
        try:
            position.append(number_of_cell(row, number, "a finite number"))
        except FormFault as fault:
            faults += fault.faults
            position.append(0.0)
    faults += space.faults(row, position, case)
    return tuple(position)


def moved_points(reference: PointSet, space: Space, case: CaseForm, variant: Variant) -> PointSet:
    """Return the points of a reference as predictions, moved as a variant asks for."""
    positions = reference.positions.copy()
    if variant is Variant.NEAR and len(positions):
        step = NEAR_MM if space.unit == "mm" else 1.0
        middle = space.bounds(case)[0][1] / 2
        positions[:, 0] += np.where(positions[:, 0] > middle, -step, step)
    elif variant is Variant.INVERTED and len(positions):
        positions = np.array([space.farthest(position, case) for position in positions.tolist()])
    ones, unknown = np.ones(len(positions)), np.full(len(positions), np.nan)
    return PointSet(positions, reference.classes, ones, unknown)


def triple_of(position: NDArray[np.float64]) -> list[float]:
    """Return three coordinates; z is 0 in two dimensions."""
    return [*position.tolist(), 0.0][:_AXES_IN_JSON]
