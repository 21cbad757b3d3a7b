"""Tables (csv) that an organiser wrote or may have edited, read strictly."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evaluation.core.fault import PhaseError, ReadError
from evaluation.io.tables import parse_number

_DELIMITERS = (",", ";", "\t")


@dataclass(frozen=True)
class TableRow:
    """One row: the line on which it ends, its stripped cells by column, and the faults of its table."""

    file: str
    line: int
    cells: Mapping[str, str]
    faults: list[str]

    @property
    def place(self) -> str:
        """Where the row is, for messages."""
        return f"{self.file}, line {self.line}"

    def fault(self, column: str, text: str) -> None:
        """Add what is wrong with a cell."""
        self.faults.append(f"{self.place}, {column}: {text}")

    def number(self, column: str) -> float:
        """Return a cell as a finite number; NaN where it is empty, or is none, which is a fault."""
        try:
            return parse_number(self.cells[column]) if self.cells[column] else float("nan")
        except ReadError as error:
            self.fault(column, str(error))
            return float("nan")

    def whole(self, column: str, lowest: int, highest: int) -> int:
        """Return a cell as a whole number of a range; the lowest where it is none, which is a fault."""
        text = self.cells[column]
        is_short = text.isascii() and text.isdigit() and len(text) <= len(str(highest))
        if is_short and lowest <= int(text) <= highest:
            return int(text)
        self.fault(column, f"expected a whole number from {lowest} to {highest}, found {text!r}")
        return lowest


@dataclass(frozen=True)
class OrganiserTable:
    """The columns of a table in their order, the rows that could be read, and all faults found so far."""

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
    """Yield the table in a csv file; the faults that are added within are raised with its own at the end.

    The file may have further columns, without a name too. ``holds`` is what a row is, where there must be at
    least one ("case"). A file that other software ``exported`` may be delimited by semicolons or tabs, and
    name required and optional columns in any letter case. Blank rows do not count. Raises `PhaseError` with
    every fault: columns that are missing or duplicate and rows of a wrong number of cells among them.
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
        faults.append(f"{path.name}: holds no {holds}")
    if missing:
        raise PhaseError(*faults)
    found = tuple(
        TableRow(path.name, line, dict(zip(header, cells, strict=True)), faults)
        for line, cells in rows
        if len(cells) == len(header)
    )
    try:
        yield OrganiserTable(path.name, tuple(header), found, faults)
    except PhaseError as error:
        raise PhaseError(*faults, *error.problems) from None
    if faults:
        raise PhaseError(*faults)


def _read(path: Path, exported: bool) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the stripped cells of the first row, and of each further row that is not blank with its line."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline() if exported else ""
            file.seek(0)
            delimiter = next((mark for mark in _DELIMITERS if mark in first), ",")
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            header = [cell.strip() for cell in next(reader, [])]
            rows = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader]
    except FileNotFoundError:
        raise PhaseError(f"{path.name}: not found in {path.parent}") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PhaseError(f"{path}: cannot be read: {error}") from None
    return header, [(line, cells) for line, cells in rows if any(cells)]
