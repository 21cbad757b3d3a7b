"""Krippendorff's alpha: agreement of any number of annotators, of whom each may have left out cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Level = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(ratings: Sequence[Sequence[float]], level: Level) -> float:
    """Return Krippendorff's alpha, at most 1; 0 is agreement by chance.

    ratings: for every case the values that its annotators gave, as many as there are. Cases with fewer than
    two values do not enter. level: how values differ: by being another category ("nominal", any number stands
    for a category), by the number of values between them ("ordinal"), or by their squared difference
    ("interval"). NaN where no case enters or all values are equal. Raises ValueError for an unknown level.
    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability; 2004, Content Analysis, chapter 11.
    """
    if level not in ("nominal", "ordinal", "interval"):
        raise ValueError(f"level: expected nominal, ordinal or interval, found {level!r}")
    cases = [np.asarray(values, dtype=np.float64) for values in ratings if len(values) > 1]
    if not cases:
        return math.nan
    values, code = np.unique(np.concatenate(cases), return_inverse=True)
    if values.size < 2:
        return math.nan
    total = np.bincount(code, minlength=values.size).astype(np.float64)
    position = _positions(values, total, level)
    observed = expected = 0.0
    start = 0
    for case in cases:
        chosen = code[start : start + case.size]
        start += case.size
        observed += _twice_differing(np.bincount(chosen), position, level) / (case.size - 1)
    expected = _twice_differing(total, position, level) / (total.sum() - 1)
    return float(1 - observed / expected)


def _positions(values: NDArray[np.float64], total: NDArray[np.float64], level: Level) -> NDArray[np.float64]:
    """Return where each value lies on a scale on which squared distances are the differences."""
    if level == "ordinal":
        # Values between two, with half of each end: the difference of two mid-ranks.
        return np.asarray(np.cumsum(total) - total / 2)
    return np.asarray(values - values.mean())


def _twice_differing(
    counts: NDArray[np.float64] | NDArray[np.intp], position: NDArray[np.float64], level: Level
) -> float:
    """Return the difference summed over all ordered pairs of values that occur so many times."""
    number = float(counts.sum())
    if level == "nominal":
        return number**2 - float((counts.astype(np.float64) ** 2).sum())
    at = position[: counts.size]
    at = at - float(counts @ at) / number
    return 2 * number * float(counts @ at**2)
