"""Types of arrays, small functions of arrays that many metrics need, and checks of arguments."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.stats.numbers import Bools as Bools
from evaluation.stats.numbers import Floats as Floats
from evaluation.stats.numbers import Integers as Integers
from evaluation.stats.numbers import distinct as distinct
from evaluation.stats.numbers import quantiles as quantiles

_LARGEST = 1 << 63


def ratio_or_nan(numerator: Floats, denominator: Floats) -> Floats:
    """Return the quotients of two arrays of matching shapes; NaN where the denominator is not above 0."""
    result = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    np.divide(numerator, denominator, out=result, where=denominator > 0)
    return result


def order_in_groups(groups: NDArray[np.int64], confidence: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the order by group, then by descending confidence, then by position.

    groups: integers of at least 0, confidence: no NaN; shape (detections,). As
    ``numpy.lexsort((-confidence, groups))``, but by one sort of integers that are all different, which is
    faster.
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
    return keys & ((1 << bits) - 1)


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


# --- Means over cases under weights, and the spread of a column of cases ---


@dataclass(frozen=True, slots=True)
class Spread:
    """Standard deviation (ddof = 1), median and quartiles of a column, in its own unit."""

    standard_deviation: float
    median: float
    first_quartile: float
    third_quartile: float


def weighted_mean(values: ArrayLike, weights: ArrayLike) -> Floats:
    """Mean of a per-case column under each row of weights.

    values: shape (cases,), finite, or NaN where the metric is undefined for the case: such a case leaves
    numerator and denominator. weights: shape (resamples, cases), at least 0; fastest as float64 in C order.
    Returns shape (resamples,); NaN in a row where no defined case has weight.
    Raises ValueError for an infinite value and where the shapes do not fit.
    """
    column = np.asarray(values, dtype=np.float64)
    matrix = np.asarray(weights, dtype=np.float64)
    if column.ndim != 1 or matrix.ndim != 2 or matrix.shape[1] != column.size:
        raise ValueError(
            "values and weights: expected shapes (cases,) and (resamples, cases), "
            f"found {column.shape} and {matrix.shape}"
        )
    if np.isinf(column).any():
        raise ValueError(f"values: expected finite numbers or NaN, found {column[np.isinf(column)][0]}")
    defined = ~np.isnan(column)
    # One product reads the weights once for both sums.
    sums = matrix @ np.column_stack((np.where(defined, column, 0.0), defined))
    return ratio_or_nan(sums[:, 0], sums[:, 1])


def weighted_means(values: ArrayLike, weights: ArrayLike) -> Floats:
    """Mean of many per-case columns under each row of weights, in one product.

    values: shape (columns, cases), finite, or NaN where a case does not enter. weights: shape (resamples,
    cases), at least 0. Returns shape (resamples, columns); NaN where no defined case has weight. Equal to
    `weighted_mean` of every column but for the rounding of sums. Raises ValueError for an infinite value.
    """
    columns, rows = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if np.isinf(columns).any():
        raise ValueError(f"values: expected finite numbers or NaN, found {columns[np.isinf(columns)][0]}")
    defined = ~np.isnan(columns)
    same = (defined == defined[:1]).all()
    total = rows @ (defined[:1] if same else defined).T.astype(np.float64)
    sums = rows @ np.where(defined, columns, 0.0).T
    return ratio_or_nan(sums, total)


def weighted_deviation(values: ArrayLike, weights: ArrayLike) -> Floats:
    """Return the standard deviation (ddof = 0) of a per-case column under each row of weights.

    Shapes, NaN cases and errors as in `weighted_mean`; 0 if one case has all the weight.
    """
    column = np.asarray(values, dtype=np.float64)
    defined = column[~np.isnan(column)]
    # Centred first: the difference of two large means would lose digits.
    centred = column - (defined.mean() if defined.size else 0.0)
    variance = weighted_mean(centred * centred, weights) - weighted_mean(centred, weights) ** 2
    return np.sqrt(np.maximum(variance, 0.0))


def spread(values: ArrayLike) -> Spread:
    """Spread of a column over its defined (not NaN) cases; quantiles by linear interpolation.

    values: shape (cases,). All four are NaN where no case is defined, the standard deviation also for one.
    """
    column = np.asarray(values, dtype=np.float64)
    defined = column[~np.isnan(column)]
    if not defined.size:
        return Spread(math.nan, math.nan, math.nan, math.nan)
    first_quartile, median, third_quartile = quantiles(defined, (0.25, 0.5, 0.75)).tolist()
    deviation = float(defined.std(ddof=1)) if defined.size > 1 else math.nan
    return Spread(deviation, median, first_quartile, third_quartile)


def weighted_quantile(values: ArrayLike, weights: ArrayLike, level: float) -> Floats:
    """Quantile of a per-case column under each row of weights, by linear interpolation.

    values: shape (cases,); NaN leaves a case out. weights: whole numbers, shape (resamples, cases): so often
    the row has each case. level: in [0, 1]. Returns shape (resamples,), as `numpy.quantile` of each row's
    cases; NaN in a row where no defined case has weight.
    """
    column, matrix = np.asarray(values, dtype=np.float64), np.asarray(weights)
    order = np.argsort(column)[: np.count_nonzero(~np.isnan(column))]
    if not order.size:
        return np.full(len(matrix), np.nan)
    ordered, ranks = column[order], np.cumsum(matrix[:, order], axis=1)
    total = ranks[:, -1]
    place = level * (total - 1)
    below = np.floor(place)
    first, second = (
        ordered[np.minimum((ranks <= np.minimum(rank, total - 1)[:, np.newaxis]).sum(axis=1), order.size - 1)]
        for rank in (below, below + 1)
    )
    share, step = place - below, second - first
    # As `quantiles`, from the nearer value.
    found = np.where(share < 0.5, first + step * share, second - step * (1 - share))
    return np.where(total > 0, found, np.nan)
