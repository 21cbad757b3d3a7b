"""Sources: where the value of one field of one case lies, before it is read."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol

from evaluation.core.fault import Fault, FaultKind, FormFault


class FileContent(Protocol):
    """The bytes of a file, in memory or not, of which parts are read."""

    def __len__(self) -> int:
        """Return the number of all bytes."""

    def __getitem__(self, part: slice, /) -> bytes | memoryview:
        """Return bytes, as those of a sequence. Raises `ReadError`."""


class ByteStream(FileContent, Protocol):
    """A file that is read once, from its start to its end; parts may be read besides."""

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


@dataclass(frozen=True, slots=True)
class FileSource:
    """A file that a kind decodes; ``file`` is its path relative to the submission's folder."""

    file: str


@dataclass(frozen=True, slots=True)
class CellsSource:
    """Cells of one row of a table, as text."""

    cells: tuple[str, ...]
    file: str
    line: int
    columns: tuple[str, ...]

    def at(self, position: int) -> "CellsSource":
        """Return one of the cells."""
        return CellsSource((self.cells[position],), self.file, self.line, (self.columns[position],))


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

    @property
    def whole_place(self) -> str | None:
        """The place with the index, None for the whole file."""
        index = "" if self.index is None else f"index {self.index}"
        return ", ".join(part for part in (self.place, index) if part) or None

    def within(self, place: str) -> "JsonSource":
        """Return the same value, of which a part at ``place`` is meant."""
        parts = (self.whole_place, place)
        return replace(self, place=", ".join(part for part in parts if part), index=None)


EntriesBy = Literal["order", "name", "third_coordinate"]
"""What tells the image of an entry in the JSON of a stack."""


@dataclass(frozen=True, slots=True)
class StackSource:
    """The values of a stack of cases, a list of ``entries``; the form gives the case of each entry.

    by, names: what tells the image of an entry, and the names of the images where it is not their order.
    """

    values: Any
    file: str
    place: str
    entries: int
    by: EntriesBy = "order"
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImageStackSource:
    """An image file in which the planes of all cases of a stack follow each other.

    starts: the first plane of each case in the order of the stack, and the number of all planes.
    """

    file: str
    starts: tuple[int, ...]


class JsonFileSource(NamedTuple):
    """A JSON file that is still to be read: one value, or with ``entries`` the values of a stack.

    ``max_values`` limits the commas and opening brackets of each (see `Kind.max_json_values`).
    """

    # A tuple, which is made sooner than a dataclass: a submission may have one for each file.
    file: str
    place: str
    limit_bytes: int
    entries: int | None = None
    max_values: int = 1000
    by: EntriesBy = "order"
    names: tuple[str, ...] = ()


Source = FileSource | CellsSource | RowsSource | JsonSource
"""What a kind reads a value from."""

IndexedSource = Source | StackSource | ImageStackSource | JsonFileSource
"""What the index of a submission notes for a value: a source, or a file in which that of a case lies."""


def is_of_stack(source: IndexedSource) -> bool:
    """Return whether one file holds the values of a whole stack of cases."""
    if isinstance(source, JsonFileSource):
        return source.entries is not None
    return isinstance(source, StackSource | ImageStackSource)


def cells_of(sources: Sequence[Source]) -> list[tuple[str, ...]]:
    """Return the cells of rows. Raises `TypeError` for another source."""
    rows = [source.cells for source in sources if isinstance(source, CellsSource)]
    if len(rows) < len(sources):
        raise TypeError("not all of these values lie in cells")
    return rows


def fault_at(
    source: IndexedSource,
    expected: str,
    found: str,
    kind: FaultKind = FaultKind.WRONG_VALUE,
    hint: str | None = None,
) -> FormFault:
    """Return a fault of the value at a source, ready to be raised."""
    line, field = None, None
    match source:
        case CellsSource():
            line, field = source.line, ", ".join(source.columns)
        case JsonSource():
            field = source.whole_place
        case StackSource() | JsonFileSource():
            field = source.place
    return FormFault(Fault(kind, source.file, expected, found, line, field, hint))
