"""Checks of the arguments of the public functions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Bools, Floats

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
