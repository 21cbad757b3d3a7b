"""Bounding boxes of an image, each with a class and, if predicted, a confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import Fault, FormFault, ReadError
from evaluation.core.field import ColumnKind
from evaluation.core.form import CaseForm
from evaluation.core.source import FileAccess, FileSource, JsonSource, Source
from evaluation.core.variant import Variant
from evaluation.io.box_lines import (
    MAX_COORDINATE,
    BoxFormat,
    BoxLines,
    Outside,
    read_box_lines,
    read_plain_boxes,
    write_box_lines,
)
from evaluation.io.handover import HandoverError, Packed, array_of, list_of
from evaluation.io.kinds.annotated_boxes import boxes_of_json, within_image, written_box, written_boxes
from evaluation.io.kinds.annotation_json import BOXES, MAX_FAULTS
from evaluation.io.kinds.objects import Attributes
from evaluation.io.pixels import Size

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
class BoxList(ColumnKind):
    """The boxes of a text file, one per line, or of the platform's `Multiple 2D bounding boxes`.

    More than ``max_boxes`` in one image are a fault. Coordinates outside the image are a fault, or with
    ``outside`` moved to its border or kept; ``remedy`` ends the message of such a fault. An empty file or
    list means an image without objects. ``inclusive_corners``: both corners count as inside when boxes are
    compared. ``layout`` is the format of files; boxes with a confidence have the class first.
    """

    max_json_values: ClassVar[int] = 300_000
    item_bytes: ClassVar[int] = 8 * _COLUMNS

    classes: tuple[str, ...]
    with_confidence: bool
    outside: Outside = "error"
    remedy: str = ""
    max_boxes: int = 10_000
    inclusive_corners: bool = True
    layout: BoxLayout = "class_first"

    @cached_property
    def _format(self) -> BoxFormat:
        classes = {name: index for index, name in enumerate(self.classes)}
        class_last = self.layout == "class_last"
        return BoxFormat(classes, self.with_confidence, self.outside, self.remedy, class_last)

    @property
    def _max_bytes(self) -> int:
        return self.max_boxes * (_MAX_OBJECT_BYTES if self.layout == "voc_xml" else _MAX_LINE_BYTES)

    def read(self, source: Source, case: CaseForm, files: FileAccess) -> Boxes:
        """Return the boxes of a file or of JSON. Raises `FormFault` with the faults of all boxes."""
        if isinstance(source, JsonSource):
            return self._of_json(source, case)
        if not isinstance(source, FileSource):
            raise TypeError(f"no boxes can be read from {type(source).__name__}")
        try:
            data = files.read(source.path, self._max_bytes, may_be_empty=True)
        except ReadError as error:
            raise FormFault(error.fault(source.path)) from None
        lines = self._read_lines(data, _size_of(case))
        if lines.problems:
            raise FormFault([problem.fault(source.path) for problem in lines.problems])
        return Boxes(np.array(lines.rows, dtype=np.float64).reshape(-1, 6), lines.outside)

    def _read_lines(self, data: memoryview, size: Size) -> BoxLines:
        if self.layout == "voc_xml":
            from evaluation.io.voc_xml import read_voc_boxes  # a parser that few phases need

            return read_voc_boxes(data, self._format, size, self.max_boxes)
        return read_box_lines(data, self._format, size, self.max_boxes)

    def _of_json(self, source: JsonSource, case: CaseForm) -> Boxes:
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
        if faults:
            raise FormFault(faults)
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
            if not isinstance(source, FileSource):
                return None
            texts.append(bytes(files.read(source.path, self._max_bytes, may_be_empty=True)))
        found = read_plain_boxes(texts, self._format, list(map(_size_of, cases)), self.max_boxes)
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

    def items(self, value: Boxes) -> int:
        """Return the number of boxes."""
        return len(value.rows)

    def rehearse(self, reference: Boxes, case: CaseForm, variant: Variant) -> Boxes:
        """Return the boxes, all a pixel narrower, none, or each a point in the image's farthest corner."""
        if variant is Variant.PERFECT:
            return reference
        if variant is Variant.EMPTY:
            return Boxes(reference.rows[:0])
        rows = reference.rows.copy()
        x1, y1, x2, y2 = rows[:, 2:].T
        if variant is Variant.NEAR:
            rows[:, 4] = np.maximum((x1 + x2) / 2, x2 - 1)
        else:
            rows[:, [2, 4]] = np.where(x1 + x2 > case.width, 0, case.width)[:, np.newaxis]
            rows[:, [3, 5]] = np.where(y1 + y2 > case.height, 0, case.height)[:, np.newaxis]
        return Boxes(rows)

    def write_file(self, value: Boxes, extension: str) -> bytes:
        """Return the lines of a text file, or XML."""
        if self.layout == "voc_xml":
            from evaluation.io.voc_xml import write_voc_boxes

            return write_voc_boxes(value.rows.tolist(), self._format)
        return write_box_lines(value.rows.tolist(), self._format)

    def write_json(self, value: Boxes) -> dict[str, object]:
        """Return the platform's `Multiple 2D bounding boxes`."""
        name, probability = self._attributes.name, self._attributes.probability
        return written_boxes(
            [
                written_box((x1, y1, x2, y2), name(label), probability(confidence))
                for label, confidence, x1, y1, x2, y2 in value.rows.tolist()
            ]
        )

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
