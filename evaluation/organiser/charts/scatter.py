"""Charts of one value of every case against another: scatter, Bland–Altman, error cloud."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.charts import chart as vl

# --- One value of every case against another ---

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
    layers: Sequence[vl.Record] = (),
    data: dict[str, Sequence[vl.Record]] | None = None,
    follows: str = "",
    square: bool = False,
) -> vl.Chart:
    """Return the chart; further ``layers`` with their ``data`` are drawn below the points.

    ``square``: both axes have the same length, which fits a narrow page too.
    """
    marks = vl.marks_of(point.group for point in points)
    x, y = (_along(field, axis) for field, axis in (("x", x_axis), ("y", y_axis)))
    tables: dict[str, Sequence[vl.Record]] = dict(data or {})
    grouped = len(marks) > 1
    sizes = {"width": _SIDE, "height": _SIDE, "autosize": "pad"} if square else {"height": 340}
    if len(points) > MOST_POINTS:
        tables["cells"] = _cells(points)
        cells: vl.Record = vl.layer(
            "cells",
            {"type": "point", "filled": True, "opacity": 0.7},
            x=x,
            y=y,
            size=vl.quantitative("cases", scale={"range": [6, 220]}),
            color=vl.category("group", scale=vl.colour_scale(marks), legend={} if grouped else None),
        )
        specification = {"layer": [*layers, cells], **sizes}
        described = f"{description} {_GRID} × {_GRID} cells stand for their cases."
        return vl.Chart(name, title, described, tables, specification, follows)
    tables["points"] = [vars(point) for point in points]
    told = vl.tooltip("case", *(["group"] if grouped else []), numbers=("x", "y"))
    encoding: dict[str, vl.Record | list[vl.Record]] = {
        "x": x,
        "y": y,
        **vl.point_of_case(vl.BLUE),
        "tooltip": told,
    }
    if grouped:
        by_group = vl.category("group", legend={"symbolOpacity": 1})
        encoding["color"] = vl.if_selected(
            "case", vl.VERMILION, {**by_group, "scale": vl.colour_scale(marks)}
        )
        encoding["shape"] = {**by_group, "scale": vl.shape_scale(marks)}
    drawn: vl.Record = vl.layer("points", {"type": "point", "filled": True, "cursor": "pointer"}, **encoding)
    specification = {"layer": [*layers, drawn], **sizes}
    return vl.Chart(name, title, description, tables, specification, follows, single_cases=True)


def _along(field: str, axis: Axis) -> vl.Record:
    encoding = vl.quantity(field, axis.title, axis.domain)
    if axis.logarithmic:
        encoding["scale"] = {"type": "log"}
    return encoding


def _cells(points: Sequence[CasePoint]) -> list[vl.Record]:
    """Return the numbers of points of each group in the cells of a grid, at the middle of their points."""
    rows: list[vl.Record] = []
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


# --- Bland–Altman plot: the difference of two measurements against their mean, with limits of agreement ---


@dataclass(frozen=True)
class Pair:
    """A measurement of a case in the prediction and in the reference."""

    case: str
    predicted: float
    reference: float


def bland_altman_chart(
    name: str, title: str, pairs: Sequence[Pair], unit: str, follows: str = ""
) -> vl.Chart:
    """Return the chart of at least two pairs; ``unit`` is empty for a number without one.

    The limits of agreement are the mean difference ± 1.96 standard deviations (ddof = 1). Source: Bland and
    Altman 1986, Lancet 327:307.
    """
    differences = np.array([pair.predicted - pair.reference for pair in pairs])
    bias, width = float(differences.mean()), 1.96 * float(differences.std(ddof=1))
    points = [
        CasePoint(pair.case, (pair.predicted + pair.reference) / 2, pair.predicted - pair.reference)
        for pair in pairs
    ]
    lines = [
        {"y": value, "label": f"{text} {value:{',.0f' if abs(value) >= 1000 else '.3g'}}".replace("-", "−")}
        for text, value in (("bias", bias), ("−1.96 SD", bias - width), ("+1.96 SD", bias + width))
    ]
    in_unit = f" in {unit}" if unit else ""
    y_axis = Axis(f"prediction − reference{in_unit}")
    y = vl.quantity("y", y_axis.title)
    label = {"type": "text", "align": "right", "dy": -6, "fontSize": 11, "x": {"expr": "width - 4"}}
    layers: list[vl.Record] = [
        vl.layer("lines", {"type": "rule", "color": vl.GREY, "strokeDash": [6, 3], "tooltip": None}, y=y),
        vl.layer("lines", label, y=y, text=vl.nominal("label")),
    ]
    return scatter_chart(
        name,
        title,
        "Difference of prediction and reference against their mean; dashed lines are the mean difference and "
        "the limits that hold 95 % of the differences (Bland and Altman 1986).",
        points,
        Axis(f"mean of prediction and reference{in_unit}"),
        y_axis,
        layers,
        {"lines": lines},
        follows,
    )


def identity_chart(name: str, title: str, pairs: Sequence[Pair], unit: str) -> vl.Chart:
    """Return the chart of predictions against references of at least one pair, with the line of equality."""
    numbers = [number for pair in pairs for number in (pair.predicted, pair.reference)]
    ends = (min(numbers), max(numbers))
    in_unit = f" in {unit}" if unit else ""
    x_axis, y_axis = Axis(f"reference{in_unit}", ends), Axis(f"prediction{in_unit}", ends)
    x, y = vl.quantity("x", x_axis.title, ends), vl.quantity("y", y_axis.title, ends)
    line = {"type": "line", "color": vl.GREY, "strokeDash": [3, 3], "tooltip": None}
    points = [CasePoint(pair.case, pair.reference, pair.predicted) for pair in pairs]
    described = "Predicted against true value of every case; right ones lie on the dashed line."
    data: dict[str, Sequence[vl.Record]] = {"equal": [{"x": end, "y": end} for end in ends]}
    layers = [vl.layer("equal", line, x=x, y=y)]
    return scatter_chart(name, title, described, points, x_axis, y_axis, layers, data, square=True)


# --- Error cloud of a landmark: where predictions lie relative to the true position ---


def error_cloud_chart(name: str, title: str, errors: Sequence[CasePoint], follows: str = "") -> vl.Chart:
    """Return the chart of at least one error; rings hold half and nine tenths of the cases.

    errors: prediction − reference of a case, in pixels; y points down as in the image.
    """
    distances = np.array([math.hypot(error.x, error.y) for error in errors])
    radii = dict(zip(("50 %", "90 %"), np.quantile(distances, (0.5, 0.9)).tolist(), strict=True))
    reach = 1.05 * max(float(distances.max()), 1e-6)
    limits = (-reach, reach)
    x_axis, y_axis = Axis("to the right, px", limits), Axis("downwards, px", limits)
    x, y = vl.quantity("x", x_axis.title, limits), vl.quantity("y", y_axis.title, limits)
    rings = [
        {"ring": label, "step": step, "x": radius * math.cos(angle), "y": radius * math.sin(angle)}
        for label, radius in radii.items()
        for step, angle in enumerate(np.linspace(0, 2 * math.pi, 61).tolist())
    ]
    layers: list[vl.Record] = [
        vl.layer(
            "rings",
            {"type": "line", "color": vl.GREY, "tooltip": None},
            x=x,
            y={**y, "scale": {"domain": list(limits), "reverse": True}},
            detail=vl.nominal("ring"),
            order=vl.quantitative("step"),
        ),
        vl.layer(
            "origin",
            {"type": "point", "shape": "cross", "color": vl.GREY, "size": 120, "tooltip": None},
            x=x,
            y=y,
        ),
    ]
    described = (
        f"Predicted minus true position of every case. Half of them are within {radii['50 %']:.3g} px of "
        f"the cross, nine tenths within {radii['90 %']:.3g} px (rings)."
    )
    data: dict[str, Sequence[vl.Record]] = {"rings": rings, "origin": [{"x": 0, "y": 0}]}
    return scatter_chart(name, title, described, errors, x_axis, y_axis, layers, data, follows, square=True)
