"""Distributions of many cases are binned, and no case can be told from them."""

import numpy as np

from evaluation.organiser.charts.values import MOST_POINTS, Distribution, distribution_chart


def chart(count):
    values = np.random.default_rng(2).normal(size=count)
    return distribution_chart("d", "D", [Distribution("x", values, [str(i) for i in range(count)])], "x")


def test_many_cases_are_binned():
    many = chart(9741)
    assert sum(row["cases"] for row in many.data["bins"]) == 9741
    assert "points" not in many.data
    assert not many.single_cases


def test_few_cases_are_points():
    few = chart(MOST_POINTS)
    assert len(few.data["points"]) == MOST_POINTS
    assert all(-0.6 <= row["offset"] <= 0.6 for row in few.data["points"])


def test_a_lone_point_lies_on_its_line():
    values = np.array([0.0, *np.linspace(0.9, 0.91, 30)])
    one = distribution_chart("d", "D", [Distribution("x", values, list(map(str, range(31))))], "x")
    offsets = [row["offset"] for row in one.data["points"]]
    assert offsets[0] == 0
    assert max(map(abs, offsets)) > 0.3


def test_a_structure_without_a_value_is_left_out():
    empty = distribution_chart("d", "D", [Distribution("x", np.array([np.nan]), ["a"])], "x")
    assert empty.data["boxes"] == []
