"""The figures of a page as files: SVG, PDF, PNG, CSV, and Vega-Lite."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import vl_convert

from evaluation.charts.chart import Chart, complete
from evaluation.io.atomic_file import write_atomically

WIDTH = 480
"""Width of a figure without a width of its own, in pixels."""
_VEGA_LITE = "5.21"
_PIXELS_PER_POINT = 3.0
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_figures(charts: Iterable[Chart], folder: Path) -> list[Path]:
    """Write each chart in five formats, named after it, and return the paths. Raises `OSError`."""
    paths = []
    for chart in charts:
        specification = complete(chart, width=WIDTH)
        files = {
            "vl.json": f"{json.dumps(specification, indent=1, ensure_ascii=False)}\n".encode(),
            "csv": csv_of(chart).encode(),
            "svg": vl_convert.vegalite_to_svg(specification, vl_version=_VEGA_LITE).encode(),
            "pdf": vl_convert.vegalite_to_pdf(specification, vl_version=_VEGA_LITE),
            "png": vl_convert.vegalite_to_png(specification, vl_version=_VEGA_LITE, scale=_PIXELS_PER_POINT),
        }
        for extension, data in files.items():
            path = folder / f"{chart.name}.{extension}"
            write_atomically(path, data)
            paths.append(path)
    return paths


def csv_of(chart: Chart) -> str:
    """Return the data of a chart as one table; its first column names the part of the figure."""
    columns = dict.fromkeys(column for rows in chart.data.values() for row in rows for column in row)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(["table", *columns])
    for name, rows in chart.data.items():
        writer.writerows([name, *(_cell(row.get(column)) for column in columns)] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Return a cell that spreadsheets do not run as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
