"""Lists of bounding boxes in files: one line for each object, or PASCAL VOC's XML."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError, apart, hint_of_name, in_digits, name_meant, shorten
from evaluation.io.pixels import MAX_COORDINATE, Outside, Size
from evaluation.io.tables import DECIMAL, parse_number

# --- Lists of bounding boxes as text, one object per line: class, confidence and two corners ---

_NUMBER = f"({DECIMAL.pattern})"
_CORNERS = ("x1", "y1", "x2", "y2")
_LINES_PER_BOX = 10
_MAX_PROBLEMS = 1000
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class BoxFormat:
    """The fields of a line: one of the classes (index by name), an optional confidence, corners in pixels.

    Coordinates lie between 0 and the image's size. Others are a fault ("error"), moved to the border ("clip")
    or kept up to `MAX_COORDINATE` ("keep"). ``remedy`` ends the message of the fault. With ``class_last`` the
    class stands at the end of a line.
    """

    classes: Mapping[str, int]
    with_confidence: bool
    outside: Outside = "error"
    remedy: str = ""
    class_last: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of a line's fields in their order."""
        return (*self.numbers, "class") if self.class_last else ("class", *self.numbers)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of a line's numbers in their order."""
        return ("confidence", *_CORNERS) if self.with_confidence else _CORNERS


class BoxLines:
    """The boxes of a file in the order of its lines, and the problems of all other lines.

    They are collected line by line, each with the class first. A row is class index, confidence (1 where the
    format has none), x1, y1, x2, y2. ``outside`` counts the boxes that leave the image.
    """

    def __init__(self, form: BoxFormat, size: Size) -> None:
        self._form, self._size, self._names = form, size, tuple(form.classes)
        self._match = (_LINE_WITH_CONFIDENCE if form.with_confidence else _LINE).fullmatch
        self.rows: list[tuple[float, ...]] = []
        self.problems: list[ReadError] = []
        self.outside = 0

    def excess(self, number: int, max_boxes: int, unit: str) -> ReadError | None:
        """Return the error of one more box at a line if there are too many, else None."""
        if len(self.rows) + len(self.problems) >= max_boxes:
            return ReadError(FaultKind.TOO_LARGE, f"at most {max_boxes} {unit}", "more", number)
        if len(self.problems) >= _MAX_PROBLEMS:
            expected = f"at most {_MAX_PROBLEMS} faults in a file"
            return ReadError(FaultKind.TOO_LARGE, expected, "more", number)
        return None

    def add(self, line: str, number: int) -> None:
        """Add the box of a line that is not blank, or its problems."""
        form, size = self._form, self._size
        found = self._match(line)
        if found is None:
            self.problems += _problems(line, number, form, size)
            return
        right, bottom = float(size.width), float(size.height)
        name, *texts = found.groups()
        label = form.classes.get(name)
        if label is None and (meant := name_meant(name, self._names)):
            label = form.classes[meant]
        values = [float(part) for part in texts]
        confidence = values.pop(0) if form.with_confidence else 1.0
        x1, y1, x2, y2 = values
        inside = 0.0 <= x1 <= x2 <= right and 0.0 <= y1 <= y2 <= bottom
        if label is None or not 0.0 <= confidence <= 1.0 or not inside:
            found_problems = _problems(line, number, form, size)
            if found_problems:
                self.problems += found_problems
                return
            if form.outside == "clip":
                x1, x2 = min(max(x1, 0.0), right), min(max(x2, 0.0), right)
                y1, y2 = min(max(y1, 0.0), bottom), min(max(y2, 0.0), bottom)
            self.outside += 1
        assert label is not None
        self.rows.append((label, confidence, x1, y1, x2, y2))


def read_box_lines(data: memoryview, form: BoxFormat, size: Size, max_boxes: int) -> BoxLines:
    """Return the boxes of a text file with fields separated by spaces or tabs; blank lines are skipped.

    An empty file holds no box. All problems of all lines are collected, none is raised; reading ends after
    ``max_boxes`` lines or a thousand problems, and a file with far more lines is not read at all.
    """
    found = BoxLines(form, size)
    raw = bytes(data).removeprefix(_BYTE_ORDER_MARK)
    most_lines = _LINES_PER_BOX * max_boxes
    if raw.count(b"\n") > most_lines:
        expected = f"at most {most_lines} lines, blank ones included"
        found.problems.append(ReadError(FaultKind.TOO_LARGE, expected, "more"))
        return found
    # Bytes beyond ASCII are always faults; they are decoded only to be shown.
    text = raw.decode("ascii") if raw.isascii() else raw.decode("utf-8", "replace")
    lines = text.replace("\r\n", "\n").removesuffix("\r").split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip(" \t"):
            continue
        if (excess := found.excess(number, max_boxes, "lines")) is not None:
            found.problems.append(excess)
            break
        if form.class_last:
            *corners, name = _cells_of(line)
            line = " ".join((name, *corners))
        found.add(line, number)
    return found


def read_plain_boxes(
    texts: Sequence[bytes], form: BoxFormat, sizes: Sequence[Size], max_boxes: int
) -> list[NDArray[np.float64]] | None:
    """Return the boxes of several files, shape (boxes, 6), as `read_box_lines` would.

    None unless all are plain: valid lines, none of them blank, and every box inside its image.
    """
    ended = [text if text.endswith(b"\n") or not text else text + b"\n" for text in texts]
    counts = np.array([text.count(b"\n") for text in ended], dtype=np.intp)
    if form.class_last or counts.max(initial=0) > max_boxes:
        return None
    joined = b"".join(ended).replace(b"\r\n", b"\n")
    numbers = len(form.numbers)
    # Every line is its cells and its end; an empty cell follows the last one.
    cells = joined.replace(b"\n", b" \n ").split(b" ")[:-1]
    ends = cells[numbers + 1 :: numbers + 2]
    names = cells[:: numbers + 2]
    classes = {name.encode(): index for name, index in form.classes.items()}
    if len(ends) != len(names) or set(ends) - {b"\n"} or not classes.keys() >= set(names):
        return None
    del cells[numbers + 1 :: numbers + 2], cells[:: numbers + 1]
    # For these characters, Python reads floats as `parse_number` does.
    if b"".join(cells).translate(None, b"0123456789+-.eE"):
        return None
    try:
        values = np.array(list(map(float, cells)), np.float64)
    except ValueError:
        return None
    rows = np.ones((len(names), 6))
    rows[:, 0] = [classes[name] for name in names]
    rows[:, 6 - numbers :] = values.reshape(-1, numbers)
    confidence, x1, y1, x2, y2 = rows[:, 1:].T
    right = np.repeat(np.array([size.width for size in sizes], dtype=np.float64), counts)
    bottom = np.repeat(np.array([size.height for size in sizes], dtype=np.float64), counts)
    inside = (x1 >= 0) & (x1 <= x2) & (x2 <= right) & (y1 >= 0) & (y1 <= y2) & (y2 <= bottom)
    if not (inside & (confidence >= 0) & (confidence <= 1)).all():
        return None
    last = np.cumsum(counts).tolist()
    return [rows[end - count : end] for end, count in zip(last, counts.tolist(), strict=True)]


def write_box_lines(rows: list[list[float]], form: BoxFormat) -> bytes:
    """Return rows of class index, confidence, x1, y1, x2, y2 as text that `read_box_lines` reads back."""
    names = {index: name for name, index in form.classes.items()}
    lines = []
    for label, confidence, *corners in rows:
        texts = [names[int(label)], *map(shortest, corners)]
        if form.with_confidence:
            texts.insert(1, shortest(confidence))
        if form.class_last:
            texts.append(texts.pop(0))
        lines.append(" ".join(texts) + "\n")
    return "".join(lines).encode("ascii")


def _line(numbers: int) -> re.Pattern[str]:
    return re.compile(r"[ \t]*([^ \t]+)" + rf"[ \t]+{_NUMBER}" * numbers + r"[ \t]*")


_LINE, _LINE_WITH_CONFIDENCE = _line(4), _line(5)


def _cells_of(line: str) -> list[str]:
    # By one character: a line may hold a million fields, and a pattern takes six times as long.
    return [cell for cell in line.replace("\t", " ").split(" ") if cell]


def _problems(line: str, number: int, form: BoxFormat, size: Size) -> list[ReadError]:
    """Return all problems of a line; none if it only leaves the image and may."""
    cells = _cells_of(line)
    if len(cells) != len(form.columns):
        expected = f"{len(form.columns)} fields ({' '.join(form.columns)})"
        return [ReadError(FaultKind.MALFORMED, expected, str(len(cells)), number)]
    problems = []
    if name_meant(cells[0], tuple(form.classes)) is None:
        expected, hint = f"a class ({', '.join(form.classes)})", hint_of_name(cells[0], tuple(form.classes))
        problems.append(ReadError(FaultKind.WRONG_VALUE, expected, f'"{shorten(cells[0])}"', number, hint))
    values: dict[str, float] = {}
    for name, cell in zip(form.numbers, cells[1:], strict=True):
        try:
            values[name] = parse_number(cell)
        except ReadError as error:
            problems.append(ReadError(FaultKind.MALFORMED, f"{name} a finite number", error.found, number))
    confidence = values.get("confidence", 1.0)
    if not 0.0 <= confidence <= 1.0:
        expected, found = "confidence from 0 to 1", in_digits(confidence, 0, 1, digits=12)
        problems.append(ReadError(FaultKind.WRONG_VALUE, expected, found, number))
    for axis, length in (("x", size.width), ("y", size.height)):
        least, limit = {
            "error": (0, length),
            "clip": (-math.inf, math.inf),
            "keep": (-MAX_COORDINATE, MAX_COORDINATE),
        }[form.outside]
        low, high = values.get(f"{axis}1"), values.get(f"{axis}2")
        for name, value in ((f"{axis}1", low), (f"{axis}2", high)):
            if value is not None and not least <= value <= limit:
                expected = f"{name} from {least} to {limit}{form.remedy}"
                problems.append(
                    ReadError(
                        FaultKind.WRONG_VALUE, expected, in_digits(value, least, limit, digits=12), number
                    )
                )
        if low is not None and high is not None and high < low:
            first, second = apart([low], [high], digits=12)
            expected, found = f"{axis}1 ≤ {axis}2", f"{axis}1 = {first}, {axis}2 = {second}"
            problems.append(ReadError(FaultKind.WRONG_VALUE, expected, found, number))
    return problems


def shortest(value: float) -> str:
    """Return the shortest text that reads back as the same number."""
    return repr(int(value)) if float(value).is_integer() else repr(float(value))


# --- Boxes of an image in the format of PASCAL VOC: an XML file with an element for each object ---

_ROOT = "annotation"
_CORNER_TAGS = ("xmin", "ymin", "xmax", "ymax")
_OF_OBJECT: dict[tuple[str, ...], str] = {
    ("name",): "name",
    **{("bndbox", name): name for name in _CORNER_TAGS},
}
_OF_SIZE = (("width",), ("height",))
_MAX_DEPTH = 16
# What the parser reads by itself.
_ENCODINGS = ("UTF-8", "UTF-16", "ISO-8859-1", "US-ASCII")


def read_voc_boxes(data: memoryview, form: BoxFormat, size: Size, max_boxes: int) -> BoxLines:
    """Return the boxes of a file: ``name`` and ``bndbox`` of every ``object`` of an ``annotation``.

    Coordinates are not changed, and every object counts, difficult ones too. Other elements are skipped;
    parts of an object are no objects. A size in the file must be the size of the image, unless that is
    unknown (`MAX_COORDINATE`). All problems of all objects are collected, none is raised; reading ends at
    malformed XML, at a DTD, so that no entity is fetched or expanded, and after ``max_boxes`` objects.
    """
    reader = _ElementReader(form, size, max_boxes)
    try:
        reader.read(bytes(data))
    except ReadError as error:
        reader.found.problems.append(error)
    return reader.found


def write_voc_boxes(rows: list[list[float]], form: BoxFormat) -> bytes:
    """Return rows of class index, confidence, x1, y1, x2, y2 as a file that `read_voc_boxes` reads back.

    It has no place for the confidence.
    """
    names = {index: name for name, index in form.classes.items()}
    lines = [f"<{_ROOT}>"]
    for label, _, *corners in rows:
        values = zip(_CORNER_TAGS, map(shortest, corners), strict=True)
        box = "".join(f"<{name}>{value}</{name}>" for name, value in values)
        name = names[int(label)].replace("&", "&amp;").replace("<", "&lt;")
        lines.append(f"  <object><name>{name}</name><bndbox>{box}</bndbox></object>")
    return "\n".join([*lines, f"</{_ROOT}>", ""]).encode("ascii", "xmlcharrefreplace")


class _ElementReader:
    """Follows the elements of a document with a path that is never deep."""

    def __init__(self, form: BoxFormat, size: Size, max_boxes: int) -> None:
        self.found = BoxLines(form, size)
        self._size, self._max_boxes = size, max_boxes
        self._path: list[str] = []
        self._text: list[str] = []
        self._object: dict[str, str] = {}
        self._line = 1
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self._parser.XmlDeclHandler = self._refuse_encoding
        self._parser.StartDoctypeDeclHandler = self._refuse_dtd
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text.append

    def read(self, data: bytes) -> None:
        """Read a whole document. Raises `ReadError` where it cannot be read on."""
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            found = f"another file ({shorten(expat.ErrorString(error.code))})"
            raise ReadError(FaultKind.MALFORMED, "an XML document", found, error.lineno) from None

    @property
    def _here(self) -> int:
        return self._parser.CurrentLineNumber

    def _refuse_encoding(self, _: str, encoding: str | None, __: int) -> None:
        # Python would import a codec by that name.
        if encoding is not None and encoding.upper() not in _ENCODINGS:
            expected, found = f"XML in {', '.join(_ENCODINGS)}", f'encoding "{shorten(encoding)}"'
            raise ReadError(FaultKind.MALFORMED, expected, found, self._here)

    def _refuse_dtd(self, *_: object) -> None:
        raise ReadError(FaultKind.MALFORMED, "XML without a document type", "a DOCTYPE", self._here)

    def _start(self, name: str, _: object) -> None:
        if not self._path and name != _ROOT:
            expected, found = f"the element {_ROOT}", f"<{shorten(name)}>"
            raise ReadError(FaultKind.MALFORMED, expected, found, self._here)
        if len(self._path) >= _MAX_DEPTH:
            expected = f"at most {_MAX_DEPTH} elements in each other"
            raise ReadError(FaultKind.TOO_LARGE, expected, "more", self._here)
        self._path.append(name)
        self._text.clear()
        if self._path == [_ROOT, "object"]:
            excess = self.found.excess(self._here, self._max_boxes, "objects")
            if excess is not None:
                raise excess
            self._object, self._line = {}, self._here

    def _end(self, _: str) -> None:
        path, text = tuple(self._path[1:]), "".join(self._text).strip()
        self._text.clear()
        self._path.pop()
        if path[:1] == ("object",) and (name := _OF_OBJECT.get(path[1:])) is not None:
            if name in self._object:
                raise ReadError(FaultKind.MALFORMED, f"one {name} in an object", "several", self._here)
            self._object[name] = text
        elif path == ("object",):
            self._add()
        elif path[:1] == ("size",) and path[1:] in _OF_SIZE:
            self._check_size(path[1], text)

    def _add(self) -> None:
        missing = [name for name in _OF_OBJECT.values() if not self._object.get(name)]
        blanks = [name for name, text in self._object.items() if len(text.split()) > 1]
        if missing or blanks:
            for name in (*missing, *blanks):
                expected = f"{name} of an object, {'a class' if name == 'name' else 'a number'}"
                found = f'"{shorten(self._object[name])}"' if name in blanks else "none"
                self.found.problems.append(ReadError(FaultKind.MALFORMED, expected, found, self._line))
            return
        self.found.add(" ".join(self._object[name] for name in ("name", *_CORNER_TAGS)), self._line)

    def _check_size(self, name: str, text: str) -> None:
        true = self._size.width if name == "width" else self._size.height
        # A phase need not know the size, and some tools write 0 where they did not look at the image.
        if true != MAX_COORDINATE and text not in ("", "0", str(true)):
            expected, found = f"{name} {true}", f'"{shorten(text)}"'
            self.found.problems.append(ReadError(FaultKind.WRONG_SIZE, expected, found, self._here))
