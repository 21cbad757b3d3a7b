"""Folders that are written completely or not at all, and tables as csv, JSON and LaTeX."""

from __future__ import annotations

import csv
import io
import json
import math
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evaluation.core.fault import PhaseError
from evaluation.io.tables import write_csv
from evaluation.platform.result_file import as_written

# --- Folders that are written completely or not at all, and the tables and JSON files of reports ---


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder to write into, which becomes ``folder`` if nothing is raised.

    Raises `PhaseError` if ``folder`` exists and is not empty; nothing is overwritten.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise PhaseError(f"{folder}: expected a new or an empty folder, found one that is not empty")
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = folder.with_name(f".{folder.name}-{secrets.token_hex(8)}")
    temporary.mkdir()
    try:
        yield temporary
        if folder.exists():  # empty, see above; Windows does not replace folders
            folder.rmdir()
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_report(path: Path, content: object) -> None:
    """Write a JSON report; an undefined figure (NaN) is null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_without_nan(content), indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def write_rows(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table of a report; an undefined figure (NaN) is an empty cell."""
    write_csv(path, header, ([cell_of(value) for value in row] for row in rows))


def cell_of(value: object) -> str:
    """Return a value as a cell: the shortest text of a number, empty for NaN or None."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(float(value)) if isinstance(value, float) else str(value)


def _without_nan(content: Any) -> Any:
    if isinstance(content, dict):
        return {str(key): _without_nan(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_without_nan(value) for value in content]
    return None if isinstance(content, float) and math.isnan(content) else content


# --- Tables of results as csv files ---


def csv_bytes(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return rows by column as UTF-8 csv with a header and Unix line ends.

    Columns stand in the order in which they first occur in any row. Floats have as many digits as in
    `metrics.json`; a value that is None or absent is an empty cell.
    """
    text = io.StringIO(newline="")
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue().encode("utf-8")


def _cell(value: Any) -> Any:
    return as_written(value) if isinstance(value, float) else value


# --- Tables for LaTeX, with the rules of the package booktabs ---

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
    "±": r"$\pm$",
    "×": r"$\times$",
    "²": r"\textsuperscript{2}",
    "³": r"\textsuperscript{3}",
    "\n": " ",
    "\r": " ",
}


def escaped(text: str) -> str:
    """Return a text as LaTeX shows it as it is."""
    return "".join(_SPECIAL.get(sign, sign) for sign in text)


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
