"""Boxes in text files, one per line: class, confidence and two corners, separated by spaces or tabs."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.pixels import Size

_LINES_PER_BOX = 10
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CORNERS = 4


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


def shortest(value: float) -> str:
    """Return the shortest text that reads back as the same number."""
    return repr(int(value)) if float(value).is_integer() else repr(float(value))
