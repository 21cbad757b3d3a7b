"""`cases.csv` and other tables of an organiser, and the subgroups of cases."""

import codecs
import csv
import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.core.challenge import Challenge, FormColumn, Options
from evaluation.core.fault import PhaseError, ReadError, most_similar
from evaluation.core.form import CaseForm, CaseRow, name_key
from evaluation.core.trouble import raise_trouble_of
from evaluation.io.tables import is_number, parse_number
from evaluation.phase.config import Subgroup

_DELIMITERS = (",", ";", "\t")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*(?:,[0-9]+)?(?: +[+-]?[0-9]*(?:,[0-9]+)?)*")
_NAME, _OTHER_NAMES = "name", ("case", "caseid", "image", "imageid", "id", "file", "filename", "scan")
_Texts = tuple[str, ...]


class TableRow(NamedTuple):
    """A row of a table: its last line, its stripped cells by column, and the faults of the table."""

    file: str
    line: int
    cells: Mapping[str, str]
    faults: list[str]

    @property
    def place(self) -> str:
        """Where the row is, for messages."""
        return f"{self.file}, line {self.line}"

    def fault(self, column: str, text: str) -> None:
        """Add a fault of a cell."""
        self.faults.append(f"{self.place}, {column}: {text}")

    def number(self, column: str) -> float:
        """Return a cell as a finite number; NaN if it is empty. Anything else is a fault and NaN."""
        try:
            return parse_number(self.cells[column]) if self.cells[column] else float("nan")
        except ReadError as error:
            self.fault(column, str(error))
            return float("nan")

    def whole(self, column: str, lowest: int, highest: int) -> int:
        """Return a cell as a whole number within a range. Anything else is a fault and the lowest number."""
        text = self.cells[column]
        is_short = text.isascii() and text.isdigit() and len(text) <= len(str(highest))
        if is_short and lowest <= int(text) <= highest:
            return int(text)
        self.fault(column, f"expected a whole number from {lowest} to {highest}, found {text!r}")
        return lowest


@dataclass(frozen=True)
class OrganiserTable:
    """The columns of a table in order, the rows that could be read, and all faults found so far.

    ``missing``: the fault that lists the wanted columns that are missing, else empty.
    """

    file: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    faults: list[str]
    missing: str = ""


@contextmanager
def organiser_table(
    path: Path,
    required: Sequence[str],
    optional: Sequence[str] = (),
    *,
    wanted: Mapping[str, str] | None = None,
    holds: str | None = None,
    encoding: str = "utf-8-sig",
) -> Iterator[OrganiserTable]:
    """Yield the table in a csv file; on leaving, raise its faults and all that were added to it.

    The text has the ``encoding``, or is UTF-16 with a byte order mark. Cells are delimited by commas; by
    semicolons or tabs if the first line has no comma. With semicolons, 0,5 is the number 0.5. The names of
    required, optional and wanted columns may have any letter case. Further columns are allowed, also without
    a name. Blank rows are ignored. ``wanted`` are columns with the use of each, whose lack the table tells
    and does not raise. ``holds`` is the word for a row ("case") if at least one row is needed. Raises
    `PhaseError` with every fault, such as missing or duplicate columns and rows with a wrong number of cells.
    """
    uses = {**dict.fromkeys((*required, *optional), ""), **(wanted or {})}
    header, rows = _read(path, encoding)
    by_key = {name.casefold(): name for name in uses if name not in header}
    header = [by_key.get(cell.casefold(), cell) for cell in header]
    counts = Counter(header)
    faults = [f"{path.name}: duplicate column {name!r}" for name in counts if name and counts[name] > 1]
    needed = {*required, *(wanted or ())}
    missing = [name for name in uses if name in needed and name not in header]
    others = [cell for cell in header if cell not in uses]
    lack = _lack_of(path.name, {name: uses[name] for name in missing}, others)
    cannot_be_read = any(name in required for name in missing)
    if cannot_be_read:
        faults.append(lack)
    faults += [
        f"{path.name}, line {line}: expected {len(header)} cells, found {len(cells)}"
        for line, cells in rows
        if len(cells) != len(header)
    ]
    if holds is not None and not rows:
        faults.append(f"{path.name}: expected at least one {holds}, found none")
    if cannot_be_read:
        raise PhaseError(*faults)
    file = path.name
    found = [
        TableRow(file, line, dict(zip(header, cells, strict=True)), faults)
        for line, cells in rows
        if len(cells) == len(header)
    ]
    try:
        yield OrganiserTable(file, tuple(header), tuple(found), faults, lack)
    except PhaseError as error:
        raise PhaseError(*faults, *error.problems) from None
    PhaseError.raise_all(faults)


def columns_of(path: Path, encoding: str = "utf-8-sig") -> list[str]:
    """Return the names of the columns of a csv file. Raises `PhaseError`."""
    return _read(path, encoding)[0]


def encoding_of(path: Path) -> str:
    """Return UTF-8, else the encoding of spreadsheets in Western Europe. Raises `PhaseError`."""
    try:
        data = path.read_bytes()
        data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "cp1252"
    except OSError as error:
        raise_trouble_of(error, "read", path)
        raise PhaseError(f"{path}: cannot be read: {error}") from None
    return "utf-8-sig"


def _lack_of(file: str, missing: Mapping[str, str], others: Sequence[str]) -> str:
    """Return one fault for all missing columns, with the use of each and the column that may be meant."""
    words = []
    for name, use in missing.items():
        meant = most_similar(name, others)
        if meant is None and name == _NAME:
            meant = next((cell for cell in others if key_of(cell).replace("_", "") in _OTHER_NAMES), None)
        hints = [use] * bool(use) + [f"did you mean {meant!r}?"] * bool(meant)
        words.append(f"{name!r} ({'; '.join(hints)})" if hints else repr(name))
    if not words:
        return ""
    return f"{file}: column{'s' * (len(words) > 1)} {', '.join(words)} {'are' if words[1:] else 'is'} missing"


def _read(path: Path, encoding: str) -> tuple[list[str], list[tuple[int, _Texts]]]:
    """Return the stripped cells of the first row, and of each further row that is not blank with its line."""
    try:
        data = path.read_bytes()
        utf_16 = data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        text = data.decode("utf-16" if utf_16 else encoding)
        if _is_json(text):
            raise PhaseError(f"{path.name}: expected a table (csv), found JSON")
        # Spreadsheets write which delimiter they used into a first line of its own.
        first = text.partition("\n")[0]
        told = re.fullmatch("sep=(.)", first.strip(), re.IGNORECASE)
        marks = told[1] if told else next((mark for mark in _DELIMITERS if mark in first), ",")
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=marks, strict=True)
        if told:
            next(reader)
        header = [cell.strip() for cell in next(reader, [])]
        rows = [(reader.line_num, tuple([cell.strip() for cell in cells])) for cells in reader]
    except FileNotFoundError:
        raise PhaseError(f"{path.name}: not found in {path.parent}") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        text = "expected text in UTF-8, found other bytes (in a spreadsheet, save it as CSV UTF-8)"
        raise PhaseError(f"{path.name}, line {line}: {text}") from None
    except (OSError, csv.Error) as error:
        raise_trouble_of(error, "read", path)
        raise PhaseError(f"{path}: cannot be read: {error}") from None
    if marks == ";":
        rows = [(line, tuple(map(_with_points, cells))) for line, cells in rows]
    return header, [(line, cells) for line, cells in rows if any(cells)]


def _is_json(text: str) -> bool:
    try:
        return text.lstrip()[:1] in ("{", "[") and json.loads(text) is not None
    except (ValueError, RecursionError):
        return False


def _with_points(cell: str) -> str:
    return cell.replace(",", ".") if "," in cell and _DECIMAL_COMMA.fullmatch(cell) else cell


# --- `cases.csv`: one row per case; any doubt is a fault, since an organiser can correct it ---

FILE_NAME = "cases.csv"
_MAX_DIGITS = 6


@dataclass(frozen=True)
class Cases:
    """The cases of a phase in the order of their names: form and row, side by side.

    ``missing``: the fault that lists the wanted columns that are missing, else empty.
    """

    forms: tuple[CaseForm, ...]
    rows: tuple[CaseRow, ...]
    columns: tuple[str, ...]
    missing: str = ""


def read_cases(
    folder: Path, form_columns: Sequence[FormColumn], wanted: Mapping[str, str] | None = None
) -> Cases:
    """Return the case table of a phase folder, sorted by name. Raises `PhaseError` listing every fault.

    ``wanted``: further columns, with the use of each. With them, the lack of a column alone is not raised.
    """
    uses = dict.fromkeys((column.name for column in form_columns if not column.values), "")
    with organiser_table(
        folder / FILE_NAME, (_NAME,), ("width", "height"), wanted={**uses, **(wanted or {})}, holds="case"
    ) as table:
        forms = [_case_form(row, form_columns) for row in table.rows]
        lines = defaultdict(list)
        for form, row in zip(forms, table.rows, strict=True):
            lines[name_key(form.name)].append(str(row.line))
        table.faults.extend(
            f"{FILE_NAME}, lines {', '.join(of_key)}: duplicate case {key!r}"
            for key, of_key in lines.items()
            if len(of_key) > 1
        )
        if table.missing and (table.faults or wanted is None):
            table.faults.insert(0, table.missing)
    rows = [CaseRow(row.line, row.cells) for row in table.rows]
    order = sorted(range(len(forms)), key=lambda position: forms[position].name)
    return Cases(
        tuple([forms[i] for i in order]), tuple([rows[i] for i in order]), table.columns, table.missing
    )


def _case_form(row: TableRow, form_columns: Sequence[FormColumn]) -> CaseForm:
    name = row.cells[_NAME]
    if not name or "/" in name or name.startswith(".") or not name.isprintable():
        row.faults.append(f"{row.place}, name: expected a file name without folders, found {name!r}")
    columns = {}
    for declared in form_columns:
        text = row.cells.get(declared.name, "") or next(iter(declared.values), "")
        if declared.values and text not in declared.values:
            row.fault(declared.name, f"expected {' or '.join(declared.values)}, found {text!r}")
        if declared.lengths and not _are_lengths(text.split(), declared.lengths):
            row.fault(declared.name, f"expected {declared.lengths} lengths above 0, found {text!r}")
        columns[declared.name] = text
    return CaseForm(name, _size(row, "width"), _size(row, "height"), columns)


def _are_lengths(cells: Sequence[str], count: int) -> bool:
    return len(cells) == count and all(is_number(cell) and parse_number(cell) > 0 for cell in cells)


def _size(row: TableRow, column: str) -> int:
    text = row.cells.get(column)
    if text is None:
        return 0
    if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS:
        return int(text)
    if whole := re.fullmatch(rf"([0-9]{{1,{_MAX_DIGITS}}})\.0*", text):
        return int(whole[1])
    row.fault(column, f"expected a size in pixels, found {text!r}")
    return 0


def with_derived_columns(
    cases: Cases, challenge: Challenge, options: Options, wanted: Collection[str]
) -> Cases:
    """Return the cases with the wanted columns that the challenge derives and `cases.csv` lacks.

    A column is left out if the table lacks the columns that it is derived from.
    """
    known = challenge.derived_columns(options)
    added = {
        name: column
        for name, column in known.items()
        if name in wanted and name not in cases.columns and set(column.needs) <= set(cases.columns)
    }
    if not added:
        return cases
    rows = tuple(
        CaseRow(row.line, {**row.cells, **{name: column.cell(row.cells) for name, column in added.items()}})
        for row in cases.rows
    )
    return replace(cases, rows=rows, columns=(*cases.columns, *added))


# --- Subgroups of cases by a column of the case table ---

_MAX_NUMBERS = 10


def subgroup_masks(subgroup: Subgroup, cases: Cases, names: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Return a mask over ``names`` for each value (or bin) of a column, by its key in metrics.json.

    They have the order of `group_values`. Cases with an empty cell are in no subgroup.
    """
    labels = group_labels(subgroup, [row.cells[subgroup.column] for row in cases.rows])
    key_of_case = dict(zip((case.name for case in cases.forms), map(key_of, labels), strict=True))
    name_keys = np.array([key_of_case[name] for name in names])
    masks = {key: name_keys == key for key in map(key_of, group_values(subgroup, labels))}
    return {key: mask for key, mask in masks.items() if mask.any()}


def group_labels(subgroup: Subgroup, cells: Sequence[str]) -> tuple[str, ...]:
    """Return the value or bin of each cell in words, such as "40 to 60"; empty for an empty cell."""
    label_of_cell = {cell: label_of(subgroup, cell) for cell in set(cells)}
    return tuple(label_of_cell[cell] for cell in cells)


def group_values(subgroup: Subgroup, labels: Sequence[str]) -> tuple[str, ...]:
    """Return the values or bins that occur among labels.

    Bins and numbers ascend, other values have the order in which the labels first name them.
    """
    occurring = dict.fromkeys(label for label in labels if label)
    if not subgroup.bins:
        return tuple(sorted(occurring, key=parse_number) if all(map(is_number, occurring)) else occurring)
    return tuple(label for label in _bin_labels(subgroup.bins) if label in occurring)


def subgroup_faults(subgroup: Subgroup, cases: Cases) -> list[str]:
    """Return the faults of a subgroup column.

    These are: text where bins need numbers, many numbers without bins, and values that share a key.
    """
    column = subgroup.column
    filled = [(row.line, cell) for row in cases.rows if (cell := row.cells[column])]
    faults = [] if key_of(column) else [f"{FILE_NAME}: {column!r} cannot name subgroups"]
    if subgroup.bins:
        return faults + [
            f"{FILE_NAME}, line {line}, {column}: expected a number for the bins, found {cell!r}"
            for line, cell in filled
            if not is_number(cell)
        ]
    values = sorted({cell for _, cell in filled})
    if len(values) > _MAX_NUMBERS and all(map(is_number, values)):
        return [*faults, f"{FILE_NAME}: {column}: {len(values)} different numbers need bins"]
    by_key: dict[str, list[str]] = defaultdict(list)
    for value in values:
        by_key[key_of(value)].append(value)
    for key, same in by_key.items():
        if not key:
            faults.append(f"{FILE_NAME}: {column}: no key can be made of {', '.join(map(repr, same))}")
        elif len(same) > 1:
            faults.append(f"{FILE_NAME}: {column}: {', '.join(map(repr, same))} have the same key {key!r}")
    return faults


def label_of(subgroup: Subgroup, cell: str) -> str:
    """Return the value or bin of a cell; an empty cell has none (""). Raises `PhaseError`."""
    if not cell or not subgroup.bins:
        return cell
    try:
        value = parse_number(cell)
    except ReadError as error:
        raise PhaseError(f"{FILE_NAME}, {subgroup.column}: {error}") from None
    return _bin_labels(subgroup.bins)[int(np.searchsorted(subgroup.bins, value, side="right"))]


def _bin_labels(bounds: Sequence[float]) -> tuple[str, ...]:
    """Return the bins between ascending bounds in words, the lowest first."""
    edges = [f"minus {-bound:g}" if bound < 0 else f"{bound:g}" for bound in bounds]
    between = (f"{low} to {high}" for low, high in pairwise(edges))
    return (f"below {edges[0]}", *between, f"{edges[-1]} and above")


def key_of(text: str) -> str:
    """Return a text as a key that the platform can look up: words joined by underscores."""
    return "_".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())
