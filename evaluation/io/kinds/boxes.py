"""Boxes with classes and confidences: of one image, or axis-parallel ones in images and volumes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core import field
from evaluation.core.fault import Fault, FormFault, ReadError, apart
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, FileAccess, JsonSource, Source, fault_at
from evaluation.core.views import Objects
from evaluation.io import box_files
from evaluation.io.handover import HandoverError, Packed, array_of, list_of
from evaluation.io.kinds.annotation_json import (
    BOXES,
    MAX_FAULTS,
    Annotation,
    AnnotationType,
    Corners,
    boxes_of_json,
    within_image,
    written,
    written_box,
)
from evaluation.io.kinds.objects import (
    Attributes,
    ObjectsInSpace,
    Space,
    oddities_of_corners,
)
from evaluation.io.pixels import MAX_COORDINATE, Outside, Size

# --- Bounding boxes of an image, each with a class and, if predicted, a confidence ---

_MAX_LINE_BYTES, _MAX_OBJECT_BYTES = 200, 1000
_COLUMNS = 6
BoxLayout = Literal["class_first", "class_last", "voc_xml"]
"""The format of a file of boxes: lines with the class at their start or end, or the XML of PASCAL VOC."""
_LIMITS: dict[Outside, str] = {
    "error": " from 0 to the image's width or height",
    "clip": ", moved to the image's border where they lie outside",
    "keep": ", which may lie outside the image",
}


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes in the order of their lines, shape (boxes, 6): class index, confidence, x1, y1, x2, y2 in pixels.

    Reference boxes have confidence 1. ``outside`` is how many left the image.
    """

    rows: NDArray[np.float64]
    outside: int = 0


@dataclass(frozen=True)
class BoxList(field.ColumnKind):
    """The boxes of a text file, one per line, or of the platform's `Multiple 2D bounding boxes`.

    More than ``max_boxes`` in one image are a fault. Coordinates outside the image are a fault, or with
    ``outside`` moved to its border or kept; ``remedy`` ends the message of such a fault. An empty file or
    list means an image without objects. ``inclusive_corners``: both corners count as inside when boxes are
    compared. ``layout`` is the format of files; boxes with a confidence have the class first.
    """

    item_bytes: ClassVar[int] = 8 * _COLUMNS

    classes: tuple[str, ...]
    with_confidence: bool
    outside: Outside = "error"
    remedy: str = ""
    max_boxes: int = 10_000
    inclusive_corners: bool = True
    layout: BoxLayout = "class_first"

    @cached_property
    def _format(self) -> box_files.BoxFormat:
        classes = {name: index for index, name in enumerate(self.classes)}
        class_last = self.layout == "class_last"
        return box_files.BoxFormat(classes, self.with_confidence, self.outside, self.remedy, class_last)

    @property
    def max_json_values(self) -> int:
        """Half as many again as a box with four corners of three axes, name and probability has."""
        return 30 * self.max_boxes

    @property
    def _max_bytes(self) -> int:
        return self.max_boxes * (_MAX_OBJECT_BYTES if self.layout == "voc_xml" else _MAX_LINE_BYTES)

    def read_file(self, path: str, case: CaseForm, files: FileAccess) -> Boxes:
        """Return the boxes of a file. Raises `FormFault` with the faults of all boxes."""
        try:
            data = files.read(path, self._max_bytes, may_be_empty=True)
        except ReadError as error:
            raise FormFault(error.fault(path)) from None
        read = box_files.read_voc_boxes if self.layout == "voc_xml" else box_files.read_box_lines
        lines = read(data, self._format, _size_of(case), self.max_boxes)
        FormFault.raise_all([problem.fault(path) for problem in lines.problems])
        return Boxes(np.array(lines.rows, dtype=np.float64).reshape(-1, 6), lines.outside)

    def oddities(self, value: Boxes, case: CaseForm) -> Iterator[str]:
        """Yield whether there is no box, none larger than a pixel's place, or none with an area."""
        yield from oddities_of_corners(value.rows[:, 2:4], value.rows[:, 4:6])

    def read_json(self, source: JsonSource, case: CaseForm) -> Boxes:
        """Return the same of the platform's JSON."""
        rows: list[tuple[float, ...]] = []
        faults: list[Fault] = []
        outside = 0
        for found in boxes_of_json(source, self.max_boxes):
            if len(faults) >= MAX_FAULTS:
                break
            if isinstance(found, FormFault):
                faults += found.faults
                continue
            annotation, corners = found
            label, confidence = self._attributes.of_annotation(annotation, faults)
            corners, left = within_image(annotation.source, corners, case, self.outside, self.remedy, faults)
            rows.append((label, confidence, *corners))
            outside += left
        FormFault.raise_all(faults)
        return Boxes(np.array(rows, dtype=np.float64).reshape(-1, _COLUMNS), outside)

    @cached_property
    def _attributes(self) -> Attributes:
        return Attributes(self.classes, self.with_confidence)

    @property
    def socket_kind(self) -> str:
        """The platform's kind of socket."""
        return BOXES.many

    def read_all(
        self, sources: Sequence[Source], cases: Sequence[CaseForm], files: FileAccess
    ) -> list[Boxes] | None:
        """Return the boxes of several files, None unless all are plain; see `read_plain_boxes`."""
        if self.layout == "voc_xml":
            return None
        texts = []
        for source in sources:
            if (path := source.path_to_decode) is None:
                return None
            texts.append(bytes(files.read(path, self._max_bytes, may_be_empty=True)))
        found = box_files.read_plain_boxes(texts, self._format, list(map(_size_of, cases)), self.max_boxes)
        return None if found is None else list(map(Boxes, found))

    def pack_all(self, values: Sequence[Boxes]) -> Packed:
        """Return the rows of all images, and for each how many they are and how many left the image."""
        rows = np.concatenate([*(value.rows for value in values), np.empty((0, _COLUMNS))])
        counts = [[len(value.rows), value.outside] for value in values]
        return [rows, np.array(counts, np.int64).reshape(-1, 2)]

    def unpack_all(self, packed: Packed, count: int) -> list[Boxes]:
        """Return the boxes, each of a known class, with finite numbers. Raises `HandoverError`."""
        rows, counts = list_of(packed, 2)
        rows, counts = array_of(rows, ["<f8"], 2), array_of(counts, ["<i8"], 2)
        if (
            counts.shape != (count, 2)
            or not ((counts >= 0) & (counts <= self.max_boxes) & (counts[:, 1:] <= counts[:, :1])).all()
        ):
            raise HandoverError(f"expected at most {self.max_boxes} boxes in each of {count} images")
        if rows.shape != (counts[:, 0].sum(), _COLUMNS) or not np.isfinite(rows).all():
            raise HandoverError(f"expected boxes of {_COLUMNS} finite numbers")
        if not np.isin(rows[:, 0], np.arange(len(self.classes))).all():
            raise HandoverError(f"expected classes below {len(self.classes)}")
        ends = np.cumsum(counts[:, 0]).tolist()
        return [
            Boxes(rows[end - boxes : end], outside)
            for end, (boxes, outside) in zip(ends, counts.tolist(), strict=True)
        ]

    @property
    def objects(self) -> Objects:
        """The boxes."""
        return Objects(
            "box",
            lambda value: value.rows,
            lambda rows, case: Boxes(rows),
            self.classes,
            with_confidence=self.with_confidence,
            inclusive=self.inclusive_corners,
            most=self.max_boxes,
        )

    def items(self, value: Boxes) -> int:
        """Return the number of boxes."""
        return len(value.rows)

    def rehearse(self, reference: Boxes, case: CaseForm, variant: field.Variant) -> Boxes:
        """Return the boxes, all a pixel narrower, none, or each a point in the image's farthest corner."""
        if variant is field.Variant.PERFECT:
            return reference
        if variant is field.Variant.EMPTY:
            return Boxes(reference.rows[:0])
        rows = reference.rows.copy()
        x1, y1, x2, y2 = rows[:, 2:].T
        if variant is field.Variant.NEAR:
            rows[:, 4] = np.maximum((x1 + x2) / 2, x2 - 1)
        else:
            rows[:, [2, 4]] = np.where(x1 + x2 > case.width, 0, case.width)[:, np.newaxis]
            rows[:, [3, 5]] = np.where(y1 + y2 > case.height, 0, case.height)[:, np.newaxis]
        return Boxes(rows)

    def example(self, case: CaseForm, random: np.random.Generator) -> Boxes:
        """Return one to three boxes in the image."""
        return BoxesInSpace(Space(2, "pixels"), self._attributes).example(case, random)

    def write_file(self, value: Boxes, extension: str) -> bytes:
        """Return the lines of a text file, or XML."""
        if self.layout == "voc_xml":
            return box_files.write_voc_boxes(value.rows.tolist(), self._format)
        return box_files.write_box_lines(value.rows.tolist(), self._format)

    def write_json(self, value: Boxes) -> dict[str, object]:
        """Return the platform's `Multiple 2D bounding boxes`."""
        return _json_of(value, self._attributes)

    def describe_json(self) -> str:
        """Return the platform's type and its content."""
        return (
            f"the type `{BOXES.many}`, boxes parallel to the axes{self._attributes.in_words_of_json()}; "
            f"corners in pixels{_LIMITS[self.outside]}; an empty list where there is no object"
        )

    def describe(self) -> str:
        """Return the content of a line."""
        confidence = ", confidence from 0 to 1" if self.with_confidence else ""
        return (
            f"one object a line, separated by spaces: {' '.join(self._format.columns)}; class one of "
            f"{', '.join(self.classes)}{confidence}, corners in pixels{_LIMITS[self.outside]}; "
            "an empty file where there is no object"
        )


def _size_of(case: CaseForm) -> Size:
    # Without a size in the phase, coordinates are limited so that areas are exact.
    return Size(case.width or MAX_COORDINATE, case.height or MAX_COORDINATE)


def box_columns(predicted: Boxes | None, reference: Boxes) -> dict[str, Any]:
    """Return the columns of a detection task, and the number of predicted boxes that left the image.

    ``predicted`` None: the columns of a missing result.
    """
    boxes = Boxes(reference.rows[:0]) if predicted is None else predicted
    return {
        "predicted": boxes.rows,
        "reference": reference.rows,
        "missing": int(predicted is None),
        "outside": boxes.outside,
    }


def _json_of(value: Boxes, attributes: Attributes, single: bool = False) -> dict[str, object]:
    entries = [
        written_box((x1, y1, x2, y2), attributes.name(label), attributes.probability(share))
        for label, share, x1, y1, x2, y2 in value.rows.tolist()
    ]
    return written(entries, BOXES, single)


# Axis-parallel boxes in an image or volume: rows of a table, or in two dimensions the platform's JSON.


@dataclass(frozen=True)
class BoxesInSpace(ObjectsInSpace):
    """Any number of boxes, or with ``single`` exactly one in each case; see `ObjectsInSpace`.

    The value is a `Boxes` with rows of class index, probability, the lower corner and the upper corner, each
    x, y and with three axes z. In a table a row begins with x1, y1(, z1), x2, y2(, z2). The platform has no
    JSON of boxes with three axes.
    """

    annotation: ClassVar[AnnotationType] = BOXES

    @property
    def columns(self) -> tuple[str, ...]:
        """The usual names of a table's columns, in their order."""
        corners = (f"{name}{corner}" for corner in (1, 2) for name in self.space.names)
        return (*corners, *self.attributes.columns)

    @property
    def socket_kind(self) -> str | None:
        """The platform's kind of socket; boxes with three axes have none."""
        return None if self.space.axes > 2 else super().socket_kind

    def oddities(self, value: Boxes, case: CaseForm) -> Iterator[str]:
        """Yield as `BoxList.oddities` does; boxes in mm may lie anywhere."""
        axes = self.space.axes
        corners = value.rows[:, 2 : 2 + axes], value.rows[:, 2 + axes : 2 + 2 * axes]
        yield from oddities_of_corners(*corners, in_pixels=self.space.unit == "pixels")

    def value_of(self, source: Source, rows: Sequence[tuple[float, ...]], case: CaseForm) -> Boxes:
        """Return the boxes."""
        return Boxes(np.array(rows, dtype=np.float64).reshape(-1, self._width))

    @property
    def _width(self) -> int:
        return 2 + 2 * self.space.axes

    def of_cells(self, row: CellsSource, case: CaseForm, faults: list[Fault]) -> tuple[float, ...]:
        """Return class index, probability and both corners."""
        count, before = 2 * self.space.axes, len(faults)
        corners = tuple(self.coordinates(row, count, faults))
        if len(faults) == before:
            faults += self._faults_of_corners(row, corners, case)
        return (*self.attributes.of_cells(row, count, faults), *corners)

    def of_json(self, source: JsonSource) -> Iterator[tuple[Annotation, Corners] | FormFault]:
        """Yield every annotation with its corners, or its faults."""
        return boxes_of_json(source, self.most, self.single)

    def of_annotation(
        self, found: tuple[Annotation, Corners], case: CaseForm, faults: list[Fault]
    ) -> tuple[float, ...]:
        """Return the same of an annotation."""
        annotation, corners = found
        faults += self._faults_of_corners(annotation.source, corners, case)
        return (*self.attributes.of_annotation(annotation, faults), *corners)

    def _faults_of_corners(
        self, source: CellsSource | JsonSource, corners: tuple[float, ...], case: CaseForm
    ) -> Iterator[Fault]:
        axes = self.space.axes
        lower, upper = corners[:axes], corners[axes:]
        yield from self.space.faults(source, lower, case, "1")
        yield from self.space.faults(source, upper, case, "2")
        for name, low, high in zip(self.space.names, lower, upper, strict=True):
            if high < low:
                first, second = apart([low], [high], digits=12)
                expected, found = f"{name}1 ≤ {name}2", f"{name}1 = {first}, {name}2 = {second}"
                yield from fault_at(source, expected, found).faults

    @property
    def objects(self) -> Objects:
        """The boxes."""
        return self.view("box", lambda value: value.rows, lambda rows, case: Boxes(rows))

    def items(self, value: Boxes) -> int:
        """Return the number of boxes."""
        return len(value.rows)

    def pack(self, value: Boxes) -> Packed:
        """Return the rows."""
        return value.rows

    def unpack(self, packed: Packed, case: CaseForm) -> Boxes:
        """Return boxes of known classes within the bounds of the space. Raises `HandoverError`."""
        rows = self.unpacked(packed, self._width)
        low, high = np.transpose(self.space.bounds(case))
        lower, upper = np.split(rows[:, 2:], 2, axis=1)
        if not ((low <= lower) & (lower <= upper) & (upper <= high)).all():
            raise HandoverError("expected boxes within the bounds of the image")
        self.attributes.check(rows[:, 0], rows[:, 1])
        return Boxes(rows)

    def rehearse(self, reference: Boxes, case: CaseForm, variant: field.Variant) -> Boxes | None:
        """Return the boxes, each a hundredth narrower, none, or each a point far away.

        A case without boxes has one far away in the inverted variant. A single box is never left out.
        """
        if variant is field.Variant.EMPTY:
            return None if self.single else Boxes(reference.rows[:0])
        rows = reference.rows.copy()
        rows[:, 1] = 1.0
        first, axes = 2, self.space.axes
        if variant is field.Variant.NEAR:
            rows[:, first + axes] -= (rows[:, first + axes] - rows[:, first]) / 100
        elif variant is field.Variant.INVERTED:
            if not len(rows):
                rows = np.array([[0.0, 1.0] + [0.0] * 2 * axes])
            far = [self.space.farthest(row, case) for row in rows[:, first : first + axes].tolist()]
            rows[:, first:] = np.hstack([far, far])
        return Boxes(rows)

    def example(self, case: CaseForm, random: np.random.Generator) -> Boxes:
        """Return one to three boxes, or the single one."""
        rows = []
        for _ in range(1 if self.single else int(random.integers(1, 4))):
            corners = np.sort([self.space.example(case, random) for _ in range(2)], axis=0)
            label = int(random.integers(max(1, len(self.attributes.classes))))
            share = round(float(random.uniform(0.5, 1)), 2) if self.attributes.with_probability else 1.0
            rows.append((label, share, *corners.reshape(-1).tolist()))
        return Boxes(np.array(rows, dtype=np.float64))

    def write_rows(self, value: Boxes) -> list[tuple[str, ...]]:
        """Return the cells of every box."""
        return [
            (*(repr(float(number)) for number in corners), *self.attributes.cells(label, probability))
            for label, probability, *corners in value.rows.tolist()
        ]

    def write_json(self, value: Boxes) -> dict[str, object]:
        """Return the platform's `2D bounding box` or `Multiple 2D bounding boxes`."""
        return _json_of(value, self.attributes, self.single)

    def describe(self) -> str:
        """Return the content of a row."""
        return self.in_words("box", "lower corner (1) and upper corner (2), each ")

    def describe_json(self) -> str:
        """Return the platform's type and its content."""
        return (
            f"the type `{self.socket_kind}`, boxes parallel to the axes; {self.space.in_words_of_json()}"
            f"{self.attributes.in_words_of_json()}"
        )
