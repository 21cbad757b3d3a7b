"""Points of the ROC curve: sensitivity at a specificity, the reverse, and the threshold there."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics.arrays import Bools, Floats, booleans, decimal, ratio_or_nan, weights_row
from evaluation.metrics.classification import (
    RocTable,
    WeightedCounts,
    counts_under,
    labelled_roc_table,
    roc_table,
)

__all__ = ["sensitivity_at_specificity", "specificity_at_sensitivity"]


def sensitivity_at_specificity(
    scores: ArrayLike,
    labels: ArrayLike,
    specificity: float,
    *,
    definition: Literal["step", "interpolated"] = "step",
    weights: ArrayLike | None = None,
) -> float:
    """Return the highest sensitivity over all thresholds with at least a given specificity.

    From 0 to 1, higher is better. scores, labels, weights: as of `auc`; tied scores are never separated, and
    a positive case with the score −inf is detected at no threshold. specificity: from 0 to 1, read as the
    decimal number that it is printed as, so that 0.95 of 20 negative cases are exactly 19. definition: "step"
    takes the best of the thresholds "score ≥ t", "interpolated" reads the line between the points of the
    curve. NaN if there is no positive or no negative case with weight. Raises ValueError as `auc`, and for
    other values.
    Source: Orlando et al., Medical Image Analysis 59:101570, 2020 (REFUGE).

    >>> sensitivity_at_specificity([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 0.5)
    1.0
    >>> sensitivity_at_specificity([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 0.95)
    0.5
    """
    definitions = {
        "step": weighted_sensitivity_at_specificity,
        "interpolated": weighted_interpolated_sensitivity,
    }
    if definition not in definitions:
        raise ValueError(f"definition: expected 'step' or 'interpolated', found {definition!r}")
    target = decimal(specificity, "specificity")
    table = labelled_roc_table(scores, labels)
    return float(definitions[definition](table, weights_row(weights, table.score.size), target)[0])


def specificity_at_sensitivity(
    scores: ArrayLike, labels: ArrayLike, sensitivity: float, *, weights: ArrayLike | None = None
) -> float:
    """Return the highest specificity over all thresholds with at least a given sensitivity.

    From 0 to 1, higher is better. Arguments as of `sensitivity_at_specificity`; a negative case with the
    score +inf is a false positive at every threshold. NaN if there is no positive or no negative case with
    weight.
    Source: Fawcett, Pattern Recognition Letters 27:861, 2006.

    >>> specificity_at_sensitivity([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 1.0)
    0.5
    >>> specificity_at_sensitivity([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 0.5)
    1.0
    """
    target = decimal(sensitivity, "sensitivity")
    # The question of the sensitivity, where the classes change places and the scores their sign.
    table = roc_table(-np.asarray(scores, dtype=np.float64), ~booleans(labels, "labels"))
    return float(
        weighted_sensitivity_at_specificity(table, weights_row(weights, table.score.size), target)[0]
    )


def weighted_sensitivity_at_specificity(
    table: RocTable, weights: ArrayLike | WeightedCounts, target: Fraction
) -> Floats:
    """`sensitivity_at_specificity` by "step" under each row of weights, shape (resamples, cases).

    For integer weights the comparison is exact (for 95 %: 100·TN ≥ 95·N). NaN in a row without a class.
    Raises ValueError unless 0 ≤ target ≤ 1.
    """
    _check_target(target)
    counts = counts_under(table, weights)
    # Specificity never falls as t rises. So at the best t, exactly those positives are detected whose own
    # score, taken as the threshold, reaches the target.
    needed = target.numerator * counts.negatives
    detected = target.denominator * counts.below >= needed[:, np.newaxis]
    return ratio_or_nan(np.einsum("ij,ij->i", counts.positive, detected), _where_both(counts))


def weighted_interpolated_sensitivity(
    table: RocTable, weights: ArrayLike | WeightedCounts, target: Fraction
) -> Floats:
    """Sensitivity on the ROC polyline at a false-positive rate of 1 − `target`; its top at a vertical step.

    The polyline joins the points of neighbouring thresholds, so it is slanted only where positives and
    negatives are tied; without such ties this equals `sensitivity_at_specificity`, and it is never lower.
    A missing positive (−inf) is on no part of the line. Else as `weighted_sensitivity_at_specificity`.
    """
    _check_target(target)
    counts = counts_under(table, weights)
    # For each positive: the allowed false positives that remain for its tied group after all negatives with a
    # higher score, and the negatives in that group; both multiplied by the denominator.
    needed = target.numerator * counts.negatives
    left = target.denominator * counts.up_to - needed[:, np.newaxis]
    tied = target.denominator * (counts.up_to - counts.below)
    share = (left >= tied).astype(np.float64)
    np.divide(left, tied, out=share, where=(left > 0) & (left < tied))
    return ratio_or_nan(np.einsum("ij,ij->i", counts.positive, share), _where_both(counts))


def _where_both(counts: WeightedCounts) -> Floats:
    return np.where(counts.negatives > 0, counts.positives, 0.0)


def _check_target(target: Fraction) -> None:
    if not 0 <= target <= 1:
        raise ValueError(f"target: expected a specificity in [0, 1], found {target}")


@dataclass(frozen=True, slots=True)
class ThresholdPoint:
    """The decisions "score ≥ threshold" against the reference, as counts of cases.

    ``threshold`` is infinite where nothing is called positive but the missing negatives.
    """

    threshold: float
    true_positives: int
    false_negatives: int
    false_positives: int
    true_negatives: int

    @property
    def sensitivity(self) -> float:
        """Share of the positives that are found; NaN without any."""
        return _share(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def specificity(self) -> float:
        """Share of the negatives that are not called positive; NaN without any."""
        return _share(self.true_negatives, self.true_negatives + self.false_positives)


def decided_at(table: RocTable, threshold: float) -> Bools:
    """Return the decisions "score ≥ threshold", shape (cases,); a missing result is decided wrongly."""
    decided = table.score >= threshold
    decided[table.missing_positives] = False
    return decided


def point_at(table: RocTable, threshold: float) -> ThresholdPoint:
    """Return the counts of the decisions at a threshold, see `decided_at`."""
    decided, positive = decided_at(table, threshold), table.positive
    return ThresholdPoint(
        threshold,
        true_positives=int(np.count_nonzero(decided & positive)),
        false_negatives=int(np.count_nonzero(~decided & positive)),
        false_positives=int(np.count_nonzero(decided & ~positive)),
        true_negatives=int(np.count_nonzero(~decided & ~positive)),
    )


def threshold_at_specificity(table: RocTable, specificity: Fraction) -> float:
    """Return the highest threshold with the sensitivity of `sensitivity_at_specificity`.

    It is the lowest score of a positive that is found; infinite where none is. NaN where a class is empty.
    Raises ValueError unless 0 ≤ specificity ≤ 1.
    """
    ones = np.ones((1, table.score.size))
    sensitivity = float(weighted_sensitivity_at_specificity(table, ones, specificity)[0])
    if np.isnan(sensitivity):
        return float("nan")
    found = round(sensitivity * int(np.count_nonzero(table.positive)))
    return float(table.score[table.positive_order[-found]]) if found else float("inf")


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
