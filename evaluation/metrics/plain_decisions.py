"""Binary decisions on plain arrays: F1, sensitivity, specificity, and Hamming distance of sets of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics import confusion, decisions
from evaluation.metrics.plain_arguments import booleans, weights_row


def f1_score(predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the F1 of binary decisions, 2·TP / (2·TP + FP + FN).

    Parameters
    ----------
    predicted : array_like of bool, shape (cases,)
        The decisions: true or 1 for positive.
    reference : array_like of bool, shape (cases,)
        The correct decisions.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        For shapes that differ, a decision other than 0 and 1, or an invalid weight.

    Notes
    -----
    1 if no case is positive, neither predicted nor in the reference; so also for empty input. scikit-learn's
    `f1_score` returns this value with ``zero_division=1``.

    References
    ----------
    H. Fang et al., "ADAM Challenge: detecting age-related macular degeneration from fundus images", IEEE
    Transactions on Medical Imaging 41:2828–2847, 2022.

    Examples
    --------
    >>> f1_score([1, 1, 0, 0], [1, 0, 1, 0])
    0.5
    """
    decided, correct = _decisions(predicted, reference)
    return float(decisions.f1_of_presence(decided, correct, weights_row(weights, decided.size))[0])


def sensitivity(predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the share of the positive cases that are decided to be positive.

    Parameters
    ----------
    predicted : array_like of bool, shape (cases,)
        The decisions: true or 1 for positive.
    reference : array_like of bool, shape (cases,)
        The correct decisions.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        For shapes that differ, a decision other than 0 and 1, or an invalid weight.

    Notes
    -----
    NaN without a positive case in the reference, so also for empty input.

    References
    ----------
    J. Yerushalmy, "Statistical problems in assessing methods of medical diagnosis", Public Health Reports
    62:1432–1449, 1947.

    Examples
    --------
    >>> sensitivity([1, 1, 0, 0], [1, 0, 1, 1])
    0.3333333333333333
    """
    decided, correct = _decisions(predicted, reference)
    counts = confusion.confusion(correct, decided, weights_row(weights, decided.size), 2)
    return float(confusion.sensitivity(counts)[0])


def specificity(predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the share of the negative cases that are decided to be negative.

    Parameters
    ----------
    predicted : array_like of bool, shape (cases,)
        The decisions: true or 1 for positive.
    reference : array_like of bool, shape (cases,)
        The correct decisions.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        For shapes that differ, a decision other than 0 and 1, or an invalid weight.

    Notes
    -----
    NaN without a negative case in the reference, so also for empty input.

    References
    ----------
    J. Yerushalmy, "Statistical problems in assessing methods of medical diagnosis", Public Health Reports
    62:1432–1449, 1947.

    Examples
    --------
    >>> specificity([1, 1, 0, 0], [1, 0, 1, 1])
    0.0
    """
    decided, correct = _decisions(predicted, reference)
    counts = confusion.confusion(correct, decided, weights_row(weights, decided.size), 2)
    return float(confusion.specificity(counts)[0])


def hamming_distance(predicted: ArrayLike, reference: ArrayLike) -> float:
    """Return the share of labels that are wrong, averaged over the cases.

    Parameters
    ----------
    predicted : array_like of bool, shape (labels,) or (cases, labels)
        The labels of one case, or one row per case: true or 1, false or 0. None or NaN is a missing label,
        which is wrong.
    reference : array_like of bool, same shape
        The correct labels. None or NaN is a label without agreement, which is left out.

    Returns
    -------
    float
        In [0, 1], lower is better.

    Raises
    ------
    ValueError
        For shapes that differ, or an entry other than 0, 1, None and NaN.

    Notes
    -----
    A case without any label to compare is left out of the mean. NaN if no case remains, so also for empty
    input. If nothing is missing, this is scikit-learn's `hamming_loss`.

    References
    ----------
    "Justified Referral in AI Glaucoma Screening: Structured description of the challenge design", 2024
    (modified Hamming distance).

    Examples
    --------
    >>> hamming_distance([1, 0, 0, 1], [1, 1, 0, None])  # one of three labels is wrong
    0.3333333333333333
    """
    found, true = (_optional_booleans(labels) for labels in (predicted, reference))
    if found.shape != true.shape or found.ndim not in (1, 2):
        raise ValueError(
            "predicted and reference: expected one shape (labels,) or (cases, labels), "
            f"found {found.shape} and {true.shape}"
        )
    distances = [
        decisions.modified_hamming_distance(decisions.label_errors(*rows))
        for rows in zip(np.atleast_2d(found).tolist(), np.atleast_2d(true).tolist(), strict=True)
    ]
    defined = [distance for distance in distances if distance == distance]
    return sum(defined) / len(defined) if defined else float("nan")


def _decisions(predicted: ArrayLike, reference: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    decided, correct = booleans(predicted, "predicted"), booleans(reference, "reference")
    if decided.ndim != 1 or decided.shape != correct.shape:
        raise ValueError(
            f"predicted and reference: expected one shape (cases,), found {decided.shape} and {correct.shape}"
        )
    return decided, correct


def _optional_booleans(values: ArrayLike) -> NDArray[Any]:
    """Return true, false or None for every entry."""
    numbers = np.asarray(values, dtype=np.float64)
    defined = ~np.isnan(numbers)
    found = np.full(numbers.shape, None, dtype=object)
    found[defined] = booleans(numbers[defined], "labels").tolist()
    return found
