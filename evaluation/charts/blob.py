"""Blob plot: how often each team takes each place when the cases are resampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.charts.chart import Chart
from evaluation.charts.encodings import names_down, quantity, tooltip
from evaluation.charts.teams import ROW_HEIGHT, TeamMarks, team_colour
from evaluation.charts.theme import INK


@dataclass(frozen=True)
class Places:
    """The places of a team: its shares of the resamples by place, the median and the 95 % interval."""

    team: str
    shares: Mapping[int, float]
    lower: int
    median: int
    upper: int


def blob_chart(name: str, title: str, places: Sequence[Places], marks: TeamMarks, follows: str = "") -> Chart:
    """Return the blob plot, teams from top to bottom in the order given; at least one team."""
    last = max(place for one in places for place in one.shares)
    blobs = [
        {"team": one.team, "place": place, "share": share}
        for one in places
        for place, share in sorted(one.shares.items())
    ]
    spans = [
        {"team": one.team, "lower": one.lower, "median": one.median, "upper": one.upper} for one in places
    ]
    domain = (0.5, last + 0.5)
    ticks = {"values": list(range(1, last + 1)), "format": "d"}
    told = tooltip("team", "lower", "median", "upper")
    layers = [
        {
            "data": {"name": "spans"},
            "mark": {"type": "rule", "strokeWidth": 1.5},
            "encoding": {
                "x": quantity("lower", "place", domain, axis=ticks),
                "x2": {"field": "upper"},
                "tooltip": told,
            },
        },
        {
            "data": {"name": "blobs"},
            "mark": {"type": "circle", "opacity": 0.85},
            "encoding": {
                "x": quantity("place", "place", domain, axis=ticks),
                "color": team_colour(marks),
                "size": {
                    "field": "share",
                    "type": "quantitative",
                    "title": "share of the resamples",
                    "scale": {"domain": [0, 1], "range": [0, 480]},
                    "legend": {"values": [0.1, 0.5, 1], "format": "%"},
                },
                "tooltip": tooltip("team", "place", numbers=("share",)),
            },
        },
        {
            "data": {"name": "spans"},
            "mark": {"type": "point", "shape": "cross", "filled": True, "style": INK, "size": 45},
            "encoding": {"x": quantity("median", "place", domain, axis=ticks), "tooltip": told},
        },
    ]
    return Chart(
        name,
        title,
        "The area of a blob is the share of the resamples in which the team takes the place; a cross is the "
        "median, a line the 95 % interval.",
        {"blobs": blobs, "spans": spans},
        {
            "encoding": {"y": names_down("team")},
            "layer": layers,
            "height": ROW_HEIGHT * len(places),
        },
        follows,
    )
