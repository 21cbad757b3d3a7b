"""Errors of predicted numbers on plain arrays."""

from __future__ import annotations

from numpy.typing import ArrayLike

from evaluation.metrics import regression
from evaluation.metrics.plain_arguments import value_of


def mean_absolute_error(
    predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return the mean of |predicted − true|.

    Parameters
    ----------
    predicted : array_like of float, shape (cases,)
        The predicted values.
    reference : array_like of float, shape (cases,)
        The true values. A case with NaN in either is left out.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        At least 0, in the unit of the values, lower is better.

    Raises
    ------
    ValueError
        For shapes that differ or an invalid weight.

    Notes
    -----
    NaN if no case is left, so also for empty input.

    References
    ----------
    C. J. Willmott and K. Matsuura, "Advantages of the mean absolute error (MAE) over the root mean square
    error (RMSE)", Climate Research 30:79–82, 2005.

    Examples
    --------
    >>> mean_absolute_error([1, 2, 4], [1, 3, 2])
    1.0
    """
    return value_of(regression.mean_absolute_error, predicted, reference, weights)


def root_mean_squared_error(
    predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return the root of the mean squared error.

    Parameters
    ----------
    predicted : array_like of float, shape (cases,)
        The predicted values.
    reference : array_like of float, shape (cases,)
        The true values. A case with NaN in either is left out.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        At least 0, in the unit of the values, lower is better.

    Raises
    ------
    ValueError
        For shapes that differ or an invalid weight.

    Notes
    -----
    NaN if no case is left, so also for empty input.

    References
    ----------
    C. J. Willmott and K. Matsuura, "Advantages of the mean absolute error (MAE) over the root mean square
    error (RMSE)", Climate Research 30:79–82, 2005.

    Examples
    --------
    >>> root_mean_squared_error([1, 5], [1, 3])
    1.4142135623730951
    """
    return value_of(regression.root_mean_squared_error, predicted, reference, weights)


def bias(predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the mean of predicted − true.

    Parameters
    ----------
    predicted : array_like of float, shape (cases,)
        The predicted values.
    reference : array_like of float, shape (cases,)
        The true values. A case with NaN in either is left out.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In the unit of the values; 0 is best.

    Raises
    ------
    ValueError
        For shapes that differ or an invalid weight.

    Notes
    -----
    NaN if no case is left, so also for empty input.

    References
    ----------
    J. M. Bland and D. G. Altman, "Statistical methods for assessing agreement between two methods of
    clinical measurement", Lancet 327:307–310, 1986.

    Examples
    --------
    >>> bias([1, 2, 4], [1, 3, 2])
    0.3333333333333333
    """
    return value_of(regression.bias, predicted, reference, weights)


def normalised_absolute_error(
    predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return the sum of the absolute errors divided by the sum of the absolute true values.

    Parameters
    ----------
    predicted : array_like of float, shape (cases,)
        The predicted values.
    reference : array_like of float, shape (cases,)
        The true values. A case with NaN in either is left out.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        At least 0, without unit, lower is better.

    Raises
    ------
    ValueError
        For shapes that differ or an invalid weight.

    Notes
    -----
    NaN if no case is left or all true values are 0, so also for empty input.

    References
    ----------
    C. J. Willmott and K. Matsuura, "Advantages of the mean absolute error (MAE) over the root mean square
    error (RMSE)", Climate Research 30:79–82, 2005.

    Examples
    --------
    >>> normalised_absolute_error([1, 2, 4], [1, 3, 2])
    0.5
    """
    return value_of(regression.normalised_absolute_error, predicted, reference, weights)
