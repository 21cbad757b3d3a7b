"""The operating point of a task with a likelihood, as it is reported to the organiser."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import roc_table_of
from evaluation.metrics.classification import roc_points
from evaluation.metrics.operating_points import ThresholdPoint, point_at, threshold_at_specificity


@dataclass(frozen=True)
class OperatingRule:
    """The rule that chooses a threshold of a likelihood as the operating point.

    It is the highest sensitivity at a specificity of at least ``specificity``. ``score`` and ``label`` are
    columns; NaN labels are left out.
    """

    score: str
    label: str
    specificity: Fraction

    def threshold(self, table: CaseTable) -> float:
        """Return the threshold; infinite where no positive is found, NaN where a class is empty."""
        return threshold_at_specificity(roc_table_of(table, self.score, self.label), self.specificity)

    def point(self, table: CaseTable) -> ThresholdPoint | None:
        """Return the operating point; None where a class is empty."""
        threshold = self.threshold(table)
        if math.isnan(threshold):
            return None
        return point_at(roc_table_of(table, self.score, self.label), threshold)

    def described(self, point: ThresholdPoint) -> dict[str, Any]:
        """Return an operating point with its rates, by name."""
        false_rate = point.false_positives / (point.false_positives + point.true_negatives)
        return {
            "specificity_at_least": float(self.specificity),
            "threshold": point.threshold,
            "sensitivity": point.sensitivity,
            "specificity": point.specificity,
            "false_positive_rate": false_rate,
            "true_positives": point.true_positives,
            "false_negatives": point.false_negatives,
            "false_positives": point.false_positives,
            "true_negatives": point.true_negatives,
        }

    def decided(self, table: CaseTable) -> NDArray[np.float64]:
        """Return for every case whether it is called positive there (1 or 0), NaN without a label.

        A missing result is decided wrongly.
        """
        score, label = table[self.score], table[self.label]
        missing = (label > 0) & np.isneginf(score)
        decided = (score >= self.threshold(table)) & ~missing
        return np.where(np.isnan(label), np.nan, decided)


def curve_details(rule: OperatingRule, table: CaseTable) -> Mapping[str, Any]:
    """Return the operating point, the cases it decides wrongly, and the points of the ROC curve.

    Wrong cases are sorted by likelihood, the worst first. The result is empty if a class is empty.
    """
    point = rule.point(table)
    if point is None:
        return {}
    decided, label, score = rule.decided(table), table[rule.label], table[rule.score]
    positives, negatives = np.flatnonzero(label > 0), np.flatnonzero(label == 0)
    curve = roc_points(roc_table_of(table, rule.score, rule.label), np.ones(positives.size + negatives.size))

    def names(chosen: NDArray[np.intp], direction: int) -> list[str]:
        return [table.names[i] for i in sorted(chosen, key=lambda i: (direction * score[i], table.names[i]))]

    return {
        "operating_point": {
            **rule.described(point),
            "threshold": written(point.threshold),
            "false_negative_cases": names(positives[decided[positives] == 0], 1),
            "false_positive_cases": names(negatives[decided[negatives] == 1], -1),
        },
        "roc": {
            "threshold": [written(threshold) for threshold in curve.threshold.tolist()],
            "false_positive_rate": curve.false_positive_rate.tolist(),
            "sensitivity": curve.sensitivity.tolist(),
        },
    }


def written(threshold: float) -> float | str:
    """Return a threshold as the organiser's file holds it: text where it is infinite."""
    return threshold if math.isfinite(threshold) else str(threshold)
