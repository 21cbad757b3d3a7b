"""Significance map: which team is significantly better than which, in one metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.charts.chart import Chart
from evaluation.charts.encodings import category, names_down, tooltip
from evaluation.charts.theme import GREY

Verdict = Literal["row is better", "column is better", "no significant difference", "not tested"]
_SIGNS: dict[Verdict, tuple[str, str]] = {
    "row is better": ("▲", "#F0E442"),
    "column is better": ("▽", "#56B4E9"),
    "no significant difference": ("·", "#f2f2f2"),
    "not tested": ("?", "#ffffff"),
}
_OPPOSITE: dict[Verdict, Verdict] = {
    "row is better": "column is better",
    "column is better": "row is better",
}


@dataclass(frozen=True)
class TestedPair:
    """Two teams, the test's outcome for the team of the row, and its corrected p-value, if any."""

    __test__ = False

    row: str
    column: str
    verdict: Verdict
    difference: float
    p_value: float | None


def significance_chart(
    name: str, title: str, description: str, pairs: Sequence[TestedPair], teams: Sequence[str], follows: str
) -> Chart:
    """Return the map of all pairs; rows and columns are the teams in the order given."""
    both = [*pairs, *map(_turned, pairs)]
    position = {team: number for number, team in enumerate(teams)}
    cells = [
        {**vars(pair), "sign": _SIGNS[pair.verdict][0]}
        for pair in sorted(both, key=lambda pair: (position[pair.row], position[pair.column]))
    ]
    colour = {
        "field": "verdict",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(_SIGNS), "range": [colour for _, colour in _SIGNS.values()]},
        "legend": {"symbolStrokeColor": GREY, "symbolType": "square"},
    }
    # A domain takes names unchanged; a sort order would put them into an expression.
    scale = {"scale": {"domain": list(teams)}}
    x = category("column", axis={"labelAngle": -45, "labelLimit": 110, "title": None})
    layers = [
        {
            "mark": {"type": "rect", "stroke": GREY, "strokeWidth": 0.5},
            "encoding": {
                "color": colour,
                "tooltip": tooltip("row", "column", "verdict", numbers=("difference", "p_value"), digits=4),
            },
        },
        {
            "mark": {"type": "text", "fontSize": 11, "color": "#000000", "tooltip": None},
            "encoding": {"text": {"field": "sign", "type": "nominal"}},
        },
    ]
    specification = {
        "data": {"name": "pairs"},
        "encoding": {"x": {**x, **scale}, "y": {**names_down("row"), **scale}},
        "layer": layers,
        "height": 26 * len(teams),
    }
    return Chart(name, title, description, {"pairs": cells}, specification, follows)


def _turned(pair: TestedPair) -> TestedPair:
    verdict = _OPPOSITE.get(pair.verdict, pair.verdict)
    return TestedPair(pair.column, pair.row, verdict, -pair.difference, pair.p_value)
