"""Charts of how stable a ranking is: blob plot, dendrogram, influence of single cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.charts import chart as vl
from evaluation.organiser.charts.teams import ROW_HEIGHT, TeamMarks, by_team

# --- Blob plot: how often each team takes each place when the cases are resampled ---


@dataclass(frozen=True)
class TeamPlaces:
    """The places of a team: its shares of the resamples by place, the median and the 95 % interval."""

    team: str
    shares: Mapping[int, float]
    lower: int
    median: int
    upper: int


def blob_chart(
    name: str, title: str, places: Sequence[TeamPlaces], marks: TeamMarks, follows: str = ""
) -> vl.Chart:
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
    ticks = {"values": list(range(1, last + 1)), "format": "d"}
    lower, place, median = (
        vl.quantity(name, "place", (0.5, last + 0.5), axis=ticks) for name in ("lower", "place", "median")
    )
    told = vl.tooltip("team", "lower", "median", "upper")
    cross = {"type": "point", "shape": "cross", "filled": True, "style": vl.INK, "size": 80, "opacity": 1}
    layers = [
        vl.layer("spans", {"type": "rule", "strokeWidth": 1.5}, x=lower, x2={"field": "upper"}, tooltip=told),
        vl.layer(
            "blobs",
            {"type": "circle", "opacity": 0.85},
            x=place,
            color=by_team(vl.colour_scale(marks)),
            size=vl.quantitative(
                "share",
                title="share of the resamples",
                scale={"domain": [0, 1], "range": [0, 480]},
                legend={"values": [0.1, 0.5, 1], "format": "%"},
            ),
            tooltip=vl.tooltip("team", "place", numbers=("share",)),
        ),
        vl.layer("spans", cross, x=median, tooltip=told),
    ]
    return vl.Chart(
        name,
        title,
        "The area of a blob is the share of the resamples in which the team takes the place; a cross is the "
        "median, a line the 95 % interval.",
        {"blobs": blobs, "spans": spans},
        {
            "encoding": {"y": vl.names_down("team")},
            "layer": layers,
            "height": ROW_HEIGHT * len(places),
            "usermeta": {"leastWidth": 420},
        },
        follows,
    )


# --- Dendrogram: which rankings are similar, as a tree of joined groups ---


@dataclass(frozen=True)
class Join:
    """Two groups of leaves that are joined at a distance; a group is one leaf or was joined before."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    distance: float


def dendrogram_chart(
    name: str, title: str, description: str, joins: Sequence[Join], axis_title: str, follows: str = ""
) -> vl.Chart:
    """Return the tree of at least one join; the last one holds all leaves."""
    leaves = (*joins[-1].first, *joins[-1].second)
    # Where the line of a group begins: its height in the figure, and its distance.
    ends: dict[frozenset[str], tuple[float, float]] = {
        frozenset((leaf,)): (float(position), 0.0) for position, leaf in enumerate(leaves)
    }
    lines: list[vl.Record] = []
    for join in joins:
        (first, first_from), (second, second_from) = (ends[frozenset(g)] for g in (join.first, join.second))
        at = join.distance
        lines += [
            {"x": first_from, "x_end": at, "y": first, "y_end": first},
            {"x": second_from, "x_end": at, "y": second, "y_end": second},
            {"x": at, "x_end": at, "y": first, "y_end": second},
        ]
        ends[frozenset(join.first + join.second)] = ((first + second) / 2, at)
    names = [{"leaf": leaf, "y": position - 0.25} for position, leaf in enumerate(leaves)]
    scale = {"domain": [-0.6, len(leaves) - 0.6], "reverse": True}
    x = vl.quantity("x", axis_title, (0, max(join.distance for join in joins) or 1.0))
    y = vl.quantitative("y", axis=None, scale=scale)
    rule = {"type": "rule", "color": vl.BLUE, "strokeWidth": 2, "tooltip": None}
    text = {"type": "text", "align": "left", "x": 6, "limit": 240, "tooltip": None}
    layers = [
        vl.layer("lines", rule, x=x, x2={"field": "x_end"}, y=y, y2={"field": "y_end"}),
        vl.layer("leaves", text, y=y, text=vl.nominal("leaf")),
    ]
    data: dict[str, Sequence[vl.Record]] = {"lines": lines, "leaves": names}
    return vl.Chart(
        name, title, description, data, {"layer": layers, "height": 60 + 40 * len(leaves)}, follows
    )


# --- Bars of the cases whose removal moves the most teams ---


@dataclass(frozen=True)
class CaseInfluence:
    """The effect of leaving out a case: number of moved teams, largest move, and the winners."""

    case: str
    teams_moved: int
    max_move: int
    winners: str


def influence_chart(name: str, title: str, influences: Sequence[CaseInfluence]) -> vl.Chart:
    """Return the bars of influential cases, from top to bottom in the order given."""
    axis = {"format": "d", "tickMinStep": 1}
    encoding = {
        "x": vl.quantitative("teams_moved", title="teams that change their place", axis=axis),
        "y": vl.names_down("case"),
        "color": vl.point_of_case(vl.BLUE)["color"],
        "tooltip": vl.tooltip("case", "teams_moved", "max_move", "winners"),
    }
    specification = vl.layer("cases", {"type": "bar", "cursor": "pointer"}, **encoding)
    return vl.Chart(
        name,
        title,
        "Each case is left out once, and the teams are ranked again. Without a case that is not shown, fewer "
        "teams move.",
        {"cases": [vars(one) for one in influences]},
        specification | {"height": 20 * len(influences)},
        single_cases=True,
    )
