"""A chart: its data and Vega-Lite specification, colours, and encodings that charts share."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self

from numpy.typing import NDArray

from evaluation.metrics.arrays import Floats

# --- Colours of all figures, and the light and dark configuration of Vega-Lite that they share ---

ThemeName = Literal["light", "dark"]
Record = Mapping[str, Any]
MarkPart = Literal["colour", "shape", "dash"]

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
OCHRE, CYAN, VIOLET = "#A97800", "#3D9BD0", "#8460D8"
SKY, YELLOW = "#56B4E9", "#F0E442"
"""For areas and pictures alone: on white, marks of these could hardly be seen."""
GREY = "#767676"
"""The colour of diagonals, zero lines and bands. Readable on white and on black."""

DASHED: Record = {"type": "line", "color": GREY, "strokeDash": [3, 3], "tooltip": None}
"""A line to compare with, such as that of chance."""

COMPARED: Record = {"type": "rule", "color": GREY, "strokeDash": [4, 3], "tooltip": None}
"""The same along one axis, such as that of a value over all cases."""

FALSE_POSITIVE_RATE = "1 − specificity"
"""The title of an axis."""

INK, DOT = "ink", "dot"
"""Styles of marks that the background's colour outlines, so that those on each other can be told apart.

`INK` is the colour of text; dots are opaque, since fainter ones would fall below 3 : 1 on dark pages.
"""

PALETTE = (BLUE, VERMILION, GREEN, OCHRE, PURPLE, CYAN, VIOLET)
"""Seven colours with a contrast of at least 3 : 1 on both backgrounds (WCAG 2.2, 1.4.11).

The first three and the fifth are of Okabe and Ito 2008; shapes and dashes tell the others from them.
"""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
_DASHES = ((1, 0), (6, 3), (2, 2), (8, 2, 2, 2), (12, 3))
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif"


@dataclass(frozen=True)
class MarkStyle:
    """How one team or class is drawn: colour, shape of its points, dashes of its lines (lengths in pixels).

    The first 35 all differ in colour, shape or dashes.
    """

    colour: str
    shape: str
    dash: tuple[int, ...]


def marks_of(names: Iterable[str]) -> dict[str, MarkStyle]:
    """Return the marks of each name; they depend on the set of names, not on their order.

    So a team has the same marks in all figures of the same teams.
    """
    return {
        name: MarkStyle(
            PALETTE[position % len(PALETTE)],
            SHAPES[(position + position // len(PALETTE)) % len(SHAPES)],
            _DASHES[position // len(PALETTE) % len(_DASHES)],
        )
        for position, name in enumerate(sorted(set(names)))
    }


def scale_of(marks: Mapping[str, MarkStyle], part: MarkPart) -> dict[str, Any]:
    """Return the Vega-Lite scale of the colours, shapes or dashes by name."""
    return {"domain": list(marks), "range": [getattr(mark, part) for mark in marks.values()]}


def theme(name: ThemeName) -> dict[str, Any]:
    """Return the Vega-Lite configuration of a theme, with its background."""
    text, faint, background = {
        "light": ("#1a1a1a", "#d9d9d9", "#ffffff"),
        "dark": ("#ececec", "#444444", "#16181b"),
    }[name]
    labels = {"labelColor": text, "titleColor": text, "labelFont": _FONT, "titleFont": _FONT}
    return {
        "background": background,
        # An axis's last label may reach beyond its end.
        "padding": {"left": 5, "top": 5, "bottom": 5, "right": 26},
        "font": _FONT,
        "view": {"stroke": faint},
        "axis": {
            **labels,
            "domainColor": GREY,
            "tickColor": GREY,
            "gridColor": faint,
            "labelFontSize": 12,
            "titleFontSize": 13,
            "titleFontWeight": "normal",
            "labelLimit": 170,
        },
        "axisX": {"labelFlush": False, "labelOverlap": "greedy", "labelSeparation": 4},
        "legend": {
            **labels,
            "orient": "bottom",
            "labelFontSize": 12,
            "titleFontSize": 12,
            "labelLimit": 260,
            "titleLimit": 320,
            "columns": 2,
            "symbolBaseFillColor": GREY,
            "symbolBaseStrokeColor": GREY,
        },
        "header": {**labels, "labelFontSize": 12, "titleFontSize": 13},
        "title": {"color": text, "font": _FONT},
        "text": {"color": text, "font": _FONT},
        "style": {
            INK: {"color": text, "stroke": background, "strokeWidth": 0.7},
            DOT: {"stroke": background, "strokeWidth": 0.7, "opacity": 1},
        },
        "mark": {"color": BLUE, "tooltip": True},
        "rule": {"color": GREY},
        "range": {"category": list(PALETTE), "symbol": list(SHAPES)},
    }


# --- A figure: its data, its Vega-Lite specification, title and description ---

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
SELECTED_CASE = "selected_case"
"""The parameter with the name of the case that the reader has chosen, empty for none."""


@dataclass(frozen=True)
class Chart:
    """One figure.

    ``name`` is its identifier: lower-case letters, digits and hyphens, unique in a page. ``data`` are its
    tables by name; the layers of ``specification`` refer to them as ``{"data": {"name": …}}``. The
    specification has neither data nor configuration of its own, and no width unless the figure needs one.
    ``description`` is the caption, one or two sentences, which also serve as alternative text.
    ``single_cases``: whether a mark can be one case. ``wide``: it takes the whole width of a large page
    instead of half. ``subtitle``: the unit of its values.
    """

    name: str
    title: str
    description: str
    data: Mapping[str, Sequence[Record]]
    specification: Mapping[str, Any]
    single_cases: bool = False
    wide: bool = False
    subtitle: str = ""

    @classmethod
    def of(
        cls,
        name: str,
        title: str,
        description: str,
        layers: Iterable["Layer"],
        height: int,
        least_width: int = 0,
        *,
        shared: Record | None = None,
        **more: Any,
    ) -> Self:
        """Return the chart of layers, from the lowest to the highest; those without rows are left out.

        height, least_width: in pixels; a page scrolls a figure that is wider than the page. ``shared``:
        encodings that all layers have. ``more``: further fields of the chart.
        """
        known = list(layers)
        drawn = [one for one in known if one.rows] or known
        specification: dict[str, Any] = {"encoding": shared} if shared else {}
        specification |= {"layer": [one.specification for one in drawn], "height": height}
        specification |= {"usermeta": {"leastWidth": least_width}} if least_width else {}
        return cls(name, title, description, {one.table: one.rows for one in drawn}, specification, **more)

    def measured_in(self, unit: str, *more: str) -> Self:
        """Return the chart with the unit of its values, and what else is to be known of them, as subtitle."""
        told = f"in {'pixels' if unit == 'px' else unit}"
        known = () if not unit or told in self.title else (told,)
        return replace(self, subtitle=", ".join((*known, *more)))


def layered(chart: Chart) -> dict[str, Any]:
    """Return the specification of a chart with its data, without schema, theme and width.

    A chart of single cases has the parameter `SELECTED_CASE`, which a page sets.
    """
    return {
        "description": f"{chart.title}{chart.subtitle and f' ({chart.subtitle})'}. {chart.description}",
        **chart.specification,
        **({"params": [{"name": SELECTED_CASE, "value": ""}]} if chart.single_cases else {}),
        "datasets": {name: [dict(row) for row in rows] for name, rows in chart.data.items()},
    }


def complete(chart: Chart, theme_name: ThemeName = "light", width: int | None = None) -> dict[str, Any]:
    """Return the complete Vega-Lite v5 object of a chart, which any Vega-Lite draws.

    ``width`` is in pixels; None fills the width of the page. Charts with a width of their own keep it.
    """
    sizes = {"width": width or "container", "autosize": {"type": "fit-x", "contains": "padding"}}
    return {"$schema": SCHEMA, "config": theme(theme_name), **sizes, **layered(chart)}


# --- Encodings that several charts share ---

_LINE_HEIGHT = 13
_TITLE_WIDTH = 24
"""Most letters in a line of an axis's title, so that it fits a phone."""


def nominal(field: str, **more: Any) -> dict[str, Any]:
    """Return the encoding of a name, with further members of the definition."""
    return {"field": field, "type": "nominal", **more}


def quantitative(field: str, **more: Any) -> dict[str, Any]:
    """Return the encoding of a number, with further members of the definition."""
    return {"field": field, "type": "quantitative", **more}


class Layer(NamedTuple):
    """The specification that draws a mark for every row of a table; layers of a chart may share a table."""

    table: str
    rows: Sequence[Record]
    specification: Record


def layer(table: str, rows: Sequence[Record], mark: Record, **encoding: Any) -> Layer:
    """Return the layer of a mark for every row of a table."""
    return Layer(table, rows, {"data": {"name": table}, "mark": mark, "encoding": encoding})


def if_selected(value: Any, otherwise: Record) -> dict[str, Any]:
    """Return an encoding: ``value`` for the mark of the chosen case, else ``otherwise`` (a definition).

    The column "case" of the data holds the names of the cases.
    """
    test = f"{SELECTED_CASE} !== '' && datum['case'] === {SELECTED_CASE}"
    return {"condition": {"test": test, "value": value}, **otherwise}


def point_of_case(colour: Record, size: float = 45) -> dict[str, Any]:
    """Return the encodings of a point that stands for a case and is marked when the case is chosen.

    ``colour``: the definition of its colour; size: in square pixels.
    """
    return {"color": if_selected(VERMILION, colour), "size": if_selected(220, {"value": size})}


def quantity(
    field: str, title: str, domain: tuple[float, float] | None = None, **more: Any
) -> dict[str, Any]:
    """Return the encoding of a number along an axis; without a domain, the scale need not hold zero."""
    scale = {"zero": False} if domain is None else {"domain": list(domain)}
    lines = textwrap.wrap(title.replace(" %", "\u00a0%"), _TITLE_WIDTH)
    return quantitative(field, title=lines if len(lines) > 1 else title, scale=scale, **more)


def share(field: str, title: str) -> dict[str, Any]:
    """Return the encoding of a number between 0 and 1 along an axis."""
    return quantity(field, title, (0, 1))


def category(field: str, title: str | None = None, **more: Any) -> dict[str, Any]:
    """Return the encoding of a name, in the order of the data."""
    return nominal(field, title=title, sort=None, **more)


def wrapped_label(width: int) -> str:
    """Return the expression of the lines of an axis's label, with ends after so many characters.

    A line ends at the first space after them, unless only a short word is left.
    """
    return f"split(replace(datum.label, regexp('(.{{{width},}}?) (?=.{{4}})', 'g'), '$1\\n'), '\\n')"


def names_down(field: str) -> dict[str, Any]:
    """Return the encoding of names down the left side, in the order of the data; long ones are wrapped."""
    lines = wrapped_label(20)
    # Vega puts the first line on the tick and the others below it; this puts all in the middle of the row.
    upwards = {"expr": f"-{_LINE_HEIGHT / 2} * (length({lines}) - 1)"}
    axis = {"title": None, "labelExpr": lines, "labelLimit": 190, "labelLineHeight": _LINE_HEIGHT}
    return category(field, axis={**axis, "labelOffset": upwards})


def tooltip(*names: str, numbers: tuple[str, ...] = (), digits: int = 3) -> list[Record]:
    """Return the tooltip: names, then numbers."""
    return [*map(nominal, names), *(quantitative(name, format=f".{digits}f") for name in numbers)]


def rows_of(columns: Mapping[str, NDArray[Any]], **same: Any) -> list[Record]:
    """Return the rows of a table from its columns, shape (rows,); ``same``: first, the same in every row."""
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [{**same, **dict(zip(columns, row, strict=True))} for row in values]


@dataclass(frozen=True)
class Estimated:
    """A value by name, such as that of a metric, a team or a subgroup, with its 95 % interval, if any."""

    name: str
    value: float
    lower: float | None = None
    upper: float | None = None

    def row(self, field: str) -> dict[str, Any]:
        """Return the row of a table; ``field``: the column of the name."""
        return {field: self.name, "value": self.value, "lower": self.lower, "upper": self.upper}


def interval_layer(rows: Sequence[Record], end: Record, along: str = "x", **encoding: Any) -> Layer:
    """Return the layer of the intervals of those rows of `Estimated` that have one.

    ``end``: the encoding of the column "lower" on the channel ``along``.
    """
    known = [row for row in rows if row["lower"] is not None]
    ends = {along: end, f"{along}2": {"field": "upper"}}
    return layer("intervals", known, {"type": "rule", "strokeWidth": 2}, **ends, **encoding)


@dataclass(frozen=True)
class NamedCurve:
    """A curve by name; its positions along both axes, shape (points,), x ascending."""

    name: str
    x: Floats
    y: Floats


def lines_by_name(marks: Mapping[str, MarkStyle], *, legend: bool) -> dict[str, Any]:
    """Return the encodings of colour and dashes by the column "name"."""
    by_name = nominal("name", title=None, **({} if legend else {"legend": None}))
    colour, dash = scale_of(marks, "colour"), scale_of(marks, "dash")
    return {"color": {**by_name, "scale": colour}, "strokeDash": {**by_name, "scale": dash}}
