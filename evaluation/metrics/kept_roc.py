"""Sensitivity at a specificity as two public scripts compute it, from the ROC points that scikit-learn keeps.

By default scikit-learn's `roc_curve` drops points on straight parts of the curve, and what is read from the
others depends on which were dropped. These definitions serve to compare with published figures only; those of
`evaluation.metrics.roc` do not depend on it.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.roc import RocTable

Floats = NDArray[np.float64]


def sensitivity_at_first_kept_point(table: RocTable, weights: ArrayLike, target: Fraction) -> Floats:
    """Return the sensitivity of the first kept point with a false-positive rate of at least 1 − ``target``.

    The specificity of that point is at most the target, and below it with tied scores or few negatives. A
    constant score has sensitivity 1. weights: shape (resamples, cases), whole numbers. Returns shape
    (resamples,) in [0, 1]; NaN where a class has total weight 0. Missing results count as in
    `evaluation.metrics.roc`.
    Source: the public evaluator of JustRAIGS.
    """
    return _of_each_row(table, weights, lambda false, true: float(true[_first_kept(false, target)]))


def first_kept_point(table: RocTable, target: Fraction) -> tuple[float, float]:
    """Return the point that `sensitivity_at_first_kept_point` reads, of all cases with equal weight.

    Returns its false-positive rate and its sensitivity; NaN where a class is empty.
    """
    ones = np.ones((1, table.score.size))
    rate = _of_each_row(table, ones, lambda false, true: float(false[_first_kept(false, target)]))
    return float(rate[0]), float(sensitivity_at_first_kept_point(table, ones, target)[0])


def _first_kept(false_positive_rate: Floats, target: Fraction) -> int:
    return int(np.argmax(false_positive_rate >= 1 - float(target)))


def sensitivity_between_kept_points(table: RocTable, weights: ArrayLike, target: Fraction) -> Floats:
    """Return the sensitivity on a line from the lower to the higher specificity around ``target``.

    It joins the highest sensitivity at the one to the lowest at the other, so that a perfect score has 0.15
    at a specificity of 85 %. weights and result as in `sensitivity_at_first_kept_point`. Source: the public
    evaluator of REFUGE, which interpolates over specificities that occur repeatedly.
    """

    def read(false_positive_rate: Floats, sensitivity: Floats) -> float:
        specificity = 1 - false_positive_rate
        order = np.argsort(specificity, kind="stable")
        return float(np.interp(float(target), specificity[order], sensitivity[order]))

    return _of_each_row(table, weights, read)


def _of_each_row(table: RocTable, weights: ArrayLike, read: Callable[[Floats, Floats], float]) -> Floats:
    matrix = np.asarray(weights, dtype=np.float64)
    usable = np.ones(table.score.size, dtype=np.bool_)
    usable[table.missing_positives] = False
    _, group = np.unique(-table.score, return_inverse=True)
    result = np.full(len(matrix), np.nan)
    for number, row in enumerate(matrix):
        positives, negatives = row[table.positive].sum(), row[~table.positive].sum()
        if positives > 0 and negatives > 0:
            false, true = _kept(
                np.bincount(group, row * ~table.positive).astype(np.float64),
                np.bincount(group, row * (table.positive & usable)).astype(np.float64),
            )
            result[number] = read(false / negatives, true / positives)
    return result


def _kept(negatives: Floats, positives: Floats) -> tuple[Floats, Floats]:
    """Return false and true positives at the points that `roc_curve` keeps, (0, 0) first."""
    scored = (negatives > 0) | (positives > 0)
    false, true = np.cumsum(negatives[scored]), np.cumsum(positives[scored])
    if false.size > 2:
        corners = (np.diff(false, 2) != 0) | (np.diff(true, 2) != 0)
        kept = np.concatenate(([True], corners, [True]))
        false, true = false[kept], true[kept]
    return np.concatenate(([0.0], false)), np.concatenate(([0.0], true))
