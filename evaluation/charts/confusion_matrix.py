"""Confusion matrix: counts of cases by true and predicted class, shaded by the share of the true class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import Chart
from evaluation.charts.encodings import category, tooltip
from evaluation.charts.theme import BLUE


def confusion_chart(
    name: str,
    title: str,
    counts: NDArray[np.int64],
    classes: Sequence[str],
    what: str,
    further: Sequence[str] = (),
) -> Chart:
    """Return the chart of counts of shape (true classes, predicted classes).

    ``what`` names the compared decision; ``further``: predictions other than the classes, such as nothing.
    """
    rows = []
    for true, row in zip(classes, counts.tolist(), strict=True):
        total = sum(row)
        for predicted, count in zip((*classes, *further), row, strict=True):
            part = count / total if total else 0.0
            label = f"{count} ({part:.0%})" if total else "0"
            rows.append({"true": true, "predicted": predicted, "cases": count, "share": part, "label": label})
    x, y = category("predicted", "predicted", axis={"labelAngle": 0}), category("true", "reference")
    layers = [
        {
            "mark": {"type": "rect", "stroke": "#767676"},
            "encoding": {
                "color": {
                    "field": "share",
                    "type": "quantitative",
                    "scale": {"domain": [0, 1], "range": ["#ffffff", BLUE], "interpolate": "rgb"},
                    "legend": None,
                },
                "tooltip": tooltip("true", "predicted", "label"),
            },
        },
        {
            "mark": {"type": "text", "fontSize": 13},
            "encoding": {
                "text": {"field": "label", "type": "nominal"},
                "color": {"condition": {"test": "datum.share > 0.5", "value": "#ffffff"}, "value": "#000000"},
            },
        },
    ]
    return Chart(
        name,
        title,
        f"{what} Numbers of cases, and in brackets their share of the class in the reference.",
        {"cells": rows},
        {
            "data": {"name": "cells"},
            "encoding": {"x": x, "y": y},
            "layer": layers,
            "height": 44 * len(classes),
        },
    )
