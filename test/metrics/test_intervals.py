import numpy as np
import pytest
from scipy.stats import binomtest

from evaluation.metrics.intervals import Interval, percentile_interval, wilson_interval


def test_percentile_interval():
    # 0 … 1000: the quantiles of linear interpolation are the ranks themselves.
    interval = percentile_interval(np.random.default_rng(0).permutation(1001))
    assert interval.lower == pytest.approx(25)
    assert interval.upper == pytest.approx(975)
    assert interval.half_width == pytest.approx(475)
    assert percentile_interval([3, 1, 2], level=0.5) == Interval(1.5, 2.5)
    assert percentile_interval([4]) == Interval(4, 4)


@pytest.mark.parametrize(
    ("values", "level", "message"),
    [
        ([1, np.nan, 3], 0.95, "found 1 NaN among 3 resamples"),
        ([], 0.95, "found 0 NaN among 0 resamples"),
        ([1, 2], 95, "level: expected a number between 0 and 1, found 95"),
    ],
)
def test_refused_percentile_input(values, level, message):
    with pytest.raises(ValueError, match=message):
        percentile_interval(values, level)


# JustRAIGS: expected half-widths of its metrics, in per cent.
@pytest.mark.parametrize(("proportion", "total", "half_width"), [(0.8, 1559, 1.98), (0.95, 8182, 0.47)])
def test_published_wilson_half_widths(proportion, total, half_width):
    assert round(100 * wilson_interval(proportion * total, total).half_width, 2) == half_width


@pytest.mark.parametrize(
    ("successes", "total"),
    [(34, 40), (328, 360), (0, 10), (10, 10), (0, 1), (1, 1), (1, 3), (385, 400), (0, 7)],
)
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_wilson_agrees_with_scipy(successes, total, level):
    expected = binomtest(successes, total).proportion_ci(level, method="wilson")
    found = wilson_interval(successes, total, level)
    assert found.lower == pytest.approx(expected.low, abs=1e-12)
    assert found.upper == pytest.approx(expected.high, abs=1e-12)
    assert 0 <= found.lower <= successes / total <= found.upper <= 1


@pytest.mark.parametrize(("successes", "total"), [(0, 0), (5, 4), (-1, 4), (float("nan"), 4)])
def test_refused_proportions(successes, total):
    with pytest.raises(ValueError, match="expected 0 ≤ successes ≤ total > 0, found"):
        wilson_interval(successes, total)
