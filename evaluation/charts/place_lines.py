"""Line plot of robustness: the places of the teams under several ranking schemes."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.charts.chart import Chart, Record
from evaluation.charts.encodings import category, quantity, tooltip
from evaluation.charts.teams import TeamMarks, team_colour, team_dash, team_shape


def place_lines_chart(
    name: str,
    title: str,
    description: str,
    places: Mapping[str, Mapping[str, int]],
    marks: TeamMarks,
    follows: str = "",
) -> Chart:
    """Return the lines of places by scheme and team; schemes from left to right in the order given."""
    rows: list[Record] = [
        {"scheme": scheme, "team": team, "place": place}
        for scheme, of_teams in places.items()
        for team, place in of_teams.items()
    ]
    last = max(row["place"] for row in rows)
    encoding = {
        "x": category(
            "scheme", axis={"title": None, "labelAngle": -40, "labelLimit": 300, "labelOverlap": False}
        ),
        "y": quantity(
            "place",
            "place",
            scale={"domain": [0.5, last + 0.5], "reverse": True, "nice": False},
            axis={"values": list(range(1, last + 1)), "format": "d"},
        ),
        "color": team_colour(marks, legend=True),
        "tooltip": tooltip("team", "scheme", "place"),
    }
    layers = [
        {
            "mark": {"type": "line", "opacity": 0.8},
            "encoding": {"strokeDash": team_dash(marks, legend=True)},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
            "encoding": {"shape": team_shape(marks, legend=True)},
        },
    ]
    specification = {
        "data": {"name": "places"},
        "encoding": encoding,
        "layer": layers,
        "height": max(220, 20 * last),
    }
    return Chart(name, title, description, {"places": rows}, specification, follows)
