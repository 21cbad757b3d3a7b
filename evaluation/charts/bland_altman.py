"""Bland–Altman plot: the difference of two measurements against their mean, with limits of agreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.charts.chart import Chart, Record
from evaluation.charts.encodings import quantity
from evaluation.charts.scatter import Axis, CasePoint, scatter_chart
from evaluation.charts.theme import GREY


@dataclass(frozen=True)
class Pair:
    """A measurement of a case in the prediction and in the reference."""

    case: str
    predicted: float
    reference: float


@dataclass(frozen=True)
class Agreement:
    """Mean difference (prediction − reference) and the limits that hold 95 % of the differences."""

    bias: float
    lower: float
    upper: float


def limits_of_agreement(pairs: Sequence[Pair]) -> Agreement:
    """Return bias ± 1.96 standard deviations (ddof = 1) of the differences; at least two pairs.

    Source: Bland and Altman 1986, Lancet 327:307.
    """
    differences = np.array([pair.predicted - pair.reference for pair in pairs])
    bias, width = float(differences.mean()), 1.96 * float(differences.std(ddof=1))
    return Agreement(bias, bias - width, bias + width)


def bland_altman_chart(name: str, title: str, pairs: Sequence[Pair], unit: str, follows: str = "") -> Chart:
    """Return the chart of at least two pairs; ``unit`` is empty for a number without one."""
    agreement = limits_of_agreement(pairs)
    points = [
        CasePoint(pair.case, (pair.predicted + pair.reference) / 2, pair.predicted - pair.reference)
        for pair in pairs
    ]
    lines = [
        {"y": value, "label": f"{text} {value:.3g}".replace("-", "−")}
        for text, value in (
            ("bias", agreement.bias),
            ("−1.96 SD", agreement.lower),
            ("+1.96 SD", agreement.upper),
        )
    ]
    in_unit = f" in {unit}" if unit else ""
    y_axis = Axis(f"prediction − reference{in_unit}")
    y = quantity("y", y_axis.title)
    layers: list[Record] = [
        {
            "data": {"name": "lines"},
            "mark": {"type": "rule", "color": GREY, "strokeDash": [6, 3], "tooltip": None},
            "encoding": {"y": y},
        },
        {
            "data": {"name": "lines"},
            "mark": {"type": "text", "align": "right", "dy": -6, "fontSize": 11, "x": {"expr": "width - 4"}},
            "encoding": {"y": y, "text": {"field": "label", "type": "nominal"}},
        },
    ]
    return scatter_chart(
        name,
        title,
        "Difference of prediction and reference against their mean; dashed lines are the mean difference and "
        "the limits that hold 95 % of the differences (Bland and Altman 1986).",
        points,
        Axis(f"mean of prediction and reference{in_unit}"),
        y_axis,
        layers,
        {"lines": lines},
        follows,
    )
