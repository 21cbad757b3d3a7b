"""Dendrogram: which rankings are similar, as a tree of joined groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.charts.chart import Chart, Record
from evaluation.charts.encodings import quantity
from evaluation.charts.theme import BLUE


@dataclass(frozen=True)
class Join:
    """Two groups of leaves that are joined at a distance; a group is one leaf or was joined before."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    distance: float


def dendrogram_chart(
    name: str, title: str, description: str, joins: Sequence[Join], axis_title: str, follows: str = ""
) -> Chart:
    """Return the tree of at least one join; the last one holds all leaves."""
    leaves = (*joins[-1].first, *joins[-1].second)
    # Where the line of a group begins: its height in the figure, and its distance.
    ends: dict[frozenset[str], tuple[float, float]] = {
        frozenset((leaf,)): (float(position), 0.0) for position, leaf in enumerate(leaves)
    }
    lines: list[Record] = []
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
    domain = [-0.6, len(leaves) - 0.6]
    y: Record = {"type": "quantitative", "axis": None, "scale": {"domain": domain, "reverse": True}}
    widest = max(join.distance for join in joins) or 1.0
    layers = [
        {
            "data": {"name": "lines"},
            "mark": {"type": "rule", "color": BLUE, "strokeWidth": 2, "tooltip": None},
            "encoding": {
                "x": quantity("x", axis_title, (0, widest)),
                "x2": {"field": "x_end"},
                "y": {"field": "y", **y},
                "y2": {"field": "y_end"},
            },
        },
        {
            "data": {"name": "leaves"},
            "mark": {"type": "text", "align": "left", "x": 6, "limit": 240, "tooltip": None},
            "encoding": {"y": {"field": "y", **y}, "text": {"field": "leaf", "type": "nominal"}},
        },
    ]
    data: dict[str, Sequence[Record]] = {"lines": lines, "leaves": names}
    return Chart(name, title, description, data, {"layer": layers, "height": 60 + 40 * len(leaves)}, follows)
