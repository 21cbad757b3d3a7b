"""Forest plot of subgroups: a metric in each subgroup beside its value for all cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.charts.chart import GREY, Chart, Record, layer, names_down, quantitative, quantity, tooltip


@dataclass(frozen=True)
class ForestValue:
    """The value of a metric in a subgroup; its number of cases and 95 % interval where they are known."""

    column: str
    group: str
    value: float
    cases: int | None = None
    lower: float | None = None
    upper: float | None = None


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
    told = [*tooltip("label", numbers=("value", "lower", "upper")), quantitative("cases")]
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
    return name if one.cases is None else f"{name} (n\u00a0=\u00a0{one.cases})"
