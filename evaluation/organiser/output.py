"""Folders that are written completely or not at all, and tables as csv, JSON and LaTeX."""

import csv
import io
import json
import math
import secrets
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evaluation import __version__
from evaluation.core.fault import PhaseError
from evaluation.io.tables import write_csv
from evaluation.platform.result_file import as_written
from evaluation.stats.figure import Difference, Figure


@contextmanager
def of_extra(extra: str) -> Iterator[None]:
    """Let imports in the block say which extra of this package installs them.

    Raises `ModuleNotFoundError` with the remedy in its text.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"the Python package {error.name!r} is not installed in {sys.prefix}: install this package with "
            f"its extra, in its repository pip install '.[{extra}]', or from its wheel "
            f"pip install './challenge_evaluation-{__version__}-py3-none-any.whl[{extra}]'",
            name=error.name,
        ) from None


@contextmanager
def whole_folder(folder: Path, *, renewed: bool = False) -> Iterator[Path]:
    """Yield a folder to write into, which becomes ``folder`` if nothing is raised.

    ``renewed``: in place of what is there. Else raises `PhaseError` if ``folder`` exists and is not empty;
    nothing is overwritten.
    """
    if not renewed and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise PhaseError(f"{folder}: expected a new or an empty folder, found one that is not empty")
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = folder.with_name(f".{folder.name}-{secrets.token_hex(8)}")
    temporary.mkdir()
    try:
        yield temporary
        if folder.exists():  # Windows does not replace folders
            folder.rename(old := temporary.with_name(f"{temporary.name}-old"))
            temporary.rename(folder)
            shutil.rmtree(old, ignore_errors=True)
        else:
            temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_report(path: Path, content: object) -> None:
    """Write a JSON report; an undefined figure (NaN) is null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_without_nan(content), indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def write_rows(
    path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]
) -> list[dict[str, object]]:
    """Write a table of a report and return its rows by column; an undefined figure (NaN) is an empty cell."""
    listed = list(rows)
    write_csv(path, list(map(_cell, header)), ([_cell(value) for value in row] for row in listed))
    return [dict(zip(header, row, strict=True)) for row in listed]


# Spreadsheets take a cell that begins so for a formula, which may start programs; names come from strangers.
_FORMULA = ("=", "+", "-", "@", "\t", "\n")


def plain_cell(value: Any) -> Any:
    """Return a cell that spreadsheets show as it is: a text like a formula has an apostrophe before it.

    A carriage return is a space: Python before 3.13 does not quote it, and it would begin another row.
    """
    if not isinstance(value, str):
        return value
    text = value.replace("\r", " ")
    return f"'{text}" if text.lstrip("'").startswith(_FORMULA) else text


def text_of_cell(text: str) -> str:
    """Return the text of a cell that `plain_cell` made of a text without a carriage return."""
    return text[1:] if text.startswith("'") and plain_cell(text[1:]) == text else text


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(float(value)) if isinstance(value, float) else str(plain_cell(value))


def _without_nan(content: Any) -> Any:
    if isinstance(content, dict):
        return {str(key): _without_nan(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_without_nan(value) for value in content]
    return None if isinstance(content, float) and math.isnan(content) else content


def table_row(record: Any) -> dict[str, Any]:
    """Return a record as the row of a table.

    A figure in it has the columns value, lower and upper; a difference those of interval, test and unseen
    failures, and of both figures where it has them. Several names are one cell.
    """
    row: dict[str, Any] = {}
    for name, value in vars(record).items():
        if isinstance(value, Figure):
            row |= {"value": value.value, "lower": value.lower, "upper": value.upper}
        elif isinstance(value, Difference):
            row |= _columns_of(value)
        else:
            row[name] = " ".join(value) if isinstance(value, tuple) else value
    return row


def _columns_of(difference: Difference) -> dict[str, Any]:
    both = {"first_value": difference.first, "second_value": difference.second}
    unseen = difference.with_unseen_failures
    return {
        **{name: figure.value for name, figure in both.items() if figure},
        "difference": difference.value,
        "lower": difference.lower,
        "upper": difference.upper,
        "unseen_lower": unseen.lower if unseen else None,
        "unseen_upper": unseen.upper if unseen else None,
        "method": difference.method,
        "null": difference.null,
        "n": difference.n,
        "detectable_difference": difference.detectable,
        "p_value": difference.p_value,
    }


def csv_bytes(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return rows by column as UTF-8 csv with a header and Unix line ends.

    Columns stand in the order in which they first occur in any row. Floats have as many digits as in
    `metrics.json`; a value that is None or absent is an empty cell. No cell is a formula (`plain_cell`).
    """
    text = io.StringIO(newline="")
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(plain_cell, columns))
    for row in rows:
        cells = (row.get(name) for name in columns)
        writer.writerow(as_written(cell) if isinstance(cell, float) else plain_cell(cell) for cell in cells)
    return text.getvalue().encode("utf-8")


_SPECIAL = {
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "–": "--",
    "−": r"$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "τ": r"$\tau$",
    "²": r"\textsuperscript{2}",
    "³": r"\textsuperscript{3}",
    "[": "{[}",  # at the start of a row it would be an option of the line break before it, as "*" would
    "*": "{*}",
}


def p_text(p_value: float | None) -> str:
    """Return a p value with two significant digits, more near 0.05; a dash where there was no test."""
    if p_value is None:
        return "–"
    if p_value < 1e-4:
        return "< 0.0001"
    texts = (f"{p_value:.{digits}g}" for digits in (2, 3, 4, 17))
    return next(text for text in texts if text != "0.05" or p_value == 0.05)


def escaped(text: str) -> str:
    """Return a text as LaTeX shows it as it is; a control character is a space."""
    return "".join(_SPECIAL.get(sign, sign if sign.isprintable() else " ") for sign in text)


def tabular(titles: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool]) -> str:
    """Return a table; columns marked in ``right`` are aligned right, the others left."""
    lines = [
        rf"\begin{{tabular}}{{{''.join('r' if one else 'l' for one in right)}}}",
        r"\toprule",
        " & ".join(map(escaped, titles)) + r" \\",
        r"\midrule",
        *(" & ".join(map(escaped, row)) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"
