"""Where one case's value of one field lies in a submission, found before anything is decoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from evaluation.model.fault import Fault, FaultKind, FormFault


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
class JsonSource:
    """A value that came out of a JSON file, at ``place`` in it (for example ``[3]``)."""

    value: Any
    file: str
    place: str = ""


Source = FileSource | CellsSource | JsonSource


class FileAccess(Protocol):
    """Reads files of one folder; the only way in which fields get at bytes."""

    def read(self, path: str) -> memoryview:
        """Return the bytes of a file; they stay valid until the next call. Raises `ReadError`."""


def fault_at(source: Source, expected: str, found: str, kind: FaultKind = FaultKind.WRONG_VALUE) -> FormFault:
    """Return a fault of the value at a source, ready to be raised."""
    if isinstance(source, FileSource):
        return FormFault(Fault(kind, source.path, expected, found))
    if isinstance(source, CellsSource):
        return FormFault(Fault(kind, source.file, expected, found, source.line, ", ".join(source.columns)))
    return FormFault(Fault(kind, source.file, expected, found, field=source.place or None))
