"""Charts of metrics with their intervals: by subgroup (a forest plot), and all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.charts import chart as vl
from evaluation.charts.chart import Chart, Estimated
from evaluation.core.aggregation import ConfidenceInterval


def forest_chart(
    name: str, title: str, metric: str, overall: Estimated, subgroups: Sequence[Estimated]
) -> Chart:
    """Return the chart of a metric; the dashed line is its value over all cases."""
    rows = [one.row("label") for one in (overall, *subgroups)]
    x, lower = (vl.quantity(field, metric) for field in ("value", "lower"))
    drawn: dict[str, Any] = {"y": vl.names_down("label"), "tooltip": vl.tooltip("label", numbers=_NUMBERS)}
    square = {"type": "square", "size": 70, "opacity": 1}
    layers = [
        vl.layer("overall", [{"value": overall.value}], vl.COMPARED, x=x),
        vl.interval_layer(rows, lower, **drawn),
        vl.layer("subgroups", rows, square, x=x, **drawn),
    ]
    described = "The metric in each subgroup; the dashed line is its value over all cases."
    described += " Lines are 95 % intervals." if layers[1].rows else ""
    return Chart.of(name, title, described, layers, 34 * len(rows))


_NUMBERS = ("value", "lower", "upper")


def ends_of(interval: ConfidenceInterval | None) -> tuple[float | None, float | None]:
    """Return the ends of an interval, None without one."""
    return (interval.lower, interval.upper) if interval else (None, None)


# --- All metrics with their intervals: those from 0 to 1 on one axis, the others as numbers ---


@dataclass(frozen=True)
class MetricInterval(Estimated):
    """A metric with its 95 % interval, its best and its worst value."""

    best: float = 1.0
    worst: float = 0.0

    @property
    def has_place(self) -> bool:
        """Whether it goes from 0 to 1."""
        return {self.best, self.worst} == {0, 1}


def metric_intervals_chart(name: str, title: str, metrics: Sequence[MetricInterval]) -> Chart | None:
    """Return the chart; None without a metric."""
    if not metrics:
        return None
    labels = {metric: f"{metric.name} {'↑' if metric.best > metric.worst else '↓'}" for metric in metrics}
    placed = [{**one.row("metric"), "metric": labels[one]} for one in metrics if one.has_place]
    written = [{"metric": labels[one], "text": _in_words(one)} for one in metrics if not one.has_place]
    x, lower = (vl.share(field, "value") for field in ("value", "lower"))
    told = vl.tooltip("metric", numbers=_NUMBERS, digits=4)
    point = {"type": "point", "filled": True, "size": 70, "opacity": 1}
    number = {"type": "text", "align": "left", "x": 6, "tooltip": None}
    layers = [
        vl.interval_layer(placed, lower, tooltip=told),
        vl.layer("metrics", placed, point, x=x, tooltip=told),
        vl.layer("numbers", written, number, text=vl.nominal("text")),
    ]
    described = "↑: higher is better, ↓: lower."
    if layers[0].rows:
        described += " The bar is the 95 % interval."
        title += " with 95 % intervals"
    if written:
        described += " A metric that does not go from 0 to 1 is written as a number."
    y = {**vl.names_down("metric"), "scale": {"domain": list(labels.values())}}
    return Chart.of(name, title, described, layers, _ROW * len(metrics), shared={"y": y}, wide=True)


_ROW = 46
"""Height of a row in pixels, for labels of three lines."""


def _in_words(metric: MetricInterval) -> str:
    ends = () if metric.lower is None or metric.upper is None else (metric.lower, metric.upper)
    between = f" ({ends[0]:.12g} to {ends[1]:.12g})" if ends else ""
    return f"{metric.value:.12g}{between}".replace("-", "−")
