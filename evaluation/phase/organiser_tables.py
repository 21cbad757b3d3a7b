"""Tables that an organiser wrote or may have edited, read strictly."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.core.fault import PhaseError, ReadError
from evaluation.io.numbers import parse_number


@dataclass(frozen=True)
class TableRow:
    """One row of a table: where it stands, for messages, and its cells by column."""

    place: str
    cells: Mapping[str, str]

    def number(self, column: str) -> float:
        """Return a cell as a finite number; NaN where it is empty. Raises `PhaseError`."""
        if not self.cells[column]:
            return float("nan")
        try:
            return parse_number(self.cells[column])
        except ReadError as error:
            raise PhaseError(f"{self.place}, {column}: {error}") from None

    def whole(self, column: str, lowest: int, highest: int) -> int:
        """Return a cell as a whole number of a range. Raises `PhaseError`."""
        text = self.cells[column]
        if not (text.isascii() and text.isdigit() and lowest <= int(text) <= highest):
            expected = f"a whole number from {lowest} to {highest}"
            raise PhaseError(f"{self.place}, {column}: expected {expected}, found {text!r}")
        return int(text)


def read_rows(path: Path, columns: Sequence[str]) -> list[TableRow]:
    """Return the rows of a csv file that has at least these columns. Raises `PhaseError` with every fault."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = [cell.strip() for cell in next(reader, [])]
            rows = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if any(cells)]
    except FileNotFoundError:
        raise PhaseError(f"{path}: not found") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PhaseError(f"{path}: cannot be read: {error}") from None
    problems = [f"{path}: column {name!r} is missing" for name in columns if name not in header]
    problems += [f"{path}: column {name!r} stands {n} times" for name, n in Counter(header).items() if n > 1]
    problems += [
        f"{path}, line {line}: expected {len(header)} cells, found {len(cells)}"
        for line, cells in rows
        if len(cells) != len(header)
    ]
    if problems:
        raise PhaseError(*problems)
    return [
        TableRow(f"{path.name}, line {line}", dict(zip(header, cells, strict=True))) for line, cells in rows
    ]
