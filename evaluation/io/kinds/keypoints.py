"""Keypoints: named points such as landmarks, each exactly once per case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from evaluation.core.fault import Fault, FaultKind, FormFault
from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.core.source import FileAccess, JsonSource, RowsSource, Source, fault_at
from evaluation.core.variant import Variant
from evaluation.io.handover import HandoverError, Packed
from evaluation.io.kinds.annotation_json import POINTS
from evaluation.io.kinds.objects import Attributes
from evaluation.io.kinds.points import Points, PointSet, moved_points
from evaluation.io.kinds.space import Space


@dataclass(frozen=True)
class Keypoints(Kind):
    """Points with the given names; a row of a table holds coordinates and name.

    The value is a `PointSet` with one point for each name, in the order of ``names``. A name that is missing,
    duplicate or unknown is a fault.
    """

    average_items: ClassVar[int] = 1000
    max_json_values: ClassVar[int] = 100_000

    names: tuple[str, ...]
    space: Space

    @cached_property
    def _points(self) -> Points:
        attributes = Attributes(self.names, always_named=True)
        return Points(self.space, attributes, max_points=2 * len(self.names))

    @property
    def columns(self) -> tuple[str, ...]:
        """The usual names of a table's columns, in their order."""
        return (*self.space.names, "name")

    @property
    def socket_kind(self) -> str:
        """The platform's kind of socket."""
        return POINTS.many

    def read(self, source: Source, case: CaseForm, files: FileAccess) -> PointSet:
        """Return the points at a source. Raises `FormFault` with the faults of all points."""
        if not isinstance(source, RowsSource | JsonSource):
            raise TypeError(f"no keypoints can be read from {type(source).__name__}")
        found = self._points.read(source, case, files)
        if faults := list(self._faults(found, source, case)):
            raise FormFault(faults)
        return _in_order(found)

    def _faults(self, found: PointSet, source: RowsSource | JsonSource, case: CaseForm) -> Iterator[Fault]:
        counts = np.bincount(found.classes, minlength=len(self.names))
        for name, count in zip(self.names, counts.tolist(), strict=True):
            if count != 1:
                kind = FaultKind.DUPLICATE if count else FaultKind.MISSING
                times = f"{count} times" if count else "none"
                yield from fault_at(source, f"the point {name!r} of {case.name} once", times, kind).faults

    def items(self, value: PointSet) -> int:
        """Return the number of points."""
        return len(value)

    def pack(self, value: PointSet) -> Packed:
        """Return a table of coordinates, index of the name, and 1."""
        return self._points.pack(value)

    def unpack(self, packed: Packed, case: CaseForm) -> PointSet:
        """Return a point of each name. Raises `HandoverError`."""
        value = self._points.unpack(packed, case)
        if value.classes.tolist() != list(range(len(self.names))):
            raise HandoverError(f"expected {len(self.names)} points, each once")
        return value

    def rehearse(self, reference: PointSet, case: CaseForm, variant: Variant) -> PointSet | None:
        """Return the points, all a little aside, or each far away from where it is; never none."""
        return None if variant is Variant.EMPTY else moved_points(reference, self.space, case, variant)

    def write_rows(self, value: PointSet) -> list[tuple[str, ...]]:
        """Return the cells of every point."""
        return self._points.write_rows(value)

    def write_json(self, value: PointSet) -> dict[str, object]:
        """Return the platform's `Multiple points`."""
        return self._points.write_json(value)

    def describe(self) -> str:
        """Return the content of the rows."""
        return f"one point a row: {self.space.in_words()}; name each once of {', '.join(self.names)}"

    def describe_json(self) -> str:
        """Return the platform's type and its content."""
        return (
            f"the type `{self.socket_kind}`; {self.space.in_words()}; `name` each once of "
            f"{', '.join(self.names)}"
        )


def _in_order(found: PointSet) -> PointSet:
    order = np.argsort(found.classes)
    return PointSet(
        found.positions[order], found.classes[order], found.probabilities[order], found.diameters[order]
    )
