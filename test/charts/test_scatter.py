"""Scatter plots: many points are shown as cells, which count each of them once."""

import numpy as np

from evaluation.organiser.charts.scatter import MOST_POINTS, Axis, CasePoint, scatter_chart
from test.charts.drawing import drawn


def points(count):
    generator = np.random.default_rng(1)
    values = generator.normal(size=(count, 2)).tolist()
    return [CasePoint(f"c{number}", x, y, "ab"[number % 2]) for number, (x, y) in enumerate(values)]


def chart(count):
    return scatter_chart("s", "S", "Points.", points(count), Axis("x"), Axis("y"))


def test_few_points_can_be_chosen():
    few = chart(MOST_POINTS)
    assert few.single_cases
    assert len(few.data["points"]) == MOST_POINTS


def test_many_points_are_counted_in_cells():
    many = chart(9741)
    assert not many.single_cases
    assert sum(row["cases"] for row in many.data["cells"]) == 9741
    assert len(many.data["cells"]) < 2000
    drawn(many)
