"""`cases.csv`: one row a case, read strictly because an organiser wrote it."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.core.challenge import FormColumn
from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm, CaseRow, name_key

FILE_NAME = "cases.csv"
_MOST_DIGITS = 6


@dataclass(frozen=True)
class Cases:
    """The cases of a phase in the order of their names: form and row, side by side."""

    forms: tuple[CaseForm, ...]
    rows: tuple[CaseRow, ...]
    columns: tuple[str, ...]


def read_cases(folder: Path, form_columns: Sequence[FormColumn]) -> Cases:
    """Return the case table of a phase folder, sorted by name. Raises `PhaseError` listing every fault."""
    path = folder / FILE_NAME
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = tuple(cell.strip() for cell in next(reader, []))
            rows = [(reader.line_num, cells) for cells in reader if any(map(str.strip, cells))]
    except FileNotFoundError:
        raise PhaseError(f"{FILE_NAME}: not found in {folder}") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PhaseError(f"{FILE_NAME}: cannot be read: {error}") from None
    needed = ("name", *(column.name for column in form_columns if not column.values))
    problems = [
        f"{FILE_NAME}: column {name!r} stands {count} times"
        for name, count in Counter(header).items()
        if count > 1
    ]
    problems += [f"{FILE_NAME}: column {name!r} is missing" for name in needed if name not in header]
    problems += [
        f"{FILE_NAME}, line {line}: expected {len(header)} cells, found {len(cells)}"
        for line, cells in rows
        if len(cells) != len(header)
    ]
    if not rows:
        problems.append(f"{FILE_NAME}: holds no case")
    if not set(needed) <= set(header):
        raise PhaseError(*problems)
    table = [
        CaseRow(line, dict(zip(header, map(str.strip, cells), strict=True)))
        for line, cells in rows
        if len(cells) == len(header)
    ]
    forms = [_case_form(row, form_columns, problems) for row in table]
    keys = [name_key(form.name) for form in forms]
    for key, count in Counter(keys).items():
        if count > 1:
            lines = [str(row.line) for row, other in zip(table, keys, strict=True) if other == key]
            problems.append(f"{FILE_NAME}, lines {', '.join(lines)}: {count} cases named {key!r}")
    if problems:
        raise PhaseError(*problems)
    order = sorted(range(len(forms)), key=lambda position: forms[position].name)
    return Cases(tuple(forms[i] for i in order), tuple(table[i] for i in order), header)


def _case_form(row: CaseRow, form_columns: Sequence[FormColumn], problems: list[str]) -> CaseForm:
    name = row.cells["name"]
    if not name or "/" in name or name.startswith(".") or not name.isprintable():
        problems.append(f"{FILE_NAME}, line {row.line}: {name!r} is not a name for a case")
    sizes = {}
    for column in ("width", "height"):
        text = row.cells.get(column, "0")
        if not text.isascii() or not text.isdigit() or len(text) > _MOST_DIGITS:
            problems.append(
                f"{FILE_NAME}, line {row.line}, {column}: expected a size in pixels, found {text!r}"
            )
            text = "0"
        sizes[column] = int(text)
    columns = {}
    for declared in form_columns:
        text = row.cells.get(declared.name, "") or next(iter(declared.values), "")
        if declared.values and text not in declared.values:
            expected = " or ".join(declared.values)
            problems.append(
                f"{FILE_NAME}, line {row.line}, {declared.name}: expected {expected}, found {text!r}"
            )
        columns[declared.name] = text
    return CaseForm(name, sizes["width"], sizes["height"], columns)
