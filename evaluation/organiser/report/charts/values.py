"""Charts of values of the cases: boxes and points, histograms, scatter and Bland–Altman plots."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.charts import chart as vl
from evaluation.organiser.report.charts.encodings import binned, count, if_selected, point_of_case

# --- Distributions of a value over the cases, one line for each structure or metric: box and points ---

MOST_POINTS = 500
"""Above so many cases a line, bins replace the points."""
_FEW_POINTS = 100
_BINS = 60


@dataclass(frozen=True)
class Distribution:
    """Values of cases, shape (cases,), NaN left out, with the names of the cases."""

    name: str
    values: NDArray[np.float64]
    cases: Sequence[str]


def distribution_chart(
    name: str,
    title: str,
    distributions: Sequence[Distribution],
    axis_title: str,
    follows: str = "",
    *,
    marks: Mapping[str, vl.MarkStyle] | None = None,
    most_points: int = MOST_POINTS,
) -> vl.Chart:
    """Return the chart of one or several distributions on one axis.

    ``marks`` by name give each distribution a colour of its own. With more cases than ``most_points``, bins
    replace the points of a distribution.
    """
    boxes, points, bins = [], [], []
    for one in distributions:
        entering = ~np.isnan(one.values)
        values = one.values[entering]
        if not values.size:
            continue
        low, first, median, third, high = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist()
        spread = 1.5 * (third - first)
        # the last value within 1.5 quartile distances, as Tukey draws the whiskers
        low, high = values[values >= first - spread].min(), values[values <= third + spread].max()
        quartiles = {"first_quartile": first, "median": median, "third_quartile": third}
        box = {"name": one.name, "cases": int(values.size), "low": float(low), **quartiles}
        boxes.append({**box, "high": float(high), "mean": float(values.mean())})
        if values.size > most_points:
            counts, edges = np.histogram(values, bins=_BINS)
            middles, held = (edges[:-1] + edges[1:]) / 2, counts > 0
            bins += vl.rows_of({"value": middles[held], "cases": counts[held]}, name=one.name)
        else:
            of_case = zip(compress(one.cases, entering), values.tolist(), _offsets(values), strict=True)
            points += [
                {"name": one.name, "case": case, "value": value, "offset": offset}
                for case, value, offset in of_case
            ]
    of_name = vl.nominal("name", scale=vl.scale_of(marks or {}, "colour"), legend=None)
    numbers = ("median", "first_quartile", "third_quartile", "mean")
    told = [vl.quantitative("cases"), *vl.tooltip("name", numbers=numbers)]
    x, low_end, first_quartile, middle = (
        vl.quantity(field, axis_title) for field in ("value", "low", "first_quartile", "median")
    )
    bar = {"type": "bar", "size": 14, "color": vl.GREY, "opacity": 1, "fillOpacity": 0.35, "stroke": vl.GREY}
    layers: list[vl.Record] = [
        vl.layer("boxes", {"type": "rule", "color": vl.GREY}, x=low_end, x2={"field": "high"}, tooltip=told),
        vl.layer("boxes", bar, x=first_quartile, x2={"field": "third_quartile"}, tooltip=told),
    ]
    data: dict[str, Sequence[vl.Record]] = {"boxes": boxes}
    if bins:
        data["bins"] = bins
        mark = {"type": "point", "filled": True, "color": vl.BLUE, "style": vl.DOT}
        colour = {"color": of_name} if marks else {}
        size = vl.quantitative("cases", scale={"range": [14, 150]})
        layers.append(vl.layer("bins", mark, x=x, **colour, size=size))
    if points:
        data["points"] = points
        size = {"value": 45 if len(points) <= _FEW_POINTS * len(boxes) else 16}
        encoding = {
            "x": x,
            "yOffset": vl.quantitative("offset", scale={"domain": [-1, 1]}),
            **point_of_case(vl.BLUE),
            "size": if_selected("case", 220, size),
            **({"color": if_selected("case", vl.VERMILION, of_name)} if marks else {}),
            "tooltip": vl.tooltip("case", "name", numbers=("value",)),
        }
        mark = {"type": "point", "filled": True, "style": vl.DOT, "cursor": "pointer"}
        layers.append(vl.layer("points", mark, **encoding))
    tick = {"type": "tick", "thickness": 3, "size": 22, "color": vl.VERMILION}
    layers.append(vl.layer("boxes", tick, x=middle, tooltip=told))
    described = (
        "Boxes hold the middle half of the cases, the mark in them is the median, and lines end at the "
        "last case within 1.5 times the box."
    )
    y, height = vl.names_down("name"), 50 * max(1, len(boxes))
    figure = {"encoding": {"y": y}, "layer": layers, "height": height}
    return vl.Chart(name, title, described, data, figure, follows, single_cases=bool(points))


def _offsets(values: NDArray[np.float64]) -> list[float]:
    """Return where across its line each point is drawn, −0.5 … 0.5: the middle for one without neighbours."""
    ordered, near = np.sort(values), 0.02 * float(np.ptp(values))
    first, last = np.searchsorted(ordered, values - near), np.searchsorted(ordered, values + near, "right")
    spread = np.minimum(1.0, (last - first - 1) / 4)
    golden = 0.6180339887498949
    found: list[float] = np.round(spread * ((np.arange(values.size) * golden) % 1 - 0.5), 3).tolist()
    return found


# --- Histogram of a value over the cases ---

_MOST_BINS = 40


def histogram_chart(
    name: str, title: str, description: str, values: NDArray[np.float64], axis_title: str
) -> vl.Chart:
    """Return the histogram of values of shape (cases,), all finite, at least one."""
    bins = int(min(_MOST_BINS, max(5, round(values.size**0.5))))
    counts, edges = np.histogram(values, bins=bins)
    rows = vl.rows_of({"from": edges[:-1], "to": edges[1:], "cases": counts})
    y = count("cases", "cases", int(counts.max()))
    bars = vl.layer("bins", {"type": "bar"}, **binned(axis_title), y=y)
    return vl.Chart(name, title, description, {"bins": rows}, {**bars, "height": 240})


# --- One value of every case against another ---

MOST_SCATTERED = 1500
"""Above so many points, cells of a grid replace them."""
_CELLS = 40
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
    if len(points) > MOST_SCATTERED:
        tables["cells"] = _cells(points)
        mark = {"type": "point", "filled": True, "style": vl.DOT}
        size = vl.quantitative("cases", scale={"range": [6, 220]})
        by_group = vl.category("group", scale=vl.scale_of(marks, "colour"), legend={} if grouped else None)
        cells: vl.Record = vl.layer("cells", mark, x=x, y=y, size=size, color=by_group)
        specification = {"layer": [*layers, cells], **sizes}
        described = f"{description} {_CELLS} × {_CELLS} cells stand for their cases."
        return vl.Chart(name, title, described, tables, specification, follows)
    tables["points"] = [vars(point) for point in points]
    told = vl.tooltip("case", *(["group"] if grouped else []), numbers=("x", "y"))
    encoding: dict[str, Any] = {"x": x, "y": y, **point_of_case(vl.BLUE), "tooltip": told}
    if grouped:
        by_group = vl.category("group", legend={"symbolOpacity": 1})
        encoding["color"] = if_selected(
            "case", vl.VERMILION, {**by_group, "scale": vl.scale_of(marks, "colour")}
        )
        encoding["shape"] = {**by_group, "scale": vl.scale_of(marks, "shape")}
    mark = {"type": "point", "filled": True, "style": vl.DOT, "cursor": "pointer"}
    drawn: vl.Record = vl.layer("points", mark, **encoding)
    specification = {"layer": [*layers, drawn], **sizes}
    return vl.Chart(name, title, description, tables, specification, follows, single_cases=True)


def _along(field: str, axis: Axis) -> dict[str, Any]:
    logarithmic = {"scale": {"type": "log"}} if axis.logarithmic else {}
    return vl.quantity(field, axis.title, axis.domain) | logarithmic


def _cells(points: Sequence[CasePoint]) -> list[vl.Record]:
    """Return the numbers of points of each group in the cells of a grid, at the middle of their points."""
    rows: list[vl.Record] = []
    x, y, group = (np.array([getattr(point, field) for point in points]) for field in ("x", "y", "group"))
    cells = _cell(x) * _CELLS + _cell(y)
    for one in sorted(set(group.tolist())):
        for cell in np.unique(cells[group == one]):
            members = (group == one) & (cells == cell)
            at = {"x": float(x[members].mean()), "y": float(y[members].mean())}
            rows.append({**at, "group": one, "cases": int(members.sum())})
    return rows


def _cell(values: NDArray[np.float64]) -> NDArray[np.int64]:
    width = (values.max() - values.min()) / _CELLS or 1.0
    cells: NDArray[np.int64] = np.minimum(((values - values.min()) / width).astype(np.int64), _CELLS - 1)
    return cells


# --- Bland–Altman plot: the difference of two measurements against their mean, with limits of agreement ---


@dataclass(frozen=True)
class Pair:
    """A measurement of a case in the prediction and in the reference."""

    case: str
    predicted: float
    reference: float


_FEW_PAIRS = 30
"""With fewer pairs the limits of agreement are nearly as uncertain as they are apart."""


def bland_altman_chart(name: str, title: str, pairs: Sequence[Pair], unit: str) -> vl.Chart:
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
        if width or text == "bias"
    ]
    in_unit = f" in {unit}" if unit else ""
    y_axis = Axis(f"prediction − reference{in_unit}")
    y = vl.quantity("y", y_axis.title)
    label = {"type": "text", "align": "right", "dy": -6, "fontSize": 11, "x": {"expr": "width - 4"}}
    layers: list[vl.Record] = [
        vl.layer("lines", {"type": "rule", "color": vl.GREY, "strokeDash": [6, 3], "tooltip": None}, y=y),
        vl.layer("lines", label, y=y, text=vl.nominal("label")),
    ]
    described = (
        "Difference of prediction and reference against their mean; dashed lines are the mean difference "
        "and 1.96 standard deviations on either side (Bland and Altman 1986). "
    )
    if len(pairs) < _FEW_PAIRS:
        described += f"{len(pairs)} cases are too few to tell where other cases would lie."
    else:
        described += "If differences are normally distributed, 95 % of them lie between the outer lines."
    x_axis = Axis(f"mean of prediction and reference{in_unit}")
    found = scatter_chart(name, title, described, points, x_axis, y_axis, layers, {"lines": lines})
    return found.measured_in(unit)


# --- Error cloud of a landmark: where predictions lie relative to the true position ---


def error_cloud_chart(name: str, title: str, errors: Sequence[CasePoint]) -> vl.Chart:
    """Return the chart of at least one error; rings hold half and nine tenths of the cases.

    errors: prediction − reference of a case, in pixels; y points down as in the image.
    """
    distances = np.array([math.hypot(error.x, error.y) for error in errors])
    radii = dict(zip(("50 %", "90 %"), np.quantile(distances, (0.5, 0.9)).tolist(), strict=True))
    reach = 1.05 * max(float(distances.max()), 1e-6)
    limits = (-reach, reach)
    x_axis, y_axis = Axis("to the right, px", limits), Axis("downwards, px", limits)
    x, y = _along("x", x_axis), _along("y", y_axis)
    rings = [
        {"ring": label, "step": step, "x": radius * math.cos(angle), "y": radius * math.sin(angle)}
        for label, radius in radii.items()
        for step, angle in enumerate(np.linspace(0, 2 * math.pi, 61).tolist())
    ]
    line = {"type": "line", "color": vl.GREY, "tooltip": None}
    cross = {"type": "point", "shape": "cross", "color": vl.GREY, "size": 120, "tooltip": None}
    down = y | {"scale": {"domain": limits, "reverse": True}}
    by_step = {"detail": vl.nominal("ring"), "order": vl.quantitative("step")}
    layers = [vl.layer("rings", line, x=x, y=down, **by_step), vl.layer("origin", cross, x=x, y=y)]
    described = (
        f"Predicted minus true position of every case. Half of them are within {radii['50 %']:.3g} px of "
        f"the cross, nine tenths within {radii['90 %']:.3g} px (rings)."
    )
    data: dict[str, Sequence[vl.Record]] = {"rings": rings, "origin": [{"x": 0, "y": 0}]}
    found = scatter_chart(name, title, described, errors, x_axis, y_axis, layers, data, square=True)
    return found.measured_in("px")
