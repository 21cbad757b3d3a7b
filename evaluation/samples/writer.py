"""Writes phase folders and submissions through the fields' own declarations."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluation.model.field import AnyField, CaseColumns, Field, Files, Kind, TableColumns

Values = Mapping[str, Any]


@dataclass(frozen=True)
class SampleCase:
    """One case as it is written: its name, its plain columns of the case table, and its reference values."""

    name: str
    columns: Mapping[str, str]
    reference: Values


@dataclass
class ArchiveWriter:
    """Writes a submission of a predictions phase case by case; tables are written at the end.

    ``extensions`` chooses another than the first extension for fields that are files.
    """

    folder: Path
    fields: Sequence[Field]
    extensions: Mapping[str, str] = field(default_factory=dict)
    _rows: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)

    def add(self, case: str, values: Values) -> None:
        """Write the values of one case; fields that are absent from ``values`` are left out."""
        for item in self.fields:
            if item.name not in values:
                continue
            if isinstance(item.archive, Files):
                extension = self.extensions.get(item.name, item.archive.extensions[0])
                _write_file(self.folder, item.kind, item.archive, case, values[item.name], extension)
            else:
                cells = item.kind.write_cells(values[item.name])
                self._rows.setdefault(item.name, {})[case] = cells

    def close(self) -> None:
        """Write the tables."""
        for item in self.fields:
            if isinstance(item.archive, TableColumns) and item.name in self._rows:
                header = [item.archive.key, *item.archive.columns]
                rows = ([case, *cells] for case, cells in self._rows[item.name].items())
                write_csv(self.folder / item.archive.files[0], header, rows)


def write_phase(
    folder: Path, configuration: str, fields: Sequence[AnyField], cases: Iterable[SampleCase]
) -> None:
    """Write a phase folder: `phase.toml`, `cases.csv` and the reference files; it is not sealed."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "phase.toml").write_text(configuration, encoding="utf-8")
    rows: list[list[str]] = []
    header: list[str] = []
    for case in cases:
        columns = dict(case.columns)
        for item in fields:
            kind, location = item.reference.kind, item.reference.location
            if item.name not in case.reference:
                continue
            if isinstance(location, CaseColumns):
                cells = kind.write_cells(case.reference[item.name])
                columns |= zip(location.columns, cells, strict=True)
            else:
                value = case.reference[item.name]
                _write_file(folder, kind, location, case.name, value, location.extensions[0])
        header = ["name", *columns]
        rows.append([case.name, *columns.values()])
    write_csv(folder / "cases.csv", header, rows)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a table with Unix line ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _write_file(folder: Path, kind: Kind, layout: Files, case: str, value: Any, extension: str) -> None:
    path = folder / layout.path(case, extension)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(kind.write_file(value, extension))
