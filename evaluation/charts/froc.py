"""Free-response ROC: sensitivity against false positives per case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import Chart, Record
from evaluation.charts.encodings import band_layer, quantity, share
from evaluation.charts.theme import Marks, colour_scale, dash_scale, marks_of


@dataclass(frozen=True)
class FrocLine:
    """A curve by name; false positives per case and sensitivities, shape (points,), ascending."""

    name: str
    false_positives: NDArray[np.float64]
    sensitivity: NDArray[np.float64]


@dataclass(frozen=True)
class FrocBand:
    """Limits of the sensitivity of a curve at each number of false positives, all of shape (points,)."""

    name: str
    false_positives: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


def froc_chart(
    name: str,
    title: str,
    curves: Sequence[FrocLine],
    hit: str,
    follows: str = "",
    *,
    bands: Sequence[FrocBand] = (),
    marks: Mapping[str, Marks] | None = None,
) -> Chart:
    """Return the chart; ``hit`` is a sentence that defines a hit.

    ``marks`` by name give each curve its colour and its dashes.
    """
    marks = marks or marks_of(curve.name for curve in curves)
    data: dict[str, Sequence[Record]] = {
        "curves": [
            {"name": curve.name, "false_positives_per_case": x, "sensitivity": y}
            for curve in curves
            for x, y in zip(curve.false_positives.tolist(), curve.sensitivity.tolist(), strict=True)
        ]
    }
    by_name: Record = {"field": "name", "type": "nominal", "title": None}
    if len(curves) < 2:
        by_name = {**by_name, "legend": None}
    x = quantity("false_positives_per_case", "false positives per case")
    described = "Share of the objects found against false positives per case as the confidence falls."
    layers: list[Record] = []
    if bands:
        data["band"] = [
            {
                "name": band.name,
                "colour": marks[band.name].colour,
                "false_positives_per_case": at,
                "lower": low,
                "upper": high,
            }
            for band in bands
            for at, low, high in zip(
                band.false_positives.tolist(), band.lower.tolist(), band.upper.tolist(), strict=True
            )
        ]
        lower = share("lower", "sensitivity")
        layers.append(band_layer(x, lower, len(bands)))
        described += " A band holds 95 % of the curves of the bootstrap."
    layers.append(
        {
            "data": {"name": "curves"},
            "mark": {"type": "line", "interpolate": "step-after"},
            "encoding": {
                "x": x,
                "y": share("sensitivity", "sensitivity"),
                "color": {**by_name, "scale": colour_scale(marks)},
                "strokeDash": {**by_name, "scale": dash_scale(marks)},
            },
        }
    )
    described = f"{described} {hit}"
    return Chart(name, title, described, data, {"layer": layers, "height": 340}, follows)
