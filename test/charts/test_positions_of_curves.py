"""Where curves have their points, bands and bins, by hand."""

import math

import numpy as np
import pytest

from evaluation.charts.chart import BLUE, VERMILION, NamedBand, NamedCurve, marks_of
from evaluation.organiser.report.charts.curves import (
    CalibrationBin,
    calibration_bins,
    calibration_chart,
    froc_chart,
    kaplan_meier,
    precision_recall_chart,
    survival_chart,
)
from test.charts.picture import Axis, axis, by_hand, layer, layers, marks

HALF = np.array([0.5, 1.0])


@by_hand(precision_recall_chart)
def test_precision_is_upwards_over_recall_and_holds_from_0_on():
    curves = [NamedCurve("b", HALF, np.array([1.0, 0.4])), NamedCurve("a", HALF, np.array([0.75, 0.25]))]
    band = NamedBand("a", HALF, np.array([0.7, 0.2]), np.array([0.8, 0.3]))
    chart = precision_recall_chart("p", "P", curves, [band], prevalence=0.3)
    assert axis(chart, "x") == Axis("recall (sensitivity)", (0, 1))
    assert axis(chart, "y") == Axis("precision", (0, 1))
    assert marks(chart, "line", "curves", "x", "y", "color") == [
        *((0, 1, VERMILION), (0.5, 1, VERMILION), (1, 0.4, VERMILION)),
        *((0, 0.75, BLUE), (0.5, 0.75, BLUE), (1, 0.25, BLUE)),
    ]
    assert layer(chart, "line", "curves").mark["interpolate"] == "step-before"
    # Of two curves the first is wider by one step, so that it shows on both sides of the other.
    assert marks(chart, "line", "curves", "strokeWidth") == [3.8, 3.8, 3.8, 2, 2, 2]
    assert marks(chart, "area", "band", "x", "y", "y2", "fill") == [
        (0.5, 0.7, 0.8, BLUE),
        (1, 0.2, 0.3, BLUE),
    ]
    assert marks(chart, "rule", "chance", "y") == [0.3]
    without = precision_recall_chart("p", "P", curves)
    assert [one.table for one in layers(without)] == ["curves"]


@by_hand(froc_chart)
@pytest.mark.parametrize(
    ("most", "kind", "ends", "ticks"),
    [
        (1.9, "linear", None, None),
        (2.0, "symlog", (0, 2), [0, 0.125, 0.25, 0.5, 1, 2]),
        (8.5, "symlog", (0, 8.5), [0, 0.125, 0.25, 0.5, 1, 2, 4, 8]),
    ],
)
def test_sensitivity_is_upwards_over_false_positives_which_are_logarithmic_from_2_on(most, kind, ends, ticks):
    curve = NamedCurve("b", np.array([0.0, most]), np.array([0.25, 0.75]))
    band = NamedBand("b", np.array([0.0, most]), np.array([0.2, 0.7]), np.array([0.3, 0.8]))
    styles = marks_of("ab")
    chart = froc_chart("f", "F", [curve], "A hit.", [band], styles)
    assert axis(chart, "x") == Axis("false positives per case", ends, kind=kind)
    assert axis(chart, "y") == Axis("sensitivity", (0, 1))
    line = layer(chart, "line", "curves")
    assert line.encoding["x"].get("axis", {}).get("values") == ticks
    assert line.encoding["x"]["scale"].get("constant") == (0.125 if ticks else None)
    assert line.mark["interpolate"] == "step-after"
    assert marks(chart, "line", "curves", "x", "y", "color") == [
        (0, 0.25, VERMILION),
        (most, 0.75, VERMILION),
    ]
    assert marks(chart, "area", "band", "x", "y", "y2", "fill") == [
        (0, 0.2, 0.3, VERMILION),
        (most, 0.7, 0.8, VERMILION),
    ]


@by_hand(calibration_chart)
def test_observed_shares_are_upwards_over_predicted_ones():
    bins = [CalibrationBin(5, 0.1, 0.2, 0.0, 0.6), CalibrationBin(1, 0.8, 1.0, 0.3, 1.0)]
    chart = calibration_chart("c", "C", bins, "Bins.")
    assert axis(chart, "x") == Axis("predicted probability", (0, 1))
    assert axis(chart, "y") == Axis("share of positives", (0, 1))
    assert marks(chart, "point", "bins", "x", "y", "size") == [(0.1, 0.2, 5), (0.8, 1.0, 1)]
    assert marks(chart, "rule", "bins", "x", "y", "y2") == [(0.1, 0, 0.6), (0.8, 0.3, 1)]
    assert marks(chart, "line", "bins", "x", "y") == [(0.1, 0.2), (0.8, 1.0)]
    assert marks(chart, "line", "perfect", "x", "y") == [(0, 0), (1, 1)]


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
