"""Receiver operating characteristic: one or several curves, a bootstrap band and operating points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.charts.chart import (
    GREY,
    Chart,
    MarkStyle,
    Record,
    colour_scale,
    dash_scale,
    marks_of,
    share,
    tooltip,
)
from evaluation.metrics.arrays import Floats


@dataclass(frozen=True)
class RocCurve:
    """A curve by name; false-positive rates and sensitivities of shape (points,), 0 … 1, ascending."""

    name: str
    false_positive_rate: Floats
    sensitivity: Floats


@dataclass(frozen=True)
class Band:
    """Limits of the sensitivity at each false-positive rate, all of shape (points,)."""

    false_positive_rate: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True)
class MarkedPoint:
    """A decision without a score, such as an annotator's, or a point of a curve that has a name."""

    name: str
    false_positive_rate: float
    sensitivity: float


def roc_chart(
    name: str,
    title: str,
    curves: Sequence[RocCurve],
    band: Band | None = None,
    points: Sequence[MarkedPoint] = (),
    follows: str = "",
    marks: Mapping[str, MarkStyle] | None = None,
) -> Chart:
    """Return the ROC chart of one or several curves; ``marks``: by name, by default `marks_of` the names."""
    marks = marks_of(curve.name for curve in curves) if marks is None else marks
    data: dict[str, Sequence[Record]] = {
        "curves": [
            {"name": curve.name, "false_positive_rate": x, "sensitivity": y}
            for curve in curves
            for x, y in zip(curve.false_positive_rate.tolist(), curve.sensitivity.tolist(), strict=True)
        ],
        "chance": [{"false_positive_rate": end, "sensitivity": end} for end in (0, 1)],
    }
    x = share("false_positive_rate", "1 − specificity")
    y = share("sensitivity", "sensitivity")
    by_name: Record = {"field": "name", "type": "nominal", "title": None}
    if len(curves) < 2:
        by_name = {**by_name, "legend": None}
    curve_encoding = {
        "x": x,
        "y": y,
        "color": {**by_name, "scale": colour_scale(marks)},
        "strokeDash": {**by_name, "scale": dash_scale(marks)},
    }
    layers: list[Record] = [
        {
            "data": {"name": "chance"},
            "mark": {"type": "line", "color": GREY, "strokeDash": [3, 3], "tooltip": None},
            "encoding": {"x": x, "y": y},
        }
    ]
    if band:
        columns = (band.false_positive_rate.tolist(), band.lower.tolist(), band.upper.tolist())
        data["band"] = [
            {"false_positive_rate": x, "lower": low, "upper": high}
            for x, low, high in zip(*columns, strict=True)
        ]
        layers.append(
            {
                "data": {"name": "band"},
                "mark": {"type": "area", "opacity": 0.2, "tooltip": None},
                "encoding": {"x": x, "y": share("lower", "sensitivity"), "y2": {"field": "upper"}},
            }
        )
    layers.append(
        {
            "data": {"name": "curves"},
            "mark": {"type": "line", "interpolate": "linear"},
            "encoding": curve_encoding,
        }
    )
    if points:
        data["points"] = [vars(point) for point in points]
        layers += [
            {
                "data": {"name": "points"},
                "mark": {"type": "point", "filled": True, "size": 80, "color": GREY, "shape": "diamond"},
                "encoding": {
                    "x": x,
                    "y": y,
                    "tooltip": tooltip("name", numbers=("false_positive_rate", "sensitivity")),
                },
            },
            {
                "data": {"name": "points"},
                "mark": {"type": "text", "align": "left", "dx": 8, "dy": 8, "fontSize": 11, "limit": 200},
                "encoding": {"x": x, "y": y, "text": {"field": "name", "type": "nominal"}},
            },
        ]
    described = "Sensitivity against 1 − specificity at every threshold; the dashed diagonal is chance."
    if band:
        described += " The band holds 95 % of the curves of the bootstrap at each specificity."
    if points:
        described += " Diamonds are operating points."
    return Chart(name, title, described, data, {"layer": layers, "height": 340}, follows)
