"""Binary decisions: their F1, and the Hamming distance of sets of labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arguments import binary_decisions, booleans, weights_row
from evaluation.metrics.arrays import Floats

__all__ = ["f1_score", "hamming_distance"]


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
    decided, correct = binary_decisions(predicted, reference)
    return float(weighted_f1_score(decided, correct, weights_row(weights, decided.size))[0])


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
        modified_hamming_distance(label_errors(*rows))
        for rows in zip(np.atleast_2d(found).tolist(), np.atleast_2d(true).tolist(), strict=True)
    ]
    defined = [distance for distance in distances if distance == distance]
    return sum(defined) / len(defined) if defined else float("nan")


def _optional_booleans(values: ArrayLike) -> NDArray[Any]:
    """Return true, false or None for every entry."""
    numbers = np.asarray(values, dtype=np.float64)
    defined = ~np.isnan(numbers)
    found = np.full(numbers.shape, None, dtype=object)
    found[defined] = booleans(numbers[defined], "labels").tolist()
    return found


def weighted_f1_score(predicted: ArrayLike, present: ArrayLike, weights: ArrayLike) -> Floats:
    """`f1_score` under each row of weights, shape (resamples, cases), at least 0.

    predicted, present: boolean, shape (cases,). Returns shape (resamples,); 1 in a row without a positive,
    for which the source gives no value. Raises ValueError where the shapes do not fit.
    """
    said = np.asarray(predicted, dtype=np.bool_)
    truth = np.asarray(present, dtype=np.bool_)
    matrix = np.asarray(weights, dtype=np.float64)
    if said.ndim != 1 or said.shape != truth.shape or matrix.ndim != 2 or matrix.shape[1] != said.size:
        raise ValueError(
            "predicted, present and weights: expected shapes (cases,), (cases,) and (resamples, cases), "
            f"found {said.shape}, {truth.shape} and {matrix.shape}"
        )
    counts = matrix @ np.column_stack((said & truth, said != truth)).astype(np.float64)
    twice_true_positive, wrong = 2.0 * counts[:, 0], counts[:, 1]
    total = twice_true_positive + wrong
    return np.divide(twice_true_positive, total, out=np.ones(total.shape), where=total > 0)


def values_of_f1(positives: int, negatives: int) -> int:
    """Return how many values F1 can take, given the numbers of images with and without the structure.

    At most positives · (negatives + 1) + 1 and less, since 2·TP / (TP + positives + FP) repeats itself.
    Without positives it is 1 where none is predicted, else 0.
    """
    if not positives:
        return min(2, 1 + negatives)
    true_positive = np.arange(1, positives + 1, dtype=np.int64)[:, np.newaxis]
    total = true_positive + positives + np.arange(negatives + 1, dtype=np.int64)
    common = np.gcd(2 * true_positive, total)
    return 1 + len(np.unique((2 * true_positive // common) << 32 | total // common))


def label_errors(predicted: Sequence[bool | None], agreed: Sequence[bool | None]) -> tuple[float, ...]:
    """Return 1 for every label that is wrong or missing (None), 0 for a correct one, NaN if not agreed on.

    Both sequences have one entry per label. Raises ValueError if their lengths differ.
    """
    return tuple(
        math.nan if true is None else float(label is not true)
        for label, true in zip(predicted, agreed, strict=True)
    )


def modified_hamming_distance(errors: Sequence[float]) -> float:
    """Return the share of wrong labels among those that the graders agreed on, NaN if there are none.

    errors: the result of `label_errors`. Source: JustRAIGS challenge design, metrics, P_just.
    """
    counted = [error for error in errors if not math.isnan(error)]
    return sum(counted) / len(counted) if counted else math.nan
