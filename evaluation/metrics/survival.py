"""Concordance of predicted risks with observed survival times."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics.arguments import booleans, weights_row
from evaluation.metrics.arrays import Floats, ratio_or_nan

__all__ = ["concordance_index"]

_ENTRIES_AT_ONCE = 1 << 22  # 32 MB of pairs


def concordance_index(
    predicted_time: ArrayLike, time: ArrayLike, event: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return Harrell's concordance index: the share of comparable pairs that are predicted in their order.

    Parameters
    ----------
    predicted_time : array_like of float, shape (cases,)
        Higher means a later event; give the negative of a risk. NaN: no result, which loses every pair.
    time : array_like of float, shape (cases,)
        The time for which a case was observed. A case with NaN is left out.
    event : array_like of bool, shape (cases,)
        True or 1 where the event ended that time, false or 0 where the case was censored.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In [0, 1], higher is better; 0.5 for predictions without information.

    Raises
    ------
    ValueError
        For shapes that differ, an event other than 0 and 1, or an invalid weight.

    Notes
    -----
    NaN without a comparable pair, so also for empty input. A pair is comparable if the earlier of its times
    is an event; of two equal times, if exactly one is an event, which counts as the earlier. Equal
    predictions count ½.

    References
    ----------
    F. E. Harrell et al., "Multivariable prognostic models", Statistics in Medicine 15:361–387, 1996.

    Examples
    --------
    >>> concordance_index([1, 3, 2, 4], [5, 10, 15, 20], [1, 1, 0, 1])
    0.8
    """
    shapes = [np.shape(column) for column in (predicted_time, time, event)]
    if len(set(shapes)) > 1 or len(shapes[0]) != 1:
        found = ", ".join(map(str, shapes))
        raise ValueError(f"predicted_time, time and event: expected one shape (cases,), found {found}")
    row = weights_row(weights, shapes[0][0])
    happened = booleans(event, "event")
    return float(weighted_concordance_index(predicted_time, time, happened, row)[0])


def weighted_concordance_index(
    predicted_time: ArrayLike, time: ArrayLike, event: ArrayLike, weights: ArrayLike
) -> Floats:
    """`concordance_index` under each row of weights, shape (resamples, cases).

    predicted_time, time, event: shape (cases,). A case with the predicted time NaN loses every comparable
    pair, one with the time NaN is left out. Returns shape (resamples,); NaN without a comparable pair.
    """
    predicted, observed = (np.asarray(column, dtype=np.float64) for column in (predicted_time, time))
    matrix = np.asarray(weights, dtype=np.float64)
    entering = np.flatnonzero(~np.isnan(observed))
    predicted, observed = predicted[entering], observed[entering]
    happened = np.asarray(event, dtype=np.float64)[entering] > 0
    matrix = matrix[:, entering]
    won, comparable = np.zeros(len(matrix)), np.zeros(len(matrix))
    events = np.flatnonzero(happened)
    portion = max(1, _ENTRIES_AT_ONCE // max(1, len(entering)))
    for start in range(0, len(events), portion):
        first = events[start : start + portion]
        later = observed[first, None] < observed
        later |= (observed[first, None] == observed) & ~happened
        with np.errstate(invalid="ignore"):
            worth = (predicted[first, None] < predicted) + 0.5 * (predicted[first, None] == predicted)
        comparable += np.einsum("ij,ij->i", matrix[:, first], matrix @ later.T.astype(np.float64))
        won += np.einsum("ij,ij->i", matrix[:, first], matrix @ (worth * later).T)
    return ratio_or_nan(won, comparable)
