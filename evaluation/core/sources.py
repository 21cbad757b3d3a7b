"""Sources: where the value of one field of one case lies, before it is read.

A source answers for itself: it asks a kind for the reader of its form, so that nobody else tells the forms
apart.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self

from evaluation.core.fault import Fault, FaultKind, FormFault
from evaluation.core.form import CaseForm

LineAndField = tuple[int | None, str | None]
"""A place in a file: the line, and the columns or the path in JSON."""


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


class Readers(Protocol):
    """One reader for each form of a source; a kind has those of its locations, see `Kind.read`."""

    def read_file(self, path: str, case: CaseForm, files: FileAccess) -> Any:
        """Return the value of a file."""

    def read_cells(self, source: "CellsSource", case: CaseForm) -> Any:
        """Return the value in the cells of a row."""

    def read_rows(self, source: "RowsSource", case: CaseForm) -> Any:
        """Return the value in all rows of a case."""

    def read_json(self, source: "JsonSource", case: CaseForm) -> Any:
        """Return the value in JSON."""


class JsonContents(Protocol):
    """Opens JSON files and finds the value of a case in them."""

    def content(self, field: str, source: "JsonFileSource") -> object:
        """Return the content of a file, None for one that is missing and may be. Raises `FormFault`."""

    def value_in(
        self, source: "StackSource | JsonFileSource", content: object, field: str, case: CaseForm
    ) -> "JsonSource | None":
        """Return the value of a case, None where it is missing and may be. Raises `FormFault`."""


class _Location:
    """What holds for most sources; ``is_of_stack``: one file holds the values of a whole stack of cases."""

    __slots__ = ()
    is_of_stack: ClassVar[bool] = False

    @property
    def path_to_decode(self) -> str | None:
        """The path of a file that the kind decodes, None where cells or JSON are read."""
        return None


class _OfOneCase(_Location):
    """What holds for all sources that a kind reads."""

    __slots__ = ()

    def of_case(self, field: str, case: CaseForm, contents: JsonContents) -> Self:
        """Return the source itself, which is of one case already."""
        return self

    def row_cells(self) -> tuple[str, ...]:
        """Return the cells of a row. Raises `TypeError` for any other form."""
        raise TypeError(f"a {type(self).__name__} is no row of cells")


class _ToDecode(_Location):
    """What holds for a file that is decoded as a whole."""

    __slots__ = ()
    path: str

    @property
    def file(self) -> str:
        """The path of the file."""
        return self.path

    @property
    def path_to_decode(self) -> str:
        """The path of the file."""
        return self.path

    def line_and_field(self) -> LineAndField:
        """Return that the whole file is meant."""
        return None, None


@dataclass(frozen=True, slots=True)
class FileSource(_ToDecode, _OfOneCase):
    """A file that is still to be read; ``path`` is relative to the submission's folder."""

    path: str

    def read_by(self, kind: Readers, case: CaseForm, files: FileAccess) -> Any:
        """Return the value of the file."""
        return kind.read_file(self.path, case, files)


@dataclass(frozen=True, slots=True)
class CellsSource(_OfOneCase):
    """Cells of one row of a table, as text."""

    cells: tuple[str, ...]
    file: str
    line: int
    columns: tuple[str, ...]

    def at(self, position: int) -> "CellsSource":
        """Return one of the cells."""
        return CellsSource((self.cells[position],), self.file, self.line, (self.columns[position],))

    def line_and_field(self) -> LineAndField:
        """Return where the value is in the file."""
        return self.line, ", ".join(self.columns)

    def row_cells(self) -> tuple[str, ...]:
        """Return the cells."""
        return self.cells

    def read_by(self, kind: Readers, case: CaseForm, files: FileAccess) -> Any:
        """Return the value in the cells."""
        return kind.read_cells(self, case)


@dataclass(frozen=True, slots=True)
class RowsSource(_OfOneCase):
    """All rows of a table that belong to one case: the line and the cells of each, as text."""

    rows: tuple[tuple[int, tuple[str, ...]], ...]
    file: str
    columns: tuple[str, ...]

    def each(self) -> Iterator[CellsSource]:
        """Yield the rows one by one, in their order in the file."""
        for line, cells in self.rows:
            yield CellsSource(cells, self.file, line, self.columns)

    def line_and_field(self) -> LineAndField:
        """Return where the value is in the file: in several lines."""
        return None, None

    def read_by(self, kind: Readers, case: CaseForm, files: FileAccess) -> Any:
        """Return the value in the rows."""
        return kind.read_rows(self, case)


@dataclass(frozen=True, slots=True)
class JsonSource(_OfOneCase):
    """A value from a JSON file, at ``place`` and, in a list of several cases, at ``index``."""

    value: Any
    file: str
    place: str = ""
    index: int | None = None

    def line_and_field(self) -> LineAndField:
        """Return where the value is in the file."""
        index = "" if self.index is None else f"index {self.index}"
        return None, ", ".join(part for part in (self.place, index) if part) or None

    def within(self, place: str) -> Self:
        """Return the same value, of which a part at ``place`` is meant."""
        _, here = self.line_and_field()
        return replace(self, place=", ".join(part for part in (here, place) if part), index=None)

    def read_by(self, kind: Readers, case: CaseForm, files: FileAccess) -> Any:
        """Return the value in the JSON."""
        return kind.read_json(self, case)


EntriesBy = Literal["order", "name", "index", "third_coordinate"]
"""What tells the image of an entry in the JSON of a stack."""


@dataclass(frozen=True, slots=True)
class StackSource(_Location):
    """The values of a stack of cases, a list of ``entries``; the form gives the case of each entry.

    by, names: what tells the image of an entry, and the names of the images where it is not their order.
    """

    values: Any
    file: str
    place: str
    entries: int
    by: EntriesBy = "order"
    names: tuple[str, ...] = ()
    is_of_stack: ClassVar[bool] = True

    def line_and_field(self) -> LineAndField:
        """Return where the list is in the file."""
        return None, self.place

    def of_case(self, field: str, case: CaseForm, contents: JsonContents) -> JsonSource | None:
        """Return the value of a case, None where it is missing and may be. Raises `FormFault`."""
        return contents.value_in(self, self.values, field, case)


@dataclass(frozen=True, slots=True)
class ImageStackSource(_ToDecode):
    """An image file in which the planes of all cases of a stack follow each other.

    starts: the first plane of each case in the order of the stack, and the number of all planes.
    """

    path: str
    starts: tuple[int, ...]
    is_of_stack: ClassVar[bool] = True

    def of_case(self, field: str, case: CaseForm, contents: JsonContents) -> Self:
        """Return the source itself: its planes are decoded in the order of their cases."""
        return self


class JsonFileSource(NamedTuple):
    """A JSON file that is still to be read: one value, or with ``entries`` the values of a stack.

    ``max_values`` limits the commas and opening brackets of each (see `Kind.max_json_values`).
    """

    # A tuple, which is made sooner than a dataclass: a submission may have one for each file.
    path: str
    place: str
    limit_bytes: int
    entries: int | None = None
    max_values: int = 1000
    by: EntriesBy = "order"
    names: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """The path of the file."""
        return self.path

    @property
    def path_to_decode(self) -> None:
        """None: it is parsed before a kind reads it."""

    @property
    def is_of_stack(self) -> bool:
        """Whether it has the values of a stack."""
        return self.entries is not None

    def line_and_field(self) -> LineAndField:
        """Return where the file is named."""
        return None, self.place

    def of_case(self, field: str, case: CaseForm, contents: JsonContents) -> JsonSource | None:
        """Return the value of a case, None where it is missing and may be. Raises `FormFault`."""
        return contents.value_in(self, contents.content(field, self), field, case)


Source = FileSource | CellsSource | RowsSource | JsonSource
"""What a kind reads a value from."""

IndexedSource = Source | StackSource | ImageStackSource | JsonFileSource
"""What the index of a submission notes for a value: a source, or a file in which that of a case lies."""


def fault_at(
    source: IndexedSource,
    expected: str,
    found: str,
    kind: FaultKind = FaultKind.WRONG_VALUE,
    hint: str | None = None,
) -> FormFault:
    """Return a fault of the value at a source, ready to be raised."""
    line, field = source.line_and_field()
    return FormFault(Fault(kind, source.file, expected, found, line, field, hint))
