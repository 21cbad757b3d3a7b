"""Writes phase folders through the fields' own declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.core.challenge import Values
from evaluation.core.field import AnyField, CaseColumns
from evaluation.io.tables import write_csv
from evaluation.platform.submission_writer import write_case_file


@dataclass(frozen=True)
class SampleCase:
    """One case to be written: its name, its further columns of the case table, and its reference values."""

    name: str
    columns: Mapping[str, str]
    reference: Values


def write_phase(
    folder: Path, configuration: str, fields: Sequence[AnyField], cases: Iterable[SampleCase]
) -> None:
    """Write a phase folder: `phase.toml`, `cases.csv` and the reference files; the phase is not sealed."""
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
                write_case_file(folder, kind, location, case.name, value, location.extensions[0])
        header = ["name", *columns]
        rows.append([case.name, *columns.values()])
    write_csv(folder / "cases.csv", header, rows)
