"""How good predicted probabilities are: Brier score, calibration, and the area under precision and recall."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.averages import weighted_mean
from evaluation.metrics.ratio import ratio_or_nan
from evaluation.metrics.roc import RocTable

Floats = NDArray[np.float64]


def brier_score(probability: ArrayLike, positive: ArrayLike, weights: ArrayLike) -> Floats:
    """Mean squared difference between the probability and the 0/1 label, in [0, 1]; lower is better.

    probability, positive: shape (cases,); a NaN label leaves a case out, a NaN probability counts 1, the
    worst. weights: shape (resamples, cases). Returns shape (resamples,); NaN without a case.
    Source: Brier 1950, Mon. Weather Rev. 78:1.
    """
    label = np.asarray(positive, dtype=np.float64)
    error = np.asarray(probability, dtype=np.float64) - label
    squared = np.where(np.isnan(error), 1.0, error * error)
    return weighted_mean(np.where(np.isnan(label), np.nan, squared), weights)


def multiclass_brier_score(probability: ArrayLike, truth: ArrayLike, weights: ArrayLike) -> Floats:
    """Mean over the cases of the squared differences summed over the classes, in [0, 2]; lower is better.

    probability: shape (cases, classes); a row with NaN counts 2, the worst. truth: shape (cases,), class
    indices, NaN leaves a case out. Shapes and empty input else as of `brier_score`.
    """
    shares = np.asarray(probability, dtype=np.float64)
    true = np.asarray(truth, dtype=np.float64)
    wanted = true[:, None] == np.arange(shares.shape[1])
    squared = ((shares - wanted) ** 2).sum(axis=1)
    squared = np.where(np.isnan(squared), 2.0, squared)
    return weighted_mean(np.where(np.isnan(true), np.nan, squared), weights)


def expected_calibration_error(
    probability: ArrayLike, positive: ArrayLike, weights: ArrayLike, bins: int = 10
) -> Floats:
    """Mean distance of the predicted from the observed share of positives over bins of equal width.

    Bin k holds probabilities p with k/bins ≤ p < (k + 1)/bins, the last one p = 1 too; each counts with its
    share of the cases. A case without a probability (NaN) counts 1, the worst. In [0, 1]; lower is better.
    Shapes and empty input as of `brier_score`. Source: Naeini et al. 2015, AAAI, p. 2901.
    """
    label = np.asarray(positive, dtype=np.float64)
    predicted = np.asarray(probability, dtype=np.float64)
    matrix = np.asarray(weights, dtype=np.float64)
    entering = ~np.isnan(label)
    answered = np.flatnonzero(entering & ~np.isnan(predicted))
    missing = matrix[:, entering & np.isnan(predicted)].sum(axis=1)
    of_bin = np.minimum((predicted[answered] * bins).astype(np.int64), bins - 1)
    difference = np.zeros((len(answered), bins))
    difference[np.arange(len(answered)), of_bin] = predicted[answered] - label[answered]
    distance = np.abs(matrix[:, answered] @ difference).sum(axis=1) + missing
    total = matrix[:, entering].sum(axis=1)
    return ratio_or_nan(distance, total)


def average_precision(table: RocTable, weights: ArrayLike) -> Floats:
    """Sum over the thresholds of precision times gained recall, no interpolation, in [0, 1].

    ``table`` of `roc_table`; tied scores are one threshold. A missing positive (−inf) is found at no
    threshold, a missing negative (+inf) comes before everything else. Returns shape (resamples,); NaN where
    no positive has weight. As scikit-learn's `average_precision_score`.
    """
    matrix = np.asarray(weights, dtype=np.float64)
    right, made = found_at_thresholds(table, matrix)
    precision = np.divide(right, made, out=np.zeros_like(right), where=made > 0)
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
