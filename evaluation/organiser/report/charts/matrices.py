"""Charts of matrices: ranks in cases, confusion matrices, significance maps."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.charts import chart as vl
from evaluation.organiser.ranking.comparisons import Comparison

# --- Heat map: how often each team takes each rank ---

_MOST_LABELLED = 13
_ROW_HEIGHT = 26
_EVERY_LABEL = {"labelAngle": -90, "labelLimit": 110, "labelOverlap": False}


def rank_counts_chart(name: str, title: str, counts: Mapping[str, Mapping[int, int]]) -> vl.Chart:
    """Return the heat map of the numbers of cases by team and rank, from 1 to the number of teams.

    Cells are labelled where there are few ranks.
    """
    most = max(number for of_team in counts.values() for number in of_team.values())
    rows: list[vl.Record] = [
        {"row": team, "column": str(rank), "value": number, "label": str(number), "dark": number > most / 2}
        for team, of_team in counts.items()
        for rank, number in sorted(of_team.items())
    ]
    ranks = [str(rank) for rank in range(1, len(counts) + 1)]
    axis = {**_EVERY_LABEL, "labelFontSize": 10, "labelAngle": 0}
    # A domain takes names unchanged; a sort order would put them into an expression.
    x = vl.category("column", "rank in the case", axis=axis, scale={"domain": ranks})
    # An interpolation between only two colours can be read in grey, too.
    scale = {"domain": [0, most], "range": ["#f4f8fb", vl.BLUE], "interpolate": "rgb", "clamp": True}
    rectangle = {"type": "rect", "stroke": vl.GREY, "strokeWidth": 0.3}
    encoding = {
        "color": vl.quantitative("value", title="cases", scale=scale, legend={"gradientLength": 160}),
        "tooltip": vl.tooltip("row", "column", numbers=("value",), digits=0),
    }
    labelled = rows if len(ranks) <= _MOST_LABELLED else []
    layers = [vl.layer("cells", rows, rectangle, **encoding), _labels(labelled, "datum.dark", 11)]
    described = "In how many cases a team takes a rank, blank for none; equal values share the lowest rank."
    height, shared = _ROW_HEIGHT * len(counts), {"x": x, "y": vl.names_down("row")}
    least = _least_width(len(ranks))
    return vl.Chart.of(name, title, described, layers, height, least, shared=shared)


def _least_width(columns: int) -> int:
    """Return the width in pixels below which a figure of columns is scrolled."""
    return 300 + 13 * columns


def _labels(rows: Sequence[vl.Record], white_where: str, size: int) -> vl.Layer:
    """Return the layer of the labels of cells: black, or white on dark cells."""
    colour = {"condition": {"test": white_where, "value": "#ffffff"}, "value": "#000000"}
    text = {"type": "text", "fontSize": size, "tooltip": None}
    return vl.layer("cells", rows, text, text=vl.nominal("label"), color=colour)


# --- Confusion matrix: counts of cases by true and predicted class, shaded by the share of the true class ---


_CLASS_WIDTH = 8
_MOST_IN_HALF = 5


def confusion_chart(
    name: str,
    title: str,
    counts: NDArray[np.int64],
    classes: Sequence[str],
    what: str,
    further: Sequence[str] = (),
) -> vl.Chart:
    """Return the chart of counts of shape (true classes, predicted classes).

    ``what`` names the compared decision; ``further``: predictions other than the classes, such as nothing.
    """
    rows = []
    for true, row in zip(classes, counts.tolist(), strict=True):
        total = sum(row)
        for predicted, count in zip((*classes, *further), row, strict=True):
            part = count / total if total else 0.0
            label = f"{count} ({100 * part:.0f} %)" if total else "0"
            rows.append({"true": true, "predicted": predicted, "cases": count, "share": part, "label": label})
    lines = {"labelExpr": vl.wrapped_label(_CLASS_WIDTH)}
    x = vl.category("predicted", "predicted", axis={"labelAngle": 0, "labelOverlap": False, **lines})
    y = vl.category("true", "reference", axis=lines)
    scale = {"domain": [0, 1], "range": ["#ffffff", vl.BLUE], "interpolate": "rgb"}
    colour = vl.quantitative("share", scale=scale, legend=None)
    told = vl.tooltip("true", "predicted", "label")
    layers = [
        vl.layer("cells", rows, {"type": "rect", "stroke": vl.GREY}, color=colour, tooltip=told),
        _labels(rows, "datum.share > 0.5", 13),
    ]
    columns = len(classes) + len(further)
    words = [part for name in (*classes, *further) for part in textwrap.wrap(name, _CLASS_WIDTH + 8)]
    width = 110 + max(80, 7 * max(map(len, words), default=0)) * columns
    described = f"{what} Numbers, and in brackets their share of the class in the reference."
    more: dict[str, Any] = {"shared": {"x": x, "y": y}, "wide": columns > _MOST_IN_HALF}
    return vl.Chart.of(name, title, described, layers, 44 * len(classes), width, **more)


# --- Significance map: which team is significantly better than which, in one metric ---

_SIGNS = {
    "row is better": ("▲", "#F0E442"),
    "column is better": ("▽", "#56B4E9"),
    "no significant difference": ("·", "#f2f2f2"),
    "not tested": ("?", "#ffffff"),
}


def significance_chart(
    name: str, title: str, description: str, pairs: Sequence[Comparison], teams: Sequence[str]
) -> vl.Chart:
    """Return the map of all pairs; rows and columns are the teams in the order given."""
    position = {team: number for number, team in enumerate(teams)}
    cells = [cell for pair in pairs for cell in _cells_of(pair)]
    cells.sort(key=lambda cell: (position[cell["row"]], position[cell["column"]]))
    colour = vl.nominal(
        "verdict",
        title=None,
        scale={"domain": list(_SIGNS), "range": [colour for _, colour in _SIGNS.values()]},
        legend={"symbolStrokeColor": vl.GREY, "symbolType": "square"},
    )
    # A domain takes names unchanged; a sort order would put them into an expression.
    scale = {"scale": {"domain": list(teams)}}
    x = vl.category("column", axis={**_EVERY_LABEL, "title": None})
    told = vl.tooltip("row", "column", "verdict", numbers=("difference", "p_value"), digits=4)
    rectangle = {"type": "rect", "stroke": vl.GREY, "strokeWidth": 0.5}
    text = {"type": "text", "fontSize": 11, "color": "#000000", "tooltip": None}
    layers = [
        vl.layer("pairs", cells, rectangle, color=colour, tooltip=told),
        vl.layer("pairs", cells, text, text=vl.nominal("sign")),
    ]
    height, least = _ROW_HEIGHT * len(teams), _least_width(len(teams))
    shared = {"x": {**x, **scale}, "y": {**vl.names_down("row"), **scale}}
    return vl.Chart.of(name, title, description, layers, height, least, shared=shared)


def _cells_of(pair: Comparison) -> Iterator[vl.Record]:
    """Yield the cells of a pair: its first team in the row, and its second."""
    for row, column, difference in (
        (pair.first, pair.second, pair.difference.value),
        (pair.second, pair.first, -pair.difference.value),
    ):
        verdict = "no significant difference" if pair.significant is not None else "not tested"
        if pair.significant and pair.favours is not None:
            verdict = "row is better" if pair.favours == row else "column is better"
        told = {"row": row, "column": column, "verdict": verdict, "difference": difference}
        yield {**told, "p_value": pair.p_holm, "sign": _SIGNS[verdict][0]}
