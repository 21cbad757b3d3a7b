"""Predicted numbers against true ones: errors, correlations, agreement, and the order of survival times."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics.arrays import (
    Bools,
    Floats,
    Integers,
    booleans,
    ratio_or_nan,
    require_given,
    weights_row,
)
from evaluation.stats.columns import weighted_mean

__all__ = [
    "bias",
    "concordance_index",
    "intraclass_correlation",
    "mean_absolute_error",
    "normalised_absolute_error",
    "pearson_correlation",
    "root_mean_squared_error",
    "spearman_correlation",
]


def mean_absolute_error(
    predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return the mean absolute difference of numbers from their references.

    At least 0, lower is better, in the numbers' unit. predicted, reference: shape (cases,); a case whose
    reference is NaN is left out. weights: of the cases, finite and at least 0, by default 1 each. NaN if no
    case is left. Raises ValueError for shapes that differ, an invalid weight, and a missing prediction, since
    leaving its case out would improve the figure.
    Source: Willmott and Matsuura, Climate Research 30:79, 2005.

    >>> mean_absolute_error([1, 2, 4], [1, 3, 2])
    1.0
    """
    return _mean(np.abs(_difference(predicted, reference, given=True)), weights)


def root_mean_squared_error(
    predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return the root of the mean squared difference of numbers from their references.

    At least 0, lower is better, in the numbers' unit. Arguments as of `mean_absolute_error`. NaN if no case
    is left.
    Source: Willmott and Matsuura, Climate Research 30:79, 2005.

    >>> root_mean_squared_error([1, 5], [1, 3])
    1.4142135623730951
    """
    return math.sqrt(_mean(_difference(predicted, reference, given=True) ** 2, weights))


def bias(predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the mean difference, predicted − true.

    In the numbers' unit; 0 is best, and the sign says which way the numbers are wrong. Arguments as of
    `mean_absolute_error`. NaN if no case is left.
    Source: Bland and Altman, Lancet 327:307, 1986.

    >>> bias([1, 2, 4], [1, 3, 2])
    0.3333333333333333
    """
    return _mean(_difference(predicted, reference, given=True), weights)


def normalised_absolute_error(
    predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return the sum of the absolute differences by the sum of the absolute true values.

    At least 0, lower is better, without a unit. Arguments as of `mean_absolute_error`. NaN if no case is left
    or all true values are 0.
    Source: Willmott and Matsuura, Climate Research 30:79, 2005.

    >>> normalised_absolute_error([1, 2, 4], [1, 3, 2])
    0.5
    """
    error = np.abs(_difference(predicted, reference, given=True))
    size = _mean(np.abs(np.asarray(reference, dtype=np.float64)), weights)
    return _mean(error, weights) / size if size > 0 else math.nan


def pearson_correlation(
    predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return Pearson's correlation coefficient of numbers and references.

    From −1 to 1, higher is better; 0 for one and the same number in every case. Arguments as of
    `mean_absolute_error`. NaN if all true values are equal or fewer than two cases are left.
    Source: Pearson, Proc. R. Soc. Lond. 58:240, 1895.

    >>> round(pearson_correlation([1, 2, 4], [1, 3, 2]), 4)
    0.3273
    """
    return _agreement(weighted_pearson_correlation, predicted, reference, weights)


def spearman_correlation(
    predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return Spearman's rank correlation of numbers and references, ties having their mean rank.

    From −1 to 1, higher is better; 0 for one and the same number in every case. Arguments as of
    `mean_absolute_error`. NaN if all true values are equal or fewer than two cases are left.
    Source: Spearman, Am. J. Psychol. 15:72, 1904.

    >>> spearman_correlation([1, 2, 4], [1, 3, 2])
    0.5
    """
    return _agreement(weighted_spearman_correlation, predicted, reference, weights)


def intraclass_correlation(
    predicted: ArrayLike, reference: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return the intraclass correlation ICC(2,1): the absolute agreement of numbers and references.

    At most 1, higher is better. Arguments as of `mean_absolute_error`. NaN if fewer than two cases are left
    or nothing varies.
    Source: Shrout and Fleiss, Psychological Bulletin 86:420, 1979.

    >>> intraclass_correlation([1, 2, 3], [1, 2, 3])
    1.0
    """
    return _agreement(weighted_intraclass_correlation, predicted, reference, weights)


def _agreement(
    figure: Callable[[ArrayLike, ArrayLike, ArrayLike], Floats],
    predicted: ArrayLike,
    reference: ArrayLike,
    weights: ArrayLike | None,
) -> float:
    _difference(predicted, reference, given=True)
    return float(figure(predicted, reference, weights_row(weights, np.size(reference)))[0])


def weighted_pearson_correlation(predicted: ArrayLike, truth: ArrayLike, weights: ArrayLike) -> Floats:
    """`pearson_correlation` under each row of weights, shape (resamples, cases)."""
    return _weighted_correlation(*_entering(predicted, truth, weights))


def weighted_spearman_correlation(predicted: ArrayLike, truth: ArrayLike, weights: ArrayLike) -> Floats:
    """`spearman_correlation` under each row of weights; a case of weight w counts as w tied cases."""
    first, second, matrix = _entering(predicted, truth, weights)
    return _weighted_correlation(_weighted_ranks(first, matrix), _weighted_ranks(second, matrix), matrix)


def weighted_intraclass_correlation(predicted: ArrayLike, truth: ArrayLike, weights: ArrayLike) -> Floats:
    """`intraclass_correlation` under each row of weights.

    From the mean squares of cases, raters and error: (MSC − MSE) / (MSC + MSE + 2·(MSR − MSE)/n).
    """
    first, second, matrix = _entering(predicted, truth, weights)
    number = matrix.sum(axis=1)
    centre = np.concatenate((first, second)).mean() if first.size else 0.0
    pair_mean = (first + second) / 2 - centre
    with np.errstate(divide="ignore", invalid="ignore"):
        grand = matrix @ pair_mean / number
        cases = 2 * (matrix @ pair_mean**2 - number * grand**2) / (number - 1)
        raters = number * (matrix @ (first - second) / number) ** 2 / 2
        within = matrix @ ((first - second) ** 2 / 2)
        error = (within - raters) / (number - 1)
        value = (cases - error) / (cases + error + 2 * (raters - error) / number)
    return np.where((number > 1) & np.isfinite(value), value, np.nan)


def _mean(values: Floats, weights: ArrayLike | None) -> float:
    """Return the mean of the values that are not NaN under the weights of the cases, by default 1."""
    return float(weighted_mean(values, weights_row(weights, values.size))[0])


def _difference(predicted: ArrayLike, truth: ArrayLike, given: bool = False) -> Floats:
    """Return predicted − true; NaN without either, with ``given`` only where there is no true value."""
    first, second = np.asarray(predicted, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(
            f"predicted and truth: expected one shape (cases,), found {first.shape} and {second.shape}"
        )
    if given:
        require_given(first, second)
    return first - second


def _entering(predicted: ArrayLike, truth: ArrayLike, weights: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return both columns and the weights of the cases that have both values."""
    entering = ~np.isnan(_difference(predicted, truth))
    matrix = np.asarray(weights, dtype=np.float64)[:, entering]
    return np.asarray(predicted, np.float64)[entering], np.asarray(truth, np.float64)[entering], matrix


def _weighted_correlation(first: Floats, second: Floats, weights: Floats) -> Floats:
    """Correlate two columns, or two matrices of one row per resample, under each row of weights."""
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = [
            column - (weights * column).sum(axis=1, keepdims=True) / total for column in (first, second)
        ]
        variances = [(weights * deviation**2).sum(axis=1) for deviation in deviations]
        value = (weights * deviations[0] * deviations[1]).sum(axis=1) / np.sqrt(variances[0] * variances[1])
    varies = [_varies(column, weights) for column in (first, second)]
    value = np.where(varies[0], np.clip(value, -1.0, 1.0), 0.0)
    return np.where(varies[1], value, np.nan)


def _varies(column: Floats, weights: Floats) -> Bools:
    """Whether the values that have weight are not all equal; exactly, where a variance would be rounded."""
    if not column.shape[-1]:
        return np.zeros(len(weights), dtype=np.bool_)
    shown = np.broadcast_to(column, weights.shape)
    bounds: list[Callable[..., Floats]] = [np.max, np.min]
    highest, lowest = (
        bound(np.where(weights > 0, shown, filler), axis=1)
        for bound, filler in zip(bounds, (-np.inf, np.inf), strict=True)
    )
    return np.asarray(highest > lowest)


def _weighted_ranks(values: Floats, weights: Floats) -> Floats:
    """Return the mean ranks under each row of weights, shape (resamples, cases)."""
    order = np.argsort(values, kind="stable")
    _, group = np.unique(values[order], return_inverse=True)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    if not starts.size:
        return np.zeros_like(weights)
    size = np.add.reduceat(weights[:, order], starts, axis=1)
    rank = np.cumsum(size, axis=1) - size / 2
    ranks = np.empty_like(weights)
    ranks[:, order] = rank[:, group]
    return ranks


# --- Concordance of predicted risks with observed survival times ---

_ENTRIES_AT_ONCE = 1 << 22  # 32 MB of pairs


def concordance_index(
    predicted_time: ArrayLike, time: ArrayLike, event: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return Harrell's concordance index: the share of comparable pairs of cases predicted in their order.

    From 0 to 1, higher is better; 0.5 is chance. A pair is comparable if the earlier of its times is an
    event; of two equal times, if exactly one is an event, which counts as the earlier. Equal predictions
    count half. predicted_time: shape (cases,), higher for a later event (the negative of a risk); NaN loses
    every pair. time: at least 0; NaN leaves a case out. event: 0 and 1 or booleans, 0 where the case was
    censored. weights: of the cases, finite and at least 0, by default 1 each. NaN without a comparable pair.
    Raises ValueError for shapes that differ, or other values.
    Source: Harrell et al., Statistics in Medicine 15:361, 1996.

    >>> concordance_index([1, 3, 2, 4], [5, 10, 15, 20], [1, 1, 0, 1])
    0.8
    """
    shapes = [np.shape(column) for column in (predicted_time, time, event)]
    if len(set(shapes)) > 1 or len(shapes[0]) != 1:
        found = ", ".join(map(str, shapes))
        raise ValueError(f"predicted_time, time and event: expected one shape (cases,), found {found}")
    negative = [value for value in np.asarray(time, dtype=np.float64).tolist() if value < 0]
    if negative:
        raise ValueError(f"time: expected at least 0, found {negative[0]:g}")
    row = weights_row(weights, shapes[0][0])
    happened = booleans(event, "event")
    return float(weighted_concordance_index(predicted_time, time, happened, row)[0])


def weighted_concordance_index(
    predicted_time: ArrayLike, time: ArrayLike, event: ArrayLike, weights: ArrayLike
) -> Floats:
    """`concordance_index` under each row of weights, shape (resamples, cases)."""
    matrix = np.asarray(weights, dtype=np.float64)
    won, comparable = np.zeros(len(matrix)), np.zeros(len(matrix))
    for first, others, later, worth in _comparable_pairs(predicted_time, time, event):
        comparable += np.einsum("ij,ij->i", matrix[:, first], matrix[:, others] @ later.T)
        won += np.einsum("ij,ij->i", matrix[:, first], matrix[:, others] @ worth.T)
    return ratio_or_nan(won, comparable)


def concordance_influence(predicted_time: ArrayLike, time: ArrayLike, event: ArrayLike) -> Floats:
    """Return the derivative of `concordance_index` by the weight of each case, shape (cases,), sum 0.

    The sum of their squares estimates the variance of the index (infinitesimal jackknife). 0 for every case
    without a comparable pair. Source: Efron 1982, The Jackknife, the Bootstrap and Other Resampling Plans,
    section 6.
    """
    won, comparable = np.zeros((2, np.size(time)))
    for first, others, later, worth in _comparable_pairs(predicted_time, time, event):
        for total, of_pairs in ((won, worth), (comparable, later)):
            total[first] += of_pairs.sum(axis=1)
            total[others] += of_pairs.sum(axis=0)
    # Every pair is in the sums of both of its cases.
    in_all = comparable.sum() / 2
    index = won.sum() / 2 / in_all if in_all else 0.0
    return np.asarray((won - index * comparable) / (in_all or 1.0))


def _comparable_pairs(
    predicted_time: ArrayLike, time: ArrayLike, event: ArrayLike
) -> Iterator[tuple[Integers, Integers, Floats, Floats]]:
    """Yield some cases with an event, all that enter, and which pairs are comparable and won, as floats."""
    predicted, observed = (np.asarray(column, dtype=np.float64) for column in (predicted_time, time))
    entering = np.flatnonzero(~np.isnan(observed))
    predicted, observed = predicted[entering], observed[entering]
    happened = np.asarray(event, dtype=np.float64)[entering] > 0
    events = np.flatnonzero(happened)
    portion = max(1, _ENTRIES_AT_ONCE // max(1, len(entering)))
    for start in range(0, len(events), portion):
        first = events[start : start + portion]
        later = observed[first, None] < observed
        later |= (observed[first, None] == observed) & ~happened
        with np.errstate(invalid="ignore"):
            worth = (predicted[first, None] < predicted) + 0.5 * (predicted[first, None] == predicted)
        yield entering[first], entering, later.astype(np.float64), worth * later
