"""Boxes with classes and confidences: of one image, or axis-parallel ones in images and volumes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import Fault, FaultKind, FormFault, ReadError, apart
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, FileAccess, FileSource, Source, fault_at
from evaluation.core.views import Objects
from evaluation.io.handover import HandoverError, Packed, array_of, list_of
from evaluation.io.kinds.annotation_json import BOXES, MAX_FAULTS, Annotation, AnnotationType
from evaluation.io.kinds.number import shortest
from evaluation.io.kinds.objects import IN_PIXELS, ObjectsInSpace, Space, all_or_faults
from evaluation.io.pixels import MAX_COORDINATE, Outside, Size
from evaluation.metrics.arrays import Floats

# --- Bounding boxes of an image, each with a class and, if predicted, a confidence ---

_MAX_LINE_BYTES = 200
_LINES_PER_BOX = 10
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CORNERS = 4
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

    def __len__(self) -> int:
        """Return the number of boxes."""
        return len(self.rows)


@dataclass(frozen=True)
class BoxesInSpace(ObjectsInSpace):
    """Any number of boxes, or with ``single`` exactly one in each case; see `ObjectsInSpace`.

    The value is a `Boxes` with rows of class index, probability, the lower corner and the upper corner, each
    x, y and with three axes z. In a table a row begins with x1, y1(, z1), x2, y2(, z2). The platform has no
    JSON of boxes with three axes. Coordinates outside the image are a fault, or with ``outside`` moved to its
    border or kept; ``remedy`` ends the message of such a fault. ``inclusive_corners``: both corners count as
    inside when boxes are compared.
    """

    annotation: ClassVar[AnnotationType] = BOXES
    corners: ClassVar[int] = 2
    shape_in_words: ClassVar[str] = ", boxes parallel to the axes"

    outside: Outside = "error"
    remedy: str = ""
    inclusive_corners: bool = False

    @property
    def socket_kind(self) -> str | None:
        return None if self.space.axes > 2 else super().socket_kind

    def value_of(self, source: Source, rows: Sequence[tuple[float, ...]], case: CaseForm) -> Boxes:
        table = np.array(rows, dtype=np.float64).reshape(-1, self._width)
        if self.outside == "error":
            return Boxes(table)
        low, high = np.tile(np.transpose(self.space.bounds(case)), 2)
        left = ((table[:, 2:] < low) | (table[:, 2:] > high)).any(axis=1)
        if self.outside == "clip":
            table[:, 2:] = np.clip(table[:, 2:], low, high)
        return Boxes(table, int(np.count_nonzero(left)))

    def corners_of(self, found: Annotation) -> tuple[float, ...]:
        xs, ys, _ = zip(*found.coordinates, strict=True)
        return min(xs), min(ys), max(xs), max(ys)

    def faults_of_corners(self, source: Source, corners: Sequence[float], case: CaseForm) -> Iterator[Fault]:
        """Yield a fault for every corner out of bounds, unless it is moved, and for every exchanged pair."""
        axes = self.space.axes
        lower, upper = corners[:axes], corners[axes:]
        if self.outside != "clip":
            yield from self.space.faults(source, lower, self.bounds(case), "1", self.remedy)
            yield from self.space.faults(source, upper, self.bounds(case), "2", self.remedy)
        for name, low, high in zip(self.space.names, lower, upper, strict=True):
            if high < low:
                first, second = apart([low], [high], digits=12)
                expected, found = f"{name}1 ≤ {name}2", f"{name}1 = {first}, {name}2 = {second}"
                yield from fault_at(source, expected, found).faults

    @property
    def objects(self) -> Objects:
        view = self.view("box", lambda value: value.rows, lambda rows, case: Boxes(rows))
        return replace(view, inclusive=self.inclusive_corners)

    def rows_of(self, value: Boxes) -> Floats:
        return value.rows

    def of_rows(self, rows: Floats) -> Boxes:
        return Boxes(rows)

    def bounds(self, case: CaseForm) -> tuple[tuple[float, float], ...]:
        """Return those of the space, or of boxes that may lie anywhere."""
        if self.outside == "keep":
            return ((-float(MAX_COORDINATE), float(MAX_COORDINATE)),) * self.space.axes
        return super().bounds(case)

    def pack_all(self, values: Sequence[Boxes]) -> Packed:
        return [*super().pack_all(values), np.array([value.outside for value in values], np.int64)]

    def unpack_all(self, packed: Packed, count: int) -> list[Boxes]:
        *rows, outside = list_of(packed, 3)
        values: list[Boxes] = super().unpack_all(rows, count)
        left = array_of(outside, ["<i8"], 1).tolist()
        counts = [len(value.rows) for value in values]
        if len(left) != count or not all(0 <= of <= most for of, most in zip(left, counts, strict=True)):
            raise HandoverError("expected at most all boxes of a case outside of its image")
        return [Boxes(value.rows, of) for value, of in zip(values, left, strict=True)]

    def move_a_little(self, rows: Floats, case: CaseForm) -> None:
        """Make each box a hundredth narrower."""
        left, right = 2, 2 + self.space.axes
        rows[:, right] -= (rows[:, right] - rows[:, left]) / 100

    def example(self, case: CaseForm, random: np.random.Generator) -> Boxes:
        rows = []
        for _ in range(1 if self.single else int(random.integers(1, 4))):
            corners = np.sort([self.space.example(case, random) for _ in range(2)], axis=0)
            label = int(random.integers(max(1, len(self.attributes.classes))))
            share = round(float(random.uniform(0.5, 1)), 2) if self.attributes.with_probability else 1.0
            rows.append((label, share, *corners.reshape(-1).tolist()))
        return Boxes(np.array(rows, dtype=np.float64))

    def vertices(self, corners: Sequence[float], label: float) -> Sequence[Sequence[float]]:
        x1, y1, x2, y2 = corners
        return [(x1, y1, 0.0), (x2, y1, 0.0), (x2, y2, 0.0), (x1, y2, 0.0)]

    def describe(self) -> str:
        return self.in_words("box", "lower corner (1) and upper corner (2), each ")


# --- Boxes in text files, one per line ---


@dataclass(frozen=True)
class BoxList(BoxesInSpace):
    """The boxes of a text file, one per line, or of the platform's `Multiple 2D bounding boxes`.

    An empty file or list means an image without objects. A line begins with the class and the confidence if
    boxes have one, or with ``class_last`` it ends with the class.
    """

    average_items: int = 200
    space: Space = IN_PIXELS
    inclusive_corners: bool = True
    class_last: bool = False

    @cached_property
    def _of_lines(self) -> BoxesInSpace:
        """The same boxes as rows, which name even an only class."""
        return replace(self, attributes=replace(self.attributes, always_named=True))

    @property
    def _order(self) -> tuple[str, ...]:
        """The names of a line's cells in their order."""
        corners = super().columns[:4]
        confidence = ("confidence",) * self.attributes.with_probability
        return (*corners, *confidence, "class") if self.class_last else ("class", *confidence, *corners)

    @property
    def _max_bytes(self) -> int:
        return self.most * _MAX_LINE_BYTES

    def read_file(self, path: str, case: CaseForm, files: FileAccess) -> Boxes:
        faults: list[Fault] = []
        try:
            data = files.read(path, self._max_bytes, may_be_empty=True)
            rows = all_or_faults(self._rows(data, path, case, faults), faults)
        except ReadError as error:
            raise FormFault([*faults, error.fault(path)]) from None
        return self.value_of(FileSource(path), rows, case)

    def _rows(
        self, data: memoryview, path: str, case: CaseForm, faults: list[Fault]
    ) -> Iterator[tuple[float, ...]]:
        """Yield the numbers of the box in each line. Raises `ReadError` for too many lines."""
        order = self._order
        names = (*super().columns[:4], "class", *("confidence",) * self.attributes.with_probability)
        places = [order.index(name) for name in names]
        for number, cells in lines_of_boxes(data, self.most):
            if len(cells) != len(order):
                expected = f"{len(order)} fields ({' '.join(order)})"
                faults.append(Fault(FaultKind.MALFORMED, path, expected, str(len(cells)), number))
                if len(faults) >= MAX_FAULTS:
                    return
                continue
            row = CellsSource(tuple(cells[place] for place in places), path, number, names)
            yield self._of_lines.of_cells(row, case, faults)

    def read_all(
        self, sources: Sequence[Source], cases: Sequence[CaseForm], files: FileAccess
    ) -> list[Boxes] | None:
        texts = []
        for source in sources:
            if self.class_last or not isinstance(source, FileSource):
                return None
            texts.append(bytes(files.read(source.file, self._max_bytes, may_be_empty=True)))
        sizes = [Size(case.width or MAX_COORDINATE, case.height or MAX_COORDINATE) for case in cases]
        names, confidence = self.attributes.classes, self.attributes.with_probability
        found = read_plain_boxes(texts, names, confidence, sizes, self.most)
        return None if found is None else list(map(Boxes, found))

    def write_file(self, value: Boxes, extension: str) -> bytes:
        lines = []
        for label, confidence, *corners in value.rows.tolist():
            texts = list(map(shortest, corners))
            if self.attributes.with_probability:
                texts.insert(0, shortest(confidence))
            texts.insert(len(texts) if self.class_last else 0, self.attributes.classes[int(label)])
            lines.append(" ".join(texts) + "\n")
        return "".join(lines).encode("ascii")

    def describe_json(self) -> str:
        return (
            f"the type `{BOXES.many}`, boxes parallel to the axes{self.attributes.in_words_of_json()}; "
            f"corners in pixels{_LIMITS[self.outside]}; an empty list where there is no object"
        )

    def describe(self) -> str:
        confidence = ", confidence from 0 to 1" if self.attributes.with_probability else ""
        return (
            f"one object a line, separated by spaces: {' '.join(self._order)}; class one of "
            f"{', '.join(self.attributes.classes)}{confidence}, corners in pixels{_LIMITS[self.outside]}; "
            "an empty file where there is no object"
        )


def lines_of_boxes(data: memoryview, max_boxes: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of every line that is not blank; an empty file holds no box.

    Raises `ReadError` for one line more than ``max_boxes``, and at once for far more, blank ones included.
    """
    raw = bytes(data).removeprefix(_BYTE_ORDER_MARK)
    most_lines = _LINES_PER_BOX * max_boxes
    if raw.count(b"\n") > most_lines:
        expected = f"at most {most_lines} lines, blank ones included"
        raise ReadError(FaultKind.TOO_LARGE, expected, "more")
    # Bytes beyond ASCII are always faults; they are decoded only to be shown.
    text = raw.decode("ascii") if raw.isascii() else raw.decode("utf-8", "replace")
    lines = text.replace("\r\n", "\n").removesuffix("\r").split("\n")
    boxes = 0
    for number, line in enumerate(lines, start=1):
        # By one character: a line may hold a million fields, and a pattern takes six times as long.
        cells = [cell for cell in line.replace("\t", " ").split(" ") if cell]
        if cells:
            boxes += 1
            if boxes > max_boxes:
                raise ReadError(FaultKind.TOO_LARGE, f"at most {max_boxes} lines", "more", number)
            yield number, cells


def read_plain_boxes(
    texts: Sequence[bytes], names: Sequence[str], with_confidence: bool, sizes: Sequence[Size], max_boxes: int
) -> list[NDArray[np.float64]] | None:
    """Return the boxes of several files whose lines begin with the class, by its position in ``names``.

    Shape (boxes, 6): class, confidence (1 where there is none), x1, y1, x2, y2. None unless all are plain:
    valid lines, none of them blank, and every box inside its image.
    """
    ended = [text if text.endswith(b"\n") or not text else text + b"\n" for text in texts]
    counts = np.array([text.count(b"\n") for text in ended], dtype=np.intp)
    if counts.max(initial=0) > max_boxes:
        return None
    joined = b"".join(ended).replace(b"\r\n", b"\n")
    numbers = _CORNERS + with_confidence
    # Every line is its cells and its end; an empty cell follows the last one.
    cells = joined.replace(b"\n", b" \n ").split(b" ")[:-1]
    ends = cells[numbers + 1 :: numbers + 2]
    found = cells[:: numbers + 2]
    classes = {name.encode(): index for index, name in enumerate(names)}
    if len(ends) != len(found) or set(ends) - {b"\n"} or not classes.keys() >= set(found):
        return None
    del cells[numbers + 1 :: numbers + 2], cells[:: numbers + 1]
    # For these characters, Python reads floats as `parse_number` does.
    if b"".join(cells).translate(None, b"0123456789+-.eE"):
        return None
    try:
        values = np.array(list(map(float, cells)), np.float64)
    except ValueError:
        return None
    rows = np.ones((len(found), 2 + _CORNERS))
    rows[:, 0] = [classes[name] for name in found]
    rows[:, 2 + _CORNERS - numbers :] = values.reshape(-1, numbers)
    confidence, x1, y1, x2, y2 = rows[:, 1:].T
    right = np.repeat(np.array([size.width for size in sizes], dtype=np.float64), counts)
    bottom = np.repeat(np.array([size.height for size in sizes], dtype=np.float64), counts)
    inside = (x1 >= 0) & (x1 <= x2) & (x2 <= right) & (y1 >= 0) & (y1 <= y2) & (y2 <= bottom)
    if not (inside & (confidence >= 0) & (confidence <= 1)).all():
        return None
    last = np.cumsum(counts).tolist()
    return [rows[end - count : end] for end, count in zip(last, counts.tolist(), strict=True)]
