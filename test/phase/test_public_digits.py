"""Public figures: decimals of values, intervals and spreads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.aggregation import ConfidenceInterval, Estimate
from evaluation.phase.config import PhaseConfig
from evaluation.phase.leaderboard import (
    Digits,
    digits_of,
    public_estimates,
    public_values,
    rounded_outwards,
)


def config(**keys):
    return PhaseConfig(challenge="refuge", name="p", title="", submission="archive", **keys)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, Digits(4, 3)),
        ({"value_digits": 2}, Digits(2, 2)),
        ({"spread_digits": 6}, Digits(4, 4)),
        ({"value_digits": 12, "spread_digits": 12}, Digits(12, 12)),
        ({"digits": {"t.m": 6}}, Digits(6, 3)),
        ({"digits": {"t.m": 1}}, Digits(1, 1)),
        ({"digits": {"t.other": 1}}, Digits(4, 3)),
    ],
)
def test_digits_of_a_metric(keys, expected):
    assert digits_of(config(**keys), "t.m") == expected


def test_every_figure_of_a_metric_by_hand():
    exact = Estimate(
        0.94994,
        ConfidenceInterval(0.9391, 0.95555, 0.008225, "wilson"),
        {"wilson": ConfidenceInterval(0.5, 0.75, 0.125, "wilson")},
        standard_deviation=0.12345,
        median=0.9996,
    )
    found = public_estimates({"t": {"m": exact}}, config())["t"]["m"]
    assert found == Estimate(
        0.9499,
        ConfidenceInterval(0.939, 0.956, 0.009, "wilson"),
        {"wilson": ConfidenceInterval(0.5, 0.75, 0.125, "wilson")},
        standard_deviation=0.123,
        median=1.0,
    )
    assert public_values({"m": 0.94994}, "t", config(value_digits=1)) == {"m": 0.9}


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.integers(0, 6), st.integers(0, 6))
def test_an_interval_never_leaves_its_value_out(first, second, third, value_digits, spread_digits):
    lower, value, upper = sorted((first, second, third))
    exact = Estimate(value, ConfidenceInterval(lower, upper, (upper - lower) / 2, "wilson"))
    keys = config(value_digits=value_digits, spread_digits=spread_digits)
    found = public_estimates({"t": {"m": exact}}, keys)["t"]["m"]
    interval = found.confidence_interval
    assert interval.lower - 1e-6 <= found.value <= interval.upper + 1e-6
    step = 10.0 ** -min(value_digits, spread_digits)
    assert interval.lower == pytest.approx(lower, abs=step)
    assert interval.upper == pytest.approx(upper, abs=step)


def test_ends_are_rounded_outwards_and_none_is_minus_zero():
    assert rounded_outwards(0.7576, 0.9371, 3) == (0.757, 0.938)
    assert [str(end) for end in rounded_outwards(0.0, -0.0002, 3)] == ["0.0", "0.0"]
