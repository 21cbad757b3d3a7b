"""The threshold at which a classifier is used: what it finds and what it gets wrong there."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.roc import RocTable, roc_points, sensitivity_at_specificity


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


def decided_at(table: RocTable, threshold: float) -> NDArray[np.bool_]:
    """Return the decisions "score ≥ threshold", shape (cases,).

    A missing result is decided wrongly at every threshold: a positive (−inf) is never called positive, a
    negative (+inf) always.
    """
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
    """Return the threshold of the highest sensitivity whose specificity is at least ``specificity``.

    Of the thresholds with that sensitivity it is the highest, so that no further specificity is lost: the
    lowest score of a positive that is found. Infinite where none is found. NaN where a class is empty.
    Raises ValueError unless 0 ≤ specificity ≤ 1. Source: as `metrics.roc.sensitivity_at_specificity`.
    """
    ones = np.ones((1, table.score.size))
    sensitivity = float(sensitivity_at_specificity(table, ones, specificity)[0])
    if np.isnan(sensitivity):
        return float("nan")
    found = round(sensitivity * int(np.count_nonzero(table.positive)))
    return float(table.score[table.positive_order[-found]]) if found else float("inf")


def threshold_of_first_kept_point(table: RocTable, specificity: Fraction) -> float:
    """Return the threshold of the point that `metrics.kept_roc.sensitivity_at_first_kept_point` reads.

    Its specificity is at most ``specificity``. NaN where a class is empty.
    """
    from evaluation.metrics.kept_roc import first_kept_point  # few phases follow a public script

    false_positive_rate, sensitivity = first_kept_point(table, specificity)
    if np.isnan(sensitivity):
        return float("nan")
    points = roc_points(table, np.ones(table.score.size))
    same = (points.false_positive_rate == false_positive_rate) & (points.sensitivity == sensitivity)
    return float(points.threshold[np.argmax(same)])


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
