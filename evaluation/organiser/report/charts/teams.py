"""Charts of teams: values with intervals, changes, subgroups, places and their stability, podium."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.charts import chart as vl
from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.difficulty import SubgroupTest
from evaluation.organiser.ranking.stability import PlaceDistribution
from evaluation.organiser.report.charts.encodings import if_selected
from evaluation.phase.places import Better, competition_ranks

# --- Colours, shapes and dashes of teams, the same in every figure ---

TeamMarks = Mapping[str, vl.MarkStyle]
ROW_HEIGHT = 26
"""Height of the line of a team, in pixels."""


_POINT = {"type": "point", "filled": True, "size": 90, "opacity": 1}
_INTERVAL = {"type": "rule", "strokeWidth": 2}
_COMPARED = {"color": vl.GREY, "strokeDash": [4, 3], "tooltip": None}


def _by_team(marks: TeamMarks, part: vl.MarkPart, *, legend: bool = False) -> dict[str, Any]:
    """Return the encoding of the colours, shapes or dashes of teams by the column "team"."""
    hidden = {} if legend else {"legend": None}
    return vl.nominal("team", title=None, scale=vl.scale_of(marks, part), **hidden)


def _teams_down(teams: Iterable[str]) -> dict[str, Any]:
    """Return the encoding of teams from top to bottom in the order given."""
    return {**vl.names_down("team"), "scale": {"domain": list(teams)}}


# --- Dot plot of one value by team, with its interval: places of a ranking, or a metric ---


def team_values_chart(
    name: str,
    title: str,
    description: str,
    values: Sequence[vl.Estimated],
    marks: TeamMarks,
    axis_title: str,
    follows: str = "",
    places: int | None = None,
    line: float | None = None,
) -> vl.Chart:
    """Return the chart of values by team, from top to bottom in the order given.

    ``places`` is the last place where the values are places, for an axis of whole numbers. ``line``: a value
    to compare with, drawn dashed.
    """
    domain = None if places is None else (0.5, places + 0.5)
    whole = {} if places is None else {"axis": {"values": list(range(1, places + 1)), "format": "d"}}
    x, lower = (vl.quantity(field, axis_title, domain, **whole) for field in ("value", "lower"))
    told = vl.tooltip("team", numbers=("value", "lower", "upper"))
    rows = [one.row("team") for one in values]
    data: dict[str, Sequence[vl.Record]] = {"teams": rows}
    shared = {"y": _teams_down(one.name for one in values), "color": _by_team(marks, "colour")}
    layers: list[vl.Record] = []
    if line is not None:
        data["line"] = [{"value": line}]
        layers.append(vl.layer("line", {"type": "rule", **_COMPARED}, x=x))
    if intervals := [row for row in rows if row["lower"] is not None]:
        data["intervals"] = intervals
        # Below the points, so that these get the tooltip.
        layers.append(
            vl.layer("intervals", _INTERVAL, x=lower, x2={"field": "upper"}, **shared, tooltip=told)
        )
    layers.append(vl.layer("teams", _POINT, x=x, **shared, shape=_by_team(marks, "shape"), tooltip=told))
    figure = {"layer": layers, "height": ROW_HEIGHT * len(values)}
    return vl.Chart(name, title, description, data, figure, follows)


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
    data: dict[str, Sequence[vl.Record]] = {"front": on_front, "teams": rows}
    x = {**vl.quantity("seconds", "seconds per case"), "scale": {"type": "log"}}
    y = vl.quantity("value", axis_title)
    colour, shape = _by_team(marks, "colour", legend=True), _by_team(marks, "shape", legend=True)
    told = vl.tooltip("team", numbers=("value", "lower", "upper", "seconds"))
    line = {"type": "line", "interpolate": "step-after", **_COMPARED}
    layers: list[vl.Record] = [vl.layer("front", line, x=x, y=y)]
    if intervals := [row for row in rows if row["lower"] is not None]:
        data["intervals"] = intervals
        between = {"y": vl.quantity("lower", axis_title), "y2": {"field": "upper"}}
        layers.append(vl.layer("intervals", _INTERVAL, x=x, **between, color=colour))
    layers.append(vl.layer("teams", _POINT, x=x, y=y, color=colour, shape=shape, tooltip=told))
    return vl.Chart(name, title, description, data, {"layer": layers, "height": 300})


# --- Means of two subgroups by team, joined by a line ---


def subgroup_means_chart(
    name: str,
    title: str,
    groups: tuple[str, str],
    tests: Sequence[SubgroupTest],
    axis_title: str,
    follows: str = "",
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
    x = vl.quantity("value", axis_title)
    layers = [
        vl.layer("lines", line, x=vl.quantity("first", axis_title), x2={"field": "second"}),
        vl.layer("means", _POINT, x=x, color=colour, shape=shape, tooltip=told),
    ]
    described = (
        "The mean over the cases of each subgroup. The p-value that is shown for a point is that of the "
        "rank-sum test within the team, not corrected for the number of teams."
    )
    figure = {"encoding": {"y": vl.names_down("team")}, "layer": layers, "height": ROW_HEIGHT * len(tests)}
    return vl.Chart(name, title, described, {"means": points, "lines": lines}, figure, follows)


# --- Line plot of robustness: the places of the teams under several ranking schemes ---


def place_lines_chart(
    name: str,
    title: str,
    description: str,
    places: Mapping[str, Mapping[str, int]],
    marks: TeamMarks,
    follows: str = "",
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
    angle = -40 if wide else 0
    labels: dict[str, Any] = {"title": None, "labelAngle": angle, "labelLimit": 250, "labelOverlap": False}
    labels |= {} if wide else {"labelExpr": vl.wrapped_label(14)}
    # Room for the names at both ends, in steps between two schemes.
    room = {"type": "point", "padding": max(0.3, 0.3 * (len(schemes) - 1))}
    scale = {"domain": [0.5, last + 0.5], "reverse": True, "nice": False}
    ticks = {"values": list(range(1, last + 1)), "format": "d"}
    encoding = {
        "x": vl.category("scheme", axis=labels, scale={**room, "domain": schemes}),
        "y": vl.quantitative("place", title="place", scale=scale, axis=ticks),
    }
    drawn = {"color": _by_team(marks, "colour"), "tooltip": vl.tooltip("team", "scheme", "place")}
    line = {"type": "line"}
    layers = [
        vl.layer("places", line, **drawn, strokeDash=_by_team(marks, "dash")),
        vl.layer("places", {**_POINT, "size": 55}, **drawn, shape=_by_team(marks, "shape")),
    ]
    data: dict[str, Sequence[vl.Record]] = {"places": rows}
    for table, scheme, text in (
        ("first", schemes[0], {"align": "right", "dx": -9}),
        ("last", schemes[-1], {"align": "left", "dx": 9}),
    ):
        data[table] = [
            {"scheme": scheme, "place": place, "names": _few([team for team in of if of[team] == place])}
            for of in [places[scheme]]
            for place in sorted(set(of.values()))
        ]
        mark = {"type": "text", "limit": {"expr": "width * 0.18 - 12"}, "fontSize": 11, **text}
        layers.append(vl.layer(table, mark, text=vl.nominal("names"), tooltip=vl.nominal("names")))
    least = {"leastWidth": 110 * len(schemes) if len(schemes) > 3 else 0}
    specification = {"encoding": encoding, "layer": layers, "height": max(220, 20 * last), "usermeta": least}
    return vl.Chart(name, title, description, data, specification, follows, wide=wide)


def _few(teams: Sequence[str]) -> str:
    """Return the names of teams that share a place, of many the first one and the number of the others."""
    return ", ".join(teams) if len(teams) < 3 else f"{teams[0]} + {len(teams) - 1}"


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
    follows: str = "",
) -> vl.Chart:
    """Return the podium plot of values of shape (teams, cases), all finite; at least one of each."""
    ranks = ranks_by_case(values, better)
    position = np.arange(len(teams))[:, np.newaxis] + 0.5
    places = ranks + _WIDTH * (position / len(teams) - 0.5)
    rows = _points(values, ranks, places, teams, cases)
    ticks = list(range(1, len(teams) + 1))
    axis = {"values": ticks, "format": "d", "grid": False}
    x = vl.quantity("position", "rank in the case", (0.5, len(teams) + 0.5), axis=axis)
    y = vl.quantity("value", axis_title)
    rule = {"type": "rule", "color": vl.GREY, "opacity": 0.4, "tooltip": None}
    separators = vl.layer("separators", rule, x=x)
    encoding: vl.Record = {"x": x, "y": y, "color": _by_team(marks, "colour", legend=True)}
    line = {"type": "line", "strokeWidth": 1, "tooltip": None}
    by_case = {"detail": vl.nominal("case"), "order": vl.quantitative("position")}
    colour = if_selected("case", vl.VERMILION, {"value": vl.GREY})
    faint = if_selected("case", 1, {"value": round(max(0.04, min(0.2, 20 / len(cases))), 3)})
    layers: list[vl.Record] = [
        separators,
        vl.layer("values", line, x=x, y=y, **by_case, color=colour, opacity=faint),
        vl.layer(
            "values",
            {"type": "point", "filled": True, "cursor": "pointer", "opacity": 1},
            **encoding,
            shape=_by_team(marks, "shape", legend=True),
            size=if_selected("case", 160, {"value": round(max(8, min(40, 40_000 / values.size)))}),
            tooltip=vl.tooltip("case", "team", "rank", numbers=("value",)),
        ),
    ]
    described = (
        "A dot is the value of a team in a case; a thin line joins the teams of one case. "
        "Cases are arranged by the rank that the team has in them, and by team within a rank."
    )
    data: dict[str, Sequence[vl.Record]] = {
        "values": rows,
        "separators": [{"position": tick + 0.5} for tick in ticks[:-1]] or [{"position": 0.5}],
    }
    specification = {"layer": layers, "height": 420, "usermeta": {"leastWidth": 26 * len(teams)}}
    return vl.Chart(name, title, described, data, specification, follows, single_cases=True, wide=True)


def _points(
    values: Floats, ranks: NDArray[np.int64], places: Floats, teams: Sequence[str], cases: Sequence[str]
) -> list[vl.Record]:
    return [
        {"team": team, "case": case, "rank": int(ranks[i, j])}
        | {"position": round(float(places[i, j]), 3), "value": float(values[i, j])}
        for i, team in enumerate(teams)
        for j, case in enumerate(cases)
    ]


# --- Blob plot: how often each team takes each place when the cases are resampled ---


def blob_chart(
    name: str, title: str, places: Mapping[str, PlaceDistribution], marks: TeamMarks, follows: str = ""
) -> vl.Chart:
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
    ticks = {"values": list(range(1, last + 1)), "format": "d"}
    lower, place, median = (
        vl.quantity(name, "place", (0.5, last + 0.5), axis=ticks) for name in ("lower", "place", "median")
    )
    told = vl.tooltip("team", "lower", "median", "upper")
    cross = {"type": "point", "shape": "cross", "filled": True, "style": vl.INK, "size": 80, "opacity": 1}
    scale, legend = {"domain": [0, 1], "range": [0, 480]}, {"values": [0.1, 0.5, 1], "format": "%"}
    size = vl.quantitative("share", title="share of the resamples", scale=scale, legend=legend)
    drawn = {"color": _by_team(marks, "colour"), "size": size}
    of_blob = vl.tooltip("team", "place", numbers=("share",))
    layers = [
        vl.layer("spans", {"type": "rule", "strokeWidth": 1.5}, x=lower, x2={"field": "upper"}, tooltip=told),
        vl.layer("blobs", {"type": "circle", "opacity": 1}, x=place, **drawn, tooltip=of_blob),
        vl.layer("spans", cross, x=median, tooltip=told),
    ]
    described = (
        "The area of a blob is the share of the resamples in which the team takes the place; a cross is "
        "the median, a line the 95 % interval."
    )
    data: dict[str, Sequence[vl.Record]] = {"blobs": blobs, "spans": spans}
    figure = {"encoding": {"y": vl.names_down("team")}, "layer": layers, "height": ROW_HEIGHT * len(places)}
    return vl.Chart(name, title, described, data, {**figure, "usermeta": {"leastWidth": 420}}, follows)
