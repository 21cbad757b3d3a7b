"""Charts of values of the cases: boxes and points, Bland–Altman plots and errors of positions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from evaluation.charts import chart as vl

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
    rule = {"type": "rule", "color": vl.GREY}
    tick = {"type": "tick", "thickness": 3, "size": 22, "color": vl.VERMILION}
    colour = {"color": of_name} if marks else {}
    of_bin = {**colour, "size": vl.quantitative("cases", scale={"range": [14, 150]})}
    of_point = {
        "yOffset": vl.quantitative("offset", scale={"domain": [-1, 1]}),
        **vl.point_of_case(
            of_name if marks else {"value": vl.BLUE}, 45 if len(points) <= _FEW_POINTS * len(boxes) else 16
        ),
        "tooltip": vl.tooltip("case", "name", numbers=("value",)),
    }
    layers = [
        vl.layer("boxes", boxes, rule, x=low_end, x2={"field": "high"}, tooltip=told),
        vl.layer("boxes", boxes, bar, x=first_quartile, x2={"field": "third_quartile"}, tooltip=told),
        vl.layer("bins", bins, {**_DOT, "color": vl.BLUE}, x=x, **of_bin),
        vl.layer("points", points, _CASE, x=x, **of_point),
        vl.layer("boxes", boxes, tick, x=middle, tooltip=told),
    ]
    described = (
        "Boxes hold the middle half of the cases, the mark in them is the median, and lines end at the "
        "last case within 1.5 times the box."
    )
    height, shared = 50 * max(1, len(boxes)), {"y": vl.names_down("name")}
    drawn = name, title, described, layers, height
    return vl.Chart.of(*drawn, shared=shared, single_cases=bool(points))


_DOT = {"type": "point", "filled": True, "style": vl.DOT}
_CASE = {**_DOT, "cursor": "pointer"}


def _offsets(values: NDArray[np.float64]) -> list[float]:
    """Return where across its line each point is drawn, −0.5 … 0.5: the middle for one without neighbours."""
    ordered, near = np.sort(values), 0.02 * float(np.ptp(values))
    first, last = np.searchsorted(ordered, values - near), np.searchsorted(ordered, values + near, "right")
    spread = np.minimum(1.0, (last - first - 1) / 4)
    golden = 0.6180339887498949
    found: list[float] = np.round(spread * ((np.arange(values.size) * golden) % 1 - 0.5), 3).tolist()
    return found


# --- Points of cases in a plane: as they are, or where there are many, in cells of a grid ---

MOST_SCATTERED = 1500
"""Above so many points, cells of a grid replace them."""
_CELLS = 40


@dataclass(frozen=True)
class CasePoint:
    """A point of a case."""

    case: str
    x: float
    y: float


def _scatter_chart(
    name: str,
    title: str,
    description: str,
    points: Sequence[CasePoint],
    axes: tuple[vl.Record, vl.Record],
    layers: Sequence[vl.Layer],
) -> vl.Chart:
    """Return the chart of points above other ``layers``; ``axes``: the encodings along x and y."""
    x, y = axes
    many = len(points) > MOST_SCATTERED
    if many:
        description += f" {_CELLS} × {_CELLS} cells stand for their cases."
        size = vl.quantitative("cases", scale={"range": [6, 220]})
        drawn = vl.layer("cells", _cells(points), {**_DOT, "color": vl.BLUE}, x=x, y=y, size=size)
    else:
        encoding = {**vl.point_of_case({"value": vl.BLUE}), "tooltip": vl.tooltip("case", numbers=("x", "y"))}
        drawn = vl.layer("points", list(map(vars, points)), _CASE, x=x, y=y, **encoding)
    return vl.Chart.of(name, title, description, [*layers, drawn], 340, single_cases=not many)


def _cells(points: Sequence[CasePoint]) -> list[vl.Record]:
    """Return the numbers of points in the cells of a grid, at the middle of their points."""
    at = np.array([(point.x, point.y) for point in points])
    widths = np.ptp(at, axis=0) / _CELLS
    places = (at - at.min(axis=0)) / np.where(widths > 0, widths, 1.0)
    cells = np.minimum(places.astype(np.int64), _CELLS - 1)
    _, cell, cases = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    x, y = (np.bincount(cell.reshape(-1), along) / cases for along in at.T)
    return vl.rows_of({"x": x, "y": y, "cases": cases})


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
    x, y = (
        vl.quantity("x", f"mean of prediction and reference{in_unit}"),
        vl.quantity("y", f"prediction − reference{in_unit}"),
    )
    rule = {"type": "rule", "color": vl.GREY, "strokeDash": [6, 3], "tooltip": None}
    label = {"type": "text", "align": "right", "dy": -6, "fontSize": 11, "x": {"expr": "width - 4"}}
    layers = [
        vl.layer("lines", lines, rule, y=y),
        vl.layer("lines", lines, label, y=y, text=vl.nominal("label")),
    ]
    described = (
        "Difference of prediction and reference against their mean; dashed lines are the mean difference "
        "and 1.96 standard deviations on either side (Bland and Altman 1986). "
    )
    if len(pairs) < _FEW_PAIRS:
        described += f"{len(pairs)} cases are too few to tell where other cases would lie."
    else:
        described += "If differences are normally distributed, 95 % of them lie between the outer lines."
    return _scatter_chart(name, title, described, points, (x, y), layers).measured_in(unit)


# --- Error cloud of a landmark: where predictions lie relative to the true position ---


def error_cloud_chart(name: str, title: str, errors: Sequence[CasePoint]) -> vl.Chart:
    """Return the chart of at least one error; rings hold half and nine tenths of the cases.

    errors: prediction − reference of a case, in pixels; y points down as in the image.
    """
    distances = np.array([math.hypot(error.x, error.y) for error in errors])
    radii = dict(zip(("50 %", "90 %"), np.quantile(distances, (0.5, 0.9)).tolist(), strict=True))
    reach = 1.05 * max(float(distances.max()), 1e-6)
    x, y = (
        vl.quantity("x", "to the right, px", (-reach, reach)),
        vl.quantity("y", "downwards, px", (-reach, reach)),
    )
    rings = [
        {"ring": label, "step": step, "x": radius * math.cos(angle), "y": radius * math.sin(angle)}
        for label, radius in radii.items()
        for step, angle in enumerate(np.linspace(0, 2 * math.pi, 61).tolist())
    ]
    line = {"type": "line", "color": vl.GREY, "tooltip": None}
    cross = {"type": "point", "shape": "cross", "color": vl.GREY, "size": 120, "tooltip": None}
    down = y | {"scale": {**y["scale"], "reverse": True}}
    by_step = {"detail": vl.nominal("ring"), "order": vl.quantitative("step")}
    layers = [
        vl.layer("rings", rings, line, x=x, y=down, **by_step),
        vl.layer("origin", [{"x": 0, "y": 0}], cross, x=x, y=y),
    ]
    described = (
        f"Predicted minus true position of every case. Half of them are within {radii['50 %']:.3g} px of "
        f"the cross, nine tenths within {radii['90 %']:.3g} px (rings)."
    )
    found = _scatter_chart(name, title, described, errors, (x, y), layers).measured_in("px")
    # Both axes have the same length, which fits a narrow page too.
    square = {"width": _SIDE, "height": _SIDE, "autosize": "pad"}
    return replace(found, specification={**found.specification, **square})


_SIDE = 280
