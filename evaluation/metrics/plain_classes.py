"""Decisions between two or more classes on plain arrays: accuracy, F1, Matthews' correlation."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from evaluation.metrics import confusion
from evaluation.metrics.plain_confusion import confusion_of


def accuracy(
    predicted: ArrayLike,
    reference: ArrayLike,
    *,
    weights: ArrayLike | None = None,
) -> float:
    """Return the share of cases with the right class.

    Parameters
    ----------
    predicted : array_like of int or str, shape (cases,)
        The predicted class of every case. None or NaN: the case has no result.
    reference : array_like of int or str, shape (cases,)
        The true classes. A case with None or NaN is left out.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        For lengths that differ or an invalid weight.

    Notes
    -----
    NaN if no case is left, so also for empty input. A case without a result is wrong.

    References
    ----------
    M. Grandini et al., "Metrics for multi-class classification: an overview", arXiv:2008.05756, 2020.

    Examples
    --------
    >>> accuracy(["a", "b", "b", None], ["a", "b", "c", "c"])
    0.5
    """
    return float(confusion.accuracy(confusion_of(predicted, reference, weights))[0])


def balanced_accuracy(
    predicted: ArrayLike,
    reference: ArrayLike,
    *,
    weights: ArrayLike | None = None,
) -> float:
    """Return the mean of the sensitivities of the classes that occur in the reference.

    Parameters
    ----------
    predicted : array_like of int or str, shape (cases,)
        The predicted class of every case. None or NaN: the case has no result.
    reference : array_like of int or str, shape (cases,)
        The true classes. A case with None or NaN is left out.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In [0, 1], higher is better; 1 / classes for one and the same answer to every case.

    Raises
    ------
    ValueError
        For lengths that differ or an invalid weight.

    Notes
    -----
    NaN if no case is left, so also for empty input. A case without a result is wrong.

    References
    ----------
    K. H. Brodersen et al., "The balanced accuracy and its posterior distribution", ICPR, 3121–3124, 2010.

    Examples
    --------
    >>> balanced_accuracy(["a", "b", "b", None], ["a", "b", "c", "c"])
    0.6666666666666666
    """
    return float(confusion.balanced_accuracy(confusion_of(predicted, reference, weights))[0])


def mean_f1(
    predicted: ArrayLike,
    reference: ArrayLike,
    *,
    averaging: Literal["macro", "weighted"] = "macro",
    weights: ArrayLike | None = None,
) -> float:
    """Return the F1 of each class against the rest, averaged over the classes.

    Parameters
    ----------
    predicted : array_like of int or str, shape (cases,)
        The predicted class of every case. None or NaN: the case has no result.
    reference : array_like of int or str, shape (cases,)
        The true classes. A case with None or NaN is left out.
    averaging : {"macro", "weighted"}, optional
        "macro" gives each class the same weight, "weighted" its share of the reference.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        For lengths that differ, another averaging or an invalid weight.

    Notes
    -----
    NaN if no case is left, so also for empty input. The mean is over the classes that occur in reference or
    prediction. A case without a result is a miss of its class and a false alarm of every other class.

    References
    ----------
    J. Opitz and S. Burst, "Macro F1 and macro F1", arXiv:1911.03347, 2019 (the mean of F1 scores).

    Examples
    --------
    >>> mean_f1(["a", "b", "b", "c"], ["a", "b", "c", "c"])
    0.7777777777777777
    """
    if averaging not in ("macro", "weighted"):
        raise ValueError(f"averaging: expected 'macro' or 'weighted', found {averaging!r}")
    return float(confusion.mean_f1(confusion_of(predicted, reference, weights), averaging)[0])


def matthews_correlation(
    predicted: ArrayLike,
    reference: ArrayLike,
    *,
    weights: ArrayLike | None = None,
) -> float:
    """Return Matthews' correlation coefficient, for several classes Gorodkin's.

    Parameters
    ----------
    predicted : array_like of int or str, shape (cases,)
        The predicted class of every case. None or NaN: the case has no result.
    reference : array_like of int or str, shape (cases,)
        The true classes. A case with None or NaN is left out.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In [−1, 1], higher is better; 0 for an answer that does not depend on the class.

    Raises
    ------
    ValueError
        For lengths that differ or an invalid weight.

    Notes
    -----
    NaN if no case is left, so also for empty input; 0 where reference or prediction has one class only. With
    cases without a result, the value is a lower bound over all answers they could have had.

    References
    ----------
    J. Gorodkin, "Comparing two K-category assignments by a K-category correlation coefficient", Computational
    Biology and Chemistry 28:367–374, 2004.

    Examples
    --------
    >>> round(matthews_correlation([1, 1, 0, 0], [1, 0, 0, 0]), 4)
    0.5774
    """
    return float(confusion.matthews_correlation(confusion_of(predicted, reference, weights))[0])
