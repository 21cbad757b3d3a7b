"""Listed objects such as points and boxes: their space, class and probability."""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import Fault, FaultKind, FormFault, hint_of_name, in_digits, name_meant, shorten
from evaluation.core.field import ColumnKind, Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, JsonSource, RowsSource, Source, fault_at
from evaluation.core.views import Objects
from evaluation.io.handover import HandoverError, Packed, array_of, list_of
from evaluation.io.json_files import json_kind
from evaluation.io.kinds.annotation_json import (
    MAX_FAULTS,
    Annotation,
    AnnotationType,
    read_annotation,
    read_annotations,
    written,
    written_annotation,
)
from evaluation.io.kinds.number import number_of_cell
from evaluation.io.pixels import MAX_COORDINATE
from evaluation.metrics.arrays import Floats

# --- The space of points and boxes: its axes, its unit and its bounds ---

Of = Callable[[Floats, CaseForm], Any]
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
        self,
        source: Source,
        position: Sequence[float],
        bounds: Sequence[tuple[float, float]],
        suffix: str = "",
        remedy: str = "",
    ) -> Iterator[Fault]:
        """Yield a fault for every coordinate out of bounds.

        ``suffix`` follows the axis in its name, ``remedy`` ends what is expected.
        """
        for name, value, (low, high) in zip(self.names, position, bounds, strict=True):
            if value < low or value > high:  # not one that is no number, which has its fault
                expected = f"{name}{suffix} from {low:.12g} to {high:.12g}{remedy}"
                shown = in_digits(value, low, high, digits=12)
                yield from fault_at(source, expected, f"{name}{suffix} = {shown}").faults

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

    def example(self, case: CaseForm, random: np.random.Generator) -> tuple[float, ...]:
        """Return a position in the image, rounded to tenths; 0 to 100 where its size is not known."""
        sizes = (case.width or 100, case.height or 100, 100)[: self.axes]
        return tuple(round(float(random.uniform(0, size)), 1) for size in sizes)

    def in_words_of_json(self) -> str:
        """Return the same of the platform's JSON, which always has three coordinates."""
        unused = "" if self.axes == len(AXES) else "; z is no part of the position"
        return f"{self.in_words()}{unused}"

    def in_words(self) -> str:
        """Return for example ``x, y, z in world millimetres``."""
        names = ", ".join(self.names)
        if self.unit == "mm":
            return f"{names} in world millimetres"
        return f"{names} in pixels, from 0 to the image's width or height"


IN_PIXELS = Space(2, "pixels")


# --- Attributes of points and boxes: a class and a probability, in cells or in JSON ---


@dataclass(frozen=True)
class Attributes:
    """The class of an object, if there are several classes, and its probability, if it has one.

    Without classes all objects have class 0, and without probabilities all have probability 1. With
    ``always_named`` the class is named even if there is only one. ``in_third_coordinate``: it is the third
    coordinate of an annotation, 1 for the first class.
    """

    classes: tuple[str, ...] = ()
    with_probability: bool = False
    always_named: bool = False
    in_third_coordinate: bool = False

    _PROBABILITY: ClassVar[str] = "a number from 0 to 1"

    @property
    def has_classes(self) -> bool:
        """Whether objects have to name their class."""
        return self.always_named or len(self.classes) > 1

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of a table, in their order."""
        return ("class",) * self.has_classes + ("probability",) * self.with_probability

    def of_cells(self, row: CellsSource, first: int, faults: list[Fault]) -> tuple[int, float]:
        """Return the class index and the probability in the cells of a row from position ``first`` on."""
        label, probability = 0, 1.0
        if self.has_classes:
            name = row.cells[first]
            if (known := self._position(name)) is None:
                found = f'"{shorten(name)}"' if name else "nothing"
                faults += self._unknown(row.at(first), name, self._one_of(), found).faults
            label = known or 0
        if self.with_probability:
            column = first + self.has_classes
            try:
                probability = number_of_cell(row, column, self._PROBABILITY)
            except FormFault as fault:
                faults += fault.faults
            if not 0 <= probability <= 1:
                found = in_digits(probability, 0, 1, digits=12)
                faults += fault_at(row.at(column), self._PROBABILITY, found).faults
        return label, probability

    def of_annotation(self, annotation: Annotation, faults: list[Fault]) -> tuple[int, float]:
        """Return the class index and the probability of an annotation; a name it need not have is ignored."""
        label = 0
        if self.in_third_coordinate:
            number, count = annotation.coordinates[0][2], len(self.classes)
            if number in range(1, count + 1):
                label = int(number) - 1
            else:
                expected = f"a class from 1 to {count} as third coordinate"
                faults += fault_at(
                    annotation.source, expected, in_digits(number, *range(1, count + 1))
                ).faults
        elif self.has_classes:
            if (known := self._position(annotation.name)) is None:
                found = "none" if annotation.name is None else json_kind(annotation.name)
                expected = f"as name {self._one_of()}"
                faults += self._unknown(annotation.source, annotation.name, expected, found).faults
            label = known or 0
        if not self.with_probability:
            return label, 1.0
        if annotation.probability is None:
            source = annotation.source
            faults += fault_at(source, "the key 'probability'", "none", FaultKind.MISSING).faults
            return label, 1.0
        return label, annotation.probability

    def _position(self, name: str | None) -> int | None:
        meant = name_meant(name, self.classes)
        return None if meant is None else self.classes.index(meant)

    def _one_of(self) -> str:
        return f"a class ({', '.join(self.classes)})"

    def _unknown(self, source: Source, name: str | None, expected: str, found: str) -> FormFault:
        hint = hint_of_name(name, self.classes) if name else None
        return fault_at(source, expected, found, hint=hint)

    def cells(self, label: float, probability: float) -> Iterator[str]:
        """Yield the cells that `of_cells` reads back."""
        if self.has_classes:
            yield self.classes[int(label)]
        if self.with_probability:
            yield repr(float(probability))

    def check(self, labels: NDArray[np.float64], probabilities: NDArray[np.float64]) -> None:
        """Check class indices and probabilities that another process has handed over.

        Raises `HandoverError`.
        """
        if not np.isin(labels, range(max(1, len(self.classes)))).all():
            raise HandoverError(f"expected classes below {max(1, len(self.classes))}")
        if not ((probabilities >= 0) & (probabilities <= 1)).all():
            raise HandoverError("expected probabilities from 0 to 1")

    def in_words(self) -> str:
        """Return the attributes to submit with a position, in words for participants; empty without any."""
        words = f"; class one of {', '.join(self.classes)}" if self.has_classes else ""
        return words + ("; probability from 0 to 1" if self.with_probability else "")

    def in_words_of_json(self) -> str:
        """Return the same of an annotation in JSON."""
        name = f"; `name` is the class, one of {', '.join(self.classes)}" if self.has_classes else ""
        if self.in_third_coordinate:
            listed = ", ".join(f"{number} {of}" for number, of in enumerate(self.classes, 1))
            name = f"; the third coordinate is the class: {listed}"
        return name + ("; `probability` from 0 to 1" if self.with_probability else "")


NO_ATTRIBUTES = Attributes()
_NO_SIZE = CaseForm("")


def all_or_faults(rows: Iterable[tuple[float, ...]], faults: list[Fault]) -> list[tuple[float, ...]]:
    """Return all rows. Raises `FormFault` if reading them adds to ``faults``.

    No further row is read after `MAX_FAULTS` faults.
    """
    found = []
    for row in rows:
        found.append(row)
        if len(faults) >= MAX_FAULTS:
            break
    FormFault.raise_all(faults)
    return found


# --- Points and boxes: how they are read from cells, rows or JSON, one by one ---


@dataclass(frozen=True)
class ObjectsInSpace(ColumnKind):
    """Any number of points or boxes, at most ``most``, or with ``single`` exactly one in each case.

    In a table an object is a row: its coordinates, then class and probability where the phase asks for them.
    ``annotation`` is the platform's type of them in JSON. An object has one of ``corners`` or two.
    ``shape_in_words`` follows that type in descriptions.
    """

    item_bytes: ClassVar[int] = 64
    annotation: ClassVar[AnnotationType]
    corners: ClassVar[int] = 1
    shape_in_words: ClassVar[str] = ""

    space: Space
    attributes: Attributes = NO_ATTRIBUTES
    single: bool = False
    most: int = 10_000
    average_items: int = 1000

    @property
    def columns(self) -> tuple[str, ...]:
        ends = ("",) if self.corners == 1 else ("1", "2")
        corners = (f"{name}{end}" for end in ends for name in self.space.names)
        return (*corners, *self.attributes.columns)

    @property
    def max_json_values(self) -> int:
        """Half as many again as a box with four corners of three axes, name and probability has."""
        return 30 * self.most

    @property
    def socket_kind(self) -> str | None:
        return self.annotation.one if self.single else self.annotation.many

    def read_cells(self, source: CellsSource, case: CaseForm) -> Any:
        faults: list[Fault] = []
        row = self.of_cells(source, case, faults)
        return self.value_of(source, all_or_faults([row], faults), case)

    def read_rows(self, source: RowsSource, case: CaseForm) -> Any:
        if self.single and len(source.rows) != 1:
            kind = FaultKind.TOO_LARGE if source.rows else FaultKind.MISSING
            raise fault_at(source, f"one row for {case.name}", str(len(source.rows)), kind)
        if len(source.rows) > self.most:  # of a table that may not have been read to its end
            expected, found = f"at most {self.most} rows for {case.name}", f"more than {self.most}"
            raise fault_at(source, expected, found, FaultKind.TOO_LARGE)
        faults: list[Fault] = []
        rows = (self.of_cells(row, case, faults) for row in source.each())
        return self.value_of(source, all_or_faults(rows, faults), case)

    def read_json(self, source: JsonSource, case: CaseForm) -> Any:
        """Return the same of annotations; a kind without a `socket_kind` has none."""
        if not self.socket_kind:
            return super().read_json(source, case)
        faults: list[Fault] = []
        rows = self._of_annotations(source, case, faults)
        return self.value_of(source, all_or_faults(rows, faults), case)

    def _of_annotations(
        self, source: JsonSource, case: CaseForm, faults: list[Fault]
    ) -> Iterator[tuple[float, ...]]:
        if self.single:
            found: Iterable[Annotation | FormFault] = [read_annotation(source, self.annotation)]
        else:
            found = read_annotations(source, self.annotation, self.most)
        for one in found:
            if isinstance(one, FormFault):
                faults += one.faults
            else:
                corners = self.corners_of(one)
                faults += self.faults_of_corners(one.source, corners, case)
                yield (*self.attributes.of_annotation(one, faults), *corners)

    def of_cells(self, row: CellsSource, case: CaseForm, faults: list[Fault]) -> tuple[float, ...]:
        """Return class, probability and coordinates of the object in a row; a faulty coordinate is NaN."""
        count = self.corners * self.space.axes
        corners = [math.nan] * count
        for position in range(count):
            try:
                corners[position] = number_of_cell(row, position, "a finite number")
            except FormFault as fault:
                faults += fault.faults
        faults += self.faults_of_corners(row, corners, case)
        return (*self.attributes.of_cells(row, count, faults), *corners)

    @abstractmethod
    def corners_of(self, found: Annotation) -> tuple[float, ...]:
        """Return the coordinates of an object in JSON."""

    def faults_of_corners(self, source: Source, corners: Sequence[float], case: CaseForm) -> Iterable[Fault]:
        """Return the faults of the coordinates of an object: those out of bounds."""
        return self.space.faults(source, corners, self.bounds(case))

    @abstractmethod
    def value_of(self, source: Source, rows: Sequence[tuple[float, ...]], case: CaseForm) -> Any:
        """Return the value of the numbers of all objects. Raises `FormFault` for what they lack together."""

    @abstractmethod
    def rows_of(self, value: Any) -> Floats:
        """Return class, probability and coordinates of every object, shape (objects, 2 + coordinates)."""

    @abstractmethod
    def of_rows(self, rows: Floats) -> Any:
        """Return the value of the rows of `rows_of`."""

    @abstractmethod
    def move_a_little(self, rows: Floats, case: CaseForm) -> None:
        """Change the coordinates of rows in place, in the smallest way that a metric should see."""

    def rehearse(self, reference: Any, case: CaseForm, variant: Variant) -> Any:
        """Return the objects, all moved a little, none, or each far away from where it is.

        A case that may have none has one far away in the inverted variant. A single one is never left out.
        """
        if variant is Variant.EMPTY:
            return None if self.single else self.of_rows(np.empty((0, self._width)))
        rows = self.rows_of(reference).copy()
        rows[:, 1] = 1.0
        if variant is Variant.NEAR:
            self.move_a_little(rows, case)
        elif variant is Variant.INVERTED:
            if not len(rows) and self.may_have_no_rows:
                rows = np.array([[0.0, 1.0] + [0.0] * (self._width - 2)])
            far = [self.space.farthest(row, case) for row in rows[:, 2 : 2 + self.space.axes].tolist()]
            rows[:, 2:] = np.tile(np.reshape(far, (len(rows), self.space.axes)), self.corners)
        return self.of_rows(rows)

    def bounds(self, case: CaseForm) -> tuple[tuple[float, float], ...]:
        """Return the least and the largest coordinate along every axis: those of the space."""
        return self.space.bounds(case)

    def pack_all(self, values: Sequence[Any]) -> Packed:
        rows = list(map(self.rows_of, values))
        nothing = np.empty((0, self._width))
        return [np.concatenate([*rows, nothing]), np.array(list(map(len, rows)), np.int64)]

    def unpack_all(self, packed: Packed, count: int) -> list[Any]:
        """Return objects of known classes in a space of unknown size. Raises `HandoverError`."""
        rows, counts = list_of(packed, 2)
        rows, counts = array_of(rows, ["<f8"], 2), array_of(counts, ["<i8"], 1)
        fewest, most = (1, 1) if self.single else (0, self.most)
        if len(counts) != count or not ((counts >= fewest) & (counts <= most)).all():
            raise HandoverError(f"expected {fewest} to {most} objects in each of {count} cases")
        if rows.shape != (counts.sum(), self._width):
            raise HandoverError(f"expected objects of {self._width} numbers")
        self.attributes.check(rows[:, 0], rows[:, 1])
        corners = rows[:, 2:].reshape(len(rows), self.corners, self.space.axes)
        low, high = np.transpose(self.bounds(_NO_SIZE))
        if not ((low <= corners) & (corners <= high)).all() or (np.diff(corners, axis=1) < 0).any():
            raise HandoverError("expected positions within bounds, and lower before upper corners")
        ends = np.cumsum(counts).tolist()
        return [self.of_rows(rows[end - of : end]) for end, of in zip(ends, counts.tolist(), strict=True)]

    @property
    def _width(self) -> int:
        return 2 + self.corners * self.space.axes

    def view(self, form: Literal["point", "box"], of: Callable[[Any], Floats], value: Of) -> Objects:
        """Return the view of the objects."""
        number: Literal["one", "any"] = "one" if self.single else "any"
        kept = self.attributes.classes, self.space.axes, self.space.unit, number
        return Objects(form, of, value, *kept, self.attributes.with_probability, most=self.most)

    def items(self, value: Any) -> int:
        return len(value)

    def write_cells(self, value: Any) -> tuple[str, ...]:
        (row,) = self.write_rows(value)
        return row

    def write_rows(self, value: Any) -> list[tuple[str, ...]]:
        return [
            (*map(repr, corners), *self.attributes.cells(label, probability))
            for label, probability, *corners in self.rows_of(value).tolist()
        ]

    def write_json(self, value: Any) -> dict[str, object]:
        is_named = self.attributes.has_classes and not self.attributes.in_third_coordinate
        entries = [
            written_annotation(
                self.vertices(corners, label),
                self.annotation,
                self.attributes.classes[int(label)] if is_named else None,
                share if self.attributes.with_probability else None,
            )
            for label, share, *corners in self.rows_of(value).tolist()
        ]
        return written(entries, self.annotation, self.single)

    @abstractmethod
    def vertices(self, corners: Sequence[float], label: float) -> Sequence[Sequence[float]]:
        """Return the coordinates x, y, z of an object in JSON, from those of `rows_of`."""

    def describe_json(self) -> str:
        shape, attributes = self.shape_in_words, self.attributes.in_words_of_json()
        return f"the type `{self.socket_kind}`{shape}; {self.space.in_words_of_json()}{attributes}"

    def in_words(self, one: str, place: str = "") -> str:
        """Return the content of a row."""
        many = f"one {one}" if self.single else f"one {one} a row, at most {self.most} for an image"
        return f"{many}: {place}{self.space.in_words()}{self.attributes.in_words()}"
