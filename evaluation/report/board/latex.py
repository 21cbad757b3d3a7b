"""Tables of a report for LaTeX."""

from __future__ import annotations

from evaluation.io.latex import tabular
from evaluation.report.page import Listing, Table


def latex_table(table: Table) -> Listing:
    """Return a table as a listing; columns of numbers are aligned right."""
    numeric = [any(isinstance(row[i], int | float) for row in table.rows) for i in range(len(table.columns))]
    text = tabular([column.title for column in table.columns], table.shown, numeric)
    return Listing(f"{table.title}, for LaTeX (booktabs)", text)
