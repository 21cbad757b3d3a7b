"""Distributions of a value over the cases, one line for each structure or metric: box and points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import Chart, Record, if_selected, point_of_case
from evaluation.charts.encodings import names_down, quantity, tooltip
from evaluation.charts.theme import BLUE, GREY, VERMILION, Marks, colour_scale

MOST_POINTS = 500
"""Above so many cases a line, bins replace the points."""
_BINS = 60


@dataclass(frozen=True)
class Distribution:
    """Values of cases, shape (cases,), NaN left out, with the names of the cases."""

    name: str
    values: NDArray[np.float64]
    cases: Sequence[str]


def distribution_chart(
    name: str,
    title: str,
    distributions: Sequence[Distribution],
    axis_title: str,
    domain: tuple[float, float] | None = None,
    follows: str = "",
    *,
    marks: Mapping[str, Marks] | None = None,
    most_points: int = MOST_POINTS,
) -> Chart:
    """Return the chart of one or several distributions on one axis.

    ``marks`` by name give each distribution a colour of its own. With more cases than ``most_points``, bins
    replace the points of a distribution.
    """
    boxes, points, bins = [], [], []
    for one in distributions:
        entering = ~np.isnan(one.values)
        values = one.values[entering]
        if not values.size:
            continue
        low, first, median, third, high = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist()
        spread = 1.5 * (third - first)
        # the last value within 1.5 quartile distances, as Tukey draws the whiskers
        low, high = values[values >= first - spread].min(), values[values <= third + spread].max()
        boxes.append(
            {
                "name": one.name,
                "cases": int(values.size),
                "low": float(low),
                "first_quartile": first,
                "median": median,
                "third_quartile": third,
                "high": float(high),
                "mean": float(values.mean()),
            }
        )
        if values.size > most_points:
            counts, edges = np.histogram(values, bins=_BINS)
            bins += [
                {"name": one.name, "value": float(edges[i] + edges[i + 1]) / 2, "cases": int(counts[i])}
                for i in np.flatnonzero(counts)
            ]
        else:
            names = [case for case, enters in zip(one.cases, entering.tolist(), strict=True) if enters]
            points += [
                {"name": one.name, "case": case, "value": value, "offset": _offset(number)}
                for number, (case, value) in enumerate(zip(names, values.tolist(), strict=True))
            ]
    of_name = {"field": "name", "type": "nominal", "scale": colour_scale(marks or {}), "legend": None}
    y = names_down("name")
    x = quantity("value", axis_title, domain)
    numbers = ("median", "first_quartile", "third_quartile", "mean")
    told = [{"field": "cases", "type": "quantitative"}, *tooltip("name", numbers=numbers)]
    layers: list[Record] = [
        _segment("low", "high", {"type": "rule", "color": GREY}, axis_title, domain, told),
        _segment(
            "first_quartile",
            "third_quartile",
            {"type": "bar", "size": 14, "color": GREY, "opacity": 0.35},
            axis_title,
            domain,
            told,
        ),
    ]
    data: dict[str, Sequence[Record]] = {"boxes": boxes}
    if bins:
        data["bins"] = bins
        layers.append(
            {
                "data": {"name": "bins"},
                "mark": {"type": "point", "filled": True, "color": BLUE, "opacity": 0.6},
                "encoding": {
                    "x": x,
                    **({"color": of_name} if marks else {}),
                    "size": {"field": "cases", "type": "quantitative", "scale": {"range": [4, 150]}},
                },
            }
        )
    if points:
        data["points"] = points
        layers.append(
            {
                "data": {"name": "points"},
                "mark": {"type": "point", "filled": True, "cursor": "pointer"},
                "encoding": {
                    "x": x,
                    "yOffset": {"field": "offset", "type": "quantitative", "scale": {"domain": [-1, 1]}},
                    **point_of_case(BLUE),
                    **({"color": if_selected("case", VERMILION, of_name)} if marks else {}),
                    "tooltip": tooltip("case", "name", numbers=("value",)),
                },
            }
        )
    layers.append(
        {
            "data": {"name": "boxes"},
            "mark": {"type": "tick", "thickness": 3, "size": 22, "color": "#D55E00"},
            "encoding": {"x": quantity("median", axis_title, domain), "tooltip": told},
        }
    )
    return Chart(
        name,
        title,
        "Boxes hold the middle half of the cases, the mark in them is the median, and lines end at the last "
        "case within 1.5 times the box.",
        data,
        {"encoding": {"y": y}, "layer": layers, "height": 50 * max(1, len(boxes))},
        follows,
        single_cases=bool(points),
    )


def _segment(
    start: str,
    end: str,
    mark: Record,
    axis_title: str,
    domain: tuple[float, float] | None,
    told: list[Record],
) -> Record:
    encoding = {"x": quantity(start, axis_title, domain), "x2": {"field": end}, "tooltip": told}
    return {"data": {"name": "boxes"}, "mark": mark, "encoding": encoding}


def _offset(number: int) -> float:
    """Return where across its line the point of that number is drawn: −0.6 … 0.6, spread evenly."""
    golden = 0.6180339887498949
    return round(1.2 * ((number * golden) % 1) - 0.6, 3)
