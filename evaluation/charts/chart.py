"""A figure: its data, its Vega-Lite specification, title and description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.charts.theme import VERMILION, ThemeName, theme

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
SELECTED_CASE = "selected_case"
"""The parameter with the name of the case that the reader has chosen, empty for none."""

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Chart:
    """One figure.

    ``name`` is its identifier: lower-case letters, digits and hyphens, unique in a page. ``data`` are its
    tables by name; the layers of ``specification`` refer to them as ``{"data": {"name": …}}``. The
    specification has neither data nor configuration of its own, and no width unless the figure needs one.
    ``description`` is the caption, one or two sentences, which also serve as alternative text. ``follows``
    names the published figure that it follows. ``single_cases``: whether a mark can be one case.
    """

    name: str
    title: str
    description: str
    data: Mapping[str, Sequence[Record]]
    specification: Mapping[str, Any]
    follows: str = ""
    single_cases: bool = False


def layered(chart: Chart) -> dict[str, Any]:
    """Return the specification of a chart with its data, without schema, theme and width.

    A chart of single cases has the parameter `SELECTED_CASE`, which a page sets.
    """
    params = [*chart.specification.get("params", ())]
    if chart.single_cases:
        params.insert(0, {"name": SELECTED_CASE, "value": ""})
    return {
        "description": f"{chart.title}. {chart.description}",
        **chart.specification,
        **({"params": params} if params else {}),
        "datasets": {name: [dict(row) for row in rows] for name, rows in chart.data.items()},
    }


def complete(chart: Chart, theme_name: ThemeName = "light", width: int | None = None) -> dict[str, Any]:
    """Return the complete Vega-Lite v5 object of a chart, which any Vega-Lite draws.

    ``width`` is in pixels; None fills the width of the page. Charts with a width of their own keep it.
    """
    sizes = {
        "width": "container" if width is None else width,
        "autosize": {"type": "fit-x", "contains": "padding"},
    }
    return {"$schema": SCHEMA, "config": theme(theme_name), **sizes, **layered(chart)}


def if_selected(field: str, value: Any, otherwise: Any) -> dict[str, Any]:
    """Return an encoding: ``value`` for the mark of the chosen case, else ``otherwise`` (a definition).

    ``field`` is the column of the data with the name of the case.
    """
    test = f"{SELECTED_CASE} !== '' && datum['{field}'] === {SELECTED_CASE}"
    return {"condition": {"test": test, "value": value}, **otherwise}


def point_of_case(colour: str, field: str = "case") -> dict[str, Any]:
    """Return the encodings of a point that stands for a case and is marked when the case is chosen."""
    return {
        "color": if_selected(field, VERMILION, {"value": colour}),
        "size": if_selected(field, 220, {"value": 45}),
        "opacity": if_selected(field, 1, {"value": 0.7}),
    }
