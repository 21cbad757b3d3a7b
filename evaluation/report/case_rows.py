"""The table of all cases: labels, values of every task, failures and run times."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from evaluation.core.case_table import CaseTable as Values
from evaluation.core.challenge import Task
from evaluation.organiser.labels import label_columns
from evaluation.report.page import CaseTable, Cell, Column, Section
from evaluation.report.results import CaseRecord, SubmissionResults

_DIGITS = 4


def cases_section(results: SubmissionResults) -> Section:
    """Return the section with the table of all cases."""
    tasks = [(task, _numbers(results.tables[task.name])) for task in results.tasks]
    cells = _shown_cells(results)
    timed = any(case.run_seconds is not None for case in results.cases)
    troubled = any(case.worst or case.failure for case in results.cases)
    columns = [Column("case"), *map(Column, cells)]
    for task, names in tasks:
        table = results.tables[task.name]
        columns += [
            Column(title, _digits(table, name))
            for title, name in zip(_titles(task, names), names, strict=True)
        ]
    columns += [Column("run time (s)", 2)] if timed else []
    columns += [Column("worst values in"), Column("failure")] if troubled else []
    positions = {
        task.name: {name: row for row, name in enumerate(results.tables[task.name].names)}
        for task, _ in tasks
    }
    rows = []
    for case in results.cases:
        row: list[Cell] = [case.name, *(case.cells.get(column) or None for column in cells)]
        for task, names in tasks:
            row += _values(results.tables[task.name], positions[task.name].get(case.name), names)
        row += [case.run_seconds] if timed else []
        row += [", ".join(case.worst) or None, case.failure] if troubled else []
        rows.append(tuple(row))
    note = (
        "A column's title sorts. A click on a case marks it in figures and pictures, one on a point of a "
        "figure chooses its case here. Escape clears the choice."
    )
    return Section("cases", "Cases", (CaseTable("cases", "All cases", tuple(columns), rows, note),))


def troubled_cases(results: SubmissionResults) -> Iterator[CaseRecord]:
    """Yield the cases that failed or take worst values."""
    return (case for case in results.cases if case.worst or case.failure)


def _shown_cells(results: SubmissionResults) -> list[str]:
    """Return the columns of `cases.csv` that are shown: subgroups and labels."""
    config = results.phase.config
    wanted = dict.fromkeys([*(group.column for group in config.subgroups), *label_columns(results.phase)])
    known: Mapping[str, str] = results.cases[0].cells if results.cases else {}
    return [column for column in wanted if column in known]


def _numbers(table: Values) -> list[str]:
    """Return the columns that hold one number for each case."""
    found = dict.fromkeys(name for row in table.rows for name in row)
    return [
        name for name in found if all(isinstance(row.get(name), int | float | None) for row in table.rows)
    ]


def _digits(table: Values, column: str) -> int:
    """Return the number of decimals of a column, 0 for whole numbers."""
    values = (row.get(column) for row in table.rows)
    whole = all(value is None or not math.isfinite(value) or value == int(value) for value in values)
    return 0 if whole else _DIGITS


def _titles(task: Task, columns: list[str]) -> list[str]:
    titles = {
        metric.aggregate.spread_column or metric.aggregate.share_column: metric.title
        for metric in task.metrics
    }
    return [titles.get(column) or f"{task.name}: {column.replace('_', ' ')}" for column in columns]


def _values(table: Values, position: int | None, columns: list[str]) -> list[Cell]:
    if position is None:
        return [None] * len(columns)
    row = table.rows[position]
    return [_cell(row.get(column)) for column in columns]


def _cell(value: float | None) -> Cell:
    if value is None or math.isnan(value):
        return None
    return value if math.isfinite(value) else "missing"
