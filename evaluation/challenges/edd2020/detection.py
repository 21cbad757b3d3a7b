"""Figures of detection tasks, computed from the boxes of all images: average precision and mean IoU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.core.case_table import CaseTable, FloatArray, WeightedCases
from evaluation.core.metric import Strata
from evaluation.metrics.box_matching import match_boxes
from evaluation.metrics.detection import AveragePrecision, DetectionTable, mean_over_classes

MAX_CASES = 2000
"""Above this number of images average precision has no bootstrap interval unless the phase asks for one."""
HIT = 0.5
"""The least IoU of a found box in figures with one threshold."""


@dataclass(frozen=True)
class DetectionRules:
    """How boxes are compared: classes in the order of their indices, IoU thresholds, definition of a corner.

    Metrics are averaged over the thresholds ``averaged``; mAP is also reported at each of ``reported``. The
    task's columns are ``predicted`` and ``reference``, arrays (boxes, 6) of class index, confidence, x1, y1,
    x2, y2 in the order of the file's lines, and ``missing``, 1 for an image without a result, else 0.
    """

    classes: tuple[str, ...]
    averaged: tuple[float, ...]
    inclusive_corners: bool
    reported: tuple[float, ...] = ()
    curve: AveragePrecision = "all_points"

    @property
    def thresholds(self) -> tuple[float, ...]:
        """All thresholds, ascending."""
        return tuple(sorted({*self.averaged, *self.reported}))

    @property
    def averaged_positions(self) -> list[int]:
        """Positions of the averaged thresholds among all."""
        return [self.thresholds.index(threshold) for threshold in self.averaged]

    def table(self, table: CaseTable) -> DetectionTable:
        """Return the matched boxes of all images; the match is computed once."""
        return table.derive(("detection", self), self._match)

    def absent_classes(self, table: CaseTable) -> tuple[str, ...]:
        """Return the classes without a reference box in these images."""
        counts = self.table(table).reference_counts.sum(axis=0)
        return tuple(name for name, count in zip(self.classes, counts, strict=True) if not count)

    def differences(self, table: CaseTable, stated: Mapping[str, int]) -> list[str]:
        """Return one sentence for every class whose number of reference boxes differs from the stated one."""
        if not stated:
            return []
        counts = self.table(table).reference_counts.sum(axis=0)
        return [
            f"boxes of {name}: {count:g} in the reference, {stated[name]} in stated_boxes"
            for name, count in zip(self.classes, counts, strict=True)
            if name in stated and count != stated[name]
        ]

    def _match(self, table: CaseTable) -> DetectionTable:
        predicted, images = stacked(table.objects("predicted"))
        reference, reference_images = stacked(table.objects("reference"))
        size = len(self.classes)
        classes = predicted[:, 0].astype(np.int64)
        reference_groups = reference_images * size + reference[:, 0].astype(np.int64)
        matches = match_boxes(
            predicted[:, 2:],
            images * size + classes,
            predicted[:, 1],
            reference[:, 2:],
            reference_groups,
            self.inclusive_corners,
        )
        counts = np.bincount(reference_groups, minlength=len(table) * size).reshape(len(table), size)
        missing = table["missing"].astype(np.int64)
        return DetectionTable(
            images, classes, predicted[:, 1], matches, counts, self.thresholds, counts * missing[:, None]
        )


class DetectionFigures:
    """Detection figures under given case weights, shape (resamples, …); each is computed once.

    Where ``within`` names a 0/1 column, only the cases with that ``value`` count.
    """

    def __init__(
        self, rules: DetectionRules, cases: WeightedCases, within: str | None = None, value: int = 1
    ) -> None:
        self._rules, self._cases = rules, cases
        self._key = (rules, within, value)
        self.table = rules.table(cases.table)
        self._weights = cases.weights
        if within is not None:
            self._weights = cases.weights * (cases.table[within] == value)

    @property
    def average_precision(self) -> FloatArray:
        """AP, shape (resamples, classes, thresholds); NaN for a class that the reference lacks."""
        return self._cases.derive(
            ("average precision", self._key),
            lambda cases: self.table.average_precision(self._weights, self._rules.curve),
        )

    @property
    def mean_average_precisions(self) -> FloatArray:
        """AP averaged over the classes of the reference, shape (resamples, averaged thresholds)."""
        return mean_over_classes(self.average_precision[..., self._rules.averaged_positions])

    def mean_average_precision_at(self, threshold: float) -> FloatArray:
        """Return mAP at one of the thresholds, shape (resamples,)."""
        position = self._rules.thresholds.index(threshold)
        return mean_over_classes(self.average_precision[..., [position]])[:, 0]

    @property
    def class_average_precision(self) -> FloatArray:
        """AP of every class averaged over the thresholds, shape (resamples, classes); NaN for absent ones."""
        mean: FloatArray = self.average_precision[..., self._rules.averaged_positions].mean(axis=2)
        return mean

    def mean_iou(self, with_missed: bool) -> FloatArray:
        """Return the mean IoU over classes, then thresholds, shape (resamples,); see `DetectionTable`."""
        per_class = self._cases.derive(
            ("mean IoU", self._key, with_missed),
            lambda cases: self.table.mean_iou(self._weights, with_missed),
        )
        mean: FloatArray = mean_over_classes(per_class[..., self._rules.averaged_positions]).mean(axis=1)
        return mean

    def boxes_of_absent_classes(self) -> FloatArray:
        """Return the number of predicted boxes of classes that the reference lacks, shape (resamples,)."""
        predicted = self._weights @ self.table.prediction_counts
        absent = self._weights @ self.table.reference_counts == 0
        number: FloatArray = np.where(absent, predicted, 0.0).sum(axis=1)
        return number


def stacked(arrays: list[FloatArray]) -> tuple[FloatArray, Strata]:
    """Return the rows of all images in one array, and the image of each row."""
    images = np.repeat(np.arange(len(arrays)), np.fromiter(map(len, arrays), np.int64, len(arrays)))
    return np.concatenate([*arrays, np.zeros((0, 6))]), images
