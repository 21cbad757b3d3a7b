"""Histograms of distinctions by hand, and the intervals of confidences."""

import math

import pytest

from evaluation.organiser.cyst_benchmark.transform import bin_counts, confidence_interval, moments_of


def test_bins_by_hand():
    counts = bin_counts([-0.2, 0.0, 0.049, 0.05, 0.6, 0.97, 1.0, 1.01, 3.0, math.nan]).tolist()
    expected = {0: 1, 1: 2, 2: 1, 13: 1, 20: 2, 21: 2}
    assert counts == [expected.get(position, 0) for position in range(22)]


@pytest.mark.parametrize(
    ("lower", "upper", "interval"),
    [([0.2, 0.4], [0.7], 0.4), ([0.7], [0.2, 0.4], 0.4), ([0.5], [0.5], 0.0)],
)
def test_interval_of_two_confidences_by_hand(lower, upper, interval):
    assert confidence_interval(moments_of(lower), moments_of(upper)) == pytest.approx(interval)


def test_no_interval_without_cysts():
    assert math.isnan(confidence_interval(moments_of([]), moments_of([0.5])))
