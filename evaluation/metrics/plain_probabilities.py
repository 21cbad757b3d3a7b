"""Predicted probabilities on plain arrays: Brier score, calibration, and AUC of several classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics import multiclass_roc
from evaluation.metrics import probabilities as figures
from evaluation.metrics.plain_arguments import booleans, weights_row


def brier_score(probabilities: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the mean squared difference between predicted probabilities and what is true.

    Parameters
    ----------
    probabilities : array_like of float, shape (cases,) or (cases, classes)
        The probability of the positive class, or of each of several classes, in [0, 1].
    labels : array_like of int, shape (cases,)
        The reference: 0 or 1, or the index of the class from 0 on.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In [0, 1], or in [0, 2] for several classes, whose squares are summed; lower is better.

    Raises
    ------
    ValueError
        For shapes that differ, a probability outside [0, 1], a label that is none, or an invalid weight.

    Notes
    -----
    NaN for empty input. For two classes, given as two columns, it is twice that of one column.

    References
    ----------
    G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review
    78:1–3, 1950.

    Examples
    --------
    >>> brier_score([0.5, 1.0], [0, 1])
    0.125
    >>> brier_score([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], [1, 2])
    0.25
    """
    shares, true = _columns(probabilities, labels)
    score = figures.brier_score if shares.ndim == 1 else figures.multiclass_brier_score
    return float(score(shares, true, weights_row(weights, len(true)))[0])


def expected_calibration_error(
    probabilities: ArrayLike, labels: ArrayLike, *, bins: int = 10, weights: ArrayLike | None = None
) -> float:
    """Return the mean distance of predicted from observed shares of positive cases over bins of equal width.

    Parameters
    ----------
    probabilities : array_like of float, shape (cases,)
        The probability of the positive class, in [0, 1].
    labels : array_like of bool, shape (cases,)
        The reference: true or 1 for a positive case, false or 0 for a negative one.
    bins : int, optional
        Number of bins. Bin k holds probabilities p with k/bins ≤ p < (k + 1)/bins, the last one also p = 1.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In [0, 1], lower is better.

    Raises
    ------
    ValueError
        For shapes that differ, a probability outside [0, 1], a label other than 0 and 1, an invalid weight,
        or less than one bin.

    Notes
    -----
    NaN for empty input. Each bin counts with its share of the cases.

    References
    ----------
    M. P. Naeini et al., "Obtaining well calibrated probabilities using Bayesian binning", AAAI, 2901–2907,
    2015.

    Examples
    --------
    >>> expected_calibration_error([0.25, 0.25, 0.75, 1.0], [0, 1, 1, 1], bins=2)
    0.1875
    """
    if bins < 1:
        raise ValueError(f"bins: expected at least 1, found {bins}")
    shares, true = _columns(probabilities, labels)
    if shares.ndim != 1:
        raise ValueError(f"probabilities: expected shape (cases,), found {shares.shape}")
    row = weights_row(weights, len(true))
    return float(figures.expected_calibration_error(shares, true, row, bins)[0])


def macro_auc(scores: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the AUC of each class against the rest, averaged over the classes.

    Parameters
    ----------
    scores : array_like of float, shape (cases, classes)
        One column for each class; higher means more likely.
    labels : array_like of int, shape (cases,)
        The reference: the index of the class from 0 on.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In [0, 1], higher is better; 0.5 for scores without information.

    Raises
    ------
    ValueError
        For shapes that do not fit, a score that is NaN, a label that is no class, or an invalid weight.

    Notes
    -----
    A class that none of the cases has, or all of them, does not enter the mean. NaN if no class enters, so
    also for empty input.

    References
    ----------
    F. Provost and P. Domingos, "Well-trained PETs: improving probability estimation trees", CeDER working
    paper IS-00-04, 2000.

    Examples
    --------
    >>> macro_auc([[0.8, 0.1, 0.1], [0.5, 0.4, 0.1], [0.2, 0.3, 0.5], [0.3, 0.6, 0.1]], [0, 1, 2, 0])
    0.8055555555555555
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or np.isnan(values).any():
        raise ValueError(f"scores: expected numbers of shape (cases, classes), found shape {values.shape}")
    true = _class_indices(labels, values.shape)
    return float(multiclass_roc.macro_auc(values, true, weights_row(weights, len(true)))[0])


def _columns(probabilities: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    shares = np.asarray(probabilities, dtype=np.float64)
    if shares.ndim not in (1, 2) or not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError("probabilities: expected numbers from 0 to 1 of shape (cases,) or (cases, classes)")
    return shares, _class_indices(labels, shares.shape)


def _class_indices(labels: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the labels of as many cases as there are rows; one column has the classes 0 and 1."""
    true = np.asarray(labels if len(shape) > 1 else booleans(labels, "labels"), dtype=np.float64)
    if true.shape != shape[:1]:
        raise ValueError(f"labels: expected shape {shape[:1]}, found {true.shape}")
    if len(shape) > 1 and not np.isin(true, np.arange(shape[1])).all():
        raise ValueError(f"labels: expected class indices from 0 to {shape[1] - 1}")
    return true
