"""The hidden reference of a phase, opened case by case when scoring needs it."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.core.fault import FaultKind, FormFault, PhaseError, ReadError
from evaluation.core.field import AnyField, CaseColumns, Files, TableRows, every_case
from evaluation.core.form import CaseForm, CaseRow, name_key
from evaluation.core.sources import CellsSource, FileSource, RowsSource, Source
from evaluation.core.trouble import DECODER, MachineTrouble, raise_trouble_of
from evaluation.io.files import FileStream, ReadBuffer, sha256_of
from evaluation.phase.cases import FILE_NAME as CASES
from evaluation.phase.cases import organiser_table

_MAX_FILE_BYTES = 1 << 33
_MAX_STREAM_BYTES = 1 << 40


@dataclass(frozen=True)
class ReferenceFiles:
    """The reference files: their folder, digests by path, and paths by field and case name.

    All cases of a field in a table of rows have the same path.
    """

    folder: str
    digests: Mapping[str, str]
    paths: Mapping[str, Mapping[str, str]]


class OpenReference:
    """Reads reference values in one process, with a buffer of its own."""

    def __init__(self, files: ReferenceFiles, fields: Sequence[AnyField]) -> None:
        self._files = files
        self._buffer = ReadBuffer()
        self._tables: dict[str, Mapping[str, RowsSource] | PhaseError] = {}
        self.fields = {field.name: field for field in fields}

    def read(self, path: str, limit_bytes: int, may_be_empty: bool = False) -> memoryview:
        """Return the bytes of a reference file after comparing them with the sealed digest.

        ``limit_bytes``, a limit for participants, is not applied. Raises `PhaseError` if they differ.
        """
        data = self._buffer.read(
            self._files.folder, path, limit_bytes=_MAX_FILE_BYTES, may_be_empty=may_be_empty
        )
        if sha256_of(data) != self._files.digests.get(path):
            raise PhaseError(f"{path}: differs from the sealed file")
        return data

    @contextmanager
    def open(self, path: str, limit_bytes: int) -> Iterator[FileStream]:
        """Yield a reference file to be read in pieces, and compute its digest meanwhile.

        The rest of the file is read on leaving. Raises `PhaseError` then if the digest differs from the seal.
        """
        digest = hashlib.sha256()
        with FileStream(self._files.folder, path, _MAX_STREAM_BYTES, digest.update) as stream:
            try:
                yield stream
            finally:
                stream.drain()
                if digest.hexdigest() != self._files.digests.get(path):
                    raise PhaseError(f"{path}: differs from the sealed file") from None

    def value(self, field: AnyField, case: CaseForm, row: CaseRow, sealed: bool = True) -> Any:
        """Return one reference value.

        Raises `PhaseError` if it is missing or invalid, and `MachineTrouble`, also for a file with the bytes
        of the seal that cannot be decoded, unless it is yet to be ``sealed``.
        """
        location = field.reference.location
        try:
            is_optional = isinstance(location, Files) and field.reference.optional
            if is_optional and case.name not in self._files.paths[field.name]:
                return None
            (source,) = self._sources(field, [case], [row])
            return field.reference.kind.read(source, case, self)
        except FormFault as fault:
            found = {one.file for one in fault.faults if one.kind is FaultKind.UNREADABLE}
            if sealed and (undecoded := found & self._files.digests.keys()):
                raise MachineTrouble("decode", f"{min(undecoded)} as it was sealed", DECODER) from None
            raise PhaseError(*map(str, fault.faults)) from None
        except ReadError as error:
            raise PhaseError(f"case {case.name}, {field.name}: {error}") from None
        except (MachineTrouble, OSError, MemoryError) as error:
            raise_trouble_of(error, "read", f"the reference of case {case.name}")
            raise

    def _rows(self, name: str, location: TableRows) -> Mapping[str, RowsSource]:
        """Return the rows of every case of a field; the table is read once. Raises `PhaseError`."""
        if name not in self._tables:
            self.read(location.files[0], _MAX_FILE_BYTES)  # compares it with the sealed digest
            try:
                folder, cases = Path(self._files.folder), self._files.paths[name]
                self._tables[name] = rows_of_cases(folder, location, cases)
            except PhaseError as error:
                self._tables[name] = error
        found = self._tables[name]
        if isinstance(found, PhaseError):
            raise found
        return found

    def small_values(self, cases: Sequence[CaseForm], rows: Sequence[CaseRow]) -> list[dict[str, Any]]:
        """Return the values of several cases by field, as far as they can be read together.

        A value that may be at fault is left out, too: `value` reads it alone and raises the fault. Many small
        files are read sooner together.
        """
        found: list[dict[str, Any]] = [{} for _ in cases]
        for name, field in self.fields.items():
            every = field.cases is every_case
            chosen = [position for position, case in enumerate(cases) if every or field.cases(case)]
            forms = [cases[position] for position in chosen]
            try:
                sources = self._sources(field, forms, [rows[position] for position in chosen])
                values = field.reference.kind.read_all(sources, forms, self) or ()
            except (FormFault, ReadError, PhaseError, KeyError):
                continue
            for position, value in zip(chosen, values, strict=bool(values)):
                found[position][name] = value
        return found

    def _sources(self, field: AnyField, cases: Sequence[CaseForm], rows: Sequence[CaseRow]) -> list[Source]:
        """Return the sources of the values of several cases. Raises `KeyError` if a case has none."""
        location = field.reference.location
        if isinstance(location, CaseColumns):
            return [cells_of(location, row) for row in rows]
        if isinstance(location, TableRows):
            rows_of = self._rows(field.name, location)
            return [rows_of[case.name] for case in cases]
        paths = self._files.paths[field.name]
        return [FileSource(paths[case.name]) for case in cases]


class ReferenceValues(Mapping[str, Any]):
    """The reference values of one case by field name, each read on first access unless it is ``known``."""

    def __init__(
        self,
        reference: OpenReference,
        case: CaseForm,
        row: CaseRow,
        known: Mapping[str, Any] | None = None,
        sealed: bool = True,
    ) -> None:
        self._reference, self._case, self._row, self._sealed = reference, case, row, sealed
        self._values: dict[str, Any] = dict(known or {})

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            field = self._reference.fields[name]
            self._values[name] = self._reference.value(field, self._case, self._row, self._sealed)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._reference.fields)

    def __len__(self) -> int:
        return len(self._reference.fields)


def cells_of(location: CaseColumns, row: CaseRow) -> CellsSource:
    """Return cells of a row of the case table as a source."""
    cells = tuple([row.cells.get(column, "") for column in location.columns])
    return CellsSource(cells, CASES, row.line, location.columns)


def rows_of_cases(folder: Path, location: TableRows, cases: Iterable[str]) -> dict[str, RowsSource]:
    """Return the rows of a reference table by case name; a case may have no row.

    Raises `PhaseError` listing every fault, also rows of unknown cases.
    """
    names = {name_key(case): case for case in cases}
    rows: dict[str, list[tuple[int, tuple[str, ...]]]] = {case: [] for case in names.values()}
    file = location.files[0]
    with organiser_table(folder / file, (location.key, *location.columns)) as table:
        for row in table.rows:
            case = names.get(name_key(row.cells[location.key]))
            if case is None:
                expected = "expected a case of cases.csv that has such a reference"
                row.fault(location.key, f"{expected}, found {row.cells[location.key]!r}")
            else:
                cells = tuple(row.cells[column] for column in location.columns)
                rows[case].append((row.line, cells))
    return {case: RowsSource(tuple(found), file, location.columns) for case, found in rows.items()}
