"""Charts of matrices: heat maps, confusion matrices, significance maps."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.charts import chart as vl
from evaluation.organiser.ranking.comparisons import Comparison

# --- Heat map: a number for every pair of a row and a column ---

_MOST_LABELLED = 13
_ROW_HEIGHT = 26
_SHORT = 3
"""Columns of names up to so many letters have level labels."""
_EVERY_LABEL = {"labelAngle": -90, "labelLimit": 110, "labelOverlap": False}


@dataclass(frozen=True)
class HeatmapCell:
    """The number of a row and a column, and the text that stands in the cell, if any."""

    row: str
    column: str
    value: float
    label: str = ""


@dataclass(frozen=True)
class Axes:
    """Titles of the columns and of the values, and the ends of the scale: faint, then full colour."""

    columns: str
    value: str
    ends: tuple[float, float]
    digits: int = 3


def heatmap_chart(
    name: str,
    title: str,
    description: str,
    cells: Sequence[HeatmapCell],
    axes: Axes,
    follows: str = "",
    *,
    columns: Sequence[str] = (),
    columns_are_cases: bool = False,
) -> vl.Chart:
    """Return the heat map; rows and, unless ``columns`` are given, columns have the order of the cells.

    Cells are labelled where there are few columns. ``columns_are_cases``: a click on a cell selects its case.
    """
    faint, full = axes.ends
    middle = (faint + full) / 2
    column = "case" if columns_are_cases else "column"
    rows: list[vl.Record] = []
    for cell in cells:
        drawn = {"label": cell.label, "dark": (cell.value - middle) * (full - faint) > 0}
        rows.append({"row": cell.row, column: cell.column, "value": cell.value, **drawn})
    order = list(columns or dict.fromkeys(cell.column for cell in cells))
    upright = {"labelAngle": 0} if max(map(len, order), default=0) <= _SHORT else {}
    axis = {**_EVERY_LABEL, "labelFontSize": 10, **upright}
    # A domain takes names unchanged; a sort order would put them into an expression.
    x = vl.category(column, axes.columns, axis=axis, scale={"domain": order})
    # An interpolation between only two colours can be read in grey, too.
    scale = {"domain": [faint, full], "range": ["#f4f8fb", vl.BLUE], "interpolate": "rgb", "clamp": True}
    rectangle = {"type": "rect", "stroke": vl.GREY, "strokeWidth": 0.3}
    encoding = {
        "color": vl.quantitative("value", title=axes.value, scale=scale, legend={"gradientLength": 160}),
        "tooltip": vl.tooltip("row", column, numbers=("value",), digits=axes.digits),
    }
    if columns_are_cases:
        rectangle["cursor"] = "pointer"
        encoding["stroke"] = vl.if_selected(vl.VERMILION, {"value": vl.GREY})
        encoding["strokeWidth"] = vl.if_selected(2, {"value": 0.3})
    labelled = rows if len(order) <= _MOST_LABELLED and any(cell.label for cell in cells) else []
    layers = [vl.layer("cells", rows, rectangle, **encoding), _labels(labelled, "datum.dark", 11)]
    shared = {"x": x, "y": vl.names_down("row")}
    height = _ROW_HEIGHT * len(dict.fromkeys(cell.row for cell in cells))
    of_cases = {"single_cases": columns_are_cases, "wide": columns_are_cases}
    more: dict[str, Any] = {"shared": shared, "follows": follows, **of_cases}
    return vl.Chart.of(name, title, description, layers, height, _least_width(len(order)), **more)


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
    name: str, title: str, description: str, pairs: Sequence[Comparison], teams: Sequence[str], follows: str
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
    return vl.Chart.of(name, title, description, layers, height, least, shared=shared, follows=follows)


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
