"""Free-response ROC: sensitivity against false positives per image."""

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
    """A curve by name; false positives per image and sensitivities, shape (points,), ascending."""

    name: str
    false_positives: NDArray[np.float64]
    sensitivity: NDArray[np.float64]


def froc_chart(
    name: str, title: str, curves: Sequence[FrocLine], threshold: float, follows: str = ""
) -> Chart:
    """Return the chart of detections that hit from an intersection over union of ``threshold`` on."""
    marks = marks_of(curve.name for curve in curves)
    rows = [
        {"name": curve.name, "false_positives_per_image": x, "sensitivity": y}
        for curve in curves
        for x, y in zip(curve.false_positives.tolist(), curve.sensitivity.tolist(), strict=True)
    ]
    by_name: Record = {"field": "name", "type": "nominal", "title": None}
    return Chart(
        name,
        title,
        f"Share of reference boxes found against false positives per image as the confidence falls. A hit "
        f"has an intersection over union of at least {threshold:g}.",
        {"curves": rows},
        {
            "data": {"name": "curves"},
            "mark": {"type": "line", "interpolate": "step-after"},
            "encoding": {
                "x": quantity("false_positives_per_image", "false positives per image"),
                "y": share("sensitivity", "sensitivity"),
                "color": {**by_name, "scale": colour_scale(marks)},
                "strokeDash": {**by_name, "scale": dash_scale(marks)},
            },
            "height": 340,
        },
        follows,
    )
