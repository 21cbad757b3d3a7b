"""Composites in resampled rankings: values by hand, and intervals from those of their parts."""

from statistics import NormalDist

import numpy as np
import pytest

from evaluation.core.challenge import Composite
from evaluation.metrics.intervals import Interval
from evaluation.organiser.ranking.resampling import TeamIntervals, as_ranked, with_composite_intervals

PARTS = TeamIntervals(
    {"t.a": {"one": Interval(0.7, 0.86)}, "t.b": {"one": Interval(0.5, 0.7)}}, {"t.c": "too few"}
)
SPREAD = 0.02
TOGETHER, OPPOSITE, APART = (
    ([1, 2, 3, 4], [1, 2, 3, 4]),
    ([1, 2, 3, 4], [4, 3, 2, 1]),
    ([1, 1, 2, 2], [1, 2, 1, 2]),
)


def composite(combine, metrics=("t.a", "t.b")):
    return Composite("final", "Final", metrics, combine, 1, 0)


def interval(combine, drawn, value):
    values = {"one": {"t.a": 0.8, "t.b": 0.6, "final": value}}
    # The spread of each part alone would give distances of 0.02 to its bounds.
    resampled = {
        name: SPREAD / NormalDist().inv_cdf(0.975) * np.array([column]).T / np.std(column, ddof=1)
        for name, column in zip(("t.a", "t.b"), drawn, strict=True)
    }
    return with_composite_intervals(PARTS, [composite(combine)], values, resampled).found["final"]["one"]


@pytest.mark.parametrize(
    ("combine", "drawn", "value", "down", "up", "shared"),
    [
        (lambda a, b: (a + b) / 2, TOGETHER, 0.7, (0.05, 0.05), (0.03, 0.05), 0.5),
        (lambda a, b: (a + b) / 2, APART, 0.7, (0.05, 0.05), (0.03, 0.05), 0),
        (lambda a, b: (a + b) / 2, OPPOSITE, 0.7, (0.05, 0.05), (0.03, 0.05), -0.5),
        (
            lambda a, b: a - b,
            TOGETHER,
            0.2,
            (0.1, 0.1),
            (0.06, 0.1),
            -2,
        ),  # the lower bound of a, the upper of b
        (lambda a, b: a - b, OPPOSITE, 0.2, (0.1, 0.1), (0.06, 0.1), 2),
        (lambda a, b: a * b, APART, 0.48, (0.06, 0.08), (0.036, 0.08), 0),
        (lambda a, b: 2 * a - 0.65, APART, 0.95, (0.2,), (0.05,), 0),  # cut at 1
    ],
)
def test_distances_of_the_parts_are_combined(combine, drawn, value, down, up, shared):
    """Squares add; twice the covariance of the spreads, of 0.02 for a weight of 1, is ``shared`` · 0.02²."""
    found = interval(combine, drawn, value)
    below, above = (np.sqrt(np.square(side).sum() + shared * SPREAD**2) for side in (down, up))
    above = min(above, 1 - value)
    assert (found.lower, found.upper) == pytest.approx((value - below, value + above), abs=1e-7)


def test_without_the_interval_of_a_part_there_is_none():
    found = with_composite_intervals(PARTS, [composite(min, ("t.a", "t.c"))], {"one": {"final": 0.5}}, {})
    assert "final" not in found.found
    assert found.missing == {"t.c": "too few", "final": "no interval of t.a"}


SUM = Composite("sum", "Sum", ("t.a", "t.b"), lambda a, b: a + b, best=0, worst=2)


def test_composites_are_made_of_exact_values_and_rounded_once():
    # Two teams with the sum 0.3. As floats 0.1 + 0.2 is larger than 0.3, and the tie would be lost.
    found = as_ranked({"t.a": np.array([[0.1, 0.3]]), "t.b": np.array([[0.2, 0.0]])}, [SUM])
    assert found["sum"].tolist() == [[0.3, 0.3]]
    # Rounded to twelve digits first, what the parts have beyond 1 and 0.2 would be lost: 1.2.
    part = 4.6e-12
    found = as_ranked({"t.a": np.array([[1 + part]]), "t.b": np.array([[0.2 + 4.9e-13 + part]])}, [SUM])
    assert found["sum"].tolist() == [[1.20000000001]]
    assert found["t.a"].tolist() == [[1.0]]
