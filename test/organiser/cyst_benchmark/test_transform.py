"""Eq. 2 by hand, its property (same mean and variance), and the supervisor's values."""

import math

import pytest

from evaluation.core.fault import PhaseError
from evaluation.organiser.cyst_benchmark.transform import (
    Moments,
    Transform,
    fit,
    moments_of,
    supervisor_of,
)
from test.faults import faulted


@pytest.mark.parametrize(
    ("annotator", "supervisor", "a", "b"),
    [
        # Means 0.3 and 0.7, variances 0.01 and 0.04: a = 2, b = 0.7 − 2 · 0.3.
        ([0.2, 0.4], [0.5, 0.9], 2.0, 0.1),
        ([0.5, 0.9], [0.2, 0.4], 0.5, -0.05),
        ([0.4, 0.4], [0.5, 0.9], 1.0, 0.3),
        ([0.4], [0.5, 0.9], 1.0, 0.3),
        ([], [0.5, 0.9], 1.0, 0.0),
        ([math.nan, 0.2, 0.4], [0.5, 0.9, math.nan], 2.0, 0.1),
    ],
)
def test_fit_by_hand(annotator, supervisor, a, b):
    found = fit(moments_of(annotator), moments_of(supervisor))
    assert (found.a, found.b) == (pytest.approx(a), pytest.approx(b))


@pytest.mark.parametrize(("distinction", "expected"), [(0.5, 0.6), (-9, 0.01), (9, 1.0)])
def test_transformed_values_are_clipped(distinction, expected):
    assert Transform(1.0, 0.1)(distinction) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("means", "cysts", "expected"),
    [
        ([0.1, 0.2, 0.3, 0.4, 0.5], [2, 2, 2, 2, 2], [0.1, 0.2, 0.3, 0.4, 0.5]),
        # 0.5 and 0.4 violate the order; both have two cysts.
        ([0.3, 0.5, 0.4, 0.7, 0.9], [2, 2, 2, 2, 2], [0.3, 0.45, 0.45, 0.7, 0.9]),
        ([0.1, 0.5, 0.4, 0.7, 0.9], [2, 6, 2, 2, 2], [0.1, 0.475, 0.475, 0.7, 0.9]),
        ([-0.5, 0.2, 0.4, 0.8, 1.5], [2, 2, 2, 2, 2], [0.01, 0.2, 0.4, 0.8, 1.0]),
    ],
)
def test_values_of_the_supervisors_levels(means, cysts, expected):
    given = zip(range(1, 6), means, cysts, strict=True)
    found = supervisor_of({c: [mean] * number for c, mean, number in given})
    assert [found.levels[c] for c in (1, 2, 3, 4, 5)] == pytest.approx(expected)
    assert found.pooled_with == {}
    assert found.tied == (((2, 3),) if expected[1] == expected[2] else ())


def test_a_rare_confidence_is_pooled_with_the_nearest():
    found = supervisor_of({1: [0.1], 2: [0.3, 0.5], 4: [0.6, 0.8], 5: []})
    assert found.pooled_with == {1: 2, 3: 2, 5: 4}
    assert found.moments[1].mean == pytest.approx((0.1 + 0.3 + 0.5) / 3)
    assert found.moments[3] == Moments(2, pytest.approx(0.4), pytest.approx(0.01))
    assert found.levels[5] == pytest.approx(0.7)
    # 1 has a mean of its own, 0.3, below that of 2; 3 is 2, and 5 is 4.
    assert found.tied == ((2, 3), (4, 5))


def test_a_supervisor_who_marked_nothing_twice_is_a_fault():
    with faulted(PhaseError, "supervisor"):
        supervisor_of({1: [0.1], 2: [0.3, math.nan]})
