"""Precision against recall: one or several curves, and a bootstrap band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import Chart, Record
from evaluation.charts.encodings import share
from evaluation.charts.theme import GREY, colour_scale, dash_scale, marks_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PrecisionRecallCurve:
    """A curve by name; recall and precision of shape (points,), 0 … 1, recall ascending."""

    name: str
    recall: Floats
    precision: Floats


@dataclass(frozen=True)
class PrecisionBand:
    """Limits of the precision at each recall, all of shape (points,)."""

    recall: Floats
    lower: Floats
    upper: Floats


def precision_recall_chart(
    name: str,
    title: str,
    curves: Sequence[PrecisionRecallCurve],
    band: PrecisionBand | None = None,
    prevalence: float | None = None,
    follows: str = "",
) -> Chart:
    """Return the chart; ``prevalence`` is the precision of chance, a horizontal line."""
    marks = marks_of(curve.name for curve in curves)
    data: dict[str, Sequence[Record]] = {
        "curves": [
            {"name": curve.name, "recall": x, "precision": y}
            for curve in curves
            for x, y in zip(curve.recall.tolist(), curve.precision.tolist(), strict=True)
        ]
    }
    x, y = share("recall", "recall (sensitivity)"), share("precision", "precision")
    layers: list[Record] = []
    described = "Precision against recall at every threshold."
    if prevalence is not None:
        data["chance"] = [{"precision": prevalence}]
        layers.append(
            {
                "data": {"name": "chance"},
                "mark": {"type": "rule", "color": GREY, "strokeDash": [3, 3]},
                "encoding": {"y": y},
            }
        )
        described += " The dashed line is the share of positives, the precision of chance."
    if band:
        columns = (band.recall.tolist(), band.lower.tolist(), band.upper.tolist())
        data["band"] = [
            {"recall": at, "lower": low, "upper": high} for at, low, high in zip(*columns, strict=True)
        ]
        layers.append(
            {
                "data": {"name": "band"},
                "mark": {"type": "area", "opacity": 0.2, "tooltip": None},
                "encoding": {"x": x, "y": share("lower", "precision"), "y2": {"field": "upper"}},
            }
        )
        described += " The band holds 95 % of the bootstrap's precisions at each recall."
    by_name: Record = {"field": "name", "type": "nominal", "title": None}
    if len(curves) < 2:
        by_name = {**by_name, "legend": None}
    layers.append(
        {
            "data": {"name": "curves"},
            "mark": {"type": "line"},
            "encoding": {
                "x": x,
                "y": y,
                "color": {**by_name, "scale": colour_scale(marks)},
                "strokeDash": {**by_name, "scale": dash_scale(marks)},
            },
        }
    )
    return Chart(name, title, described, data, {"layer": layers, "height": 340}, follows)
