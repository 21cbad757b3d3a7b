"""Distributions of distinctions before and after the transform (Fig. 6), and intervals (Fig. 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.challenges.cysts.benchmark.distinction import CONFIDENCES
from evaluation.challenges.cysts.benchmark.transform import Moments, moments_of
from evaluation.phase.output import write_rows

DISTRIBUTIONS, INTERVALS = "distributions.csv", "intervals.csv"
_STEPS = 20
_BINS = ("below_0", *(f"from_{step / _STEPS:.2f}" for step in range(_STEPS)), "above_1")
_OF_DISTRIBUTION = ("reader", "confidence", "stage", "cysts", "mean", "variance", *_BINS)
_OF_INTERVAL = ("reader", "from_confidence", "to_confidence", "from_mean", "to_mean", "interval")

ByConfidence = Mapping[int, Sequence[float]]


def bin_counts(distinctions: ArrayLike) -> NDArray[np.int64]:
    """Return how many values lie below 0, in each of 20 equal bins of [0, 1], and above 1, shape (22,).

    A bin holds its lower limit; the last one holds 1 too. NaN is left out.
    """
    values = np.asarray(distinctions, dtype=np.float64)
    values = values[~np.isnan(values)]
    inside = values[(values >= 0) & (values <= 1)]
    counts, _ = np.histogram(inside, bins=np.arange(_STEPS + 1) / _STEPS)
    return np.array([np.count_nonzero(values < 0), *counts, np.count_nonzero(values > 1)], dtype=np.int64)


def confidence_interval(lower: Moments, upper: Moments) -> float:
    """Return |μ_upper − μ_lower| of two confidences (section 3); NaN where one of them has no cyst."""
    return abs(upper.mean - lower.mean)


def write_distributions(
    work: Path, before: Mapping[str, ByConfidence], after: Mapping[str, ByConfidence]
) -> None:
    """Write the histograms of both stages, by annotator and confidence, and the intervals before."""
    rows = [
        (annotator, c, stage, moments.count, moments.mean, moments.variance, *bin_counts(values).tolist())
        for stage, annotators in (("before", before), ("after", after))
        for annotator, by_confidence in sorted(annotators.items())
        for c in CONFIDENCES
        for values in [by_confidence.get(c, ())]
        for moments in [moments_of(values)]
    ]
    write_rows(work / DISTRIBUTIONS, _OF_DISTRIBUTION, rows)
    intervals = [
        (annotator, c, c + 1, lower.mean, upper.mean, confidence_interval(lower, upper))
        for annotator, by_confidence in sorted(before.items())
        for c in CONFIDENCES[:-1]
        for lower, upper in [[moments_of(by_confidence.get(end, ())) for end in (c, c + 1)]]
    ]
    write_rows(work / INTERVALS, _OF_INTERVAL, intervals)
