"""Violins: distributions of one value, such as Kendall's τ of resamples, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import Chart, Record
from evaluation.charts.encodings import quantity, tooltip
from evaluation.charts.theme import BLUE, GREY

_GRID = 81
_HALF_WIDTH = 0.4
_SMALLEST_BANDWIDTH = 0.01
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """Values by name, shape (values,), all finite and at least one."""

    name: str
    values: Floats


def density(values: Floats, grid: Floats) -> Floats:
    """Return a Gaussian kernel density at the points of a grid.

    values: shape (values,). The bandwidth is Silverman's rule of thumb (1986, equation 3.31), at least 0.01
    for equal values.
    """
    first, third = np.quantile(values, (0.25, 0.75))
    spreads = [float(values.std(ddof=1)) if values.size > 1 else 0.0, float(third - first) / 1.34]
    spread = min((one for one in spreads if one > 0), default=0.0)
    bandwidth = max(0.9 * spread * values.size**-0.2, _SMALLEST_BANDWIDTH)
    distance = (grid[:, np.newaxis] - values) / bandwidth
    kernels: Floats = np.exp(-0.5 * distance**2).mean(axis=1) / (bandwidth * np.sqrt(2 * np.pi))
    return kernels


def violin_chart(
    name: str,
    title: str,
    description: str,
    samples: Sequence[Sample],
    axis_title: str,
    follows: str = "",
) -> Chart:
    """Return the violins of samples of values that are at most 1, from top to bottom in the order given."""
    low = min(0.0, min(float(sample.values.min()) for sample in samples))
    outlines: list[Record] = []
    boxes: list[Record] = []
    for position, sample in enumerate(samples):
        grid = np.linspace(max(-1.0, float(sample.values.min()) - 0.05), 1, _GRID)
        found = density(sample.values, grid)
        width = _HALF_WIDTH * found / found.max()
        outlines += [
            {"name": sample.name, "value": x, "from": position - half, "to": position + half}
            for x, half in zip(grid.tolist(), width.tolist(), strict=True)
        ]
        lower, median, upper = np.quantile(sample.values, (0.25, 0.5, 0.75)).tolist()
        mean = float(sample.values.mean())
        row = {"name": sample.name, "position": position, "label_at": position - 0.44}
        boxes.append(
            {**row, "first_quartile": lower, "median": median, "third_quartile": upper, "mean": mean}
        )
    domain = (low, 1.0)
    height = (len(samples) - 0.4, -0.6)
    y: Record = {"axis": None, "scale": {"domain": sorted(height), "reverse": True, "nice": False}}
    told = tooltip("name", numbers=("first_quartile", "median", "third_quartile", "mean"))
    layers: list[Record] = [
        {
            "data": {"name": "outlines"},
            "mark": {"type": "area", "orient": "vertical", "opacity": 0.35, "color": BLUE, "tooltip": None},
            "encoding": {
                "x": quantity("value", axis_title, domain),
                "y": {"field": "from", "type": "quantitative", **y},
                "y2": {"field": "to"},
                "detail": {"field": "name", "type": "nominal"},
            },
        },
        {
            "data": {"name": "boxes"},
            "mark": {"type": "rule", "strokeWidth": 5, "color": GREY},
            "encoding": {
                "x": quantity("first_quartile", axis_title, domain),
                "x2": {"field": "third_quartile"},
                "y": {"field": "position", "type": "quantitative", **y},
                "tooltip": told,
            },
        },
        {
            "data": {"name": "boxes"},
            "mark": {"type": "point", "filled": True, "color": "#D55E00", "size": 70, "opacity": 1},
            "encoding": {
                "x": quantity("median", axis_title, domain),
                "y": {"field": "position", "type": "quantitative", **y},
                "tooltip": told,
            },
        },
        {
            "data": {"name": "boxes"},
            "mark": {"type": "text", "align": "left", "x": 6, "baseline": "middle", "limit": 220},
            "encoding": {
                "y": {"field": "label_at", "type": "quantitative", **y},
                "text": {"field": "name", "type": "nominal"},
            },
        },
    ]
    data = {"outlines": outlines, "boxes": boxes}
    return Chart(name, title, description, data, {"layer": layers, "height": 40 + 70 * len(samples)}, follows)
