"""A description as tables of texts, and as JSON, csv and LaTeX files."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.io.files import write_atomically
from evaluation.organiser.describe import (
    ALL,
    KRUSKAL_WALLIS,
    RANK_SUM,
    ClassRow,
    Description,
    Grouping,
    NumberRow,
)
from evaluation.organiser.describe_data import Quantity
from evaluation.organiser.output import csv_bytes, p_text, tabular
from evaluation.platform.result_file import render

_PAIRS = "pairs that differ"


@dataclass(frozen=True)
class TextTable:
    """A table of texts; ``left`` are the columns of words, the others hold numbers."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: tuple[str, ...] = ()
    note: str = ""

    @property
    def right(self) -> tuple[bool, ...]:
        """Which columns are aligned right."""
        return tuple(column not in self.left for column in self.columns)


def tables_of(description: Description) -> list[TextTable]:
    """Return the tables of a description: cases, classes, numbers, then one for each grouping."""
    tables = [_cases(description), _classes(description), _numbers(description)]
    tables += [_grouped(description, grouping) for grouping in description.groupings]
    return [table for table in tables if table.rows]


def number_text(value: float) -> str:
    """Return a number with three significant digits, and with all digits before the point."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _cases(description: Description) -> TextTable:
    clustered = any(group.clusters is not None for group in description.groups)
    columns = ("grouping", "group", "cases", "share", "clusters")[: 5 if clustered else 4]
    rows = (
        (one.grouping or "all", one.group, str(one.cases), _percent(one.share), _count(one.clusters))
        for one in description.groups
    )
    shown = tuple(row[: len(columns)] for row in rows)
    return TextTable("cases", f"Cases of {', '.join(description.phases)}", columns, shown, columns[:2])


def _classes(description: Description) -> TextTable:
    rows = tuple(
        (row.quantity.title, row.value, f"{row.cases} of {row.of}", _percent(row.share))
        for row in description.classes
        if row.grouping == ALL
    )
    return TextTable("classes", "Classes", ("column", "value", "cases", "share"), rows, ("column", "value"))


def _numbers(description: Description) -> TextTable:
    rows = tuple(
        (
            *(row.quantity.title, f"{row.cases} of {row.of}"),
            str(row.values) if row.quantity.per == "object" else "",
            number_text(row.mean)
            + ("" if (sd := row.standard_deviation) is None else f" ± {number_text(sd)}"),
            _quartiles(row),
            f"{number_text(row.minimum)} to {number_text(row.maximum)}",
        )
        for row in description.numbers
        if row.grouping == ALL
    )
    columns = ("quantity", "cases", "objects", "mean ± SD", "median (quartiles)", "range")
    note = "Of cases with the structure. SD: standard deviation of a sample; quartiles are interpolated."
    return TextTable("numbers", "Distributions", columns, rows, columns[:1], note)


def _grouped(description: Description, grouping: Grouping) -> TextTable:
    rows = [*_class_lines(description, grouping), *_number_lines(description, grouping)]
    several = len(grouping.groups) > 2
    columns = ("quantity", *grouping.groups, f"p ({KRUSKAL_WALLIS if several else RANK_SUM})")
    pairs = f"; {_PAIRS}: p of the two-sided rank-sum test times the number of pairs (Bonferroni) below "
    note = "Number and share of the cases; of numbers median (quartiles; how many values)"
    note += f"{pairs}{description.alpha:g}" if several else "; the test is two-sided"
    note += ". Classes and objects are not tested."
    shown, left = (*columns, _PAIRS) if several else columns, (columns[0], _PAIRS)
    return TextTable(f"by-{grouping.name}", f"By {grouping.name}", shown, tuple(rows), left, note)


def _class_lines(description: Description, grouping: Grouping) -> Iterator[tuple[str, ...]]:
    found: dict[tuple[Quantity, str], dict[str, ClassRow]] = {}
    for row in description.classes:
        if row.grouping == grouping.name:
            found.setdefault((row.quantity, row.value), {})[row.group] = row
    empty = ("", "") if len(grouping.groups) > 2 else ("",)
    for (quantity, value), rows in found.items():
        if sum(one == quantity for one, _ in found) == 1:
            continue  # the same in all cases
        texts = {group: f"{row.cases} ({_percent(row.share)})" for group, row in rows.items()}
        yield f"{quantity.title}: {value}", *(texts.get(group, "–") for group in grouping.groups), *empty


def _number_lines(description: Description, grouping: Grouping) -> Iterator[tuple[str, ...]]:
    found: dict[Quantity, dict[str, NumberRow]] = {}
    for row in description.numbers:
        if row.grouping == grouping.name:
            found.setdefault(row.quantity, {})[row.group] = row
    several = len(grouping.groups) > 2
    of_grouping = [row for row in description.tests if row.grouping == grouping.name]
    for quantity, rows in found.items():
        tests = [row for row in of_grouping if row.quantity == quantity]
        texts = {group: _quartiles(row, row.values) for group, row in rows.items()}
        cells = (texts.get(group, "–") for group in grouping.groups)
        pairs = [row for row in tests if row.test.method == RANK_SUM]
        overall = [row for row in tests if row.test.method != RANK_SUM]
        shown = (overall or pairs)[:1]
        p_value = p_text(shown[0].test.p_value) if shown else ""
        differing = "; ".join(
            f"{row.test.first}, {row.test.second}: {p_text(row.test.p_bonferroni)}"
            for row in pairs
            if row.significant
        )
        yield quantity.title, *cells, p_value, *((differing,) if several else ())


def _quartiles(row: NumberRow, values: int | None = None) -> str:
    between = f"{number_text(row.lower_quartile)} – {number_text(row.upper_quartile)}"
    count = "" if values is None else f"; {values}"
    return f"{number_text(row.median)} ({between}{count})"


def _count(number: int | None) -> str:
    return "" if number is None else str(number)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def write_description(description: Description, folder: Path) -> list[Path]:
    """Write all files of a description into a folder, and return their paths. Raises `OSError`."""
    groups = {one.name: one.of_case for one in description.groupings}
    values = [
        {"case": description.cases[case], **{name: of_case[case] for name, of_case in groups.items()}}
        | _of_quantity(column.quantity)
        | {"value": value}
        for column in description.columns
        for case, value in zip(column.cases, column.values, strict=True)
    ]
    tables = {
        "numbers.csv": list(map(_cells, description.numbers)),
        "classes.csv": list(map(_cells, description.classes)),
        "tests.csv": list(map(_cells, description.tests)),
        "values.csv": values,
    }
    documents = {
        "description.json": render(description, organisers=True, compact=True),
        **{name: csv_bytes(rows) for name, rows in tables.items() if rows},
        "description.tex": latex_of(description).encode("utf-8"),
    }
    for name, data in documents.items():
        write_atomically(folder / name, data)
    return [folder / name for name in documents]


def latex_of(description: Description) -> str:
    """Return all tables for LaTeX (booktabs), each below a comment with its title."""
    return "\n".join(
        f"% {table.title}\n{tabular(table.columns, table.rows, table.right)}"
        for table in tables_of(description)
    )


def _cells(row: Any) -> dict[str, Any]:
    """Return a row as columns, with its quantity and its test in separate ones."""
    cells: dict[str, Any] = {}
    for name, value in vars(row).items():
        if isinstance(value, Quantity):
            cells |= _of_quantity(value)
        elif dataclasses.is_dataclass(value):
            cells |= _cells(value)
        else:
            cells[name] = value
    return cells


def _of_quantity(quantity: Quantity) -> dict[str, Any]:
    return {"quantity": quantity.name, **{key: getattr(quantity, key) for key in ("unit", "source", "per")}}
