"""Where curves have their points, bands and bins, by hand."""

import math

import numpy as np
import pytest

from evaluation.charts.chart import BLUE, VERMILION, NamedCurve
from evaluation.organiser.report.charts.curves import (
    calibration_bins,
    kaplan_meier,
    survival_chart,
)
from test.charts.picture import Axis, axis, by_hand, layer, marks


def test_bins_of_a_calibration_have_equal_widths_and_wilsons_ends():
    probability, positive = np.array([0.1, 0.25, 0.5, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
    found = list(calibration_bins(probability, positive, 2))
    # 0.5 belongs to the second half, as does 1. The score interval of 1 of 2 by its formula.
    square = 1.959963984540054**2
    half = square**0.5 / (2 + square) * math.sqrt(2 * 0.25 + square / 4)
    assert [(one.cases, one.predicted, one.observed) for one in found] == [(2, 0.175, 0.5), (2, 0.75, 0.5)]
    assert [(one.lower, one.upper) for one in found] == [pytest.approx((0.5 - half, 0.5 + half))] * 2


@by_hand(survival_chart)
def test_the_share_without_the_event_falls_in_steps_over_time():
    # Of three cases one has the event at 1; the second is censored at 2; the third has the event at 4.
    observed = kaplan_meier(np.array([1.0, 2.0, 4.0]), np.array([True, False, True]))
    predicted = NamedCurve("predicted", np.array([0.0, 3.0]), np.array([1.0, 0.5]))
    chart = survival_chart("s", "S", "One group.", {"observed": observed}, "years", predicted)
    assert axis(chart, "x") == Axis("time in years")
    assert axis(chart, "y") == Axis("share without the event", (0, 1))
    two_thirds = pytest.approx(2 / 3)
    assert marks(chart, "line", "curves", "x", "y", "color") == [
        (0, 1, BLUE),
        (1, two_thirds, BLUE),
        (2, two_thirds, BLUE),
        (4, 0, BLUE),
        (0, 1, VERMILION),
        (3, 0.5, VERMILION),
    ]
    # Greenwood: the sum of d / (n · (n − d)) is 1/6 after the first event, on the scale of log(−log).
    width = 1.959963984540054 * math.sqrt(1 / 6) / math.log(3 / 2)
    lower, upper = (pytest.approx((2 / 3) ** math.exp(sign * width)) for sign in (1, -1))
    assert marks(chart, "area", "band", "x", "y", "y2", "fill") == [
        (0, 1, 1, BLUE),
        (1, lower, upper, BLUE),
        (2, lower, upper, BLUE),
        (4, 0, 0, BLUE),
    ]
    assert marks(chart, "point", "censored", "x", "y", "color") == [(2, two_thirds, BLUE)]
    steps = [layer(chart, *one).mark["interpolate"] for one in (("line", "curves"), ("area", "band"))]
    assert steps == ["step-after"] * 2
