"""Columns that a challenge derives from a row of the case table, for subgroups."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from evaluation.core.challenge import Challenge, Options
from evaluation.core.form import CaseRow
from evaluation.phase.cases import Cases


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
