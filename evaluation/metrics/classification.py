"""Scores against labels: ROC curve, area under it or a part of it, and average precision.

The scores of a phase are sorted once (`roc_table`). Every weighted form is then a function of that table and
of a matrix of case weights with shape (resamples, cases), and returns one value per row.

A missing score enters as −inf for a positive and as +inf for a negative, the worst value for each.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import (
    Bools,
    Floats,
    booleans,
    class_indices,
    decimal,
    distinct,
    ratio_or_nan,
    weights_row,
)
from evaluation.stats.bootstrap import UnitWeights

__all__ = ["auc", "average_precision", "macro_auc", "partial_auc", "roc_curve"]


def auc(scores: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the area under the ROC curve.

    It is the share of pairs of a positive and a negative case in which the positive case has the higher
    score; a tie counts one half.

    Parameters
    ----------
    scores : array_like of float, shape (cases,)
        Higher means more likely positive. Infinite scores are allowed, NaN is not.
    labels : array_like of bool, shape (cases,)
        The reference: true or 1 for a positive case, false or 0 for a negative one.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In [0, 1], higher is better; 0.5 for scores without information.

    Notes
    -----
    NaN if there is no positive or no negative case with weight, so also for empty input. A positive case with
    the score −inf counts as missing: it loses all its pairs, also against a negative case with −inf. Raises
    ValueError for shapes that differ, a score that is NaN, a label other than 0 and 1, or an invalid weight.

    References
    ----------
    D. Bamber, "The area above the ordinal dominance graph and the area below the receiver operating
    characteristic graph", Journal of Mathematical Psychology 12:387–415, 1975.

    Examples
    --------
    >>> auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    0.75
    """
    table = labelled_roc_table(scores, labels)
    return float(weighted_auc(table, weights_row(weights, table.score.size))[0])


def roc_curve(scores: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None) -> "RocPoints":
    """Return the points of the ROC curve, one for every distinct score.

    Parameters and errors: as for `auc`.

    Returns
    -------
    RocPoints
        ``threshold``, ``false_positive_rate`` and ``sensitivity``, each of shape (points,). A case is
        positive if its score is at least the threshold. The first point has the threshold +inf and both
        rates 0; thresholds then fall.

    Notes
    -----
    The rate of a class without a case (or without weight) is NaN. Points are never dropped, unlike
    scikit-learn's default. Cases with weight 0, and positive cases with the score −inf, give no point.

    References
    ----------
    T. Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters 27:861–874, 2006.

    Examples
    --------
    >>> points = roc_curve([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    >>> points.sensitivity.tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    >>> points.false_positive_rate.tolist()
    [0.0, 0.0, 0.5, 0.5, 1.0]
    """
    table = labelled_roc_table(scores, labels)
    return roc_points(table, weights_row(weights, table.score.size)[0])


def average_precision(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    weights: ArrayLike | None = None,
) -> float:
    """Return the average precision: the sum over the thresholds of precision times gained recall.

    Parameters
    ----------
    scores, labels, weights
        See `auc`.

    Returns
    -------
    float
        In [0, 1], higher is better; the share of positive cases for scores without information.

    Notes
    -----
    NaN without a positive case with weight, so also for empty input. A step is not interpolated, as in
    scikit-learn. Tied scores are one threshold. A positive case with the score −inf is never found. Raises
    ValueError as `auc`.

    References
    ----------
    M. Zhu, "Recall, precision and average precision", University of Waterloo, 2004.

    Examples
    --------
    >>> average_precision([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    0.8333333333333333
    """
    table = labelled_roc_table(scores, labels)
    return float(weighted_average_precision(table, weights_row(weights, table.score.size))[0])


def labelled_roc_table(scores: ArrayLike, labels: ArrayLike) -> "RocTable":
    return roc_table(scores, booleans(labels, "labels"))


def partial_auc(
    scores: ArrayLike,
    labels: ArrayLike,
    min_specificity: float,
    max_specificity: float = 1.0,
    *,
    standardised: bool = True,
    weights: ArrayLike | None = None,
) -> float:
    """Return the area under the ROC curve between two specificities.

    Parameters
    ----------
    scores, labels, weights
        See `auc`.
    min_specificity, max_specificity : float
        The bounds, in [0, 1]; the upper one is 1 by default. Each is read as the decimal
        number that it is printed as.
    standardised : bool, optional
        Whether the area is mapped linearly so that a useless score has ½ and a perfect one 1 (McClish).

    Returns
    -------
    float
        In [0, max_specificity − min_specificity], or standardised at most 1; higher is better.

    Notes
    -----
    NaN if there is no positive or no negative case with weight, so also for empty input. Neighbouring points
    are joined by straight lines. Standardised up to a specificity of 1, it equals scikit-learn's
    ``roc_auc_score`` with ``max_fpr = 1 − min_specificity``. Raises ValueError as `auc`, and unless 0 ≤
    min_specificity < max_specificity ≤ 1.

    References
    ----------
    D. K. McClish, "Analyzing a portion of the ROC curve", Medical Decision Making 9:190–195, 1989.

    Examples
    --------
    >>> partial_auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 0.5)
    0.6666666666666666
    >>> partial_auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 0.5, standardised=False)
    0.25
    """
    bounds = decimal(min_specificity, "min_specificity"), decimal(max_specificity, "max_specificity")
    table = roc_table(scores, booleans(labels, "labels"))
    row = weights_row(weights, table.score.size)
    return float(weighted_partial_auc(table, row, *bounds, standardised)[0])


def macro_auc(scores: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the AUC of each class against the rest, averaged over the classes.

    Returns: as for `auc`.

    Parameters
    ----------
    scores : array_like of float, shape (cases, classes)
        One column for each class; higher means more likely.
    labels : array_like of int, shape (cases,)
        The reference: the index of the class from 0 on.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Notes
    -----
    A class that none of the cases has, or all of them, does not enter the mean. NaN if no class enters, so
    also for empty input. As scikit-learn's ``roc_auc_score(multi_class="ovr", average="macro")``. Raises
    ValueError for shapes that do not fit, a score that is NaN, a label that is no class, or an invalid
    weight.

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
    true = class_indices(labels, values.shape)
    return float(weighted_macro_auc(values, true, weights_row(weights, len(true)))[0])


@dataclass(frozen=True, slots=True)
class RocTable:
    """The order of the cases by score, independent of their weights.

    score, positive: shape (cases,), as given.
    positive_order: cases of the positives by ascending score, those at −inf left out (`missing_positives`).
    negative_order: cases of the negatives by ascending score.
    segment_starts: where in `negative_order` a new segment starts. No positive scores between the ends of a
        segment, so the weights of the negatives are needed only as sums over segments.
    segments_below, segments_up_to: for each of `positive_order`, the number of segments whose negatives score
        lower, and lower or equal; they differ if negatives are tied with it.
    """

    score: Floats
    positive: Bools
    positive_order: NDArray[np.intp]
    missing_positives: NDArray[np.intp]
    negative_order: NDArray[np.intp]
    segment_starts: NDArray[np.intp]
    segments_below: NDArray[np.intp]
    segments_up_to: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class RocPoints:
    """Points of the curve by descending threshold, from "nothing is positive" on; each of shape (points,)."""

    threshold: Floats
    false_positive_rate: Floats
    sensitivity: Floats


@dataclass(frozen=True, slots=True)
class WeightedCounts:
    """Weights in the order of a `RocTable`: per row, or per row and (not missing) positive."""

    positive: Floats  # (resamples, positives): weight of each positive
    below: Floats  # (resamples, positives): weight of the negatives that score lower
    up_to: Floats  # (resamples, positives): weight of the negatives that score lower or equal
    positives: Floats  # (resamples,): weight of all positives, the missing included
    negatives: Floats  # (resamples,): weight of all negatives


def roc_table(score: ArrayLike, positive: ArrayLike) -> RocTable:
    """Sort the scores once for all weights.

    score: shape (cases,), higher = more likely positive; −inf and +inf are allowed.
    positive: shape (cases,), the reference. A class without a case is allowed: every figure is then NaN.
    Raises ValueError for a NaN score and for shapes that differ.
    """
    scores = np.asarray(score, dtype=np.float64)
    is_positive = np.asarray(positive, dtype=np.bool_)
    if scores.ndim != 1 or scores.shape != is_positive.shape:
        raise ValueError(
            "score and positive: expected one value per case, "
            f"found shapes {scores.shape} and {is_positive.shape}"
        )
    undefined = np.flatnonzero(np.isnan(scores))
    if undefined.size:
        raise ValueError(f"score: expected numbers, found NaN at cases {undefined[:10].tolist()}")
    missing = is_positive & np.isneginf(scores)
    positive_order = _ascending(scores, is_positive & ~missing)
    negative_order = _ascending(scores, ~is_positive)
    negatives_below = np.searchsorted(scores[negative_order], scores[positive_order], side="left")
    negatives_up_to = np.searchsorted(scores[negative_order], scores[positive_order], side="right")
    starts = distinct(np.concatenate(([0], negatives_below, negatives_up_to))).astype(np.intp)
    starts = starts[starts < negative_order.size]
    return RocTable(
        score=scores,
        positive=is_positive,
        positive_order=positive_order,
        missing_positives=np.flatnonzero(missing),
        negative_order=negative_order,
        segment_starts=starts,
        segments_below=np.searchsorted(starts, negatives_below),
        segments_up_to=np.searchsorted(starts, negatives_up_to),
    )


def weighted_auc(table: RocTable, weights: ArrayLike | WeightedCounts) -> Floats:
    """`auc` under each row of weights, shape (resamples, cases), at least 0.

    Returns shape (resamples,); NaN in a row where a class has total weight 0. A missing positive (−inf) loses
    all its pairs, against a missing negative too.
    """
    counts = counts_under(table, weights)
    twice_won = np.einsum("ij,ij->i", counts.positive, counts.below + counts.up_to)
    return ratio_or_nan(twice_won, 2.0 * counts.positives * counts.negatives)


def roc_points(table: RocTable, weights_row: ArrayLike) -> RocPoints:
    """Return the points of the ROC curve for one row of weights, for plots.

    weights_row: shape (cases,), at least 0; cases of weight 0 give no point. The first point is (0, 0) with
    threshold +inf, "nothing is positive"; then one point per distinct score. A missing positive (−inf) gives
    no point and the curve ends below sensitivity 1. Rates of a class with total weight 0 are NaN.
    """
    weights = np.asarray(weights_row, dtype=np.float64)
    if weights.shape != table.score.shape:
        raise ValueError(f"weights_row: expected shape {table.score.shape}, found {weights.shape}")
    shown = weights > 0
    shown[table.missing_positives] = False
    threshold, group = np.unique(table.score[shown], return_inverse=True)

    def rate(in_class: Bools) -> Floats:
        per_group = np.bincount(group, (weights * in_class)[shown], threshold.size)
        from_above = np.concatenate(([0.0], np.cumsum(per_group[::-1])))
        return ratio_or_nan(from_above, np.full(from_above.shape, weights[in_class].sum()))

    return RocPoints(
        threshold=np.concatenate(([np.inf], threshold[::-1])),
        false_positive_rate=rate(~table.positive),
        sensitivity=rate(table.positive),
    )


def _ascending(score: Floats, chosen: Bools) -> NDArray[np.intp]:
    cases = np.flatnonzero(chosen)
    return cases[np.argsort(score[cases], kind="stable")]


def weighted_counts(table: RocTable, weights: ArrayLike | UnitWeights) -> WeightedCounts:
    """Return the sums that every ROC metric needs of weights of shape (resamples, cases), or of units.

    Several metrics under the same weights can share the result: they take it in place of the weights.
    """
    if isinstance(weights, UnitWeights):
        matrix, column_of_case = weights.of_units, weights.unit_of_case
    else:
        matrix = np.asarray(weights)
        column_of_case = np.arange(matrix.shape[-1])
    if matrix.ndim != 2 or column_of_case.size != table.score.size:
        raise ValueError(f"weights: expected shape (resamples, {table.score.size}), found {matrix.shape}")
    positive = _columns(matrix, column_of_case[table.positive_order])
    negative = matrix.take(column_of_case[table.negative_order], axis=1, mode="clip")
    cumulative = np.zeros((matrix.shape[0], table.segment_starts.size + 1))
    segments = np.add.reduceat(negative, table.segment_starts, axis=1)
    np.cumsum(segments, axis=1, out=cumulative[:, 1:])
    below = _columns(cumulative, table.segments_below)
    tied = not np.array_equal(table.segments_below, table.segments_up_to)
    missing = _columns(matrix, column_of_case[table.missing_positives])
    return WeightedCounts(
        positive=positive,
        below=below,
        up_to=_columns(cumulative, table.segments_up_to) if tied else below,
        positives=positive.sum(axis=1) + missing.sum(axis=1),
        negatives=cumulative[:, -1],
    )


def counts_under(table: RocTable, weights: ArrayLike | WeightedCounts) -> WeightedCounts:
    return weights if isinstance(weights, WeightedCounts) else weighted_counts(table, weights)


def _columns(matrix: NDArray[np.generic], order: NDArray[np.intp]) -> Floats:
    # Mode "clip" avoids a second pass that checks the bounds; all positions are valid by construction.
    return np.take(matrix, order, axis=1, mode="clip").astype(np.float64, copy=False)


def weighted_partial_auc(
    table: RocTable,
    weights: ArrayLike | WeightedCounts,
    min_specificity: Fraction,
    max_specificity: Fraction = Fraction(1),
    standardised: bool = True,
) -> Floats:
    """`partial_auc` under each row of weights, shape (resamples, cases), at least 0.

    Returns shape (resamples,); NaN in a row where a class has total weight 0. Standardised:
    ½ · (1 + (area − chance) / (max − chance)), negative values are possible below chance. Missing scores
    count as in `weighted_auc`. Raises ValueError unless 0 ≤ min_specificity < max_specificity ≤ 1.
    """
    if not 0 <= min_specificity < max_specificity <= 1:
        raise ValueError(
            "specificities: expected 0 ≤ min_specificity < max_specificity ≤ 1, "
            f"found {min_specificity} and {max_specificity}"
        )
    counts = counts_under(table, weights)
    first, last = float(1 - max_specificity), float(1 - min_specificity)
    negatives = counts.negatives[:, np.newaxis]
    above = negatives - counts.up_to
    tied = counts.up_to - counts.below
    # The share of a positive that is detected rises linearly while its tied negatives are passed.
    area = _risen(last * negatives, above, tied) - _risen(first * negatives, above, tied)
    total = np.einsum("ij,ij->i", counts.positive, area)
    pairs = counts.positives * counts.negatives
    value = ratio_or_nan(total, pairs)
    if not standardised:
        return value
    chance = (last * last - first * first) / 2
    return 0.5 * (1.0 + (value - chance) / ((last - first) - chance))


def _risen(position: Floats, start: Floats, length: Floats) -> Floats:
    """Integrate up to ``position`` a ramp from 0 to 1 between ``start`` and ``start + length``."""
    beyond = np.clip(position - start, 0.0, None)
    inside = np.minimum(beyond, length)
    triangle = np.divide(inside * inside, 2 * length, out=np.zeros_like(beyond), where=length > 0)
    risen: Floats = triangle + (beyond - inside)
    return risen


def weighted_macro_auc(score: ArrayLike, truth: ArrayLike, weights: ArrayLike) -> Floats:
    """`macro_auc` under each row of weights.

    score: shape (cases, classes), one column a class; a row with NaN has no result and loses all its pairs.
    truth: shape (cases,), class indices from 0 on; NaN leaves a case out. weights: shape (resamples, cases),
    at least 0. Returns shape (resamples,). Raises ValueError for shapes that differ.
    """
    scores, true = np.asarray(score, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    matrix = np.asarray(weights, dtype=np.float64)
    if scores.ndim != 2 or true.shape != scores.shape[:1] or matrix.shape[1:] != true.shape:
        raise ValueError(
            "score, truth and weights: expected shapes (cases, classes), (cases,) and (resamples, cases), "
            f"found {scores.shape}, {true.shape} and {matrix.shape}"
        )
    entering = ~np.isnan(true)
    missing = np.isnan(scores[entering]).any(axis=1)
    total, defined = np.zeros(len(matrix)), np.zeros(len(matrix))
    for index, column in enumerate(scores[entering].T):
        positive = true[entering] == index
        worst = np.where(positive, -np.inf, np.inf)
        area = weighted_auc(roc_table(np.where(missing, worst, column), positive), matrix[:, entering])
        total += np.nan_to_num(area)
        defined += ~np.isnan(area)
    return ratio_or_nan(total, defined)


def weighted_average_precision(table: RocTable, weights: ArrayLike) -> Floats:
    """`average_precision` under each row of weights, shape (resamples, cases).

    A missing positive (−inf) is found at no threshold, a missing negative (+inf) comes before everything
    else. Returns shape (resamples,); NaN where no positive has weight.
    """
    matrix = np.asarray(weights, dtype=np.float64)
    right, made = found_at_thresholds(table, matrix)
    # Before a case with weight the curve is at its beginning.
    precision = np.divide(right, made, out=np.ones_like(right), where=made > 0)
    gained = np.diff(right, axis=1, prepend=0.0)
    positives = matrix[:, table.positive].sum(axis=1)
    total = (precision * gained).sum(axis=1)
    return ratio_or_nan(total, positives)


def found_at_thresholds(table: RocTable, weights: Floats) -> tuple[Floats, Floats]:
    """Return the weights of the true positives and of all cases that are called positive, by threshold.

    Thresholds are the distinct scores, descending. weights: shape (rows, cases); both returned arrays have
    the shape (rows, scores). A missing positive (−inf) is found at none of them.
    """
    found = ~(table.positive & np.isneginf(table.score))
    order = np.flatnonzero(found)[np.argsort(-table.score[found], kind="stable")]
    score = table.score[order]
    ends = np.flatnonzero(np.append(score[1:] != score[:-1], np.ones(min(1, score.size), dtype=np.bool_)))
    right = np.cumsum(weights[:, order] * table.positive[order], axis=1)[:, ends]
    made = np.cumsum(weights[:, order], axis=1)[:, ends]
    return right, made
