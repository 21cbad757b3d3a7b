"""Lists of bounding boxes as text, one object a line: class, confidence and two corners."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.pixels import Size
from evaluation.io.tables import DECIMAL, parse_number

_NUMBER = f"({DECIMAL.pattern})"
_BLANKS = re.compile("[ \t]+")
_CORNERS = ("x1", "y1", "x2", "y2")
_LINES_PER_BOX = 10
_MAX_PROBLEMS = 1000
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class BoxFormat:
    """What a line holds: one of the classes (index by name), a confidence or not, corners in pixels.

    Coordinates lie between 0 and the image's size; with ``clip`` those that do not are moved to the border.
    """

    classes: Mapping[str, int]
    with_confidence: bool
    clip: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of a line's fields in their order."""
        return ("class", "confidence", *_CORNERS) if self.with_confidence else ("class", *_CORNERS)


@dataclass(frozen=True, slots=True)
class BoxLines:
    """The boxes of a file in the order of its lines, and everything that is wrong with the other lines.

    A row is class index, confidence (1 where the format has none), x1, y1, x2, y2. ``clipped`` counts the
    boxes that were moved.
    """

    rows: list[tuple[float, ...]]
    problems: list[ReadError]
    clipped: int


def read_box_lines(data: memoryview, form: BoxFormat, size: Size, max_boxes: int) -> BoxLines:
    """Return the boxes of a text file whose fields are separated by spaces or tabs; blank lines are skipped.

    An empty file holds no box. Every problem of every line is collected, nothing is raised; reading ends
    after ``max_boxes`` lines or a thousand problems, and a file of far more lines is not read at all.
    """
    raw = bytes(data).removeprefix(_BYTE_ORDER_MARK)
    most_lines = _LINES_PER_BOX * max_boxes
    if raw.count(b"\n") > most_lines:
        expected = f"at most {most_lines} lines, blank ones included"
        return BoxLines([], [ReadError(FaultKind.TOO_LARGE, expected, "more")], 0)
    # Bytes beyond ASCII can only be wrong, and are shown as they are.
    text = raw.decode("ascii") if raw.isascii() else raw.decode("utf-8", "replace")
    match = _LINE_WITH_CONFIDENCE.fullmatch if form.with_confidence else _LINE.fullmatch
    right, bottom = float(size.width), float(size.height)
    rows: list[tuple[float, ...]] = []
    problems: list[ReadError] = []
    clipped = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if len(rows) + len(problems) >= max_boxes and line.strip():
            problems.append(ReadError(FaultKind.TOO_LARGE, f"at most {max_boxes} lines", "more", number))
            break
        if len(problems) >= _MAX_PROBLEMS:
            expected = f"at most {_MAX_PROBLEMS} faults in a file"
            problems.append(ReadError(FaultKind.TOO_LARGE, expected, "more", number))
            break
        line = line.removesuffix("\r")
        found = match(line)
        if found is None:
            if line.strip(" \t"):
                problems += _problems(line, number, form, size)
            continue
        name, *texts = found.groups()
        label = form.classes.get(name)
        values = [float(part) for part in texts]
        confidence = values.pop(0) if form.with_confidence else 1.0
        x1, y1, x2, y2 = values
        inside = 0.0 <= x1 <= x2 <= right and 0.0 <= y1 <= y2 <= bottom
        if label is None or not 0.0 <= confidence <= 1.0 or not inside:
            found_problems = _problems(line, number, form, size)
            if found_problems:
                problems += found_problems
                continue
            x1, x2 = min(max(x1, 0.0), right), min(max(x2, 0.0), right)
            y1, y2 = min(max(y1, 0.0), bottom), min(max(y2, 0.0), bottom)
            clipped += 1
        rows.append((form.classes[name], confidence, x1, y1, x2, y2))
    return BoxLines(rows, problems, clipped)


def write_box_lines(rows: list[list[float]], form: BoxFormat) -> bytes:
    """Return boxes, each class index, confidence, x1, y1, x2, y2, as the text that reads back the same."""
    names = {index: name for name, index in form.classes.items()}
    lines = []
    for label, confidence, *corners in rows:
        texts = [names[int(label)], *map(_shortest, corners)]
        if form.with_confidence:
            texts.insert(1, _shortest(confidence))
        lines.append(" ".join(texts) + "\n")
    return "".join(lines).encode("ascii")


def _line(numbers: int) -> re.Pattern[str]:
    return re.compile(r"[ \t]*([^ \t]+)" + rf"[ \t]+{_NUMBER}" * numbers + r"[ \t]*")


_LINE, _LINE_WITH_CONFIDENCE = _line(4), _line(5)


def _problems(line: str, number: int, form: BoxFormat, size: Size) -> list[ReadError]:
    """Return everything that is wrong with a line, and nothing where clipping makes it right."""
    cells = [cell for cell in _BLANKS.split(line) if cell]
    if len(cells) != len(form.columns):
        expected = f"{len(form.columns)} fields ({' '.join(form.columns)})"
        return [ReadError(FaultKind.MALFORMED, expected, str(len(cells)), number)]
    problems = []
    if cells[0] not in form.classes:
        expected = f"a class ({', '.join(form.classes)})"
        problems.append(ReadError(FaultKind.WRONG_VALUE, expected, f'"{cells[0]}"', number))
    values: dict[str, float] = {}
    for name, cell in zip(form.columns[1:], cells[1:], strict=True):
        try:
            values[name] = parse_number(cell)
        except ReadError as error:
            problems.append(ReadError(FaultKind.MALFORMED, f"{name} a finite number", error.found, number))
    confidence = values.get("confidence", 1.0)
    if not 0.0 <= confidence <= 1.0:
        expected, found = "confidence from 0 to 1", f"{confidence:.12g}"
        problems.append(ReadError(FaultKind.WRONG_VALUE, expected, found, number))
    for axis, limit in (("x", size.width), ("y", size.height)):
        low, high = values.get(f"{axis}1"), values.get(f"{axis}2")
        for name, value in ((f"{axis}1", low), (f"{axis}2", high)):
            if value is not None and not 0 <= value <= limit and not form.clip:
                expected = f"{name} from 0 to {limit}"
                problems.append(ReadError(FaultKind.WRONG_VALUE, expected, f"{value:.12g}", number))
        if low is not None and high is not None and high < low:
            expected, found = f"{axis}1 ≤ {axis}2", f"{axis}1 = {low:.12g}, {axis}2 = {high:.12g}"
            problems.append(ReadError(FaultKind.WRONG_VALUE, expected, found, number))
    return problems


def _shortest(value: float) -> str:
    return repr(int(value)) if float(value).is_integer() else repr(float(value))
