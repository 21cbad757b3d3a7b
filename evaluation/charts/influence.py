"""Bars of the cases whose removal moves the most teams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.charts.chart import Chart, point_of_case
from evaluation.charts.encodings import names_down, tooltip
from evaluation.charts.theme import BLUE


@dataclass(frozen=True)
class CaseInfluence:
    """The effect of leaving out a case: number of moved teams, largest move, and the winners."""

    case: str
    teams_moved: int
    max_move: int
    winners: str


def influence_chart(name: str, title: str, influences: Sequence[CaseInfluence]) -> Chart:
    """Return the bars of influential cases, from top to bottom in the order given."""
    specification = {
        "data": {"name": "cases"},
        "mark": {"type": "bar", "cursor": "pointer"},
        "encoding": {
            "x": {
                "field": "teams_moved",
                "type": "quantitative",
                "title": "teams that change their place",
                "axis": {"format": "d", "tickMinStep": 1},
            },
            "y": names_down("case"),
            "color": point_of_case(BLUE)["color"],
            "tooltip": tooltip("case", "teams_moved", "max_move", "winners"),
        },
        "height": 20 * len(influences),
    }
    return Chart(
        name,
        title,
        "Each case is left out once, and the teams are ranked again. Without a case that is not shown, fewer "
        "teams move.",
        {"cases": [vars(one) for one in influences]},
        specification,
        single_cases=True,
    )
