"""All metrics with their intervals, each between its worst and its best value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.charts.chart import GREY, Chart, names_down, share, tooltip


@dataclass(frozen=True)
class MetricInterval:
    """A metric with its 95 % interval, if it has one, and its best and worst values."""

    title: str
    value: float
    lower: float | None
    upper: float | None
    best: float
    worst: float


def metric_intervals_chart(name: str, title: str, metrics: Sequence[MetricInterval]) -> Chart | None:
    """Return the chart; None without a metric that has finite best and worst values."""
    rows = [
        {
            "metric": metric.title,
            **{name: value for name, value in vars(metric).items() if name != "title"},
            "position": _position(metric, metric.value),
            # where lower is better, the upper end is nearer to the worst value
            "from": None if metric.lower is None else _position(metric, metric.lower),
            "to": None if metric.upper is None else _position(metric, metric.upper),
        }
        for metric in metrics
        if math.isfinite(metric.best) and math.isfinite(metric.worst)
    ]
    if not rows:
        return None
    y = names_down("metric")
    x_axis = {"labelExpr": "datum.value === 0 ? 'worst' : datum.value === 1 ? 'best' : ''", "values": _TICKS}
    x = {**share("position", ""), "axis": {**x_axis, "title": None}}
    told = tooltip("metric", numbers=("value", "lower", "upper", "best", "worst"), digits=4)
    layers = [
        {
            "mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.55, "color": GREY},
            "transform": [{"filter": "isValid(datum.from)"}],
            "encoding": {"x": {**x, "field": "from"}, "x2": {"field": "to"}, "tooltip": told},
        },
        {"mark": {"type": "point", "filled": True, "size": 70}, "encoding": {"x": x, "tooltip": told}},
    ]
    return Chart(
        name,
        title,
        "Each metric between its worst and its best possible value; the bar is its 95 % interval. Metrics "
        "without a finite worst value are in the table alone.",
        {"metrics": rows},
        {"data": {"name": "metrics"}, "encoding": {"y": y}, "layer": layers, "height": 40 * len(rows)},
        wide=True,
    )


_TICKS = [0, 0.25, 0.5, 0.75, 1]


def _position(metric: MetricInterval, value: float) -> float:
    return (value - metric.worst) / (metric.best - metric.worst)
