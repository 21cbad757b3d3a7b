"""The tables of `fuse cysts`, as records for figures and pages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evaluation.core.fault import PhaseError
from evaluation.phase.organiser_tables import organiser_table

Record = dict[str, str | float | None]
TABLES = (
    *("distinctions", "histograms", "transforms", "levels", "distributions", "intervals"),
    *("accuracy", "accuracy_by_group", "interval_effect", "combinations"),
    *("scanners", "assignment", "workload"),
)


@dataclass(frozen=True)
class BenchmarkTables:
    """The rows of every table by name; a table of a step that was not run has no rows."""

    folder: Path
    rows: dict[str, list[Record]]

    def __getitem__(self, name: str) -> list[Record]:
        """Return the rows of a table."""
        return self.rows[name]


def read_tables(folder: Path) -> BenchmarkTables:
    """Return the tables in a folder by `fuse cysts --report`. Raises `PhaseError` without any."""
    rows = {name: _rows(folder / f"{name}.csv") for name in TABLES}
    if not any(rows.values()):
        raise PhaseError(f"{folder}: expected the tables of fuse cysts, found none")
    return BenchmarkTables(folder, rows)


def numeric(record: Record, column: str) -> float | None:
    """Return a cell as a number; None if it is empty. Raises `PhaseError` for text."""
    value = record.get(column)
    if isinstance(value, str):
        raise PhaseError(f"{column}: expected a number, found {value!r}")
    return value


def _rows(path: Path) -> list[Record]:
    if not path.exists():
        return []
    with organiser_table(path, ()) as table:
        return [{name: _cell(cell) for name, cell in row.cells.items()} for row in table.rows]


def _cell(text: str) -> str | float | None:
    """Return a cell as a number if it is one, None if it is empty."""
    try:
        return float(text) if text else None
    except ValueError:
        return text
