"""The location of one case's value of one field in a submission, known before anything is decoded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from evaluation.core.fault import Fault, FaultKind, FormFault


@dataclass(frozen=True, slots=True)
class FileSource:
    """A file that is still to be read; ``path`` is relative to the submission's folder."""

    path: str


@dataclass(frozen=True, slots=True)
class CellsSource:
    """Cells of one row of a table, as text."""

    cells: tuple[str, ...]
    file: str
    line: int
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RowsSource:
    """All rows of a table that belong to one case: the line and the cells of each, as text."""

    rows: tuple[tuple[int, tuple[str, ...]], ...]
    file: str
    columns: tuple[str, ...]

    def each(self) -> Iterator[CellsSource]:
        """Yield the rows one by one, in their order in the file."""
        for line, cells in self.rows:
            yield CellsSource(cells, self.file, line, self.columns)


@dataclass(frozen=True, slots=True)
class JsonSource:
    """A value from a JSON file, at ``place`` and, in a list of several cases, at ``index``."""

    value: Any
    file: str
    place: str = ""
    index: int | None = None


@dataclass(frozen=True, slots=True)
class StackSource:
    """The values of a stack of cases, a list of ``entries``; the form gives the case of each entry."""

    values: Any
    file: str
    place: str
    entries: int


class JsonFileSource(NamedTuple):
    """A JSON file that is still to be read: one value, or with ``entries`` the values of a stack.

    ``max_values`` limits the commas and opening brackets of each (see `Kind.max_json_values`).
    """

    # A tuple, made in a third of the time: a submission may have one for each file.
    path: str
    place: str
    limit_bytes: int
    entries: int | None = None
    max_values: int = 1000


Source = FileSource | CellsSource | RowsSource | JsonSource | StackSource | JsonFileSource


class ByteStream(Protocol):
    """A file that is read once, from its start to its end."""

    @property
    def size(self) -> int:
        """Size of the whole file in bytes."""

    def readinto(self, view: memoryview) -> int:
        """Fill a view with the next bytes of the file and return their number. Raises `ReadError`."""

    def read(self, count: int) -> bytes:
        """Return the next bytes, at most ``count``. Raises `ReadError`."""


class FileAccess(Protocol):
    """Reads files of one folder; the only access that fields have to files."""

    def read(self, path: str, limit_bytes: int, may_be_empty: bool = False) -> memoryview:
        """Return the bytes of a file, valid until the next call. Raises `ReadError`."""

    def open(self, path: str, limit_bytes: int) -> AbstractContextManager[ByteStream]:
        """Return a file that is read in pieces because it may be too large for memory. Raises `ReadError`."""


def file_of(source: Source) -> str:
    """Return the path of the file of a source."""
    return source.path if isinstance(source, FileSource | JsonFileSource) else source.file


def fault_at(
    source: Source,
    expected: str,
    found: str,
    kind: FaultKind = FaultKind.WRONG_VALUE,
    hint: str | None = None,
) -> FormFault:
    """Return a fault of the value at a source, ready to be raised."""
    line = field = None
    if isinstance(source, CellsSource):
        line, field = source.line, ", ".join(source.columns)
    elif isinstance(source, JsonSource):
        index = "" if source.index is None else f"index {source.index}"
        field = ", ".join(part for part in (source.place, index) if part) or None
    elif isinstance(source, StackSource | JsonFileSource):
        field = source.place
    return FormFault(Fault(kind, file_of(source), expected, found, line, field, hint))
