"""Where forest plots, metrics with intervals and ROC curves have their marks, by hand."""

import math

import numpy as np

from evaluation.charts.chart import Estimated, NamedCurve
from evaluation.charts.intervals import MetricInterval, forest_chart, metric_intervals_chart
from evaluation.organiser.report.charts.curves import MarkedPoint, roc_chart
from test.charts.picture import Axis, axis, by_hand, marks, names


@by_hand(forest_chart)
def test_a_forest_has_the_whole_at_the_top_and_lines_from_lower_to_upper():
    groups = [Estimated("right", 0.7, 0.5, 0.75), Estimated("left", 0.9), Estimated("small", 0.6)]
    chart = forest_chart("f", "F", "AUC", Estimated("all cases", 0.8, 0.75, 0.85), groups)
    whole, right, left, small = "all cases", "right", "left", "small"
    assert names(chart, "y") == [whole, right, left, small]
    points = [(whole, 0.8), (right, 0.7), (left, 0.9), (small, 0.6)]
    assert marks(chart, "square", "subgroups", "y", "x") == points
    assert marks(chart, "rule", "intervals", "y", "x", "x2") == [(whole, 0.75, 0.85), (right, 0.5, 0.75)]
    assert marks(chart, "rule", "overall", "x") == [0.8]
    assert axis(chart, "x") == Axis("AUC")


@by_hand(metric_intervals_chart)
def test_a_metric_from_0_to_1_stands_at_its_value_and_any_other_is_written():
    chart = metric_intervals_chart(
        "m",
        "M",
        [
            MetricInterval("Dice", 0.75, 0.5, 0.875, best=1, worst=0),
            MetricInterval("Kappa", 0.5, 0.0, 1.0, best=1, worst=-1),
            MetricInterval("Error", 0.25, 0.125, 0.5, best=0, worst=1),
            MetricInterval("Share", 0.25, None, None, best=1, worst=0),
            MetricInterval("Distance", 1.5, 1.0, 2.0, best=0, worst=math.inf),
            MetricInterval("Bias", -2.0, None, None, best=0, worst=math.inf),
        ],
    )
    assert chart is not None
    labels = ["Dice ↑", "Kappa ↑", "Error ↓", "Share ↑", "Distance ↓", "Bias ↓"]
    assert names(chart, "y") == labels
    assert marks(chart, "point", "metrics", "y", "x") == [
        ("Dice ↑", 0.75),
        ("Error ↓", 0.25),
        ("Share ↑", 0.25),
    ]
    assert marks(chart, "rule", "intervals", "y", "x", "x2") == [
        ("Dice ↑", 0.5, 0.875),
        ("Error ↓", 0.125, 0.5),
    ]
    assert marks(chart, "text", "numbers", "y", "text") == [
        ("Kappa ↑", "0.5 (0 to 1)"),
        ("Distance ↓", "1.5 (1 to 2)"),
        ("Bias ↓", "−2"),
    ]
    assert axis(chart, "x") == Axis("value", (0, 1))
    assert metric_intervals_chart("m", "M", []) is None


@by_hand(roc_chart)
def test_labels_of_points_lie_neither_on_each_other_nor_on_a_curve():
    curve = NamedCurve("curve", np.array([0, 0, 0.5, 1]), np.array([0, 0.5, 1, 1]))
    steps = NamedCurve("steps", np.array([0, 0.1, 0.1, 0.2, 0.2, 1]), np.array([0, 0, 0.6, 0.6, 0.8, 1]))
    near = [MarkedPoint(name, 0.1 + 0.01 * number, 0.6) for number, name in enumerate("abc")]
    chart = roc_chart("roc", "ROC", [curve, steps], None, [*near, MarkedPoint("on top", 0.2, 0.8)])
    # Right of the last point at 0.2; there the lower curve is at 0.76, and a label is 0.05 high.
    assert marks(chart, "text", "labels", "text", "x", "y") == [
        ("on top", 0.26, 0.71),
        ("c", 0.26, 0.575),  # 0.025 below its point, and the others 0.05 further down each
        ("b", 0.26, 0.525),
        ("a", 0.26, 0.475),
    ]


@by_hand(roc_chart)
def test_labels_that_would_leave_the_figure_are_lifted_and_many_points_have_none():
    curve = NamedCurve("curve", np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    low = [MarkedPoint(str(number), 0.9, 0.02) for number in range(12)]
    rows = marks(roc_chart("roc", "ROC", [curve], None, low), "text", "labels", "x", "y")
    # Twelve labels from 0.02 upwards, each 0.05 above the one before, at most in the middle.
    assert [x for x, _ in rows] == [0.5] * 12
    np.testing.assert_allclose([y for _, y in rows], 0.02 + 0.05 * np.arange(11, -1, -1))
    assert "labels" not in roc_chart("roc", "ROC", [curve], None, [*low, low[0]]).data
