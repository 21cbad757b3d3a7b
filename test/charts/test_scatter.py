"""Scatter plots: many points are shown as cells, which count each of them once."""

import re

import numpy as np

from evaluation.organiser.charts.values import (
    MOST_SCATTERED,
    Axis,
    CasePoint,
    error_cloud_chart,
    scatter_chart,
)
from test.charts.drawing import drawn


def points(count):
    generator = np.random.default_rng(1)
    values = generator.normal(size=(count, 2)).tolist()
    return [CasePoint(f"c{number}", x, y, "ab"[number % 2]) for number, (x, y) in enumerate(values)]


def chart(count):
    return scatter_chart("s", "S", "Points.", points(count), Axis("x"), Axis("y"))


def test_few_points_can_be_chosen():
    few = chart(MOST_SCATTERED)
    assert few.single_cases
    assert len(few.data["points"]) == MOST_SCATTERED


def test_the_rings_of_an_error_cloud_are_circles():
    generator = np.random.default_rng(3)
    errors = [CasePoint(str(i), x, y) for i, (x, y) in enumerate(generator.normal(size=(40, 2)).tolist())]
    svg = drawn(error_cloud_chart("e", "Errors", errors))
    paths = [
        np.array(re.findall(r"-?[\d.]+", path), dtype=float) for path in re.findall(r' d="(M[^"]+)"', svg)
    ]
    rings = [path.reshape(-1, 2) for path in paths if path.size == 2 * 61]
    for ring in rings:
        width, height = np.ptp(ring, axis=0)
        assert abs(width - height) < 0.01 * height
    assert len(rings) == 2


def test_many_points_are_counted_in_cells():
    many = chart(9741)
    assert not many.single_cases
    assert sum(row["cases"] for row in many.data["cells"]) == 9741
    assert len(many.data["cells"]) < 2000
    drawn(many)
