"""Encodings that charts of reports share: points that stand for a case, counts, bands of curves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.charts.chart import (
    SELECTED_CASE,
    VERMILION,
    MarkStyle,
    Record,
    layer,
    nominal,
    quantitative,
    rows_of,
)
from evaluation.metrics.arrays import Floats


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
    }


def binned(title: str) -> dict[str, Any]:
    """Return the encoding of bars along an axis, between the columns "from" and "to"."""
    return {"x": quantitative("from", bin={"binned": True}, title=title), "x2": {"field": "to"}}


def count(field: str, title: str, last: int) -> dict[str, Any]:
    """Return the encoding of a number from 0 to ``last`` that counts; its axis names whole numbers alone."""
    step = next(step for step in _STEPS_OF_COUNTS if step * _MOST_TICKS >= last)
    ticks = {"values": list(range(0, last + 1, step)), "format": "~s"}
    return quantitative(field, title=title, axis=ticks, scale={"domainMin": 0, "nice": False})


_MOST_TICKS = 6
_STEPS_OF_COUNTS = tuple(digit * 10**power for power in range(12) for digit in (1, 2, 5))


@dataclass(frozen=True)
class NamedBand:
    """Limits of a curve's y at each x, all of shape (points,)."""

    name: str
    x: Floats
    lower: Floats
    upper: Floats


def band_rows(bands: Sequence[NamedBand], x: str, marks: Mapping[str, MarkStyle]) -> list[Record]:
    """Return the table "band" of `band_layer`."""
    rows: list[Record] = []
    for one in bands:
        limits = {x: one.x, "lower": one.lower, "upper": one.upper}
        rows += rows_of(limits, name=one.name, colour=marks[one.name].colour)
    return rows


def band_layer(x: Record, lower: Record, bands: int) -> Record:
    """Return the layer of the table "band"; several bands are fainter.

    Its columns are "name", "colour", "lower" and "upper"; bands are not in the legend of the curves.
    """
    mark = {"type": "area", "opacity": 0.2 if bands == 1 else 0.1, "tooltip": None}
    encoding = {"x": x, "y": lower, "y2": {"field": "upper"}, "detail": nominal("name")}
    return layer("band", mark, **encoding, fill=nominal("colour", scale=None))
