"""Tables of an archive, whose cells or rows are matched to cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from evaluation.core.fault import Fault, FaultKind, ReadError, shorten
from evaluation.core.field import Field, TableColumns, TableRows
from evaluation.core.form import Form, name_key
from evaluation.core.limits import max_rows
from evaluation.core.source import CellsSource, RowsSource
from evaluation.io.buffer import ReadBuffer
from evaluation.io.listing import Listing
from evaluation.io.tables import ColumnSpec, Row, read_table
from evaluation.platform.index import Sources

# A submission that is one bare table arrives under this name.
BARE_TABLE = "predictions.csv"
_MAX_ROW_BYTES = 4096
_SPARE_ROWS = 1000
_MEAN_BYTES_OF_A_LIST = 256
_SPARE_BYTES_OF_A_LIST = 1 << 20
_MAX_UNKNOWN_ROWS = 10_000


@dataclass(frozen=True)
class FieldTable:
    """The table of a field in the listing of a submission; ``alone``: a submission is this table only."""

    field: Field
    layout: TableColumns | TableRows
    listing: Listing
    form: Form
    alone: bool

    def index(self, sources: Sources, faults: list[Fault]) -> None:
        """Match the rows to cases by name; a row that belongs to no case is a fault."""
        found = tables_of(self.layout, self.listing, self.alone)
        if not found:
            return
        path, *others = found
        faults += [
            Fault(FaultKind.DUPLICATE, other, "one table of this kind", f"a second one beside {path}")
            for other in others
        ]
        if isinstance(self.layout, TableColumns):
            self._index_single_rows(path, sources, faults)
        else:
            self._index_lists(path, sources, faults)

    def _index_single_rows(self, path: str, sources: Sources, faults: list[Fault]) -> None:
        limit = len(self.form.cases) + _SPARE_ROWS
        rows = self._rows(path, limit, limit * _MAX_ROW_BYTES, faults)
        lines: dict[int, int] = {}
        for position, row in self._cases(path, rows, faults):
            if position in lines:
                expected = f"one row for {self.form.cases[position].name}"
                found = f"a second one beside line {lines[position]}"
                faults.append(Fault(FaultKind.DUPLICATE, path, expected, found, row.line, self.layout.key))
            else:
                lines[position] = row.line
                source = CellsSource(row.cells[1:], path, row.line, self.layout.columns)
                sources[position][self.field.name] = source

    def _index_lists(self, path: str, sources: Sources, faults: list[Fault]) -> None:
        """Collect the rows of every case; a case without any has an empty list."""
        cases = [position for position, case in enumerate(self.form.cases) if self.field.cases(case)]
        limit = max_rows(len(cases), self.field)
        limit_bytes = _SPARE_BYTES_OF_A_LIST + limit * _MEAN_BYTES_OF_A_LIST
        rows = self._rows(path, limit, limit_bytes, faults)
        lists: dict[int, list[tuple[int, tuple[str, ...]]]] = {position: [] for position in cases}
        for position, row in self._cases(path, rows, faults):
            lists[position].append((row.line, row.cells[1:]))
        for position, found in lists.items():
            sources[position][self.field.name] = RowsSource(tuple(found), path, self.layout.columns)

    def _rows(self, path: str, limit: int, limit_bytes: int, faults: list[Fault]) -> tuple[Row, ...]:
        columns = (ColumnSpec(self.layout.key), *(ColumnSpec(column) for column in self.layout.columns))
        try:
            data = ReadBuffer().read(self.listing.root, path, limit_bytes=limit_bytes)
            table = read_table(data, columns, max_rows=limit)
        except ReadError as error:
            faults.append(error.fault(path))
            return ()
        faults += [problem.fault(path) for problem in table.problems]
        return table.rows

    def _cases(self, path: str, rows: Iterable[Row], faults: list[Fault]) -> Iterator[tuple[int, Row]]:
        """Yield every row with the position of its case; too many rows of no case end the table."""
        unknown = 0
        for row in rows:
            position = self.form.names.get(name_key(PurePosixPath(row.cells[0]).name))
            if position is not None and self.field.cases(self.form.cases[position]):
                yield position, row
                continue
            unknown += 1
            if unknown > _MAX_UNKNOWN_ROWS:
                expected = f"at most {_MAX_UNKNOWN_ROWS} rows of other images"
                faults.append(Fault(FaultKind.TOO_LARGE, path, expected, "more", row.line, self.layout.key))
                return
            found = repr(shorten(row.cells[0]))
            faults.append(
                Fault(FaultKind.UNKNOWN, path, "an image of this phase", found, row.line, self.layout.key)
            )


def tables_of(layout: TableColumns | TableRows, listing: Listing, alone: bool) -> list[str]:
    """Return the files that are tables of this layout; ``alone`` if a submission is one table."""
    accepted = {file.casefold() for file in layout.files}
    if alone:
        accepted.add(BARE_TABLE)
    return [path for path in listing.files if path.casefold() in accepted]
