"""Colours of all figures, and the light and dark configuration of Vega-Lite that they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

ThemeName = Literal["light", "dark"]

BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, VERMILION, YELLOW = "#56B4E9", "#D55E00", "#F0E442"
GREY = "#767676"
"""The colour of diagonals, zero lines and bands. Readable on white and on black."""

INK = "ink"
"""The style of marks in the colour of text, outlined in the colour of the background."""

OKABE_ITO = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, YELLOW)
"""Seven colours that the colour-blind can tell apart (Okabe and Ito 2008), without their black."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
_DASHES = ((1, 0), (6, 3), (2, 2), (8, 2, 2, 2), (12, 3))
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif"


@dataclass(frozen=True)
class Marks:
    """How one team or class is drawn: colour, shape of its points, dashes of its lines (lengths in pixels).

    The first 35 all differ in colour, shape or dashes.
    """

    colour: str
    shape: str
    dash: tuple[int, ...]


def marks_of(names: Iterable[str]) -> dict[str, Marks]:
    """Return the marks of each name; they depend on the set of names, not on their order.

    So a team has the same marks in all figures of the same teams.
    """
    return {
        name: Marks(
            OKABE_ITO[position % len(OKABE_ITO)],
            SHAPES[(position + position // len(OKABE_ITO)) % len(SHAPES)],
            _DASHES[position // len(OKABE_ITO) % len(_DASHES)],
        )
        for position, name in enumerate(sorted(set(names)))
    }


def colour_scale(marks: Mapping[str, Marks]) -> dict[str, Any]:
    """Return the Vega-Lite scale of the colours by name."""
    return {"domain": list(marks), "range": [mark.colour for mark in marks.values()]}


def shape_scale(marks: Mapping[str, Marks]) -> dict[str, Any]:
    """Return the Vega-Lite scale of the shapes by name."""
    return {"domain": list(marks), "range": [mark.shape for mark in marks.values()]}


def dash_scale(marks: Mapping[str, Marks]) -> dict[str, Any]:
    """Return the Vega-Lite scale of the dashes by name."""
    return {"domain": list(marks), "range": [list(mark.dash) for mark in marks.values()]}


def theme(name: ThemeName) -> dict[str, Any]:
    """Return the Vega-Lite configuration of a theme, with its background."""
    text, faint, background = {
        "light": ("#1a1a1a", "#d9d9d9", "#ffffff"),
        "dark": ("#ececec", "#444444", "#16181b"),
    }[name]
    labels = {"labelColor": text, "titleColor": text, "labelFont": _FONT, "titleFont": _FONT}
    return {
        "background": background,
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
            "columns": 2,
            "symbolBaseFillColor": GREY,
            "symbolBaseStrokeColor": GREY,
        },
        "header": {**labels, "labelFontSize": 12, "titleFontSize": 13},
        "title": {"color": text, "font": _FONT},
        "text": {"color": text, "font": _FONT},
        "style": {INK: {"color": text, "stroke": background, "strokeWidth": 0.7}},
        "mark": {"color": BLUE, "tooltip": True},
        "rule": {"color": GREY},
        "range": {"category": list(OKABE_ITO), "symbol": list(SHAPES)},
    }
