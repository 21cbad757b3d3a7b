"""A description of data as tables, as a section of a report, and as JSON, csv and LaTeX files."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.charts.chart import Chart
from evaluation.io.files import write_atomically
from evaluation.organiser.describe import (
    ALL,
    KRUSKAL_WALLIS,
    RANK_SUM,
    ClassRow,
    Description,
    Grouping,
    NumberRow,
    QuantityValues,
)
from evaluation.organiser.describe_data import Quantity
from evaluation.organiser.output import csv_bytes, p_text
from evaluation.organiser.report.charts.values import Distribution, distribution_chart
from evaluation.organiser.report.page import Column, Section, Table, Text, identifier
from evaluation.organiser.report.sentences import Names
from evaluation.platform.result_file import render

# --- The tables of a description; their cells are texts ---

_PAIRS = "pairs that differ"


def tables_of(description: Description) -> list[Table]:
    """Return the tables of a description: cases, classes, numbers, then one for each grouping."""
    tables = [_cases(description), _classes(description), _numbers(description)]
    tables += [_grouped(description, grouping) for grouping in description.groupings]
    return [table for table in tables if table.rows]


def number_text(value: float) -> str:
    """Return a number with three significant digits, and with all digits before the point."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _cases(description: Description) -> Table:
    columns = _columns(["grouping", "group"], ["cases", "share", "clusters"])
    rows = (
        (one.grouping or "all", one.group, str(one.cases), _percent(one.share), _count(one.clusters))
        for one in description.groups
    )
    table = Table.of("cases", f"Cases of {', '.join(description.phases)}", columns, rows)
    return table.without_empty("clusters")


def _classes(description: Description) -> Table:
    rows = (
        (row.quantity.title, row.value, f"{row.cases} of {row.of}", _percent(row.share))
        for row in description.classes
        if row.grouping == ALL
    )
    return Table.of("classes", "Classes", _columns(["column", "value"], ["cases", "share"]), rows)


def _numbers(description: Description) -> Table:
    rows = (
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
    numbers = ["cases", "objects", "mean ± SD", "median (quartiles)", "range"]
    note = "Of cases with the structure. SD: standard deviation of a sample; quartiles are interpolated."
    return Table.of("numbers", "Distributions", _columns(["quantity"], numbers), rows, note)


def _grouped(description: Description, grouping: Grouping) -> Table:
    rows = [*_class_lines(description, grouping), *_number_lines(description, grouping)]
    several = len(grouping.groups) > 2
    tested = f"p ({KRUSKAL_WALLIS if several else RANK_SUM})"
    columns = _columns(["quantity"], [*grouping.groups, tested])
    columns += [Column(_PAIRS)] if several else []
    pairs = f"; {_PAIRS}: p of the two-sided rank-sum test times the number of pairs (Bonferroni) below "
    note = "Number and share of the cases; of numbers median (quartiles; how many values)"
    note += f"{pairs}{description.alpha:g}" if several else "; the test is two-sided"
    note += ". Classes and objects are not tested."
    return Table.of(f"by-{grouping.name}", f"By {grouping.name}", columns, rows, note)


def _columns(words: Iterable[str], numbers: Iterable[str]) -> list[Column]:
    """Return columns of words, then of numbers."""
    return [*map(Column, words), *(Column(title, right=True) for title in numbers)]


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


# --- The section on the data of the phases: counts, distributions by group, and tests between groups ---


def data_section(description: Description, names: Names) -> Section:
    """Return the section: a figure of each quantity by its groups, then all tables.

    A quantity is shown by the first grouping, by each other one with significant differences, and without any
    grouping for all cases. ``names``: the words of the phases.
    """
    tables = (
        replace(table, name=identifier("data", table.name)).without_empty()
        for table in tables_in_words(description, names)
    )
    notices = [Text(description.notices)] if description.notices else []
    return Section("data", "Data", (*_charts(description, names), *tables, *notices), 0)


def tables_in_words(description: Description, names: Names) -> Iterator[Table]:
    """Yield the tables of a description with words for names of columns, groups and values."""
    for table in tables_of(description):
        by = table.name.removeprefix("by-")
        words = {one.title: names.words.get(f"{by}={one.title}", one.title) for one in table.columns}
        yield replace(
            table,
            title=table.title if by == table.name else f"By {names.of(by)}",
            columns=tuple(replace(one, title=words[one.title]) for one in table.columns),
            rows=tuple(tuple(_in_words(row, names)) for row in table.shown),
        )


def _in_words(row: Sequence[str], names: Names) -> Iterator[str]:
    """Yield the cells of a table of data; a value beside its column is one of its groups of cases."""
    of_column = "", *row[:-1]
    for column, cell in zip(of_column, row, strict=True):
        yield names.words.get(f"{column}={cell}") or names.words.get(cell, cell)


def _charts(description: Description, names: Names) -> Iterator[Chart]:
    for column in description.columns:
        if column.quantity.per == "object" or not column.values:
            continue
        differing = {
            row.grouping for row in description.tests if row.quantity == column.quantity and row.significant
        }
        shown: list[Grouping | None] = [
            grouping
            for position, grouping in enumerate(description.groupings)
            if grouping.name != column.quantity.name and (position == 0 or grouping.name in differing)
        ]
        for grouping in shown or [None]:
            name, by = column.quantity.name, grouping.name if grouping else ""
            title = names.of(name) + (f" by {names.of(by)}" if by else "")
            yield distribution_chart(
                identifier("data", name, by),
                f"{title[0].upper()}{title[1:]}",
                list(_distributions(description, column, grouping)),
                names.of(column.quantity.title),
            )


def _distributions(
    description: Description, column: QuantityValues, grouping: Grouping | None
) -> Iterator[Distribution]:
    cases = np.array(column.cases, dtype=np.int64)
    values = np.array(column.values, dtype=np.float64)
    names: Sequence[str] = [description.cases[case] for case in column.cases]
    if grouping is None:
        yield Distribution("all cases", values, names)
        return
    of_value = np.array(grouping.of_case, dtype=np.str_)[cases]
    for group in grouping.groups:
        chosen = np.flatnonzero(of_value == group)
        if len(chosen):
            yield Distribution(group, values[chosen], [names[position] for position in chosen.tolist()])


# --- All of a description as files: JSON, csv and LaTeX ---


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
    return "\n".join(f"% {table.title}\n{table.latex}" for table in tables_of(description))


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
