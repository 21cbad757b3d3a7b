"""Types of arrays, small functions of arrays that many metrics need, and checks of arguments."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]
Number = TypeVar("Number", bound=np.generic)
_LARGEST = 1 << 63


def ratio_or_nan(numerator: Floats, denominator: Floats) -> Floats:
    """Return the quotients of two arrays of matching shapes; NaN where the denominator is not above 0."""
    result = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    np.divide(numerator, denominator, out=result, where=denominator > 0)
    return result


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """Return the distinct values of an array of any shape, ascending; shape (values,).

    As `numpy.unique`, which imports masked arrays at its first call: that takes as long as a hundred of
    these. Values must not be NaN.
    """
    ordered = np.sort(values, axis=None)
    first = np.ones(ordered.size, dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def quantiles(values: ArrayLike, levels: ArrayLike) -> NDArray[np.float64]:
    """Return quantiles along the first axis, by linear interpolation.

    values: shape (values, …), at least one value, no NaN. levels: shape (levels,), in [0, 1]. Returns shape
    (levels, …). As `numpy.quantile`, digit by digit; that imports masked arrays at its first call, which
    takes as long as many of these.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64), axis=0)
    place = np.asarray(levels, dtype=np.float64) * (len(ordered) - 1)
    before = np.floor(place).astype(np.intp)
    lower, upper = ordered[before], ordered[np.minimum(before + 1, len(ordered) - 1)]
    share = (place - before).reshape(-1, *[1] * (ordered.ndim - 1))
    step = upper - lower
    # From the nearer value, so that a share of one would give the upper one exactly.
    found: NDArray[np.float64] = np.where(share < 0.5, lower + step * share, upper - step * (1 - share))
    return found


def order_in_groups(groups: NDArray[np.int64], confidence: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the order by group, then by descending confidence, then by position.

    groups: integers of at least 0, confidence: no NaN; shape (detections,). As
    ``numpy.lexsort((-confidence, groups))``, but by one sort of integers that are all different, which takes
    a third of the time.
    """
    number = groups.size
    bits = number.bit_length()
    if int(groups.max(initial=0)) + 1 >= _LARGEST // max(1, number) >> bits:
        return np.lexsort((-confidence, groups))
    descending = np.argsort(-confidence)
    sorted_confidence = confidence[descending]
    lower = np.zeros(number, dtype=np.int64)
    lower[1:] = sorted_confidence[1:] != sorted_confidence[:-1]
    rank = np.empty(number, dtype=np.int64)
    rank[descending] = np.cumsum(lower)
    keys = ((groups * number + rank) << bits) + np.arange(number)
    keys.sort()
    order: NDArray[np.int64] = keys & ((1 << bits) - 1)
    return order


# --- Checks of the arguments of the public functions ---

Figure = Callable[[ArrayLike, ArrayLike, ArrayLike], Floats]


def booleans(values: ArrayLike, name: str) -> Bools:
    """Return an array as booleans. Raises ValueError, naming the argument, for values other than 0 and 1."""
    array = np.asarray(values)
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        other = array[~np.isin(array, (0, 1))][0]
        raise ValueError(f"{name}: expected 0 and 1 only, found {other}")
    return array.astype(np.bool_)


def weights_row(weights: ArrayLike | None, cases: int) -> Floats:
    """Return the weights of the cases, by default 1, as a matrix of one row. Raises ValueError."""
    row = np.ones(cases) if weights is None else np.asarray(weights, dtype=np.float64)
    if row.shape != (cases,) or not np.isfinite(row).all() or (row < 0).any():
        raise ValueError(f"weights: expected {cases} finite numbers of at least 0, found {weights!r}")
    return row[np.newaxis]


def decimal(number: float, name: str) -> Fraction:
    """Return a share as the decimal number that it is printed as. Raises ValueError outside [0, 1]."""
    if not 0 <= number <= 1:
        raise ValueError(f"{name}: expected a number from 0 to 1, found {number}")
    return Fraction(repr(float(number)))


def mask_of(values: ArrayLike, name: str) -> Bools:
    """Return a mask as booleans. Raises ValueError, naming the argument, for values other than 0 and 1."""
    array = np.asarray(values)
    if array.dtype != np.bool_ and not ((array == 0) | (array == 1)).all():
        raise ValueError(f"{name}: expected 0 and 1 only; choose a label first, for example mask == 255")
    return array.astype(np.bool_)


def regions_of(prediction: ArrayLike, reference: ArrayLike) -> tuple[Bools, Bools]:
    """Return two masks of one shape (y, x) or (z, y, x) as booleans. Raises ValueError."""
    first, second = mask_of(prediction, "prediction"), mask_of(reference, "reference")
    if first.ndim not in (2, 3) or first.shape != second.shape:
        raise ValueError(
            f"expected two arrays of one shape (y, x) or (z, y, x), found {first.shape} and {second.shape}"
        )
    return first, second


def check_shapes(prediction: NDArray[np.generic], reference: NDArray[np.generic]) -> None:
    """Raise ValueError if two arrays differ in shape."""
    if prediction.shape != reference.shape:
        raise ValueError(f"expected arrays of one shape, found {prediction.shape} and {reference.shape}")


def value_of(figure: Figure, predicted: ArrayLike, reference: ArrayLike, weights: ArrayLike | None) -> float:
    """Return a figure of two columns under the weights of the cases, by default 1. Raises ValueError."""
    return float(figure(predicted, reference, weights_row(weights, np.size(reference)))[0])


def class_indices(labels: ArrayLike, shape: tuple[int, ...]) -> Floats:
    """Return the labels of as many cases as there are rows; one column has the classes 0 and 1."""
    true = np.asarray(labels if len(shape) > 1 else booleans(labels, "labels"), dtype=np.float64)
    if true.shape != shape[:1]:
        raise ValueError(f"labels: expected shape {shape[:1]}, found {true.shape}")
    if len(shape) > 1 and not np.isin(true, np.arange(shape[1])).all():
        raise ValueError(f"labels: expected class indices from 0 to {shape[1] - 1}")
    return true


def binary_decisions(predicted: ArrayLike, reference: ArrayLike) -> tuple[Bools, Bools]:
    """Return decisions and correct ones as booleans. Raises ValueError for shapes that differ."""
    decided, correct = booleans(predicted, "predicted"), booleans(reference, "reference")
    if decided.ndim != 1 or decided.shape != correct.shape:
        raise ValueError(
            f"predicted and reference: expected one shape (cases,), found {decided.shape} and {correct.shape}"
        )
    return decided, correct
