"""Comparison of floats by their published decimal digits: equal digits tie in a test."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.platform.result_file import SIGNIFICANT_DIGITS

FloatArray = NDArray[np.float64]
_LARGEST_EXACT_POWER = 22  # 10²² is the largest power of ten that a float64 holds exactly


def published(values: ArrayLike) -> FloatArray:
    """Return values rounded to the published significant digits; NaN and infinity stay.

    values: any shape. Values that are equal in these digits are the same float afterwards.
    """
    given = np.asarray(values, dtype=np.float64)
    return _rounded(given, np.abs(given))


def published_difference(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Return first − second, rounded to the last published digit of the larger one.

    first, second: shapes that broadcast. 0.3 − 0.1 and 0.4 − 0.2 differ as floats and are equal here.
    NaN where either is NaN.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    return _rounded(a - b, np.maximum(np.abs(a), np.abs(b)))


def _rounded(values: FloatArray, magnitude: FloatArray) -> FloatArray:
    """Return values rounded to the last significant digit of numbers of the given magnitude."""
    known = np.isfinite(magnitude) & (magnitude > 0)
    exponent = np.floor(np.log10(np.where(known, magnitude, 1.0)))
    decimals = np.clip(SIGNIFICANT_DIGITS - 1 - exponent, -_LARGEST_EXACT_POWER, _LARGEST_EXACT_POWER)
    # A whole number over an exact power of ten gives the float nearest to the decimal.
    up, down = 10.0 ** np.maximum(decimals, 0), 10.0 ** np.maximum(-decimals, 0)
    return np.where(known, np.rint(values * up / down) / up * down, values)
