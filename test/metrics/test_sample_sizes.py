"""Sample sizes against the solved equation of Wilson's interval, SciPy, and Hanley and McNeil's equation."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binomtest, norm

from evaluation.metrics.intervals import (
    area_of,
    auc_sample_size,
    class_sizes,
    score_interval,
    wilson_of,
    wilson_sample_size,
)


def wilson_size_solved(proportion, half_width, level=0.95):
    """Return n of h²(n + z²)² = z²(n·p·q + z²/4), the quadratic equation of Wilson's half-width."""
    z = norm.ppf((1 + level) / 2)
    spread = z * z * proportion * (1 - proportion)
    linear = 2 * half_width**2 * z**2 - spread
    constant = half_width**2 * z**4 - z**4 / 4
    root = math.sqrt(linear**2 - 4 * half_width**2 * constant)
    return (root - linear) / (2 * half_width**2)


@pytest.mark.parametrize("proportion", [0, 0.03, 0.5, 0.8, 0.95, 1])
@pytest.mark.parametrize("half_width", [0.005, 0.02, 0.13, 0.39])
def test_the_fewest_cases_solve_the_equation(proportion, half_width):
    exact = wilson_size_solved(proportion, half_width)
    assert wilson_sample_size(proportion, half_width) == max(1, math.ceil(exact))


@pytest.mark.parametrize("level", [0.9, 0.99])
def test_other_levels(level):
    assert wilson_sample_size(0.8, 0.02, level) == math.ceil(wilson_size_solved(0.8, 0.02, level))


@pytest.mark.parametrize(("successes", "cases"), [(4, 5), (76, 80), (0, 40), (40, 40), (1247, 1559)])
def test_the_interval_is_that_of_scipy(successes, cases):
    expected = binomtest(successes, cases).proportion_ci(method="wilson")
    found = wilson_of(successes / cases, cases)
    assert (found.lower, found.upper) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_the_test_set_of_justraigs():
    # 9,741 eyes of which 16 % are referable; the design document's 2 % and 0.5 % are half-widths.
    assert class_sizes(9741, Fraction("0.16")) == (1559, 8182)
    assert round(wilson_of(0.8, 1559).half_width, 4) == 0.0198
    assert round(wilson_of(0.95, 8182).half_width, 4) == 0.0047
    assert wilson_sample_size(0.8, 0.02) <= 1559
    assert wilson_sample_size(0.95, 0.005) <= 8182
    # With the two exchanged, as another section has them, the sensitivity would need a set of 150,000 eyes.
    assert wilson_sample_size(0.8, 0.005) / 0.16 > 150_000


def hanley_mcneil_half_width(area, positives, negatives):
    """Return half of Newcombe's score interval, each bound found by SciPy's root finder."""
    z, mean = norm.ppf(0.975), (positives + negatives) / 2

    def excess(theta):
        q1, q2 = theta / (2 - theta), 2 * theta**2 / (1 + theta)
        variance = theta * (1 - theta) + (mean - 1) * (q1 - theta**2 + q2 - theta**2)
        return (area - theta) ** 2 - z * z * variance / (positives * negatives)

    lower = brentq(excess, 1e-9, area, xtol=1e-13)
    upper = brentq(excess, area, 1 - 1e-9, xtol=1e-13)
    return (upper - lower) / 2


@pytest.mark.parametrize("area", [0.6, 0.8, 0.95])
@pytest.mark.parametrize("prevalence", [0.05, 0.16, 0.5, 0.7])
@pytest.mark.parametrize("half_width", [0.02, 0.09])
def test_the_fewest_cases_of_an_area(area, prevalence, half_width):
    cases = auc_sample_size(area, half_width, prevalence)

    def half_width_of(count):
        positives = math.floor(count * prevalence + 0.5)
        return hanley_mcneil_half_width(area, positives, count - positives)

    assert half_width_of(cases) <= half_width < half_width_of(cases - 1)


@given(st.floats(0, 1), st.floats(0.01, 0.49), st.floats(0.1, 0.9))
def test_more_cases_are_never_worse(value, half_width, prevalence):
    fewest = auc_sample_size(value, half_width, prevalence)
    widths = [area_of(value, *class_sizes(fewest + more, prevalence)).half_width for more in range(5)]
    assert all(np.diff(widths) <= 1e-12)
    assert widths[0] <= half_width
    fewest = wilson_sample_size(value, half_width)
    widths = [wilson_of(value, fewest + more).half_width for more in range(5)]
    assert all(np.diff(widths) < 0)


def test_without_a_class_nothing_is_known_of_an_area():
    assert area_of(0.9, 0, 10).half_width == area_of(0.9, 10, 0).half_width == 0.5


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (wilson_sample_size, (1.1, 0.1), "proportion"),
        (wilson_sample_size, (0.5, 0.0), "half_width"),
        (wilson_sample_size, (0.5, 0.5), "half_width"),
        (wilson_sample_size, (0.5, math.nan), "half_width"),
        (wilson_sample_size, (0.5, 1e-9), "^half_width:"),
        (wilson_sample_size, (0.5, 0.1, 1.0), "level"),
        (auc_sample_size, (-0.1, 0.1, 0.5), "auc"),
        (auc_sample_size, (0.9, 0.1, 0.0), "prevalence"),
        (auc_sample_size, (0.9, 0.6, 0.5), "half_width"),
    ],
)
def test_arguments_out_of_range(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)


def test_an_area_from_one_case_of_a_class_has_an_interval():
    assert area_of(0.8, 1, 50) == score_interval(0.8, 1, 50)
    assert area_of(0.8, 50, 1, 0.9) == score_interval(0.8, 50, 1, 0.9)
    assert (area_of(0.8, 0, 50).lower, area_of(0.8, 0, 50).upper) == (0, 1)
    wide, narrow = area_of(0.8, 20, 50, 0.99), area_of(0.8, 20, 50, 0.5)
    assert wide.lower < narrow.lower < narrow.upper < wide.upper
    assert auc_sample_size(0.8, 0.1, 0.5, level=0.5) < auc_sample_size(0.8, 0.1, 0.5, level=0.99)


@pytest.mark.parametrize("prevalence", [0, 1, 1.5])
def test_an_area_needs_cases_of_both_classes(prevalence):
    with pytest.raises(ValueError, match=r"^prevalence:"):
        auc_sample_size(0.8, 0.1, prevalence)
