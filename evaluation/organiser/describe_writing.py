"""Write a description: JSON for programs, csv for tables, LaTeX for a paper."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from evaluation.io.atomic_file import write_atomically
from evaluation.io.latex import tabular
from evaluation.organiser.describe_quantities import Quantity
from evaluation.organiser.describe_rows import Description
from evaluation.organiser.describe_tables import tables_of
from evaluation.platform.csv_file import csv_bytes
from evaluation.platform.result_file import render

NUMBERS, CLASSES, TESTS, VALUES = "numbers.csv", "classes.csv", "tests.csv", "values.csv"
JSON, LATEX = "description.json", "description.tex"


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
        NUMBERS: list(map(_cells, description.numbers)),
        CLASSES: list(map(_cells, description.classes)),
        TESTS: list(map(_cells, description.tests)),
        VALUES: values,
    }
    documents = {
        JSON: render(description, organisers=True, compact=True),
        **{name: csv_bytes(rows) for name, rows in tables.items() if rows},
        LATEX: latex_of(description).encode("utf-8"),
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
    for field in dataclasses.fields(row):
        value = getattr(row, field.name)
        if isinstance(value, Quantity):
            cells |= _of_quantity(value)
        elif dataclasses.is_dataclass(value):
            cells |= _cells(value)
        else:
            cells[field.name] = value
    return cells


def _of_quantity(quantity: Quantity) -> dict[str, Any]:
    return {"quantity": quantity.name, **{key: getattr(quantity, key) for key in ("unit", "source", "per")}}
