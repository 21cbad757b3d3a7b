"""Podium plot: the values of all teams in every case, arranged by their rank in that case."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import Chart, Record, if_selected
from evaluation.charts.encodings import quantity, tooltip
from evaluation.charts.teams import TeamMarks, team_colour, team_shape
from evaluation.charts.theme import GREY, VERMILION
from evaluation.metrics.arrays import Floats
from evaluation.ranking.methods.tied_ranks import Better, competition_ranks

MOST_POINTS = 1_200
"""Above so many values, bins replace the points and lines."""
_BINS = 24
_WIDTH = 0.8


def ranks_by_case(values: Floats, better: Better) -> NDArray[np.int64]:
    """Return the rank of every team in every case, 1 = best; equal values share the lowest rank.

    values: shape (teams, cases), all finite.
    """
    return competition_ranks(values.T, better).T


def podium_chart(
    name: str,
    title: str,
    values: Floats,
    teams: Sequence[str],
    cases: Sequence[str],
    better: Better,
    marks: TeamMarks,
    axis_title: str,
    follows: str = "",
) -> Chart:
    """Return the podium plot of values of shape (teams, cases), all finite; at least one of each."""
    ranks = ranks_by_case(values, better)
    position = np.arange(len(teams))[:, np.newaxis] + 0.5
    places = ranks + _WIDTH * (position / len(teams) - 0.5)
    few = values.size <= MOST_POINTS
    rows = _points(values, ranks, places, teams, cases) if few else _bins(values, ranks, places, teams)
    ticks = list(range(1, len(teams) + 1))
    x = quantity(
        "position",
        "rank in the case",
        (0.5, len(teams) + 0.5),
        axis={"values": ticks, "format": "d", "grid": False},
    )
    y = quantity("value", axis_title)
    separators = {
        "data": {"name": "separators"},
        "mark": {"type": "rule", "color": GREY, "opacity": 0.4, "tooltip": None},
        "encoding": {"x": {**x, "field": "position"}},
    }
    encoding: Record = {"x": x, "y": y, "color": team_colour(marks, legend=True)}
    if few:
        shared = {"x": x, "y": y}
        lines = {
            "data": {"name": "values"},
            "mark": {"type": "line", "strokeWidth": 1, "tooltip": None},
            "encoding": {
                **shared,
                "detail": {"field": "case", "type": "nominal"},
                "order": {"field": "position", "type": "quantitative"},
                "color": if_selected("case", VERMILION, {"value": GREY}),
                "opacity": if_selected("case", 1, {"value": 0.2}),
            },
        }
        points = {
            "data": {"name": "values"},
            "mark": {"type": "point", "filled": True, "cursor": "pointer", "opacity": 0.9},
            "encoding": {
                **encoding,
                "shape": team_shape(marks, legend=True),
                "size": if_selected("case", 160, {"value": 40}),
                "tooltip": tooltip("case", "team", "rank", numbers=("value",)),
            },
        }
        layers: list[Record] = [separators, lines, points]
        described = "A dot is the value of a team in a case; a thin line joins the teams of one case."
    else:
        bins = {
            "data": {"name": "values"},
            "mark": {"type": "circle", "opacity": 0.8},
            "encoding": {
                **encoding,
                "size": {
                    "field": "cases",
                    "type": "quantitative",
                    "scale": {"range": [3, 90]},
                    "legend": None,
                },
                "tooltip": tooltip("team", "rank", "cases", numbers=("value",)),
            },
        }
        layers = [separators, bins]
        described = "A dot stands for the cases of a team with similar values; its area is their number."
    described += " Cases are arranged by the rank that the team has in them, and by team within a rank."
    data: dict[str, Sequence[Record]] = {
        "values": rows,
        "separators": [{"position": tick + 0.5} for tick in ticks[:-1]] or [{"position": 0.5}],
    }
    specification = {"layer": layers, "height": 320}
    return Chart(name, title, described, data, specification, follows, single_cases=few)


def _points(
    values: Floats, ranks: NDArray[np.int64], places: Floats, teams: Sequence[str], cases: Sequence[str]
) -> list[Record]:
    return [
        {
            "team": team,
            "case": case,
            "rank": int(ranks[i, j]),
            "position": float(places[i, j]),
            "value": float(values[i, j]),
        }
        for i, team in enumerate(teams)
        for j, case in enumerate(cases)
    ]


def _bins(values: Floats, ranks: NDArray[np.int64], places: Floats, teams: Sequence[str]) -> list[Record]:
    edges = np.histogram_bin_edges(values, _BINS)
    rows: list[Record] = []
    for i, team in enumerate(teams):
        for rank in np.unique(ranks[i]).tolist():
            here = ranks[i] == rank
            counts, _ = np.histogram(values[i, here], edges)
            rows += [
                {
                    "team": team,
                    "rank": rank,
                    "position": float(places[i, here][0]),
                    "value": float(edges[k] + edges[k + 1]) / 2,
                    "cases": int(counts[k]),
                }
                for k in np.flatnonzero(counts)
            ]
    return rows
