"""Axis-parallel boxes in an image or volume: rows of a table, or in two dimensions the platform's JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evaluation.core.fault import Fault, FormFault
from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.core.source import CellsSource, FileAccess, JsonSource, RowsSource, Source, fault_at
from evaluation.core.variant import Variant
from evaluation.io.handover import HandoverError, Packed
from evaluation.io.kinds.annotated_boxes import boxes_of_json, written_box, written_boxes
from evaluation.io.kinds.annotation_json import BOXES
from evaluation.io.kinds.boxes import Boxes
from evaluation.io.kinds.number import number_of_cell
from evaluation.io.kinds.objects import NO_ATTRIBUTES, Attributes, all_or_faults, objects_of, rows_of_case
from evaluation.io.kinds.space import Space


@dataclass(frozen=True)
class BoxesInSpace(Kind):
    """Any number of boxes, at most ``max_boxes``; or with ``single`` exactly one in each case.

    The value is a `Boxes` with rows of class index, probability, the lower corner and the upper corner, each
    x, y and with three axes z. In a table a box is a row: x1, y1(, z1), x2, y2(, z2), then class and
    probability where the phase asks for them. The platform has no JSON of boxes with three axes.
    """

    average_items: ClassVar[int] = 1000
    max_json_values: ClassVar[int] = 300_000

    space: Space
    attributes: Attributes = NO_ATTRIBUTES
    single: bool = False
    max_boxes: int = 10_000

    @property
    def columns(self) -> tuple[str, ...]:
        """The usual names of a table's columns, in their order."""
        corners = (f"{name}{corner}" for corner in (1, 2) for name in self.space.names)
        return (*corners, *self.attributes.columns)

    @property
    def socket_kind(self) -> str | None:
        """The platform's kind of socket; boxes with three axes have none."""
        if self.space.axes > 2:
            return None
        return BOXES.one if self.single else BOXES.many

    def read(self, source: Source, case: CaseForm, files: FileAccess) -> Boxes:
        """Return the boxes at a source. Raises `FormFault` with the faults of all boxes."""
        faults: list[Fault] = []
        rows = all_or_faults(self._rows(source, case, faults), faults)
        return Boxes(np.array(rows, dtype=np.float64).reshape(-1, self._width))

    @property
    def _width(self) -> int:
        return 2 + 2 * self.space.axes

    def _rows(self, source: Source, case: CaseForm, faults: list[Fault]) -> Iterator[tuple[float, ...]]:
        """Yield class index, probability and both corners of every box."""
        if isinstance(source, CellsSource):
            yield self._of_cells(source, case, faults)
        elif isinstance(source, RowsSource):
            for row in rows_of_case(source, case, 1 if self.single else self.max_boxes, self.single):
                yield self._of_cells(row, case, faults)
        elif isinstance(source, JsonSource) and self.space.axes == 2:
            for found in boxes_of_json(source, self.max_boxes, self.single):
                if isinstance(found, FormFault):
                    faults += found.faults
                    continue
                annotation, corners = found
                faults += self._faults_of_corners(annotation.source, corners, case)
                yield (*self.attributes.of_annotation(annotation, faults), *corners)
        else:
            raise TypeError(f"no boxes can be read from {type(source).__name__}")

    def _of_cells(self, row: CellsSource, case: CaseForm, faults: list[Fault]) -> tuple[float, ...]:
        corners: list[float] = []
        for number in range(2 * self.space.axes):
            try:
                corners.append(number_of_cell(row, number, "a finite number"))
            except FormFault as fault:
                faults += fault.faults
        if len(corners) == 2 * self.space.axes:
            faults += self._faults_of_corners(row, tuple(corners), case)
        return (*self.attributes.of_cells(row, 2 * self.space.axes, faults), *corners)

    def _faults_of_corners(
        self, source: Source, corners: tuple[float, ...], case: CaseForm
    ) -> Iterator[Fault]:
        axes = self.space.axes
        lower, upper = corners[:axes], corners[axes:]
        yield from self.space.faults(source, lower, case, "1")
        yield from self.space.faults(source, upper, case, "2")
        for name, low, high in zip(self.space.names, lower, upper, strict=True):
            if high < low:
                expected, found = f"{name}1 ≤ {name}2", f"{name}1 = {low:.12g}, {name}2 = {high:.12g}"
                yield from fault_at(source, expected, found).faults

    def items(self, value: Boxes) -> int:
        """Return the number of boxes."""
        return len(value.rows)

    def pack(self, value: Boxes) -> Packed:
        """Return the rows."""
        return value.rows

    def unpack(self, packed: Packed, case: CaseForm) -> Boxes:
        """Return boxes of known classes within the bounds of the space. Raises `HandoverError`."""
        rows = objects_of(packed, self._width, 1 if self.single else self.max_boxes)
        low, high = np.transpose(self.space.bounds(case))
        lower, upper = np.split(rows[:, 2:], 2, axis=1)
        if not ((low <= lower) & (lower <= upper) & (upper <= high)).all():
            raise HandoverError("expected boxes within the bounds of the image")
        if self.single and not len(rows):
            raise HandoverError("expected one box")
        self.attributes.check(rows[:, 0], rows[:, 1])
        return Boxes(rows)

    def rehearse(self, reference: Boxes, case: CaseForm, variant: Variant) -> Boxes | None:
        """Return the boxes, each a hundredth narrower, none, or each a point far away.

        A case without boxes has one far away in the inverted variant. A single box is never left out.
        """
        if variant is Variant.EMPTY:
            return None if self.single else Boxes(reference.rows[:0])
        rows = reference.rows.copy()
        rows[:, 1] = 1.0
        first, axes = 2, self.space.axes
        if variant is Variant.NEAR:
            rows[:, first + axes] -= (rows[:, first + axes] - rows[:, first]) / 100
        elif variant is Variant.INVERTED:
            if not len(rows):
                rows = np.array([[0.0, 1.0] + [0.0] * 2 * axes])
            far = [self.space.farthest(row, case) for row in rows[:, first : first + axes].tolist()]
            rows[:, first:] = np.hstack([far, far])
        return Boxes(rows)

    def write_rows(self, value: Boxes) -> list[tuple[str, ...]]:
        """Return the cells of every box."""
        return [
            (*(repr(float(number)) for number in corners), *self.attributes.cells(label, probability))
            for label, probability, *corners in value.rows.tolist()
        ]

    def write_cells(self, value: Boxes) -> tuple[str, ...]:
        """Return the cells of a single box."""
        (row,) = self.write_rows(value)
        return row

    def write_json(self, value: Boxes) -> dict[str, object]:
        """Return the platform's `2D bounding box` or `Multiple 2D bounding boxes`."""
        entries = [
            written_box((x1, y1, x2, y2), self.attributes.name(label), self.attributes.probability(share))
            for label, share, x1, y1, x2, y2 in value.rows.tolist()
        ]
        return written_boxes(entries, self.single)

    def describe(self) -> str:
        """Return the content of a row."""
        many = "one box" if self.single else f"one box a row, at most {self.max_boxes} for an image"
        corners = f"lower corner (1) and upper corner (2), each {self.space.in_words()}"
        return f"{many}: {corners}{self.attributes.in_words()}"

    def describe_json(self) -> str:
        """Return the platform's type and its content."""
        return (
            f"the type `{self.socket_kind}`, boxes parallel to the axes; {self.space.in_words()}"
            f"{self.attributes.in_words_of_json()}"
        )
