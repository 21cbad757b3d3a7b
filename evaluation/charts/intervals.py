"""Charts of metrics with their intervals: by subgroup (a forest plot), and all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.charts import chart as vl
from evaluation.charts.chart import GREY, Chart, Estimated, Record, layer, names_down, quantity, tooltip


def forest_chart(
    name: str, title: str, metric: str, overall: Estimated, subgroups: Sequence[Estimated]
) -> Chart:
    """Return the chart of a metric; the dashed line is its value over all cases."""
    rows = [one.row("label") for one in (overall, *subgroups)]
    y = names_down("label")
    x = quantity("value", metric)
    told = tooltip("label", numbers=("value", "lower", "upper"))
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
    y = {**names_down("metric"), "scale": {"domain": list(labels.values())}}
    told = tooltip("metric", numbers=("value", "lower", "upper"), digits=4)
    bar = {"type": "rule", "strokeWidth": 3, "color": GREY}
    point = {"type": "point", "filled": True, "size": 70, "opacity": 1}
    data: dict[str, Sequence[Record]] = {}
    layers: list[Record] = []
    described = "↑: higher is better, ↓: lower."
    if bars := [row for row in placed if row["lower"] is not None]:
        data["intervals"] = bars
        layers.append(layer("intervals", bar, x=lower, x2={"field": "upper"}, tooltip=told))
        described += " The bar is the 95 % interval."
        title += " with 95 % intervals"
    if placed:
        data["metrics"] = placed
        layers.append(layer("metrics", point, x=x, tooltip=told))
    if written:
        data["numbers"] = written
        number = {"type": "text", "align": "left", "x": 6, "tooltip": None}
        layers.append(layer("numbers", number, text=vl.nominal("text")))
        described += " A metric that does not go from 0 to 1 is written as a number."
    specification = {"encoding": {"y": y}, "layer": layers, "height": _ROW * len(metrics)}
    return Chart(name, title, described, data, specification, wide=True)


_ROW = 46
"""Height of a row in pixels, for labels of three lines."""


def _in_words(metric: MetricInterval) -> str:
    ends = () if metric.lower is None or metric.upper is None else (metric.lower, metric.upper)
    between = f" ({ends[0]:.12g} to {ends[1]:.12g})" if ends else ""
    return f"{metric.value:.12g}{between}".replace("-", "−")
