"""csv tables of an organiser, read strictly."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evaluation.core.fault import PhaseError, ReadError
from evaluation.io.tables import parse_number

_DELIMITERS = (",", ";", "\t")
_Texts = tuple[str, ...]


class TableRow(NamedTuple):
    """A row of a table: its last line, its stripped cells by column, and the faults of the table."""

    file: str
    line: int
    cells: Mapping[str, str]
    faults: list[str]

    @property
    def place(self) -> str:
        """Where the row is, for messages."""
        return f"{self.file}, line {self.line}"

    def fault(self, column: str, text: str) -> None:
        """Add a fault of a cell."""
        self.faults.append(f"{self.place}, {column}: {text}")

    def number(self, column: str) -> float:
        """Return a cell as a finite number; NaN if it is empty. Anything else is a fault and NaN."""
        try:
            return parse_number(self.cells[column]) if self.cells[column] else float("nan")
        except ReadError as error:
            self.fault(column, str(error))
            return float("nan")

    def whole(self, column: str, lowest: int, highest: int) -> int:
        """Return a cell as a whole number within a range. Anything else is a fault and the lowest number."""
        text = self.cells[column]
        is_short = text.isascii() and text.isdigit() and len(text) <= len(str(highest))
        if is_short and lowest <= int(text) <= highest:
            return int(text)
        self.fault(column, f"expected a whole number from {lowest} to {highest}, found {text!r}")
        return lowest


@dataclass(frozen=True)
class OrganiserTable:
    """The columns of a table in order, the rows that could be read, and all faults found so far."""

    file: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    faults: list[str]


@contextmanager
def organiser_table(
    path: Path,
    required: Sequence[str],
    optional: Sequence[str] = (),
    *,
    holds: str | None = None,
    exported: bool = False,
) -> Iterator[OrganiserTable]:
    """Yield the table in a csv file; on leaving, raise its faults and all that were added to it.

    Further columns are allowed, also without a name. ``holds`` is the word for a row ("case") if at least one
    row is needed. A file ``exported`` by other software may be delimited by semicolons or tabs and may write
    the names of required and optional columns in any letter case. Blank rows are ignored. Raises `PhaseError`
    with every fault, such as missing or duplicate columns and rows with a wrong number of cells.
    """
    header, rows = _read(path, exported)
    if exported:
        by_key = {name.casefold(): name for name in (*required, *optional)}
        header = [by_key.get(name.casefold(), name) for name in header]
    counts = Counter(header)
    faults = [f"{path.name}: duplicate column {name!r}" for name in counts if name and counts[name] > 1]
    missing = [f"{path.name}: column {name!r} is missing" for name in required if name not in header]
    faults += missing
    faults += [
        f"{path.name}, line {line}: expected {len(header)} cells, found {len(cells)}"
        for line, cells in rows
        if len(cells) != len(header)
    ]
    if holds is not None and not rows:
        faults.append(f"{path.name}: expected at least one {holds}, found none")
    if missing:
        raise PhaseError(*faults)
    file = path.name
    found = [
        TableRow(file, line, dict(zip(header, cells, strict=True)), faults)
        for line, cells in rows
        if len(cells) == len(header)
    ]
    try:
        yield OrganiserTable(file, tuple(header), tuple(found), faults)
    except PhaseError as error:
        raise PhaseError(*faults, *error.problems) from None
    if faults:
        raise PhaseError(*faults)


def _read(path: Path, exported: bool) -> tuple[list[str], list[tuple[int, _Texts]]]:
    """Return the stripped cells of the first row, and of each further row that is not blank with its line."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline() if exported else ""
            file.seek(0)
            delimiter = next((mark for mark in _DELIMITERS if mark in first), ",")
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            header = [cell.strip() for cell in next(reader, [])]
            rows = [(reader.line_num, tuple([cell.strip() for cell in cells])) for cells in reader]
    except FileNotFoundError:
        raise PhaseError(f"{path.name}: not found in {path.parent}") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PhaseError(f"{path}: cannot be read: {error}") from None
    return header, [(line, cells) for line, cells in rows if any(cells)]
