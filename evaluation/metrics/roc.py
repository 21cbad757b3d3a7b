"""Receiver operating characteristic: area under the curve, and sensitivity at a required specificity.

The scores of a phase are sorted once (`roc_table`). Every metric is then a function of that table and of a
matrix of case weights with shape (resamples, cases), and returns one value per row.

A missing likelihood enters as −inf for a positive and as +inf for a negative, the worst value for each.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.bootstrap import UnitWeights
from evaluation.metrics.distinct import distinct
from evaluation.metrics.ratio import ratio_or_nan


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

    score: NDArray[np.float64]
    positive: NDArray[np.bool_]
    positive_order: NDArray[np.intp]
    missing_positives: NDArray[np.intp]
    negative_order: NDArray[np.intp]
    segment_starts: NDArray[np.intp]
    segments_below: NDArray[np.intp]
    segments_up_to: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class RocPoints:
    """Points of the curve by descending threshold, from "nothing is positive" on; each of shape (points,)."""

    threshold: NDArray[np.float64]
    false_positive_rate: NDArray[np.float64]
    sensitivity: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WeightedCounts:
    """Weights in the order of a `RocTable`: per row, or per row and (not missing) positive."""

    positive: NDArray[np.float64]  # (resamples, positives): weight of each positive
    below: NDArray[np.float64]  # (resamples, positives): weight of the negatives that score lower
    up_to: NDArray[np.float64]  # (resamples, positives): weight of the negatives that score lower or equal
    positives: NDArray[np.float64]  # (resamples,): weight of all positives, the missing included
    negatives: NDArray[np.float64]  # (resamples,): weight of all negatives


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


def auc(table: RocTable, weights: ArrayLike | WeightedCounts) -> NDArray[np.float64]:
    """Area under the ROC curve: the share of (positive, negative) pairs in the right order, ties counting ½.

    weights: shape (resamples, cases), at least 0. Returns shape (resamples,) in [0, 1]; NaN in a row where a
    class has total weight 0. A missing positive (−inf) loses all its pairs, against a missing negative too.
    Source: the Mann–Whitney U statistic (Bamber 1975, J. Math. Psychol. 12:387).
    """
    counts = _counts(table, weights)
    twice_won = np.einsum("ij,ij->i", counts.positive, counts.below + counts.up_to)
    return ratio_or_nan(twice_won, 2.0 * counts.positives * counts.negatives)


def sensitivity_at_specificity(
    table: RocTable, weights: ArrayLike | WeightedCounts, target: Fraction
) -> NDArray[np.float64]:
    """Highest sensitivity over the thresholds "score ≥ t" whose specificity is at least `target`.

    A group of tied scores is never split. The threshold above every score counts too, with sensitivity 0, so
    the value is 0 where no other threshold reaches the target. For integer weights the comparison is exact
    (for 95 %: 100·TN ≥ 95·N). A missing negative (+inf) is a false positive at every threshold t ≤ +inf; a
    missing positive (−inf) is detected at none, not even where everything else is.

    weights: shape (resamples, cases), at least 0. Returns shape (resamples,) in [0, 1]; NaN in a row where a
    class has total weight 0. Raises ValueError unless 0 ≤ target ≤ 1.
    """
    _check_target(target)
    counts = _counts(table, weights)
    # Specificity never falls as t rises. So at the best t, exactly those positives are detected whose own
    # score, taken as the threshold, reaches the target.
    needed = target.numerator * counts.negatives
    detected = target.denominator * counts.below >= needed[:, np.newaxis]
    return ratio_or_nan(np.einsum("ij,ij->i", counts.positive, detected), _where_both(counts))


def sensitivity_at_specificity_interpolated(
    table: RocTable, weights: ArrayLike | WeightedCounts, target: Fraction
) -> NDArray[np.float64]:
    """Sensitivity on the ROC polyline at a false-positive rate of 1 − `target`; its top at a vertical step.

    The polyline joins the points of neighbouring thresholds, so it is slanted only where positives and
    negatives are tied; without such ties this equals `sensitivity_at_specificity`, and it is never lower.
    Missing results count as there: a missing positive (−inf) is on no part of the line.

    weights: shape (resamples, cases), at least 0. Returns shape (resamples,) in [0, 1]; NaN in a row where a
    class has total weight 0. Raises ValueError unless 0 ≤ target ≤ 1.
    """
    _check_target(target)
    counts = _counts(table, weights)
    # For each positive: the allowed false positives that remain for its tied group after all negatives with a
    # higher score, and the negatives in that group; both multiplied by the denominator.
    needed = target.numerator * counts.negatives
    left = target.denominator * counts.up_to - needed[:, np.newaxis]
    tied = target.denominator * (counts.up_to - counts.below)
    share = (left >= tied).astype(np.float64)
    np.divide(left, tied, out=share, where=(left > 0) & (left < tied))
    return ratio_or_nan(np.einsum("ij,ij->i", counts.positive, share), _where_both(counts))


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

    def rate(in_class: NDArray[np.bool_]) -> NDArray[np.float64]:
        per_group = np.bincount(group, (weights * in_class)[shown], threshold.size)
        from_above = np.concatenate(([0.0], np.cumsum(per_group[::-1])))
        return ratio_or_nan(from_above, np.full(from_above.shape, weights[in_class].sum()))

    return RocPoints(
        threshold=np.concatenate(([np.inf], threshold[::-1])),
        false_positive_rate=rate(~table.positive),
        sensitivity=rate(table.positive),
    )


def _ascending(score: NDArray[np.float64], chosen: NDArray[np.bool_]) -> NDArray[np.intp]:
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


def _counts(table: RocTable, weights: ArrayLike | WeightedCounts) -> WeightedCounts:
    return weights if isinstance(weights, WeightedCounts) else weighted_counts(table, weights)


def _columns(matrix: NDArray[np.generic], order: NDArray[np.intp]) -> NDArray[np.float64]:
    # Mode "clip" avoids a second pass that checks the bounds; all positions are valid by construction.
    return np.take(matrix, order, axis=1, mode="clip").astype(np.float64, copy=False)


def _where_both(counts: WeightedCounts) -> NDArray[np.float64]:
    return np.where(counts.negatives > 0, counts.positives, 0.0)


def _check_target(target: Fraction) -> None:
    if not 0 <= target <= 1:
        raise ValueError(f"target: expected a specificity in [0, 1], found {target}")
