"""Histogram of a value over the cases."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import Chart

_MOST_BINS = 40


def histogram_chart(
    name: str, title: str, description: str, values: NDArray[np.float64], axis_title: str
) -> Chart:
    """Return the histogram of values of shape (cases,), all finite, at least one."""
    bins = int(min(_MOST_BINS, max(5, round(values.size**0.5))))
    counts, edges = np.histogram(values, bins=bins)
    rows = [
        {"from": float(edges[i]), "to": float(edges[i + 1]), "cases": int(counts[i])} for i in range(bins)
    ]
    return Chart(
        name,
        title,
        description,
        {"bins": rows},
        {
            "data": {"name": "bins"},
            "mark": {"type": "bar"},
            "encoding": {
                "x": {"field": "from", "type": "quantitative", "bin": {"binned": True}, "title": axis_title},
                "x2": {"field": "to"},
                "y": {"field": "cases", "type": "quantitative", "title": "cases"},
            },
            "height": 240,
        },
    )
