"""`cases.csv`: one row per case; any doubt is a fault, since an organiser can correct it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.core.challenge import FormColumn
from evaluation.core.form import CaseForm, CaseRow, name_key
from evaluation.phase.organiser_tables import TableRow, organiser_table

FILE_NAME = "cases.csv"
_MAX_DIGITS = 6


@dataclass(frozen=True)
class Cases:
    """The cases of a phase in the order of their names: form and row, side by side."""

    forms: tuple[CaseForm, ...]
    rows: tuple[CaseRow, ...]
    columns: tuple[str, ...]


def read_cases(folder: Path, form_columns: Sequence[FormColumn]) -> Cases:
    """Return the case table of a phase folder, sorted by name. Raises `PhaseError` listing every fault."""
    needed = ("name", *(column.name for column in form_columns if not column.values))
    with organiser_table(folder / FILE_NAME, needed, holds="case") as table:
        forms = [_case_form(row, form_columns) for row in table.rows]
        keys = [name_key(form.name) for form in forms]
        for key, count in Counter(keys).items():
            if count > 1:
                lines = [str(row.line) for row, other in zip(table.rows, keys, strict=True) if other == key]
                table.faults.append(f"{FILE_NAME}, lines {', '.join(lines)}: duplicate case {key!r}")
    rows = [CaseRow(row.line, row.cells) for row in table.rows]
    names = [form.name for form in forms]
    order = sorted(range(len(forms)), key=names.__getitem__)
    return Cases(tuple([forms[i] for i in order]), tuple([rows[i] for i in order]), table.columns)


def _case_form(row: TableRow, form_columns: Sequence[FormColumn]) -> CaseForm:
    name = row.cells["name"]
    if not name or "/" in name or name.startswith(".") or not name.isprintable():
        row.faults.append(f"{row.place}, name: expected a file name without folders, found {name!r}")
    columns = {}
    for declared in form_columns:
        text = row.cells.get(declared.name, "") or next(iter(declared.values), "")
        if declared.values and text not in declared.values:
            row.fault(declared.name, f"expected {' or '.join(declared.values)}, found {text!r}")
        columns[declared.name] = text
    return CaseForm(name, _size(row, "width"), _size(row, "height"), columns)


def _size(row: TableRow, column: str) -> int:
    text = row.cells.get(column)
    if text is None:
        return 0
    if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS:
        return int(text)
    row.fault(column, f"expected a size in pixels, found {text!r}")
    return 0
