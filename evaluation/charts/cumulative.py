"""Cumulative distribution of an error: the share of cases up to each error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import Chart
from evaluation.charts.encodings import quantity, share
from evaluation.charts.theme import GREY

_MOST = 400


def cumulative_chart(
    name: str, title: str, errors: NDArray[np.float64], axis_title: str, follows: str = ""
) -> Chart:
    """Return the chart of errors of shape (cases,), NaN left out; at least one."""
    values = np.sort(errors[~np.isnan(errors)])
    shares = np.arange(1, values.size + 1) / values.size
    if values.size > _MOST:
        chosen = np.unique(np.linspace(0, values.size - 1, _MOST).round().astype(np.int64))
        values, shares = values[chosen], shares[chosen]
    rows = [{"error": 0.0, "share": 0.0}]
    rows += [{"error": x, "share": y} for x, y in zip(values.tolist(), shares.tolist(), strict=True)]
    quantiles = np.quantile(errors[~np.isnan(errors)], (0.5, 0.9)).tolist()
    marks = [{"share": at, "error": error} for at, error in zip((0.5, 0.9), quantiles, strict=True)]
    x, y = quantity("error", axis_title), share("share", "share of the cases")
    layers = [
        {
            "data": {"name": "quantiles"},
            "mark": {"type": "rule", "color": GREY, "strokeDash": [3, 3]},
            "encoding": {"x": x},
        },
        {
            "data": {"name": "curve"},
            "mark": {"type": "line", "interpolate": "step-after"},
            "encoding": {"x": x, "y": y},
        },
    ]
    described = "Share of the cases whose error is at most that large; dashed lines: the error of half and of"
    described += f" nine tenths of the cases ({quantiles[0]:.3g} and {quantiles[1]:.3g})."
    return Chart(
        name, title, described, {"curve": rows, "quantiles": marks}, {"layer": layers, "height": 300}, follows
    )
