"""Charts of metrics with their intervals: by subgroup (a forest plot), and all of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.charts import chart as vl
from evaluation.charts.chart import GREY, Chart, Record, layer, names_down, quantity, tooltip


@dataclass(frozen=True)
class ForestValue:
    """The value of a metric in a subgroup; its number of cases and 95 % interval where they are known.

    ``negatives``: the number of all negative cases, where the cases of the subgroup are positives alone.
    """

    column: str
    group: str
    value: float
    cases: int | None = None
    lower: float | None = None
    upper: float | None = None
    negatives: int | None = None


def forest_chart(
    name: str, title: str, metric: str, overall: ForestValue, subgroups: Sequence[ForestValue]
) -> Chart:
    """Return the chart of a metric; the dashed line is its value over all cases."""
    rows = [
        {"label": _label(one), "value": one.value, "lower": one.lower, "upper": one.upper, "cases": one.cases}
        for one in (overall, *subgroups)
    ]
    y = names_down("label")
    x = quantity("value", metric)
    told = [*tooltip("label", numbers=("value", "lower", "upper")), vl.quantitative("cases")]
    dashed = {"type": "rule", "color": GREY, "strokeDash": [4, 3], "tooltip": None}
    layers: list[Record] = [layer("overall", dashed, x=x)]
    data: dict[str, Sequence[Record]] = {"subgroups": rows, "overall": [{"value": overall.value}]}
    described = "The metric in each subgroup; the dashed line is its value over all cases."
    if intervals := [row for row in rows if row["lower"] is not None]:
        described += " Lines are 95 % intervals."
        data["intervals"] = intervals
        between = {"x": quantity("lower", metric), "x2": {"field": "upper"}}
        layers.append(layer("intervals", {"type": "rule", "strokeWidth": 2}, **between, y=y, tooltip=told))
    square = {"type": "square", "size": 70, "opacity": 1}
    layers.append(layer("subgroups", square, x=x, y=y, tooltip=told))
    return Chart(name, title, described, data, {"layer": layers, "height": 34 * len(rows)})


def _label(one: ForestValue) -> str:
    name = f"{one.column}: {one.group}" if one.column else one.group
    if one.negatives is not None:
        return f"{name} ({one.cases} positive against all {one.negatives} negative)"
    return name if one.cases is None else f"{name} (n\u00a0=\u00a0{one.cases})"


# --- All metrics with their intervals, each between its worst and its best value ---


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
    """Return the chart; None without a metric."""
    rows = [
        {
            "metric": metric.title,
            **{name: _finite(value) for name, value in vars(metric).items() if name != "title"},
            "position": _position(metric, metric.value),
            # where lower is better, the upper end is nearer to the worst value
            "from": _position(metric, metric.lower),
            "to": _position(metric, metric.upper),
        }
        for metric in metrics
    ]
    if not rows:
        return None
    y = names_down("metric")
    x_axis = {"labelExpr": "datum.value === 0 ? 'worst' : datum.value === 1 ? 'best' : ''", "values": _TICKS}
    x = {**vl.share("position", ""), "axis": {**x_axis, "title": None}}
    told = tooltip("metric", numbers=("value", "lower", "upper", "best", "worst"), digits=4)
    bar = {"type": "rule", "strokeWidth": 3, "color": GREY}
    point = {"type": "point", "filled": True, "size": 70, "opacity": 1}
    known = {"transform": [{"filter": "isValid(datum.from)"}]}
    between = {"x": {**x, "field": "from"}, "x2": {"field": "to"}, "tooltip": told}
    layers = [
        {"mark": bar, **known, "encoding": between},
        {"mark": point, "encoding": {"x": x, "tooltip": told}},
    ]
    written = [
        {"metric": one.title, "text": _in_words(one)} for one in metrics if _position(one, one.value) is None
    ]
    data: dict[str, Sequence[Record]] = {"metrics": rows}
    if written:
        data["unbounded"] = written
        number = {"type": "text", "align": "left", "x": 6, "tooltip": None}
        layers.append(layer("unbounded", number, text=vl.nominal("text")))
    bars = any(row["from"] is not None for row in rows)
    explained = "; the bar is its 95 % interval" if bars else ""
    described = f"Each metric between its worst and its best possible value{explained}."
    described += " A metric without a worst possible value is written as a number." if written else ""
    specification = {"data": {"name": "metrics"}, "encoding": {"y": y}, "layer": layers}
    specification |= {"height": _ROW * len(rows)}
    title += " with 95 % intervals" if bars else ""
    return Chart(name, title, described, data, specification, wide=True)


_TICKS = [0, 0.25, 0.5, 0.75, 1]
_ROW = 46
"""Height of a row in pixels, for labels of three lines."""


def _position(metric: MetricInterval, value: float | None) -> float | None:
    if value is None or not (math.isfinite(metric.best) and math.isfinite(metric.worst)):
        return None
    return (value - metric.worst) / (metric.best - metric.worst)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _in_words(metric: MetricInterval) -> str:
    ends = () if metric.lower is None or metric.upper is None else (metric.lower, metric.upper)
    between = f" ({ends[0]:.12g} to {ends[1]:.12g})" if ends else ""
    return f"{metric.value:.12g}{between}".replace("-", "−")
