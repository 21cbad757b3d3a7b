"""Precision against recall: one or several curves, and a bootstrap band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import Chart, Record
from evaluation.charts.encodings import band_layer, share
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
    """Limits of the precision of a curve at each recall, all of shape (points,)."""

    name: str
    recall: Floats
    lower: Floats
    upper: Floats


def precision_recall_chart(
    name: str,
    title: str,
    curves: Sequence[PrecisionRecallCurve],
    bands: Sequence[PrecisionBand] = (),
    prevalence: float | None = None,
    follows: str = "",
    hit: str = "",
) -> Chart:
    """Return the chart; ``prevalence`` is the precision of chance, a horizontal line.

    ``hit``: for detections, a sentence that defines a hit.
    """
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
    by_name: Record = {"field": "name", "type": "nominal", "title": None}
    if len(curves) < 2:
        by_name = {**by_name, "legend": None}
    if bands:
        data["band"] = [
            {"name": band.name, "colour": marks[band.name].colour, "recall": at, "lower": low, "upper": high}
            for band in bands
            for at, low, high in zip(
                band.recall.tolist(), band.lower.tolist(), band.upper.tolist(), strict=True
            )
        ]
        layers.append(band_layer(x, share("lower", "precision"), len(bands)))
        described += " A band holds 95 % of the bootstrap's precisions at each recall."
    described += f" {hit}" if hit else ""
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
