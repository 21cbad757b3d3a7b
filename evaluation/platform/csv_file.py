"""Tables of results as csv files."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.platform.result_file import as_written


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
