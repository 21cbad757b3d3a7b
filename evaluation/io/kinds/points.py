"""Points: one in an image, any number in an image or volume, and named ones."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Never

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import Fault, FaultKind, FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, JsonSource, Source, fault_at
from evaluation.core.views import Objects
from evaluation.io.handover import HandoverError, Packed
from evaluation.io.json_files import json_kind
from evaluation.io.kinds.annotation_json import POINTS, POLYGONS, Annotation, AnnotationType, mean_of_vertices
from evaluation.io.kinds.number import all_numbers, number_of_cell, number_of_json
from evaluation.io.kinds.objects import IN_PIXELS, Attributes, ObjectsInSpace, Space
from evaluation.metrics.arrays import Floats
from evaluation.metrics.points import euclidean_distance

NEAR_MM = 0.001
_AXES_IN_JSON = 3
_AROUND = [(-1, 0, 0), (0, -1, 0), (1, 0, 0), (0, 1, 0)]


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

    def take(self, chosen: NDArray[np.bool_ | np.intp]) -> "PointSet":
        """Return some of the points, or all in another order."""
        return PointSet(
            self.positions[chosen], self.classes[chosen], self.probabilities[chosen], self.diameters[chosen]
        )


def point_set(rows: Iterable[tuple[float, ...]], axes: int) -> PointSet:
    """Return the points of rows of coordinates, class index, probability and diameter."""
    table = np.array(list(rows), dtype=np.float64).reshape(-1, axes + 3)
    return PointSet(table[:, :axes], table[:, axes].astype(np.int64), table[:, axes + 1], table[:, axes + 2])


def point_at(*position: float) -> PointSet:
    """Return a single point."""
    return point_set([(*position, 0.0, 1.0, float("nan"))], len(position))


def distance(first: PointSet, second: PointSet) -> float:
    """Return the Euclidean distance of two single points, in the unit of their space."""
    return float(euclidean_distance(*first.positions, *second.positions))


def rows_of_points(points: PointSet) -> Floats:
    """Return class, probability, lower and upper corner of every point; equal corners without a diameter."""
    radii = np.nan_to_num(points.diameters / 2)[:, None]
    corners = points.positions - radii, points.positions + radii
    return np.column_stack([points.classes, points.probabilities, *corners])


@dataclass(frozen=True)
class Points(ObjectsInSpace):
    """Any number of points, or with ``single`` exactly one per case; see `ObjectsInSpace`.

    With ``with_diameter`` the last cell of a row is the diameter of a reference object, in the unit of the
    coordinates. An empty cell or a negative number stands for ``unknown_diameter``, and is a fault without
    it.
    """

    annotation: ClassVar[AnnotationType] = POINTS

    with_diameter: bool = False
    unknown_diameter: float | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return (*super().columns, *("diameter",) * self.with_diameter)

    def value_of(self, source: Source, rows: Sequence[tuple[float, ...]], case: CaseForm) -> PointSet:
        width = self._width
        if not self.with_diameter:
            return self.of_rows(np.array(rows, np.float64).reshape(-1, width))
        points = self.of_rows(np.array([row[:width] for row in rows], np.float64).reshape(-1, width))
        diameters = [diameter for row in rows for diameter in row[width:]]
        return replace(points, diameters=np.array(diameters)) if diameters else points

    def of_cells(self, row: CellsSource, case: CaseForm, faults: list[Fault]) -> tuple[float, ...]:
        found = super().of_cells(row, case, faults)
        return (*found, self._diameter(row, faults)) if self.with_diameter else found

    def _diameter(self, row: CellsSource, faults: list[Fault]) -> float:
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

    def corners_of(self, found: Annotation) -> tuple[float, ...]:
        return mean_of_vertices(found.coordinates)[: self.space.axes]

    @property
    def objects(self) -> Objects:
        view = self.view("point", rows_of_points, self._of_rows)
        return replace(view, sizes=lambda value: value.diameters) if self.with_diameter else view

    def _of_rows(self, rows: Floats, case: CaseForm) -> PointSet:
        axes = self.space.axes
        lower, upper = rows[:, 2 : 2 + axes], rows[:, 2 + axes :]
        diameters = (upper - lower)[:, 0] if self.with_diameter else np.full(len(rows), np.nan)
        return PointSet((lower + upper) / 2, rows[:, 0].astype(np.int64), rows[:, 1], diameters)

    def rows_of(self, value: PointSet) -> Floats:
        """Return the rows without diameters, which no submission has."""
        return np.column_stack([value.classes, value.probabilities, value.positions])

    def of_rows(self, rows: Floats) -> PointSet:
        return PointSet(rows[:, 2:], rows[:, 0].astype(np.int64), rows[:, 1], np.full(len(rows), np.nan))

    def move_a_little(self, rows: Floats, case: CaseForm) -> None:
        """Move each point towards the middle of the first axis."""
        step = NEAR_MM if self.space.unit == "mm" else 1.0
        middle = self.space.bounds(case)[0][1] / 2
        rows[:, 2] += np.where(rows[:, 2] > middle, -step, step)

    def example(self, case: CaseForm, random: np.random.Generator) -> PointSet:
        count = 1 if self.single else int(random.integers(1, 4))
        positions = [self.space.example(case, random) for _ in range(count)]
        labels = random.integers(max(1, len(self.attributes.classes)), size=count).tolist()
        share = [round(share, 2) for share in random.uniform(0.5, 1, count).tolist()]
        shares = share if self.attributes.with_probability else [1.0] * count
        diameter = 1.0 if self.with_diameter else float("nan")
        rows = zip(positions, labels, shares, strict=True)
        return point_set([(*position, *rest, diameter) for position, *rest in rows], self.space.axes)

    def write_rows(self, value: PointSet) -> list[tuple[str, ...]]:
        rows = super().write_rows(value)
        if not self.with_diameter:
            return rows
        return [(*row, repr(of)) for row, of in zip(rows, value.diameters.tolist(), strict=True)]

    def vertices(self, corners: Sequence[float], label: float) -> Sequence[Sequence[float]]:
        third = label + 1 if self.attributes.in_third_coordinate else 0.0
        return [[*corners, third][:_AXES_IN_JSON]]

    def describe(self) -> str:
        return self.in_words("point")


@dataclass(frozen=True)
class Polygons(Points):
    """Any number of points, each of which is a polygon in JSON, in the mean of its vertices."""

    annotation: ClassVar[AnnotationType] = POLYGONS

    @property
    def max_json_values(self) -> int:
        """As of polygons with about 25 vertices."""
        return 100 * self.most

    def vertices(self, corners: Sequence[float], label: float) -> Sequence[Sequence[float]]:
        around: list[list[float]] = np.add(super().vertices(corners, label), _AROUND).tolist()
        return around

    def describe_json(self) -> str:
        return f"{super().describe_json()}; the mean of its vertices is the position"


# --- A point in an image, in pixels, which may be invisible ---


@dataclass(frozen=True)
class PointInImage(Points):
    """Exactly one point (x, y) with 0 ≤ x ≤ width and 0 ≤ y ≤ height; in JSON the list ``[x, y]``.

    With ``may_be_invisible``, (0, 0) means that the point is invisible.
    """

    needs_size: ClassVar[bool] = True

    space: Space = IN_PIXELS
    single: bool = True
    may_be_invisible: bool = False

    @property
    def socket_kind(self) -> str:
        return "Anything"

    @property
    def objects(self) -> Objects:
        if not self.may_be_invisible:
            return super().objects
        return replace(
            super().objects,
            of=lambda value: rows_of_points(value)[: self.is_visible(value)],
            value=lambda rows, case: self._of_rows(rows, case) if len(rows) else point_at(0.0, 0.0),
            number="some",
        )

    def is_visible(self, value: PointSet) -> bool:
        """Return whether a point is visible."""
        return not self.may_be_invisible or bool(value.positions.any())

    def read_json(self, source: JsonSource, case: CaseForm) -> PointSet:
        value = source.value
        if not (isinstance(value, list) and len(value) in (2, 3)):  # the platform's own have three
            raise fault_at(source, "a list [x, y]", json_kind(value), FaultKind.MALFORMED)
        x, y = all_numbers(lambda axis: number_of_json(source, value[axis], "a finite number"), 2)
        FormFault.raise_all(list(self.space.faults(source, (x, y), self.bounds(case))))
        return point_at(x, y)

    def rehearse(self, reference: PointSet, case: CaseForm, variant: Variant) -> Any:
        """Return the point, a little aside, the centre in place of none, or far away."""
        if variant is Variant.EMPTY:
            return point_at(case.width / 2, case.height / 2)
        return super().rehearse(reference, case, variant)

    def write_json(self, value: PointSet) -> Any:
        return value.positions[0].tolist()

    def describe(self) -> str:
        invisible = "; both 0 where it is invisible" if self.may_be_invisible else ""
        return f"x and y in pixels, each from 0 to the image's width or height{invisible}"

    def describe_json(self) -> str:
        return f"a list [x, y]: {self.describe()}"


# --- Keypoints: named points such as landmarks, each exactly once per case ---


@dataclass(frozen=True, init=False)
class Keypoints(Points):
    """Points with the given names, which are their classes; a row of a table holds coordinates and name.

    The value is a `PointSet` with one point for each name, in the order of ``names``. A name that is
    duplicate or unknown is a fault, and so is a missing one unless the points are ``partial``: a case then
    has some of them.
    """

    may_have_no_rows: ClassVar[bool] = False

    partial: bool = False

    def __init__(self, names: tuple[str, ...], space: Space, partial: bool = False) -> None:
        super().__init__(space, Attributes(names, always_named=True), most=2 * len(names))
        object.__setattr__(self, "partial", partial)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the points."""
        return self.attributes.classes

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.space.names, "name")

    def read_cells(self, source: CellsSource, case: CaseForm) -> Never:
        self.refuse(CellsSource)

    def value_of(self, source: Source, rows: Sequence[tuple[float, ...]], case: CaseForm) -> PointSet:
        found = super().value_of(source, rows, case)
        FormFault.raise_all(list(self._faults(found, source, case)))
        return found.take(np.argsort(found.classes))

    def _faults(self, found: PointSet, source: Source, case: CaseForm) -> Iterator[Fault]:
        counts = np.bincount(found.classes, minlength=len(self.names))
        for name, count in zip(self.names, counts.tolist(), strict=True):
            if count > 1 or not (count or self.partial):
                kind = FaultKind.DUPLICATE if count else FaultKind.MISSING
                times = f"{count} times" if count else "none"
                yield from fault_at(source, f"the point {name!r} of {case.name} once", times, kind).faults

    @property
    def objects(self) -> Objects:
        return replace(super().objects, number="some" if self.partial else "each")

    def unpack_all(self, packed: Packed, count: int) -> list[PointSet]:
        values: list[PointSet] = super().unpack_all(packed, count)
        for value in values:
            if (np.diff(value.classes) < 1).any() or not (self.partial or len(value) == len(self.names)):
                raise HandoverError(f"expected {len(self.names)} points, each once")
        return values

    def rehearse(self, reference: PointSet, case: CaseForm, variant: Variant) -> PointSet | None:
        """Return the points, all a little aside, or each far away from where it is; never none."""
        return None if variant is Variant.EMPTY else super().rehearse(reference, case, variant)

    def example(self, case: CaseForm, random: np.random.Generator) -> PointSet:
        half = len(self.names) // 2 if self.partial else len(self.names)
        labels = [label for label in range(len(self.names)) if label <= half or random.random() < 0.5]
        rows = [(*self.space.example(case, random), label, 1.0, float("nan")) for label in labels]
        return point_set(rows, self.space.axes)

    def describe(self) -> str:
        return f"one point a row: {self.space.in_words()}; name {self._times} of {', '.join(self.names)}"

    @property
    def _times(self) -> str:
        return "at most once" if self.partial else "each once"

    def describe_json(self) -> str:
        return (
            f"the type `{self.socket_kind}`; {self.space.in_words_of_json()}; `name` {self._times} of "
            f"{', '.join(self.names)}"
        )
