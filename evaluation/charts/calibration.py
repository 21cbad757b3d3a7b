"""Calibration: observed shares of positives against predicted probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.charts.chart import Chart
from evaluation.charts.encodings import share, tooltip
from evaluation.charts.theme import BLUE, GREY
from evaluation.metrics.arrays import Floats
from evaluation.metrics.intervals import wilson_interval


@dataclass(frozen=True)
class CalibrationBin:
    """Cases of similar probabilities: number, mean probability, share of positives with its interval."""

    cases: int
    predicted: float
    observed: float
    lower: float
    upper: float


CALIBRATION_BINS = 10
"""The usual number of bins."""


def calibration_bins(probability: Floats, positive: Floats, bins: int) -> Iterator[CalibrationBin]:
    """Yield the bins of equal width that hold a case, with Wilson's 95 % intervals.

    probability: in [0, 1]; positive: 0 or 1; both of shape (cases,).
    """
    of_bin = np.minimum((probability * bins).astype(np.int64), bins - 1)
    for position in range(bins):
        members = of_bin == position
        count = int(members.sum())
        if count:
            interval = wilson_interval(float(positive[members].sum()), count)
            predicted, observed = float(probability[members].mean()), float(positive[members].mean())
            yield CalibrationBin(count, predicted, observed, interval.lower, interval.upper)


def calibration_chart(
    name: str, title: str, bins: Sequence[CalibrationBin], calibration_error: float, brier: float
) -> Chart:
    """Return the reliability diagram with the expected calibration error and the Brier score."""
    x, y = share("predicted", "predicted probability"), share("observed", "share of positives")
    layers = [
        {
            "data": {"name": "perfect"},
            "mark": {"type": "line", "color": GREY, "strokeDash": [3, 3], "tooltip": None},
            "encoding": {"x": x, "y": y},
        },
        {
            "data": {"name": "bins"},
            "mark": {"type": "rule", "color": BLUE, "opacity": 0.6},
            "encoding": {"x": x, "y": share("lower", "share of positives"), "y2": {"field": "upper"}},
        },
        {
            "data": {"name": "bins"},
            "mark": {"type": "line", "opacity": 0.6, "tooltip": None},
            "encoding": {"x": x, "y": y},
        },
        {
            "data": {"name": "bins"},
            "mark": {"type": "point", "filled": True, "opacity": 1},
            "encoding": {
                "x": x,
                "y": y,
                "size": {
                    "field": "cases",
                    "type": "quantitative",
                    "title": "cases",
                    "scale": {"range": [30, 350]},
                },
                "tooltip": [
                    {"field": "cases", "type": "quantitative"},
                    *tooltip(numbers=("predicted", "observed", "lower", "upper")),
                ],
            },
        },
    ]
    return Chart(
        name,
        title,
        f"Share of positives in bins of equal width, with Wilson's 95 % intervals. Expected calibration "
        f"error {calibration_error:.3f}, Brier score {brier:.3f}; perfect ones follow the diagonal.",
        {
            "bins": [vars(one) for one in bins],
            "perfect": [{"predicted": end, "observed": end} for end in (0, 1)],
        },
        {"layer": layers, "height": 340},
    )
