"""Error cloud of a landmark: where predictions lie relative to the true position."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.charts.chart import Chart, Record
from evaluation.charts.encodings import quantity
from evaluation.charts.scatter import Axis, CasePoint, scatter_chart
from evaluation.charts.theme import GREY


@dataclass(frozen=True)
class PointError:
    """Prediction − reference of a case, in pixels; y points down as in the image."""

    case: str
    x: float
    y: float


def error_cloud_chart(name: str, title: str, errors: Sequence[PointError], follows: str = "") -> Chart:
    """Return the chart of at least one error; rings hold half and nine tenths of the cases."""
    distances = np.array([math.hypot(error.x, error.y) for error in errors])
    radii = dict(zip(("50 %", "90 %"), np.quantile(distances, (0.5, 0.9)).tolist(), strict=True))
    reach = 1.05 * max(float(distances.max()), 1e-6)
    limits = (-reach, reach)
    x_axis, y_axis = Axis("to the right, px", limits), Axis("downwards, px", limits)
    x, y = quantity("x", x_axis.title, limits), quantity("y", y_axis.title, limits)
    rings = [
        {"ring": label, "step": step, "x": radius * math.cos(angle), "y": radius * math.sin(angle)}
        for label, radius in radii.items()
        for step, angle in enumerate(np.linspace(0, 2 * math.pi, 61).tolist())
    ]
    layers: list[Record] = [
        {
            "data": {"name": "rings"},
            "mark": {"type": "line", "color": GREY, "tooltip": None},
            "encoding": {
                "x": x,
                "y": {**y, "scale": {"domain": list(limits), "reverse": True}},
                "detail": {"field": "ring", "type": "nominal"},
                "order": {"field": "step", "type": "quantitative"},
            },
        },
        {
            "data": {"name": "origin"},
            "mark": {"type": "point", "shape": "cross", "color": GREY, "size": 120, "tooltip": None},
            "encoding": {"x": x, "y": y},
        },
    ]
    points = [CasePoint(error.case, error.x, error.y) for error in errors]
    described = (
        f"Predicted minus true position of every case. Half of them are within {radii['50 %']:.3g} px of "
        f"the cross, nine tenths within {radii['90 %']:.3g} px (rings)."
    )
    data: dict[str, Sequence[Record]] = {"rings": rings, "origin": [{"x": 0, "y": 0}]}
    return scatter_chart(name, title, described, points, x_axis, y_axis, layers, data, follows, square=True)
