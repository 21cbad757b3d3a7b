"""ROC charts: the data they hold, and that they are valid Vega-Lite."""

import numpy as np

from evaluation.charts.roc import Band, MarkedPoint, RocCurve, roc_chart
from test.charts.drawing import drawn

CURVE = RocCurve("likelihood", np.array([0, 0, 0.5, 1]), np.array([0, 0.5, 1, 1]))


def test_a_curve_is_drawn_with_its_band_and_its_points():
    band = Band(np.array([0.0, 1.0]), np.array([0.2, 0.8]), np.array([0.4, 1.0]))
    chart = roc_chart("roc", "ROC", [CURVE], band, [MarkedPoint("reader A", 0.1, 0.6)])
    assert [row["sensitivity"] for row in chart.data["curves"]] == [0, 0.5, 1, 1]
    assert chart.data["band"][1] == {"false_positive_rate": 1.0, "lower": 0.8, "upper": 1.0}
    assert "reader A" in drawn(chart)
    assert ">likelihood<" not in drawn(chart)  # one curve needs no legend


def test_several_curves_are_told_apart_by_a_legend():
    other = RocCurve("other", np.array([0, 1]), np.array([0, 1]))
    svg = drawn(roc_chart("roc", "ROC", [CURVE, other]))
    assert ">likelihood<" in svg
    assert ">other<" in svg
