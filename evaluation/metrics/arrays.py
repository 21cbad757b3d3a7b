"""Types of arrays, small functions of arrays that many metrics need, and checks of arguments."""

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.stats.numbers import Bools as Bools
from evaluation.stats.numbers import Floats as Floats
from evaluation.stats.numbers import Integers as Integers
from evaluation.stats.numbers import distinct as distinct
from evaluation.stats.numbers import mean_of_defined as mean_of_defined
from evaluation.stats.numbers import quantiles as quantiles
from evaluation.stats.numbers import ratio_or_nan as ratio_or_nan

# --- Checks of the arguments of the public functions ---


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


def require_given(predicted: Floats, reference: Floats) -> None:
    """Raise ValueError for a prediction that is not finite where its case has a reference, of one shape."""
    if missing := np.flatnonzero(~np.isfinite(predicted) & ~np.isnan(reference)).tolist():
        found = f"{np.ravel(predicted)[missing[0]]} at position {missing[0]}"
        raise ValueError(f"predicted: expected finite numbers, found {found}")


def class_indices(labels: ArrayLike, shape: tuple[int, ...]) -> Floats:
    """Return the labels of as many cases as there are rows; one column has the classes 0 and 1."""
    true = np.asarray(labels if len(shape) > 1 else booleans(labels, "labels"), dtype=np.float64)
    if true.shape != shape[:1]:
        raise ValueError(f"labels: expected shape {shape[:1]}, found {true.shape}")
    if len(shape) > 1 and not np.isin(true, np.arange(shape[1])).all():
        raise ValueError(f"labels: expected class indices from 0 to {shape[1] - 1}")
    return true
