"""Dot plot of two values by team, before and now, joined by a line (a dumbbell plot)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.charts.chart import Chart, Record
from evaluation.charts.encodings import names_down, quantity, tooltip
from evaluation.charts.teams import ROW_HEIGHT, TeamMarks, team_colour


@dataclass(frozen=True)
class ValueChange:
    """The value of a team before and now, None where there was or is none."""

    team: str
    before: float | None
    now: float | None


def value_changes_chart(
    name: str,
    title: str,
    description: str,
    changes: Sequence[ValueChange],
    marks: TeamMarks,
    axis_title: str,
) -> Chart:
    """Return the chart of changes by team, from top to bottom in the order given.

    A hollow circle is the value before, a full one the value now.
    """
    y = {**names_down("team"), "scale": {"domain": [one.team for one in changes]}}
    both = [vars(one) for one in changes if one.before is not None and one.now is not None]
    colour = team_colour(marks)
    layers: list[Record] = []
    data: dict[str, Sequence[Record]] = {}
    if both:
        data["lines"] = both
        layers.append(
            {
                "data": {"name": "lines"},
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {
                    "x": quantity("before", axis_title),
                    "x2": {"field": "now"},
                    "y": y,
                    "color": colour,
                    "tooltip": tooltip("team", numbers=("before", "now")),
                },
            }
        )
    for when, filled in (("before", False), ("now", True)):
        data[when] = [vars(one) for one in changes if getattr(one, when) is not None]
        layers.append(
            {
                "data": {"name": when},
                "mark": {"type": "point", "shape": "circle", "size": 80, "filled": filled, "opacity": 1},
                "encoding": {
                    "x": quantity(when, axis_title),
                    "y": y,
                    "color": colour,
                    "tooltip": tooltip("team", numbers=("before", "now")),
                },
            }
        )
    return Chart(name, title, description, data, {"layer": layers, "height": ROW_HEIGHT * len(changes)})
