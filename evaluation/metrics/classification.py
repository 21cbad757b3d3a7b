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
    """Return the area under the ROC curve: how well a number separates two classes.

    From 0 to 1, higher is better; ties count half, and 0.5 is chance. It is the share of pairs of a positive
    and a negative case in which the positive one has the higher score. scores: shape (cases,), infinite ones
    are allowed. labels: 0 and 1 or booleans, shape (cases,). weights: of the cases, finite and at least 0, by
    default 1 each. A positive case with the score −inf counts as missing: it loses all its pairs, also
    against a negative one with −inf. NaN if there is no positive or no negative case with weight. Raises
    ValueError for shapes that differ, a score that is NaN, another label, or an invalid weight.
    Source: Hanley and McNeil, Radiology 143:29, 1982.

    >>> auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    0.75
    """
    table = labelled_roc_table(scores, labels)
    return float(weighted_auc(table, weights_row(weights, table.score.size))[0])


def roc_curve(scores: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None) -> "RocPoints":
    """Return the points of the ROC curve, one for each distinct score.

    Arguments as of `auc`. Returns ``threshold``, ``false_positive_rate`` and ``sensitivity``, each of shape
    (points,): a case is positive if its score is at least the threshold; the first point is (0, 0) at +inf,
    and thresholds then fall. A rate of a class without weight is NaN. No point is dropped, unlike in
    scikit-learn by default; cases with weight 0, and positive ones with the score −inf, give none.
    Source: Fawcett, Pattern Recognition Letters 27:861, 2006.

    >>> roc_curve([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]).sensitivity.tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """
    table = labelled_roc_table(scores, labels)
    return roc_points(table, weights_row(weights, table.score.size)[0])


def average_precision(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    weights: ArrayLike | None = None,
) -> float:
    """Return the average precision: precision at every threshold, weighted by the recall that is gained.

    From 0 to 1, higher is better; not interpolated; chance is the share of positive cases. Arguments as of
    `auc`; tied scores are one threshold, and a positive case with the score −inf is never found. NaN without
    a positive case with weight.
    Source: Zhu, Recall, precision and average precision, University of Waterloo, 2004.

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
    """Return the area under the ROC curve between two specificities, points joined by straight lines.

    From 0 to the difference of the specificities, higher is better. Standardised (McClish), a useless score
    has 0.5 and a perfect one 1. scores, labels, weights: as of `auc`. min_specificity, max_specificity: from
    0 to 1, read as the decimal numbers that they are printed as. Up to a specificity of 1 it is
    scikit-learn's ``roc_auc_score`` with ``max_fpr = 1 − min_specificity``. NaN if there is no positive or no
    negative case with weight. Raises ValueError as `auc`, and unless min_specificity < max_specificity.
    Source: McClish, Medical Decision Making 9:190, 1989.

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
    """Return the mean over the classes of the area under the ROC curve of one class against the rest.

    From 0 to 1, higher is better; ties count half. scores: shape (cases, classes). labels: the index of the
    class of each case, from 0 on. weights: as of `auc`. A class that none of the cases has, or all of them,
    does not enter. As scikit-learn's ``roc_auc_score(multi_class="ovr", average="macro")``. NaN if no class
    enters. Raises ValueError for shapes that do not fit, a score that is NaN, a label that is no class, or an
    invalid weight.
    Source: Provost and Domingos, CeDER working paper IS-00-04, 2000.

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
    """`auc` under each row of weights, shape (resamples, cases); NaN in a row without a class."""
    counts = counts_under(table, weights)
    twice_won = np.einsum("ij,ij->i", counts.positive, counts.below + counts.up_to)
    return ratio_or_nan(twice_won, 2.0 * counts.positives * counts.negatives)


def roc_points(table: RocTable, weights_row: ArrayLike) -> RocPoints:
    """Return the points of `roc_curve` for one row of weights, shape (cases,)."""
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
    """`partial_auc` under each row of weights; NaN in a row without a class.

    Standardised: ½ · (1 + (area − chance) / (max − chance)), which can be negative. Raises ValueError unless
    0 ≤ min_specificity < max_specificity ≤ 1.
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
    """`macro_auc` under each row of weights, shape (resamples, cases).

    A row of scores with NaN has no result and loses all its pairs; a case whose true class is NaN is left
    out. Raises ValueError for shapes that differ.
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
    """`average_precision` under each row of weights; a negative case with +inf comes before all others."""
    matrix = np.asarray(weights, dtype=np.float64)
    right, made = found_at_thresholds(table, matrix)
    # Before a case with weight the curve is at its beginning.
    precision = np.divide(right, made, out=np.ones_like(right), where=made > 0)
    gained = np.diff(right, axis=1, prepend=0.0)
    positives = matrix[:, table.positive].sum(axis=1)
    total = (precision * gained).sum(axis=1)
    return ratio_or_nan(total, positives)


def found_at_thresholds(table: RocTable, weights: Floats) -> tuple[Floats, Floats]:
    """Return the weights of the true positives and of all cases called positive, by threshold.

    Thresholds are the distinct scores, descending. weights: shape (rows, cases); results: (rows, thresholds).
    """
    found = ~(table.positive & np.isneginf(table.score))
    order = np.flatnonzero(found)[np.argsort(-table.score[found], kind="stable")]
    score = table.score[order]
    ends = np.flatnonzero(np.append(score[1:] != score[:-1], np.ones(min(1, score.size), dtype=np.bool_)))
    right = np.cumsum(weights[:, order] * table.positive[order], axis=1)[:, ends]
    made = np.cumsum(weights[:, order], axis=1)[:, ends]
    return right, made
