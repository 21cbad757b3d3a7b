"""Tables (csv) and numbers that participants write."""

import codecs
import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from evaluation.core.fault import DECIMAL_POINT, FaultKind, ReadError, shorten
from evaluation.core.formats import HEAD_BYTES, format_of_content, other_content

DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_MAX_NUMBER_LENGTH = 100
_MAX_CELLS = 10_000
_MAX_LINES = 2_000_000
_DELIMITERS = (",", ";", "\t")
_REPLACED = "\ufffd"
# Python's strip() would take most of them for spaces around a number or a name.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of the wanted columns, in their order, and the first line of the row in the file."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadTable:
    """The rows that could be read, the problems of the others, and the header, empty if there is none.

    ``torn``: the cells in place of the key of the rows with another number of fields.
    """

    rows: tuple[Row, ...]
    problems: tuple[ReadError, ...]
    header: tuple[str, ...] = ()
    torn: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Layout:
    """The positions of the wanted cells in a row, how many cells a row may have, and the header if any."""

    positions: tuple[int, ...]
    max_cells: int
    header: tuple[str, ...] = ()


def read_table(
    data: memoryview,
    columns: Sequence[str],
    *,
    max_rows: int,
    is_key: Callable[[str], bool] = lambda cell: False,
) -> ReadTable:
    """Return the wanted columns of a csv file in UTF-8, or in UTF-16 with a byte order mark.

    The delimiter is a comma, or a semicolon or a tab if the first line has no comma. Columns are found by
    header, ignoring case, spaces and underscores; a header that lacks one is a problem. Without a header they
    are found by position. The first row is no header, where it names no wanted column, if its first cell is
    one that ``is_key`` knows or if it holds a number where a value is wanted. Blank rows are skipped; cells
    are stripped of spaces and not interpreted. A line with control characters is a problem and counts as
    blank.

    Problems are collected and not raised. Reading ends after `max_rows` rows, at a quotation mark that leaves
    the end of a row unclear, and at once where a line before the first row is no text.
    """
    if format_of_content(head := bytes(data[:HEAD_BYTES])):
        return ReadTable((), (other_content(head, f"a table with the columns {_named(columns)}"),))
    rows: list[Row] = []
    problems: list[ReadError] = []
    torn: list[str] = []
    layout: _Layout | None = None
    seen = 0
    try:
        for line, cells in _read_cells(data, problems, max_rows):
            if layout is None:
                if problems:  # in a line before, which may have been the header
                    break
                if cells[0].casefold().startswith("sep="):
                    names = "the names of the columns"
                    hint = "only spreadsheets understand this line: remove it"
                    raise ReadError(FaultKind.MALFORMED, names, f'"{shorten(cells[0])}"', line, hint)
                layout = _find_layout(cells, columns, line, is_key)
                if layout.header:
                    continue
            seen += 1
            if seen > max_rows:
                raise ReadError(FaultKind.TOO_LARGE, f"at most {max_rows} rows", "more", line)
            if len(cells) <= max(layout.positions) or any(cells[layout.max_cells :]):
                expected = f"{layout.max_cells} fields"
                values = range(len(columns) if len(columns) > 1 else 2)[1:]
                in_two = len(cells) - layout.max_cells in values and all(map(_WHOLE.fullmatch, cells[1:]))
                point = DECIMAL_POINT if in_two else None
                problems.append(ReadError(FaultKind.MALFORMED, expected, str(len(cells)), line, point))
                torn += cells[layout.positions[0] :][:1]
            else:
                rows.append(Row(line, tuple([cells[position] for position in layout.positions])))
    except _HeaderError as error:
        problems.extend(error.problems)
    except ReadError as error:
        problems.append(error)
    if layout is None and not problems:
        problems.append(
            ReadError(FaultKind.UNREADABLE, f"a table with the columns {_named(columns)}", "no row")
        )
    header = () if layout is None else layout.header
    return ReadTable(tuple(rows), tuple(problems), header, tuple(torn))


def _named(columns: Iterable[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def surplus_columns(header: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Return the columns of a header that are none of the known ones, in their order."""
    known = set(map(_plain, columns))
    return [cell for cell in header if cell and _plain(cell) not in known]


class _HeaderError(Exception):
    def __init__(self, problems: Sequence[ReadError]) -> None:
        self.problems = problems


def _numbered_lines(
    data: memoryview, problems: list[ReadError], max_problems: int
) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text by number; one that is not text is a problem and is read as blank."""
    utf_16 = bytes(data[:2]) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    encoding, name = ("utf-16", "UTF-16") if utf_16 else ("utf-8-sig", "UTF-8")
    # Line ends stay as they are, since a quoted cell may hold them.
    text = io.TextIOWrapper(io.BytesIO(data), encoding=encoding, errors="replace", newline="")
    for number, line in enumerate(text, start=1):
        if number > _MAX_LINES:
            expected = f"at most {_MAX_LINES} lines, blank ones included"
            raise ReadError(FaultKind.TOO_LARGE, expected, "more", number)
        control = _CONTROL.search(line)
        if _REPLACED not in line and not control:
            yield number, line
            continue
        character = "a NUL" if "\0" in line else "a control"
        found = f"{character} character" if control else "other bytes"
        problems.append(ReadError(FaultKind.UNREADABLE, f"text in {name}", found, number))
        if len(problems) > max_problems:
            raise ReadError(FaultKind.TOO_LARGE, f"at most {max_problems} rows", "more", number)
        yield number, "\n"


def _read_cells(
    data: memoryview, problems: list[ReadError], max_problems: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line and the stripped cells of every row that is not blank."""
    lines = _numbered_lines(data, problems, max_problems)
    first = [next(((number, line) for number, line in lines if line.strip()), (1, ""))]
    delimiter = next((mark for mark in _DELIMITERS if mark in first[0][1]), ",")
    taken, in_row = first[0][0] - 1, 0

    def taken_lines() -> Iterator[str]:
        nonlocal taken, in_row
        for taken, line in chain(first, lines):
            in_row += line.count(delimiter)
            if in_row >= _MAX_CELLS:
                raise ReadError(FaultKind.TOO_LARGE, f"fewer than {_MAX_CELLS} cells", "more", taken)
            yield line

    reader = csv.reader(taken_lines(), delimiter=delimiter, skipinitialspace=True, strict=True)
    while True:
        start, in_row = taken + 1, 0  # of the next row, which quotation marks may spread over several lines
        try:
            cells = [cell.strip() for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error:
            found = "a quotation mark out of place or an overlong field"
            raise ReadError(FaultKind.MALFORMED, "a well-formed row", found, start) from None
        if any(cells):
            yield start, cells


def _find_layout(
    cells: Sequence[str], columns: Sequence[str], line: int, is_key: Callable[[str], bool]
) -> _Layout:
    """Return the layout that the first row shows. Raises `_HeaderError` for a header that lacks a column."""
    header = list(map(_plain, cells))
    matches = [
        [position for position, cell in enumerate(header) if cell == wanted]
        for wanted in map(_plain, columns)
    ]
    if not any(matches):
        values = cells[:1] if len(columns) == 1 else cells[1 : len(columns)]
        if is_key(cells[0]) or any(map(is_number, values)):
            return _Layout(tuple(range(len(columns))), len(columns))
    problems = []
    for column, positions in zip(columns, matches, strict=True):
        if len(positions) > 1:
            found = f"{len(positions)} times"
            problems.append(ReadError(FaultKind.DUPLICATE, f'column "{column}" once', found, line))
        elif not positions:
            found = shorten(", ".join(f'"{shorten(cell)}"' for cell in cells))
            problems.append(ReadError(FaultKind.MISSING, f'column "{column}"', found, line))
    if problems:
        raise _HeaderError(problems)
    return _Layout(tuple(positions[0] for positions in matches), len(cells), tuple(cells))


def _plain(name: str) -> str:
    return "".join(name.replace("_", "").split()).casefold()


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]], delimiter: str = ",") -> None:
    """Write a table with Unix line ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def parse_number(text: str) -> float:
    """Return a finite decimal number, for example ``-0.5``, ``.5``, ``3.`` or ``1e-7``.

    Surrounding spaces are allowed. Other notations of Python (``nan``, ``1_000``, digits of other scripts),
    numbers beyond the range of a float and texts of more than 100 characters are not.

    Raises `ReadError` (malformed).
    """
    stripped = text.strip(" \t")
    if len(stripped) <= _MAX_NUMBER_LENGTH and DECIMAL.fullmatch(stripped):
        value = float(stripped)
        if math.isfinite(value):
            return value
    hint = DECIMAL_POINT if DECIMAL_COMMA.fullmatch(stripped[:_MAX_NUMBER_LENGTH]) else None
    found = f'"{shorten(text)}"' if stripped else "nothing"
    raise ReadError(FaultKind.MALFORMED, "a finite number", found, hint=hint)


def is_number(text: str) -> bool:
    """Return whether `parse_number` accepts the text."""
    try:
        parse_number(text)
    except ReadError:
        return False
    return True
