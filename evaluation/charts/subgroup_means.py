"""Means of two subgroups by team, joined by a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.charts.chart import Chart
from evaluation.charts.encodings import names_down, quantity, tooltip
from evaluation.charts.teams import ROW_HEIGHT
from evaluation.charts.theme import BLUE, GREY, ORANGE


@dataclass(frozen=True)
class SubgroupMeans:
    """The means of a metric in two subgroups for one team, and the p-value of their difference, if tested."""

    team: str
    first: float
    second: float
    p_value: float | None


def subgroup_means_chart(
    name: str,
    title: str,
    groups: tuple[str, str],
    means: Sequence[SubgroupMeans],
    axis_title: str,
    follows: str = "",
) -> Chart:
    """Return the chart of the two means of every team; ``groups`` names the first and the second subgroup."""
    points = [
        {"team": one.team, "group": group, "value": value, "p_value": one.p_value}
        for one in means
        for group, value in zip(groups, (one.first, one.second), strict=True)
    ]
    lines = [{"team": one.team, "first": one.first, "second": one.second} for one in means]
    by_group = {"field": "group", "type": "nominal", "title": None}
    layers = [
        {
            "data": {"name": "lines"},
            "mark": {"type": "rule", "color": GREY, "strokeWidth": 2, "tooltip": None},
            "encoding": {"x": quantity("first", axis_title), "x2": {"field": "second"}},
        },
        {
            "data": {"name": "means"},
            "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
            "encoding": {
                "x": quantity("value", axis_title),
                "color": {**by_group, "scale": {"domain": list(groups), "range": [BLUE, ORANGE]}},
                "shape": {**by_group, "scale": {"domain": list(groups), "range": ["circle", "diamond"]}},
                "tooltip": tooltip("team", "group", numbers=("value", "p_value")),
            },
        },
    ]
    return Chart(
        name,
        title,
        "The mean over the cases of each subgroup. The p-value that is shown for a point is that of the "
        "rank-sum test within the team, not corrected for the number of teams.",
        {"means": points, "lines": lines},
        {"encoding": {"y": names_down("team")}, "layer": layers, "height": ROW_HEIGHT * len(means)},
        follows,
    )
