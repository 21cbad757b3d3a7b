"""Concordance of predicted risks with observed survival times."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.ratio import ratio_or_nan

Floats = NDArray[np.float64]

_ENTRIES_AT_ONCE = 1 << 22  # 32 MB of pairs


def concordance_index(
    predicted_time: ArrayLike, time: ArrayLike, event: ArrayLike, weights: ArrayLike
) -> Floats:
    """Harrell's C: the share of comparable pairs whose predicted times have the order of the true ones.

    predicted_time: shape (cases,), higher = later event (for a risk, its negative); NaN: no result, which
    loses every comparable pair. time: the observed time, NaN leaves a case out; event: 1 where it was the
    event, 0 where the case was censored. weights: shape (resamples, cases). A pair is comparable if the
    earlier time is an event; of equal times, if exactly one is an event, which then counts as earlier. Equal
    predictions count ½. Returns shape (resamples,) in [0, 1]; NaN without a comparable pair.
    Source: Harrell et al. 1996, Stat. Med. 15:361.
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
