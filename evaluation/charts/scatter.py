"""One value of every case against another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import Chart, Record, if_selected, point_of_case
from evaluation.charts.encodings import category, quantity, tooltip
from evaluation.charts.theme import BLUE, VERMILION, colour_scale, marks_of, shape_scale

MOST_POINTS = 1500
"""Above so many points, cells of a grid replace them."""
_GRID = 40
_SIDE = 280


@dataclass(frozen=True)
class CasePoint:
    """A point of a case; ``group`` is its structure or class."""

    case: str
    x: float
    y: float
    group: str = ""


@dataclass(frozen=True)
class Axis:
    """An axis of a scatter plot: title, and limits (None: the range of the data)."""

    title: str
    domain: tuple[float, float] | None = None
    logarithmic: bool = False


def scatter_chart(
    name: str,
    title: str,
    description: str,
    points: Sequence[CasePoint],
    x_axis: Axis,
    y_axis: Axis,
    layers: Sequence[Record] = (),
    data: dict[str, Sequence[Record]] | None = None,
    follows: str = "",
    square: bool = False,
) -> Chart:
    """Return the chart; further ``layers`` with their ``data`` are drawn below the points.

    ``square``: both axes have the same length, which fits a narrow page too.
    """
    marks = marks_of(point.group for point in points)
    x, y = (_along(field, axis) for field, axis in (("x", x_axis), ("y", y_axis)))
    tables: dict[str, Sequence[Record]] = dict(data or {})
    grouped = len(marks) > 1
    sizes = {"width": _SIDE, "height": _SIDE} if square else {"height": 340}
    if len(points) > MOST_POINTS:
        tables["cells"] = _cells(points)
        cells: Record = {
            "data": {"name": "cells"},
            "mark": {"type": "point", "filled": True, "opacity": 0.7},
            "encoding": {
                "x": x,
                "y": y,
                "size": {"field": "cases", "type": "quantitative", "scale": {"range": [6, 220]}},
                "color": category("group", scale=colour_scale(marks), legend={} if grouped else None),
            },
        }
        specification = {"layer": [*layers, cells], **sizes}
        described = f"{description} {_GRID} × {_GRID} cells stand for their cases."
        return Chart(name, title, described, tables, specification, follows)
    tables["points"] = [vars(point) for point in points]
    told = tooltip("case", *(["group"] if grouped else []), numbers=("x", "y"))
    encoding: dict[str, Record | list[Record]] = {"x": x, "y": y, **point_of_case(BLUE), "tooltip": told}
    if grouped:
        by_group = category("group", legend={"symbolOpacity": 1})
        encoding["color"] = if_selected("case", VERMILION, {**by_group, "scale": colour_scale(marks)})
        encoding["shape"] = {**by_group, "scale": shape_scale(marks)}
    drawn: Record = {
        "data": {"name": "points"},
        "mark": {"type": "point", "filled": True, "cursor": "pointer"},
        "encoding": encoding,
    }
    specification = {"layer": [*layers, drawn], **sizes}
    return Chart(name, title, description, tables, specification, follows, single_cases=True)


def _along(field: str, axis: Axis) -> Record:
    encoding = quantity(field, axis.title, axis.domain)
    if axis.logarithmic:
        encoding["scale"] = {"type": "log"}
    return encoding


def _cells(points: Sequence[CasePoint]) -> list[Record]:
    """Return the numbers of points of each group in the cells of a grid, at the middle of their points."""
    rows: list[Record] = []
    x = np.array([point.x for point in points])
    y = np.array([point.y for point in points])
    group = np.array([point.group for point in points])
    columns, lines = (_cell(values) for values in (x, y))
    for one in sorted(set(group.tolist())):
        chosen = group == one
        cell, count = np.unique(columns[chosen] * _GRID + lines[chosen], return_counts=True)
        for number, cases in zip(cell.tolist(), count.tolist(), strict=True):
            members = chosen & (columns * _GRID + lines == number)
            at = {"x": float(x[members].mean()), "y": float(y[members].mean())}
            rows.append({**at, "group": one, "cases": cases})
    return rows


def _cell(values: NDArray[np.float64]) -> NDArray[np.int64]:
    width = (values.max() - values.min()) / _GRID or 1.0
    cells: NDArray[np.int64] = np.minimum(((values - values.min()) / width).astype(np.int64), _GRID - 1)
    return cells
