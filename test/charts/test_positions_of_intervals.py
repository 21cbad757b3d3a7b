"""Where forest plots, metrics with intervals and ROC curves have their marks, by hand."""

import math

import numpy as np

from evaluation.charts.chart import Estimated, NamedCurve
from evaluation.charts.intervals import MetricInterval, forest_chart, metric_intervals_chart
from evaluation.organiser.report.charts.curves import MarkedPoint, roc_chart
from test.charts.picture import Axis, axis, by_hand, layer, marks, names


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
def test_a_legend_names_up_to_eleven_operating_points():
    curve = NamedCurve("curve", np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    points = [MarkedPoint(str(number), number / 16, 0.5) for number in range(12)]
    few, many = (roc_chart("roc", "ROC", [curve], None, points[:number]) for number in (11, 12))
    assert marks(few, "point", "points", "x", "y") == [(one.false_positive_rate, 0.5) for one in points[:11]]
    legends = [layer(one, "point", "points").encoding["shape"]["legend"] for one in (few, many)]
    assert [legend is None for legend in legends] == [False, True]
