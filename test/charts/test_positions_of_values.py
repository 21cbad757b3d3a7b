"""Where figures of values of cases have their marks, by hand."""

import numpy as np
import pytest

from evaluation.charts.chart import BLUE, VERMILION, marks_of
from evaluation.organiser.report.charts.values import (
    MOST_POINTS,
    MOST_SCATTERED,
    CasePoint,
    Distribution,
    Pair,
    bland_altman_chart,
    distribution_chart,
    error_cloud_chart,
)
from test.charts.picture import Axis, axis, by_hand, layer, marks, names


@by_hand(distribution_chart)
def test_boxes_end_at_quartiles_and_whiskers_at_the_last_case_within_one_and_a_half_boxes():
    # The quartiles of 0 … 8 are 2, 4 and 6. So the fences are 2 − 1.5 · 4 = −4 and 6 + 6 = 12: moved there,
    # the outermost cases are still within, and a little further they are not. Within one box, both would not.
    inside = np.array([-4.0, 1, 2, 3, 4, 5, 6, 7, 12, np.nan])
    outside = np.array([-4.5, 1, 2, 3, 4, 5, 6, 7, 12.5, np.nan])
    cases = list("abcdefghij")
    chart = distribution_chart(
        "d",
        "D",
        [Distribution("in", inside, cases), Distribution("beyond", outside, cases)],
        "mm",
        marks=marks_of(["in", "beyond"]),
    )
    assert names(chart, "y") == ["in", "beyond"]
    assert axis(chart, "x") == Axis("mm")
    assert marks(chart, "rule", "boxes", "y", "x", "x2") == [("in", -4, 12), ("beyond", 1, 7)]
    assert marks(chart, "bar", "boxes", "y", "x", "x2") == [("in", 2, 6), ("beyond", 2, 6)]
    assert marks(chart, "tick", "boxes", "y", "x") == [("in", 4), ("beyond", 4)]
    assert [(row["cases"], row["mean"]) for row in chart.data["boxes"]] == [(9, 4), (9, 4)]
    points = [(row["case"], row["value"]) for row in layer(chart, "point", "points").rows]
    assert points == [*zip("abcdefghi", inside[:9], strict=True), *zip("abcdefghi", outside[:9], strict=True)]
    # The marks are those of the alphabet: "beyond" is blue.
    assert marks(chart, "point", "points", "y", "x", "color")[::9] == [
        ("in", -4, VERMILION),
        ("beyond", -4.5, BLUE),
    ]


@by_hand(distribution_chart)
def test_a_point_beside_others_leaves_the_line_and_a_lone_one_does_not():
    values = np.array([0.0, *np.linspace(0.9, 0.91, 30)])
    chart = distribution_chart("d", "D", [Distribution("x", values, list(map(str, range(31))))], "x")
    offsets = marks(chart, "point", "points", "yOffset")
    assert offsets[0] == 0
    # The 7th of many neighbours: 6 golden sections have the fraction 6 · 0.618034 − 3 = 0.708204.
    assert offsets[6] == 0.208
    assert layer(chart, "point", "points").encoding["yOffset"]["scale"]["domain"] == [-1, 1]
    assert chart.single_cases


@by_hand(distribution_chart)
def test_many_cases_are_binned_and_none_can_be_told():
    # 60 bins of 0 … 60: the first 500 values in the first bin, one each in the second and in the last.
    values = np.array([0.0] * MOST_POINTS + [1.5, 60.0])
    chart = distribution_chart("d", "D", [Distribution("x", values, [""] * values.size)], "x")
    assert marks(chart, "point", "bins", "x", "size") == [(0.5, 500), (1.5, 1), (59.5, 1)]
    assert "points" not in chart.data
    assert not chart.single_cases
    few = distribution_chart("d", "D", [Distribution("x", values[2:], [""] * MOST_POINTS)], "x")
    assert len(marks(few, "point", "points", "x")) == MOST_POINTS
    none = distribution_chart("d", "D", [Distribution("x", np.array([np.nan]), ["a"])], "x")
    assert marks(none, "bar", "boxes", "x") == []


@by_hand(error_cloud_chart)
def test_many_points_are_cells_at_the_mean_of_their_points():
    # 0 and 0.02 are in the first of 40 cells of 0 … 1, and so are 0.98 and 1 in the last.
    few = [CasePoint("", x, 1 - x) for x in (0.0, 1.0)] * (MOST_SCATTERED // 2)
    assert len(marks(error_cloud_chart("e", "E", few), "point", "points", "x")) == 1500
    more = [*few, CasePoint("", 0.02, 0.98), CasePoint("", 0.98, 0.0)]
    chart = error_cloud_chart("e", "E", more)
    assert marks(chart, "point", "cells", "x", "y", "size") == [
        (pytest.approx(0.02 / 751), pytest.approx(750.98 / 751), 751),
        (pytest.approx(750.98 / 751), 0, 751),
    ]
    assert not chart.single_cases


@by_hand(bland_altman_chart)
def test_limits_of_agreement_are_named_and_an_error_of_everyone_has_none():
    # Differences 2 and 0: mean 1, standard deviation √2, 1.96 of which are 2.77.
    chart = bland_altman_chart("b", "B", [Pair("a", 3, 1), Pair("b", 2, 2)], "mm")
    assert marks(chart, "text", "lines", "text") == ["bias 1", "−1.96 SD −1.77", "+1.96 SD 3.77"]
    assert axis(chart, "x") == Axis("mean of prediction and reference in mm")
    assert axis(chart, "y") == Axis("prediction − reference in mm")
    same = bland_altman_chart("b", "B", [Pair("a", 3, 1), Pair("b", 5, 3)], "")
    assert marks(same, "rule", "lines", "y") == [2]
