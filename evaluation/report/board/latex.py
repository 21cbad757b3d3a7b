"""Tables of a report for LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

from evaluation.report.page import Listing, Table

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
    "−": r"$-$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "τ": r"$\tau$",
    "\n": " ",
    "\r": " ",
}


def escaped(text: str) -> str:
    """Return a text as LaTeX shows it as it is."""
    return "".join(_SPECIAL.get(sign, sign) for sign in text)


def latex_table(table: Table) -> Listing:
    """Return a table as a listing; columns of numbers are aligned right."""
    numeric = [any(isinstance(row[i], int | float) for row in table.rows) for i in range(len(table.columns))]
    lines = [
        rf"\begin{{tabular}}{{{''.join('r' if one else 'l' for one in numeric)}}}",
        r"\toprule",
        " & ".join(escaped(column.title) for column in table.columns) + r" \\",
        r"\midrule",
        *(" & ".join(map(escaped, row)) + r" \\" for row in table.shown),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return Listing(f"{table.title}, for LaTeX (booktabs)", "\n".join(lines) + "\n")
