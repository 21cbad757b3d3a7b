"""Means, deviations and quantiles of columns of cases under weights, and the spread of a column."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.numbers import Floats, quantiles, ratio_or_nan


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
    share = place - below
    with np.errstate(invalid="ignore"):
        step = second - first
        # As `quantiles`, from the nearer value.
        found = np.where(share < 0.5, first + step * share, second - step * (1 - share))
    # Where nothing is between them, also of infinite values.
    found = np.where((share == 0) | (first == second), first, found)
    return np.where(total > 0, found, np.nan)
