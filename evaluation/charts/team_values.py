"""Dot plot of one value by team, with its interval: places of a ranking, or a metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.charts.chart import Chart, Record
from evaluation.charts.encodings import names_down, quantity, tooltip
from evaluation.charts.teams import ROW_HEIGHT, TeamMarks, team_colour, team_shape


@dataclass(frozen=True)
class TeamValue:
    """The value of a team and the ends of its interval, None without one."""

    team: str
    value: float
    lower: float | None = None
    upper: float | None = None


def team_values_chart(
    name: str,
    title: str,
    description: str,
    values: Sequence[TeamValue],
    marks: TeamMarks,
    axis_title: str,
    follows: str = "",
    domain: tuple[float, float] | None = None,
) -> Chart:
    """Return the chart of values by team, from top to bottom in the order given."""
    y = {**names_down("team"), "scale": {"domain": [one.team for one in values]}}
    told = tooltip("team", numbers=("value", "lower", "upper"))
    layers: list[Record] = [
        {
            "data": {"name": "teams"},
            "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
            "encoding": {
                "x": quantity("value", axis_title, domain),
                "y": y,
                "color": team_colour(marks),
                "shape": team_shape(marks),
                "tooltip": told,
            },
        },
    ]
    data: dict[str, Sequence[Record]] = {"teams": [vars(one) for one in values]}
    if intervals := [vars(one) for one in values if one.lower is not None]:
        data["intervals"] = intervals
        # Below the points, so that these get the tooltip.
        layers.insert(
            0,
            {
                "data": {"name": "intervals"},
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {
                    "x": quantity("lower", axis_title, domain),
                    "x2": {"field": "upper"},
                    "y": y,
                    "color": team_colour(marks),
                    "tooltip": told,
                },
            },
        )
    return Chart(
        name, title, description, data, {"layer": layers, "height": ROW_HEIGHT * len(values)}, follows
    )
