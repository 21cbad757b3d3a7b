"""Encodings that several charts share."""

from __future__ import annotations

from typing import Any

from evaluation.charts.chart import Record

_LINE_HEIGHT = 13


def quantity(
    field: str, title: str, domain: tuple[float, float] | None = None, **more: Any
) -> dict[str, Any]:
    """Return the encoding of a number along an axis; without a domain, the scale need not hold zero."""
    scale = {"zero": False} if domain is None else {"domain": list(domain)}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, **more}


def share(field: str, title: str) -> dict[str, Any]:
    """Return the encoding of a number between 0 and 1 along an axis."""
    return quantity(field, title, (0, 1))


def category(field: str, title: str | None = None, **more: Any) -> dict[str, Any]:
    """Return the encoding of a name, in the order of the data."""
    return {"field": field, "type": "nominal", "title": title, "sort": None, **more}


def names_down(field: str) -> dict[str, Any]:
    """Return the encoding of names down the left side, in the order of the data; long ones are wrapped."""
    # A line break replaces the first space after 20 characters.
    lines = "split(replace(datum.label, regexp('(.{20,}?) ', 'g'), '$1\\n'), '\\n')"
    # Vega puts the first line on the tick and the others below it; this puts all in the middle of the row.
    upwards = {"expr": f"-{_LINE_HEIGHT / 2} * (length({lines}) - 1)"}
    axis = {"title": None, "labelExpr": lines, "labelLimit": 190, "labelLineHeight": _LINE_HEIGHT}
    return category(field, axis={**axis, "labelOffset": upwards})


def tooltip(*names: str, numbers: tuple[str, ...] = (), digits: int = 3) -> list[Record]:
    """Return the tooltip: names, then numbers."""
    return [
        *({"field": name, "type": "nominal"} for name in names),
        *({"field": name, "type": "quantitative", "format": f".{digits}f"} for name in numbers),
    ]


def band_layer(x: Record, lower: Record, bands: int) -> Record:
    """Return the layer of the table "band"; several bands are fainter.

    Its columns are "name", "colour", "lower" and "upper"; bands are not in the legend of the curves.
    """
    return {
        "data": {"name": "band"},
        "mark": {"type": "area", "opacity": 0.2 if bands == 1 else 0.1, "tooltip": None},
        "encoding": {
            "x": x,
            "y": lower,
            "y2": {"field": "upper"},
            "detail": {"field": "name", "type": "nominal"},
            "fill": {"field": "colour", "type": "nominal", "scale": None},
        },
    }
