"""A field: one value that is submitted per case, with its kind, its location and its reference."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any, ClassVar, Literal, Never

import numpy as np
from numpy.typing import NDArray

from evaluation.core.form import CaseForm
from evaluation.core.sources import (
    CellsSource,
    EntriesBy,
    FileAccess,
    FileSource,
    JsonSource,
    RowsSource,
    Source,
)
from evaluation.core.views import Choices, Numbers, Objects, Regions, Voxels


class Variant(StrEnum):
    """The difference between a prediction and the reference that it is derived from.

    Perfect: no difference. Near-perfect: the smallest difference that its kind allows. Empty: nothing is
    found, whatever the reference is. Inverted: wrong everywhere.
    """

    PERFECT = "perfect"
    NEAR = "near-perfect"
    EMPTY = "empty"
    INVERTED = "inverted"


def grow_by_a_pixel(image: NDArray[Any], background: int) -> None:
    """Give the first background pixel to the right of a region the region's label, if such a pixel exists."""
    ends = (image[:, :-1] != background) & (image[:, 1:] == background)
    if ends.any():
        y, x = np.unravel_index(int(ends.argmax()), ends.shape)
        image[y, x + 1] = image[y, x]


def varied(image: NDArray[Any], variant: Variant) -> NDArray[Any]:
    """Return an image as it is, with a pixel more, of zeros, or 1 wherever it is 0."""
    if variant is Variant.EMPTY:
        return np.zeros_like(image)
    if variant is Variant.INVERTED:
        inverted: NDArray[Any] = (image == 0).astype(image.dtype)
        return inverted
    if variant is Variant.NEAR:
        image = image.copy()
        grow_by_a_pixel(image.reshape(-1, image.shape[-1]), 0)
    return image


class Kind(ABC):
    """How a value is read, checked, written and described; the same for predictions and references.

    A kind overrides the readers and writers for the locations that it supports: a file, cells of a table,
    rows of a table, JSON. A kind with ``needs_size`` cannot be read without the size of the case's image.
    Two limits protect against files made to be expensive: ``average_items``, the items per value on average
    over a submission (see `items`), and `max_json_values`.
    ``may_have_no_rows``: a case without a row of a table of lists has a value, the empty list, and no missing
    one. ``late_modules``: what `read` imports; a reader does so before it is confined, which ends imports.

    Pictures, descriptions, ensembles and comparisons of annotators ask for the views of a value; see
    `evaluation.core.views`.
    """

    needs_size: ClassVar[bool] = False
    may_have_no_rows: ClassVar[bool] = True
    average_items: int = 200
    late_modules: ClassVar[tuple[str, ...]] = ()

    def read(self, source: Source, case: CaseForm, files: FileAccess) -> Any:
        """Return the value at a source, from the reader for its location.

        Raises `FormFault` with every fault of that value, and `TypeError` for a location without a reader.
        """
        match source:
            case FileSource():
                return self.read_file(source.file, case, files)
            case CellsSource():
                return self.read_cells(source, case)
            case RowsSource():
                return self.read_rows(source, case)
            case JsonSource():
                return self.read_json(source, case)

    def read_file(self, path: str, case: CaseForm, files: FileAccess) -> Any:
        """Return the value of a file."""
        self.refuse(FileSource)

    def read_cells(self, source: CellsSource, case: CaseForm) -> Any:
        """Return the value in the cells of a row."""
        self.refuse(CellsSource)

    def read_rows(self, source: RowsSource, case: CaseForm) -> Any:
        """Return the value in all rows of a case."""
        self.refuse(RowsSource)

    def read_json(self, source: JsonSource, case: CaseForm) -> Any:
        """Return the value in JSON."""
        self.refuse(JsonSource)

    def refuse(self, location: type) -> Never:
        """Raise `TypeError`: the kind has no reader for a location."""
        raise TypeError(f"{type(self).__name__} cannot be read from a {location.__name__}")

    def read_all(
        self, sources: Sequence[Source], cases: Sequence[CaseForm], files: FileAccess
    ) -> list[Any] | None:
        """Return the values at the sources of several cases, exactly as `read` would return each.

        None, like an exception, means that each must be read by itself: the kind cannot read several
        together, or a value might have a fault.
        """
        return None

    @abstractmethod
    def describe(self) -> str:
        """Return a description of a valid value for participants."""

    def describe_json(self) -> str:
        """Return the description of a value in JSON, by default the same."""
        return self.describe()

    @property
    def socket_kind(self) -> str | None:
        """The platform's kind of socket for a value in JSON, None where it has none."""
        return "Anything"

    def describe_image(self) -> str:
        """Return the description of a value in a socket of images, by default the same."""
        return self.describe()

    def rehearse(self, reference: Any, case: CaseForm, variant: Variant) -> Any:
        """Return the value that `read` would give for a prediction derived from a reference value.

        ``reference`` is a value of the reference's kind. None means that this kind has no such variant. By
        default the perfect prediction is the reference, and there are no other variants.
        """
        return reference if variant is Variant.PERFECT else None

    def example(self, case: CaseForm, random: np.random.Generator) -> Any:
        """Return a valid value made up at random, for synthetic references and for examples of the format.

        None, as by default, means that this kind makes none up.
        """
        return None

    def pack(self, value: Any) -> Any:
        """Return a value as numbers, texts and arrays, for another process (`evaluation.io.handover`)."""
        return value

    def unpack(self, packed: Any, case: CaseForm) -> Any:
        """Return the value that was packed by a process that is not trusted. Raises `ValueError`.

        The returned value must be safe to score, even if the packed value is hostile.
        """
        return packed

    @property
    def of_answers(self) -> "Kind":
        """The kind that reads the answers of a reader study in JSON, by default the same."""
        return self

    @property
    def in_arrays(self) -> "ColumnKind | None":
        """This kind, if its values are small and go to another process as arrays over cases; else None."""
        return None

    def pixels(self, case: CaseForm) -> int:
        """Return how many pixels a value of a case has; 0 if it is not an image."""
        return 0

    @property
    def image_axes(self) -> Literal[2, 3]:
        """The number of axes of an image: that of its views, by default 2."""
        view = self.regions or self.voxels
        return view.dimensions if view else 2

    @property
    def case_columns(self) -> tuple[str, ...]:
        """The columns of `cases.csv`, known to participants, that reading a value needs beside its size."""
        return ()

    @property
    def max_json_values(self) -> int:
        """The maximum number of commas and opening brackets in the JSON of a case."""
        return 1000

    def items(self, value: Any) -> int:
        """Return the number of items in a value, which counts towards the limit of a submission."""
        return 1

    @property
    def regions(self) -> Regions | None:
        """The structures of a value, None for a kind without any."""
        return None

    @property
    def objects(self) -> Objects | None:
        """The points, boxes or lesions of a value, None for a kind without any."""
        return None

    @property
    def numbers(self) -> Numbers | None:
        """The numbers of a value, None for a kind without any."""
        return None

    @property
    def choices(self) -> Choices | None:
        """The decisions of a value, None for a kind without any."""
        return None

    @property
    def voxels(self) -> Voxels | None:
        """The number of every pixel or voxel, None for a kind without any."""
        return None

    def writable(self, value: Any, case: CaseForm) -> Any:
        """Return a value that was read, or made up, as the writers take it; by default the same."""
        return value

    def write_file(self, value: Any, extension: str) -> bytes:
        """Return the bytes of a file that `read` reads back."""
        raise TypeError(f"{type(self).__name__} has no file (got {extension} and a {type(value).__name__})")

    def write_cells(self, value: Any) -> tuple[str, ...]:
        """Return the cells of a table row that `read` reads back."""
        raise TypeError(f"{type(self).__name__} does not go into tables (got a {type(value).__name__})")

    @property
    def columns(self) -> tuple[str, ...]:
        """The usual names of the columns of a row, in their order; empty for a kind without rows."""
        return ()

    def write_rows(self, value: Any) -> list[tuple[str, ...]]:
        """Return the cells of all rows of a case, which `read` reads back."""
        raise TypeError(f"{type(self).__name__} does not go into rows (got a {type(value).__name__})")

    def write_json(self, value: Any) -> Any:
        """Return the JSON value that `read` reads back."""
        raise TypeError(f"{type(self).__name__} does not go into JSON (got a {type(value).__name__})")


class ColumnKind(Kind):
    """A kind of small values, which go to another process as arrays over many cases.

    An item of a value (`Kind.items`) takes about ``item_bytes`` in these arrays.
    """

    item_bytes: ClassVar[int]

    @property
    def in_arrays(self) -> "ColumnKind":
        """This kind."""
        return self

    def read_all(
        self, sources: Sequence[Source], cases: Sequence[CaseForm], files: FileAccess
    ) -> list[Any] | None:
        """Return the values, read one after the other."""
        return [self.read(source, case, files) for source, case in zip(sources, cases, strict=True)]

    @abstractmethod
    def pack_all(self, values: Sequence[Any]) -> Any:
        """Return the values of several cases as numbers, texts and arrays, for another process."""

    @abstractmethod
    def unpack_all(self, packed: Any, count: int) -> list[Any]:
        """Return the values of ``count`` cases that `pack_all` packed, safe to score as in `Kind.unpack`.

        Raises `ValueError`.
        """

    def pack(self, value: Any) -> Any:
        """Return one value packed."""
        return self.pack_all((value,))

    def unpack(self, packed: Any, case: CaseForm) -> Any:
        """Return one value unpacked. Raises `ValueError`."""
        (value,) = self.unpack_all(packed, 1)
        return value


@dataclass(frozen=True)
class Files:
    """One file per case, ``folder/<case name><suffix><extension>``, with any of the extensions."""

    folder: str
    extensions: tuple[str, ...]
    suffix: str = ""

    def path(self, case_name: str, extension: str | None = None) -> str:
        """Return the path of a case's file, by default with the first extension."""
        return f"{self.folder}/{case_name}{self.suffix}{extension or self.extensions[0]}"


@dataclass(frozen=True)
class TableColumns:
    """Columns of a table with one row per case; writers use the first of ``files``."""

    files: tuple[str, ...]
    key: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class TableRows:
    """Rows of a table with any number of rows per case; writers use the first of ``files``.

    Once the table is there, a case without a row has an empty list if the kind has one (see `Kind`). A
    reference lies in the first file.
    """

    files: tuple[str, ...]
    key: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Socket:
    """An output socket of an algorithm, by its default slug; its value is written to ``file_name``.

    A stacked socket holds a list with one entry per image of the job's input stack, or with ``by`` entries
    that name their image otherwise than by their order.
    """

    slug: str
    file_name: str
    stacked: bool = False
    by: EntriesBy = "order"

    @property
    def is_json(self) -> bool:
        """Whether the output is a value in JSON."""
        return self.file_name.endswith(".json")

    @property
    def extension(self) -> str:
        """The extension of another file, such as ".pdf"; empty for JSON and for images."""
        return "" if self.is_json else PurePosixPath(self.file_name).suffix

    @property
    def is_image(self) -> bool:
        """Whether the output is a folder that holds one image rather than a file."""
        return not (self.is_json or self.extension)

    def path(self, slug: str) -> str:
        """Return where the output lies, of this socket or of one with another slug, below a job's outputs."""
        if slug == self.slug:
            return self.file_name
        return f"images/{slug}" if self.is_image else f"{slug}{self.extension or '.json'}"


@dataclass(frozen=True)
class CaseColumns:
    """Columns of the phase's case table."""

    columns: tuple[str, ...]


_BY_NAME = Socket("", "")


@dataclass(frozen=True)
class Reference:
    """The kind of a field's reference and its location in the phase folder.

    An optional reference may be missing for some cases; its value is then None.
    """

    kind: Kind
    location: Files | CaseColumns | TableRows
    optional: bool = False


def every_case(case: CaseForm) -> bool:
    """Return true: the field belongs to every case."""
    return True


@dataclass(frozen=True)
class Field:
    """One value that is submitted per case: its kind, and its location in a submission and in the reference.

    The check, the form, scoring, samples, ensembles and the description of the format all use this
    declaration. ``archive`` is the location in a predictions phase, ``socket`` the output in an algorithm
    phase, by default called like the field. ``cases`` tells from the form of a case whether it has the field.
    The reference is the value of a perfect prediction; other labels that scoring needs are hidden fields.
    """

    name: str
    title: str
    kind: Kind
    archive: Files | TableColumns | TableRows
    reference: Reference
    cases: Callable[[CaseForm], bool] = every_case
    socket: Socket = field(default=_BY_NAME, kw_only=True)

    def __post_init__(self) -> None:
        if self.socket is _BY_NAME:
            slug = self.name.replace("_", "-")
            place = f"images/{slug}" if self.kind.socket_kind is None else f"{slug}.json"
            object.__setattr__(self, "socket", Socket(slug, place))

    @property
    def is_like_its_reference(self) -> bool:
        """Whether a value of the reference is one of a submission: both are of one kind."""
        return type(self.kind) is type(self.reference.kind)


@dataclass(frozen=True)
class HiddenField:
    """A label that scoring needs and that is not submitted, such as the marks of a single annotator."""

    name: str
    reference: Reference
    cases: Callable[[CaseForm], bool] = every_case


AnyField = Field | HiddenField


def in_one_table(fields: Sequence[Field]) -> bool:
    """Return whether a submission to these fields is one table and nothing else."""
    tables = {field.archive.files for field in fields if not isinstance(field.archive, Files)}
    return len(tables) == 1 and not any(isinstance(field.archive, Files) for field in fields)
