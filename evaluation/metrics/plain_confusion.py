"""The confusion matrix of two lists of classes on plain arrays."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics import confusion
from evaluation.metrics.plain_arguments import weights_row


def confusion_matrix(
    predicted: ArrayLike,
    reference: ArrayLike,
    *,
    classes: Sequence[Hashable],
    weights: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return the weights of the cases by true and predicted class.

    Parameters
    ----------
    predicted : array_like of int or str, shape (cases,)
        The predicted class of every case. None or NaN: the case has no result and is in no cell.
    reference : array_like of int or str, shape (cases,)
        The true classes. A case with None or NaN is left out.
    classes : sequence
        All classes in the order of the rows and columns.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    numpy.ndarray of float, shape (classes, classes)
        Indexed [true, predicted].

    Raises
    ------
    ValueError
        For lengths that differ, a class that is not listed, or an invalid weight.

    Notes
    -----
    All zeros for empty input.

    References
    ----------
    M. Grandini et al., "Metrics for multi-class classification: an overview", arXiv:2008.05756, 2020.

    Examples
    --------
    >>> confusion_matrix(["a", "b", "b"], ["a", "b", "c"], classes=["a", "b", "c"]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    """
    counts: NDArray[np.float64] = confusion_of(predicted, reference, weights, classes).counts[0]
    return counts


def confusion_of(
    predicted: ArrayLike,
    reference: ArrayLike,
    weights: ArrayLike | None,
    classes: Sequence[Hashable] | None = None,
) -> confusion.Confusion:
    """Return the confusion matrix of classes, by default of those that occur."""
    made, true = (np.asarray(column, dtype=object).tolist() for column in (predicted, reference))
    if len(made) != len(true):
        raise ValueError(f"predicted and reference: expected one length, found {len(made)} and {len(true)}")
    occurring = [name for name in dict.fromkeys([*true, *made]) if not _is_missing(name)]
    index = {name: position for position, name in enumerate(occurring if classes is None else classes)}
    if unknown := [name for name in occurring if name not in index]:
        raise ValueError(f"classes: expected every class that occurs, {unknown[0]!r} is not listed")
    truth, answers = (
        [np.nan if _is_missing(name) else float(index[name]) for name in column] for column in (true, made)
    )
    # One class alone still has another one that a case without a result could be taken for.
    count = max(2, len(index)) if classes is None else len(index)
    return confusion.confusion(truth, answers, weights_row(weights, len(true)), count)


def _is_missing(name: Hashable) -> bool:
    return name is None or name != name
