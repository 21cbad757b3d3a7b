"""Charts of teams: values with intervals, changes, subgroups, places and their stability, podium."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.charts import chart as vl
from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.difficulty import SubgroupTest
from evaluation.organiser.ranking.stability import PlaceDistribution
from evaluation.phase.places import Better, competition_ranks

# --- Colours, shapes and dashes of teams, the same in every figure ---

TeamMarks = Mapping[str, vl.MarkStyle]
ROW_HEIGHT = 26
"""Height of the line of a team, in pixels."""


_POINT = {"type": "point", "filled": True, "size": 90, "opacity": 1}


def _by_team(marks: TeamMarks, part: vl.MarkPart, *, legend: bool = False) -> dict[str, Any]:
    """Return the encoding of the colours, shapes or dashes of teams by the column "team"."""
    hidden = {} if legend else {"legend": None}
    return vl.nominal("team", title=None, scale=vl.scale_of(marks, part), **hidden)


def _whole(last: int) -> dict[str, Any]:
    """Return the axis of whole numbers from 1 to the last one."""
    return {"values": list(range(1, last + 1)), "format": "d"}


# --- Dot plot of one value by team, with its interval ---


def team_values_chart(
    name: str,
    title: str,
    description: str,
    values: Sequence[vl.Estimated],
    marks: TeamMarks,
    axis_title: str,
) -> vl.Chart:
    """Return the chart of values by team, from top to bottom in the order given."""
    x, lower = (vl.quantity(field, axis_title) for field in ("value", "lower"))
    rows = [one.row("team") for one in values]
    drawn: dict[str, Any] = {
        "y": {**vl.names_down("team"), "scale": {"domain": [one.name for one in values]}},
        "color": _by_team(marks, "colour"),
        "tooltip": vl.tooltip("team", numbers=("value", "lower", "upper")),
    }
    layers = [
        # Below the points, so that these get the tooltip.
        vl.interval_layer(rows, lower, **drawn),
        vl.layer("teams", rows, _POINT, x=x, **drawn, shape=_by_team(marks, "shape")),
    ]
    return vl.Chart.of(name, title, description, layers, ROW_HEIGHT * len(values))


# --- Values against times by team, with the front of those that no other team beats in both ---


def times_chart(
    name: str,
    title: str,
    description: str,
    values: Sequence[vl.Estimated],
    seconds: Mapping[str, float],
    front: Collection[str],
    marks: TeamMarks,
    axis_title: str,
) -> vl.Chart:
    """Return the chart of values and intervals against seconds per case, on a logarithmic axis.

    ``front``: the teams through which the line of the front goes, with their names.
    """
    rows = [one.row("team") | {"seconds": seconds[one.name]} for one in values]
    rows.sort(key=lambda row: row["seconds"])
    on_front = [row for row in rows if row["team"] in front]
    x = {**vl.quantity("seconds", "seconds per case"), "scale": {"type": "log"}}
    y, lower = (vl.quantity(field, axis_title) for field in ("value", "lower"))
    colour, shape = _by_team(marks, "colour", legend=True), _by_team(marks, "shape", legend=True)
    told = vl.tooltip("team", numbers=("value", "lower", "upper", "seconds"))
    line = {**vl.COMPARED, "type": "line", "interpolate": "step-after"}
    layers = [
        vl.layer("front", on_front, line, x=x, y=y),
        vl.interval_layer(rows, lower, "y", x=x, color=colour),
        vl.layer("teams", rows, _POINT, x=x, y=y, color=colour, shape=shape, tooltip=told),
    ]
    return vl.Chart.of(name, title, description, layers, 300)


# --- Means of two subgroups by team, joined by a line ---


def subgroup_means_chart(
    name: str,
    title: str,
    groups: tuple[str, str],
    tests: Sequence[SubgroupTest],
    axis_title: str,
) -> vl.Chart:
    """Return the chart of the two means of every team; ``groups`` names the first and the second subgroup."""
    points = [
        {"team": one.team, "group": group, "value": value, "p_value": one.p_value}
        for one in tests
        for group, value in zip(groups, (one.first_mean, one.second_mean), strict=True)
    ]
    lines = [{"team": one.team, "first": one.first_mean, "second": one.second_mean} for one in tests]
    line = {"type": "rule", "color": vl.GREY, "strokeWidth": 2, "tooltip": None}
    colour, shape = (
        vl.nominal("group", title=None, scale={"domain": list(groups), "range": ends})
        for ends in ([vl.BLUE, vl.OCHRE], ["circle", "diamond"])
    )
    told = vl.tooltip("team", "group", numbers=("value", "p_value"))
    x, first = (vl.quantity(field, axis_title) for field in ("value", "first"))
    layers = [
        vl.layer("lines", lines, line, x=first, x2={"field": "second"}),
        vl.layer("means", points, _POINT, x=x, color=colour, shape=shape, tooltip=told),
    ]
    described = (
        "The mean over the cases of each subgroup. The p-value that is shown for a point is that of the "
        "rank-sum test within the team, not corrected for the number of teams."
    )
    down, height = {"y": vl.names_down("team")}, ROW_HEIGHT * len(tests)
    return vl.Chart.of(name, title, described, layers, height, shared=down)


# --- Line plot of robustness: the places of the teams under several ranking schemes ---


def place_lines_chart(
    name: str,
    title: str,
    description: str,
    places: Mapping[str, Mapping[str, int]],
    marks: TeamMarks,
) -> vl.Chart:
    """Return the lines of places by scheme and team; schemes from left to right in the order given."""
    rows: list[vl.Record] = [
        {"scheme": scheme, "team": team, "place": place}
        for scheme, of_teams in places.items()
        for team, place in of_teams.items()
    ]
    last = max(row["place"] for row in rows)
    schemes = list(places)
    wide = len(schemes) > _MOST_LEVEL
    labels: dict[str, Any] = {"title": None, "labelLimit": 250, "labelOverlap": False}
    labels |= {"labelAngle": -40} if wide else {"labelAngle": 0, "labelExpr": vl.wrapped_label(14)}
    scale = {"domain": [0.5, last + 0.5], "reverse": True, "nice": False}
    shared = {
        "x": vl.category("scheme", axis=labels, scale={"type": "point", "padding": 0.3, "domain": schemes}),
        "y": vl.quantitative("place", title="place", scale=scale, axis=_whole(last)),
    }
    drawn = {
        "color": _by_team(marks, "colour", legend=True),
        "tooltip": vl.tooltip("team", "scheme", "place"),
    }
    dash, shape = (_by_team(marks, part, legend=True) for part in ("dash", "shape"))
    layers = [
        vl.layer("places", rows, {"type": "line"}, **drawn, strokeDash=dash),
        vl.layer("places", rows, {**_POINT, "size": 55}, **drawn, shape=shape),
    ]
    least = 110 * len(schemes) if len(schemes) > 3 else 0
    return vl.Chart.of(name, title, description, layers, max(220, 20 * last), least, shared=shared, wide=wide)


_MOST_LEVEL = 3
"""Of more schemes the names are slanted, and the figure is wide."""


# --- Podium plot: the values of all teams in every case, arranged by their rank in that case ---

MOST_VALUES = 8_000
"""A podium plot of more values shows nothing; the ranks of the cases are counted in a heat map, too."""
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
) -> vl.Chart:
    """Return the podium plot of values of shape (teams, cases), all finite; at least one of each."""
    ranks = ranks_by_case(values, better)
    position = np.arange(len(teams))[:, np.newaxis] + 0.5
    places = ranks + _WIDTH * (position / len(teams) - 0.5)
    rows = [
        {"team": team, "case": case, "rank": int(ranks[i, j])}
        | {"position": round(float(places[i, j]), 3), "value": float(values[i, j])}
        for i, team in enumerate(teams)
        for j, case in enumerate(cases)
    ]
    axis = {**_whole(len(teams)), "grid": False}
    x = vl.quantity("position", "rank in the case", (0.5, len(teams) + 0.5), axis=axis)
    y = vl.quantity("value", axis_title)
    rule = {"type": "rule", "color": vl.GREY, "opacity": 0.4, "tooltip": None}
    between = [{"position": place + 0.5} for place in range(1, len(teams))]
    line = {"type": "line", "strokeWidth": 1, "tooltip": None}
    of_case = {
        "detail": vl.nominal("case"),
        "order": vl.quantitative("position"),
        "color": vl.if_selected(vl.VERMILION, {"value": vl.GREY}),
        "opacity": vl.if_selected(1, {"value": round(max(0.04, min(0.2, 20 / len(cases))), 3)}),
    }
    of_team = {
        "color": _by_team(marks, "colour", legend=True),
        "shape": _by_team(marks, "shape", legend=True),
        "size": vl.if_selected(160, {"value": round(max(8, min(40, 40_000 / values.size)))}),
        "tooltip": vl.tooltip("case", "team", "rank", numbers=("value",)),
    }
    point = {"type": "point", "filled": True, "cursor": "pointer", "opacity": 1}
    layers = [
        vl.layer("separators", between, rule, x=x),
        vl.layer("values", rows, line, x=x, y=y, **of_case),
        vl.layer("values", rows, point, x=x, y=y, **of_team),
    ]
    described = (
        "A dot is the value of a team in a case; a thin line joins the teams of one case. "
        "Cases are arranged by the rank that the team has in them, and by team within a rank."
    )
    width = 26 * len(teams)
    return vl.Chart.of(name, title, described, layers, 420, width, single_cases=True, wide=True)


# --- Blob plot: how often each team takes each place when the cases are resampled ---


def blob_chart(name: str, title: str, places: Mapping[str, PlaceDistribution], marks: TeamMarks) -> vl.Chart:
    """Return the blob plot, teams from top to bottom in the order given; at least one team."""
    last = max(place for one in places.values() for place in one.probabilities)
    blobs = [
        {"team": team, "place": place, "share": share}
        for team, one in places.items()
        for place, share in sorted(one.probabilities.items())
    ]
    spans = [
        {"team": team, "lower": one.lower, "median": one.median, "upper": one.upper}
        for team, one in places.items()
    ]
    lower, place, median = (
        vl.quantity(field, "place", (0.5, last + 0.5), axis=_whole(last))
        for field in ("lower", "place", "median")
    )
    told = vl.tooltip("team", "lower", "median", "upper")
    cross = {"type": "point", "shape": "cross", "filled": True, "style": vl.INK, "size": 80, "opacity": 1}
    scale, legend = {"domain": [0, 1], "range": [0, 480]}, {"values": [0.1, 0.5, 1], "format": "%"}
    of_blob = {
        "color": _by_team(marks, "colour"),
        "size": vl.quantitative("share", title="share of the resamples", scale=scale, legend=legend),
        "tooltip": vl.tooltip("team", "place", numbers=("share",)),
    }
    span = {"type": "rule", "strokeWidth": 1.5}
    layers = [
        vl.layer("spans", spans, span, x=lower, x2={"field": "upper"}, tooltip=told),
        vl.layer("blobs", blobs, {"type": "circle", "opacity": 1}, x=place, **of_blob),
        vl.layer("spans", spans, cross, x=median, tooltip=told),
    ]
    described = (
        "The area of a blob is the share of the resamples in which the team takes the place; a cross is "
        "the median, a line the 95 % interval."
    )
    down, height = {"y": vl.names_down("team")}, ROW_HEIGHT * len(places)
    return vl.Chart.of(name, title, described, layers, height, 420, shared=down)
