"""The generalisation task (section IV-C): detection in one set of images compared with a second set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.challenges.edd2020.detection import MAX_CASES, DetectionFigures, DetectionRules
from evaluation.challenges.edd2020.detection_metrics import f1_of_images
from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.metric import Aggregate, Metric, Strata
from evaluation.metrics.arrays import Floats
from evaluation.metrics.detection import mean_over_classes


@dataclass(frozen=True)
class TwoSets:
    """Two sets of images under the same rules; ``column`` is 0 in the first of ``names``, 1 in the second.

    The mAP of a set is the mean over the classes in its reference. Each set is resampled separately.
    """

    rules: DetectionRules
    column: str
    names: tuple[str, ...]

    def metrics(self) -> tuple[Metric, ...]:
        """Return the metrics of the generalisation task (Eq. 7); a gap alone does not rank submissions."""

        def gap(name: str, title: str, aggregate: Aggregate, best: float = 0) -> Metric:
            return Metric(name, title, aggregate, best, worst=1, ordered=False)

        return (
            Metric("map_g", "mAP out of sample, mean over the thresholds", self._mean_of_second(), 1, 0),
            gap("dev_g", "|mAP in sample − mAP out of sample|", self._difference()),
            gap("dev_g_signed", "mAP in sample − mAP out of sample", self._difference(signed=True), best=-1),
            gap(
                "dev_g_common_classes",
                "|mAP in sample − mAP out of sample| over the classes that both sets have",
                self._difference(common_classes=True),
            ),
        )

    def _mean_of_second(self) -> Aggregate:
        """Return the mAP of the second set, averaged over the thresholds."""
        return Aggregate(
            lambda cases: _mean(self._precisions(cases, 1)),
            lambda table: np.where(table[self.column] == 1, 0, -1),
            max_cases=MAX_CASES,
            case_figure=f1_of_images(self.rules, self.column),
        )

    def _difference(self, signed: bool = False, common_classes: bool = False) -> Aggregate:
        """Return mAP of the first set − mAP of the second, by default the absolute value.

        With ``common_classes`` both are means over the classes that occur in both sets.
        """

        def values(cases: WeightedCases) -> Floats:
            first, second = self._precisions(cases, 0), self._precisions(cases, 1)
            if common_classes:
                absent = np.isnan(first) | np.isnan(second)
                first, second = (np.where(absent, np.nan, set_values) for set_values in (first, second))
            difference = _mean(first) - _mean(second)
            return difference if signed else np.abs(difference)

        return Aggregate(values, self._strata, max_cases=MAX_CASES)

    def notices(self, table: CaseTable) -> list[str]:
        """Return one sentence for every class that occurs in only one of the two sets."""
        counts = self.rules.table(table).reference_counts
        present = [counts[table[self.column] == value].sum(axis=0) > 0 for value in (0, 1)]
        return [
            f"the {name} set has no box of {of}, so that dev_g compares means over different classes"
            for name, own, other in zip(self.names, present, reversed(present), strict=True)
            for of, is_absent in zip(self.rules.classes, other & ~own, strict=True)
            if is_absent
        ]

    def details(self, table: CaseTable) -> Mapping[str, Any]:
        """Return figures of single images of the second set, and its confused classes."""
        from evaluation.challenges.edd2020.images import image_detections

        second = table[self.column] == 1
        return image_detections(self.rules, table, second).details() if second.any() else {}

    def _precisions(self, cases: WeightedCases, value: int) -> Floats:
        """Return the AP of each class in one of the sets, shape (resamples, classes)."""
        return DetectionFigures(self.rules, cases, self.column, value).class_average_precision

    def _strata(self, table: CaseTable) -> Strata:
        return table[self.column].astype(np.int64)


def _mean(class_values: Floats) -> Floats:
    """Return the mean over the classes that exist, (resamples, classes) to (resamples,)."""
    return mean_over_classes(class_values[..., np.newaxis])[:, 0]
