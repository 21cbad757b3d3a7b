"""Correlation and agreement of predicted numbers with true ones on plain arrays."""

from __future__ import annotations

from numpy.typing import ArrayLike

from evaluation.metrics import regression
from evaluation.metrics.plain_arguments import value_of


def pearson_correlation(
    predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return Pearson's correlation coefficient.

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
        In [−1, 1], higher is better.

    Raises
    ------
    ValueError
        For shapes that differ or an invalid weight.

    Notes
    -----
    0 if all predictions are equal; NaN if all true values are equal or fewer than two cases are left.

    References
    ----------
    K. Pearson, "Note on regression and inheritance in the case of two parents", Proceedings of the Royal
    Society of London 58:240–242, 1895.

    Examples
    --------
    >>> round(pearson_correlation([1, 2, 4], [1, 3, 2]), 4)
    0.3273
    """
    return value_of(regression.pearson_correlation, predicted, reference, weights)


def spearman_correlation(
    predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return Spearman's rank correlation coefficient.

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
        In [−1, 1], higher is better; ties have their mean rank.

    Raises
    ------
    ValueError
        For shapes that differ or an invalid weight.

    Notes
    -----
    0 if all predictions are equal; NaN if all true values are equal or fewer than two cases are left.

    References
    ----------
    C. Spearman, "The proof and measurement of association between two things", American Journal of
    Psychology 15:72–101, 1904.

    Examples
    --------
    >>> spearman_correlation([1, 2, 4], [1, 3, 2])
    0.5
    """
    return value_of(regression.spearman_correlation, predicted, reference, weights)


def intraclass_correlation(
    predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return the intraclass correlation ICC(2,1): the absolute agreement of prediction and truth.

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
        At most 1, higher is better.

    Raises
    ------
    ValueError
        For shapes that differ or an invalid weight.

    Notes
    -----
    NaN if fewer than two cases are left or nothing varies, so also for empty input.

    References
    ----------
    P. E. Shrout and J. L. Fleiss, "Intraclass correlations: uses in assessing rater reliability",
    Psychological Bulletin 86:420–428, 1979.

    Examples
    --------
    >>> intraclass_correlation([1, 2, 3], [1, 2, 3])
    1.0
    """
    return value_of(regression.intraclass_correlation, predicted, reference, weights)
