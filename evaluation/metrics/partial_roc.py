"""Parts and the reverse of the ROC curve: area between two specificities, specificity at a sensitivity."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.ratio import ratio_or_nan
from evaluation.metrics.roc import (
    RocTable,
    WeightedCounts,
    roc_table,
    sensitivity_at_specificity,
    weighted_counts,
)

Floats = NDArray[np.float64]


def partial_auc(
    table: RocTable,
    weights: ArrayLike | WeightedCounts,
    min_specificity: Fraction,
    max_specificity: Fraction = Fraction(1),
    standardised: bool = False,
) -> Floats:
    """Area under the ROC polyline between two specificities, in [0, max − min]; higher is better.

    Standardised (McClish): ½ · (1 + (area − chance) / (max − chance)), where a useless score has ½ and a
    perfect one 1; negative values are possible below chance. Neighbouring points are joined by straight
    lines, as in scikit-learn's ``max_fpr``. Missing results count as in `evaluation.metrics.roc`.

    weights: shape (resamples, cases), at least 0. Returns shape (resamples,); NaN in a row where a class has
    total weight 0. Raises ValueError unless 0 ≤ min_specificity < max_specificity ≤ 1.
    Source: McClish 1989, Med. Decis. Making 9:190.
    """
    if not 0 <= min_specificity < max_specificity <= 1:
        raise ValueError(
            "specificities: expected 0 ≤ min_specificity < max_specificity ≤ 1, "
            f"found {min_specificity} and {max_specificity}"
        )
    counts = weights if isinstance(weights, WeightedCounts) else weighted_counts(table, weights)
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
    standard: Floats = 0.5 * (1.0 + (value - chance) / ((last - first) - chance))
    return standard


def reversed_table(score: ArrayLike, positive: ArrayLike) -> RocTable:
    """Return the table of the reversed question, for `specificity_at_sensitivity`.

    The classes change places and the scores their sign. Arguments and errors as of `roc_table`.
    """
    return roc_table(-np.asarray(score, dtype=np.float64), ~np.asarray(positive, dtype=np.bool_))


def specificity_at_sensitivity(
    table: RocTable, weights: ArrayLike | WeightedCounts, target: Fraction
) -> Floats:
    """Highest specificity over the thresholds "score ≥ t" whose sensitivity is at least ``target``.

    ``table`` of `reversed_table`. In [0, 1]; shapes, NaN and errors as of `sensitivity_at_specificity`.
    """
    return sensitivity_at_specificity(table, weights, target)


def _risen(position: Floats, start: Floats, length: Floats) -> Floats:
    """Integrate up to ``position`` what rises from 0 to 1 between ``start`` and ``start + length``."""
    beyond = np.clip(position - start, 0.0, None)
    inside = np.minimum(beyond, length)
    triangle = np.divide(inside * inside, 2 * length, out=np.zeros_like(beyond), where=length > 0)
    risen: Floats = triangle + (beyond - inside)
    return risen
