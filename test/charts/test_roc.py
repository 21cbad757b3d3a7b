"""ROC charts: the data they hold, and that they are valid Vega-Lite."""

import numpy as np
import pytest

from evaluation.charts.chart import NamedBand, NamedCurve
from evaluation.charts.roc import MarkedPoint, coarse_roc_chart, roc_chart
from test.charts.drawing import drawn

CURVE = NamedCurve("likelihood", np.array([0, 0, 0.5, 1]), np.array([0, 0.5, 1, 1]))


def test_a_curve_is_drawn_with_its_band_and_its_points():
    band = NamedBand("likelihood", np.array([0.0, 1.0]), np.array([0.2, 0.8]), np.array([0.4, 1.0]))
    chart = roc_chart("roc", "ROC", [CURVE], band, [MarkedPoint("reader A", 0.1, 0.6)])
    assert [row["sensitivity"] for row in chart.data["curves"]] == [0, 0.5, 1, 1]
    ends = {"false_positive_rate": 1.0, "lower": 0.8, "upper": 1.0}
    assert ends.items() <= chart.data["band"][1].items()
    assert "reader A" in drawn(chart)
    assert ">likelihood<" not in drawn(chart)  # one curve needs no legend


def test_labels_of_points_lie_neither_on_each_other_nor_on_a_curve():
    near = [MarkedPoint(name, 0.1 + 0.01 * number, 0.6) for number, name in enumerate("abc")]
    steps = NamedCurve("steps", np.array([0, 0.1, 0.1, 0.2, 0.2, 1]), np.array([0, 0, 0.6, 0.6, 0.8, 1]))
    rows = roc_chart("roc", "ROC", [CURVE, steps], None, [*near, MarkedPoint("on top", 0.2, 0.8)]).data[
        "labels"
    ]
    # Right of the last point at 0.2; there the lower curve is at 0.76, and a label is 0.05 high.
    assert [(row["name"], row["label_x"], row["label_y"]) for row in rows] == [
        ("on top", 0.26, 0.71),
        ("c", 0.26, 0.575),
        ("b", 0.26, 0.525),
        ("a", 0.26, 0.475),
    ]


def test_labels_that_would_leave_the_figure_are_lifted_and_many_points_have_none():
    low = [MarkedPoint(str(number), 0.9, 0.02) for number in range(12)]
    rows = roc_chart("roc", "ROC", [CURVE], None, low).data["labels"]
    assert [row["label_y"] for row in rows] == pytest.approx(np.linspace(0.57, 0.02, 12))
    assert {row["label_x"] for row in rows} == {0.5}
    assert roc_chart("roc", "ROC", [CURVE], None, [*low, low[0]]).data["labels"] == []


def test_a_curve_of_few_points_is_shown_as_the_boxes_that_hold_it():
    chart = coarse_roc_chart(
        "roc", "ROC", [NamedCurve("AUC 0.9", np.array([0, 0.1, 1]), np.array([0, 0.8, 1]))]
    )
    assert chart.data["between"] == [
        {"name": "AUC 0.9", "from": 0.0, "to": 0.1, "lower": 0.0, "upper": 0.8},
        {"name": "AUC 0.9", "from": 0.1, "to": 1.0, "lower": 0.8, "upper": 1.0},
    ]
    assert not [one for one in chart.specification["layer"] if one["mark"]["type"] == "line"]
    assert "every threshold" not in chart.description
    assert ">AUC 0.9<" in drawn(chart)


def test_several_curves_are_told_apart_by_a_legend():
    other = NamedCurve("other", np.array([0, 1]), np.array([0, 1]))
    svg = drawn(roc_chart("roc", "ROC", [CURVE, other]))
    assert ">likelihood<" in svg
    assert ">other<" in svg
