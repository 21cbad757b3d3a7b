"""Heat map: a number for every pair of a row and a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.charts.chart import Chart, Record, if_selected
from evaluation.charts.encodings import category, names_down, tooltip
from evaluation.charts.theme import BLUE, GREY, VERMILION

_MOST_LABELLED = 13
_ROW_HEIGHT = 26


@dataclass(frozen=True)
class Cell:
    """The number of a row and a column, and the text that stands in the cell, if any."""

    row: str
    column: str
    value: float
    label: str = ""


@dataclass(frozen=True)
class Axes:
    """Titles of the columns and of the values, and the ends of the scale: faint, then full colour."""

    columns: str
    value: str
    ends: tuple[float, float]
    digits: int = 3


def heatmap_chart(
    name: str,
    title: str,
    description: str,
    cells: Sequence[Cell],
    axes: Axes,
    follows: str = "",
    *,
    columns: Sequence[str] = (),
    columns_are_cases: bool = False,
) -> Chart:
    """Return the heat map; rows and, unless ``columns`` are given, columns have the order of the cells.

    Cells are labelled where there are few columns. ``columns_are_cases``: a click on a cell selects its case.
    """
    faint, full = axes.ends
    middle = (faint + full) / 2
    column = "case" if columns_are_cases else "column"
    rows: list[Record] = [
        {
            "row": cell.row,
            column: cell.column,
            "value": cell.value,
            "label": cell.label,
            "dark": (cell.value - middle) * (full - faint) > 0,
        }
        for cell in cells
    ]
    order = list(columns or dict.fromkeys(cell.column for cell in cells))
    x = {
        **category(column, axes.columns, axis={"labelAngle": -45, "labelLimit": 110, "labelFontSize": 10}),
        # A domain takes names unchanged; a sort order would put them into an expression.
        "scale": {"domain": order},
    }
    # An interpolation between only two colours can be read in grey, too.
    scale = {"domain": [faint, full], "range": ["#f4f8fb", BLUE], "interpolate": "rgb", "clamp": True}
    rectangle: dict[str, Any] = {"type": "rect", "stroke": GREY, "strokeWidth": 0.3}
    encoding: dict[str, Any] = {
        "color": {
            "field": "value",
            "type": "quantitative",
            "title": axes.value,
            "scale": scale,
            "legend": {"gradientLength": 160},
        },
        "tooltip": tooltip("row", column, numbers=("value",), digits=axes.digits),
    }
    if columns_are_cases:
        rectangle["cursor"] = "pointer"
        encoding["stroke"] = if_selected("case", VERMILION, {"value": GREY})
        encoding["strokeWidth"] = if_selected("case", 2, {"value": 0.3})
    layers: list[Record] = [{"mark": rectangle, "encoding": encoding}]
    if len(order) <= _MOST_LABELLED and any(cell.label for cell in cells):
        layers.append(
            {
                "mark": {"type": "text", "fontSize": 11, "tooltip": None},
                "encoding": {
                    "text": {"field": "label", "type": "nominal"},
                    "color": {"condition": {"test": "datum.dark", "value": "#ffffff"}, "value": "#000000"},
                },
            }
        )
    specification = {
        "data": {"name": "cells"},
        "encoding": {"x": x, "y": names_down("row")},
        "layer": layers,
        "height": _ROW_HEIGHT * len(dict.fromkeys(cell.row for cell in cells)),
    }
    return Chart(
        name, title, description, {"cells": rows}, specification, follows, single_cases=columns_are_cases
    )
