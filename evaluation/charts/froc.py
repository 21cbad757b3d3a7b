"""Free-response ROC: sensitivity against false positives per case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import Chart, Record
from evaluation.charts.encodings import quantity, share
from evaluation.charts.theme import colour_scale, dash_scale, marks_of


@dataclass(frozen=True)
class FrocLine:
    """A curve by name; false positives per case and sensitivities, shape (points,), ascending."""

    name: str
    false_positives: NDArray[np.float64]
    sensitivity: NDArray[np.float64]


def froc_chart(name: str, title: str, curves: Sequence[FrocLine], hit: str, follows: str = "") -> Chart:
    """Return the chart; ``hit`` is a sentence that says what counts as found."""
    marks = marks_of(curve.name for curve in curves)
    rows = [
        {"name": curve.name, "false_positives_per_case": x, "sensitivity": y}
        for curve in curves
        for x, y in zip(curve.false_positives.tolist(), curve.sensitivity.tolist(), strict=True)
    ]
    by_name: Record = {"field": "name", "type": "nominal", "title": None}
    return Chart(
        name,
        title,
        "Share of the objects found against false positives per case as the confidence falls. " + hit,
        {"curves": rows},
        {
            "data": {"name": "curves"},
            "mark": {"type": "line", "interpolate": "step-after"},
            "encoding": {
                "x": quantity("false_positives_per_case", "false positives per case"),
                "y": share("sensitivity", "sensitivity"),
                "color": {**by_name, "scale": colour_scale(marks)},
                "strokeDash": {**by_name, "scale": dash_scale(marks)},
            },
            "height": 340,
        },
        follows,
    )
