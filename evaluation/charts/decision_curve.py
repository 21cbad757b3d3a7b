"""Decision curve: the net benefit of acting on a probability, against acting on all or on none."""

from __future__ import annotations

import numpy as np

from evaluation.charts.chart import Chart, Record
from evaluation.charts.encodings import quantity, share
from evaluation.charts.theme import BLUE, GREY
from evaluation.metrics.arrays import Floats

_DASHES = [[1, 0], [6, 3], [2, 2]]
_MODEL, _ALL, _NONE = "submission", "all positive", "none positive"


def net_benefit(probability: Floats, positive: Floats, thresholds: Floats) -> Floats:
    """Return TP/n − FP/n · t/(1 − t) at each threshold t < 1, positive where the probability is at least t.

    probability, positive: shape (cases,), at least one case. Source: Vickers and Elkin 2006, Med. Decis.
    Making 26:565.
    """
    called = probability[None, :] >= thresholds[:, None]
    true = (called & (positive == 1)).mean(axis=1)
    false = (called & (positive == 0)).mean(axis=1)
    benefit: Floats = true - false * thresholds / (1 - thresholds)
    return benefit


def decision_curve_chart(name: str, title: str, probability: Floats, positive: Floats) -> Chart:
    """Return the chart for thresholds from 0.01 to 0.99; probabilities of shape (cases,) in [0, 1]."""
    thresholds = np.linspace(0.01, 0.99, 99)
    curves = {
        _MODEL: net_benefit(probability, positive, thresholds),
        _ALL: net_benefit(np.ones_like(probability), positive, thresholds),
        _NONE: np.zeros_like(thresholds),
    }
    prevalence = float(positive.mean())
    lowest = -0.25 * max(prevalence, 0.04)
    rows = [
        {"strategy": strategy, "threshold": threshold, "net_benefit": benefit}
        for strategy, values in curves.items()
        for threshold, benefit in zip(thresholds.tolist(), values.tolist(), strict=True)
        if benefit >= lowest
    ]
    by_strategy: Record = {"field": "strategy", "type": "nominal", "title": None}
    return Chart(
        name,
        title,
        "Net benefit of calling a case positive from a threshold on, beside calling all or none positive "
        "(Vickers and Elkin 2006). The submission helps where its line is the highest.",
        {"curves": rows},
        {
            "data": {"name": "curves"},
            "mark": {"type": "line"},
            "encoding": {
                "x": share("threshold", "threshold probability"),
                "y": quantity("net_benefit", "net benefit", (lowest, max(prevalence, 0.01) * 1.05)),
                "color": {**by_strategy, "scale": {"domain": list(curves), "range": [BLUE, GREY, GREY]}},
                "strokeDash": {**by_strategy, "scale": {"domain": list(curves), "range": _DASHES}},
            },
            "height": 340,
        },
    )
