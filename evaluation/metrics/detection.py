"""Precision, recall and overlap of detections over images, for all classes and IoU thresholds at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.box_matching import BoxMatches, Floats, Integers, ThresholdMatches
from evaluation.metrics.froc import Candidates
from evaluation.metrics.grouped_order import order_in_groups
from evaluation.metrics.ratio import ratio_or_nan

AveragePrecision = Literal["all_points", "101_points", "11_points"]
"""Where a precision–recall curve is read: at all its points, or at equally spaced levels of recall."""

_LEVELS: dict[AveragePrecision, int] = {"101_points": 101, "11_points": 11}
_ENTRIES_AT_ONCE = 1 << 17  # 1 MB of float64, which stays in the processor's cache


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    """The points of a precision–recall curve at its true positives, by descending confidence.

    Between two of them recall stays and precision falls; ``precision`` is the raw one, not the envelope.
    """

    confidence: Floats
    recall: Floats
    precision: Floats


class DetectionTable:
    """Matched detections of all images, sorted once; the basis of every detection metric.

    images, classes, confidence: shape (detections,); ties in confidence keep this order. matches: the
    result of `match_boxes`, or of `match_at_thresholds` at these thresholds. reference_counts: shape
    (images, classes), boxes of each class. thresholds: shape (thresholds,), in (0, 1]. missed_predictions:
    None, or shape (images, classes): additional predictions that `mean_iou` counts with IoU 0 (for an image
    without a result).
    """

    def __init__(
        self,
        images: Integers,
        classes: Integers,
        confidence: Floats,
        matches: BoxMatches | ThresholdMatches,
        reference_counts: Integers,
        thresholds: ArrayLike,
        missed_predictions: Integers | None = None,
    ) -> None:
        self.thresholds = np.asarray(thresholds, dtype=np.float64)
        self.reference_counts = reference_counts.astype(np.float64)
        self.shape = (reference_counts.shape[1], self.thresholds.size)
        order = order_in_groups(classes, confidence)
        self._image, self._class, self.confidence = images[order], classes[order], confidence[order]
        self._matches = matches.take(order)
        size = reference_counts.size
        counts = np.bincount(images * self.shape[0] + classes, minlength=size).reshape(reference_counts.shape)
        self.prediction_counts: Floats = counts.astype(np.float64)
        self._never_made = missed_predictions

    def single_class(self, position: int) -> DetectionTable:
        """Return the table of one class alone, whose index there is 0."""
        chosen = self._class == position
        never_made = self._never_made
        return DetectionTable(
            self._image[chosen],
            np.zeros(np.count_nonzero(chosen), dtype=np.int64),
            self.confidence[chosen],
            self._matches.take(chosen),
            self.reference_counts[:, [position]].astype(np.int64),
            self.thresholds,
            None if never_made is None else never_made[:, [position]],
        )

    def candidates(self, threshold_index: int) -> Candidates:
        """Return the detections of all classes at one threshold, for a free-response curve."""
        hit = self._matches.found(self.thresholds)[:, threshold_index]
        references = self.reference_counts.sum(axis=1).astype(np.int64)
        return Candidates(self._image, self.confidence, hit, references)

    @cached_property
    def true_positives(self) -> tuple[Integers, Integers]:
        """Positions of the true positives and their segment class · thresholds + threshold, by segment."""
        by_threshold = self._matches.found(self.thresholds).T
        classes, size = self.shape
        # Detections are sorted by class, and so are the segments.
        ends = np.searchsorted(self._class, np.arange(classes + 1)).tolist()
        of_class = [np.nonzero(by_threshold[:, start:end]) for start, end in pairwise(ends)]
        position = [found + start for (_, found), start in zip(of_class, ends, strict=False)]
        segment = [threshold + number * size for number, (threshold, _) in enumerate(of_class)]
        return np.concatenate(position), np.concatenate(segment)

    @cached_property
    def _sums_per_image(self) -> tuple[Floats, Floats]:
        """IoU and number of the true positives, shape (images, classes · thresholds)."""
        position, segment = self.true_positives
        segments = self.shape[0] * self.shape[1]
        cell = self._image[position] * segments + segment
        size = self.reference_counts.shape[0] * segments
        overlap = np.asarray(np.bincount(cell, self._matches.iou[position], size), dtype=np.float64)
        number = np.bincount(cell, minlength=size).astype(np.float64)
        return overlap.reshape(-1, segments), number.reshape(-1, segments)

    def average_precision(self, weights: NDArray[np.number], rule: AveragePrecision = "all_points") -> Floats:
        """Return the area under the precision–recall curve with its envelope.

        weights: shape (resamples, images), whole numbers; an image of weight w counts as w copies. rule:
        "all_points" is the area at all unique values of recall (PASCAL VOC from 2010 on; EDD2020, Eq. 3), the
        others the mean precision at equally spaced levels of recall from 0 to 1, 0 where no threshold reaches
        a level: "101_points" (COCO, with the rounding of pycocotools) and "11_points" (PASCAL VOC to 2009).
        Returns shape (resamples, classes, thresholds) in [0, 1]; NaN where a class has no reference box of
        weight.
        """
        matrix = np.asarray(weights, dtype=np.float64)
        position, segment = self.true_positives
        rows = max(1, _ENTRIES_AT_ONCE // max(1, self.confidence.size + position.size))
        area = np.zeros((matrix.shape[0], self.shape[0] * self.shape[1]))
        boxes = matrix @ self.reference_counts
        if position.size:
            starts = np.flatnonzero(np.diff(segment, prepend=-1))
            for top in range(0, matrix.shape[0], rows):
                precision, weight = self._precision(matrix[top : top + rows], starts)
                for start, end in zip(starts, [*starts[1:], position.size], strict=True):
                    # The envelope: the best precision at this recall or any higher one.
                    backwards = precision[:, start:end][:, ::-1]
                    np.maximum.accumulate(backwards, axis=1, out=backwards)
                if rule == "all_points":
                    widths = weight
                else:
                    boxes_of_positive = boxes[top : top + rows][:, segment // self.shape[1]]
                    widths = _levels_passed(_running_sum(weight, starts), boxes_of_positive, starts, rule)
                sums = np.add.reduceat(precision * widths, starts, axis=1)
                area[top : top + rows, segment[starts]] = sums
        total = boxes if rule == "all_points" else np.where(boxes > 0, float(_LEVELS[rule]), 0.0)
        return ratio_or_nan(area.reshape(-1, *self.shape), total[:, :, None])

    def mean_iou(self, weights: NDArray[np.number], with_missed: bool) -> Floats:
        """Mean IoU of the detections, false positives counting 0; shape (resamples, classes, thresholds).

        weights as of `average_precision`. With ``with_missed`` the denominator is TP + FP + FN, else TP + FP,
        and a class with reference boxes but no detection has 0. NaN where a class has no reference box of
        weight. Source: EDD2020's IoU_d; with missed boxes its Eq. 2.
        """
        matrix = np.asarray(weights, dtype=np.float64)
        overlap, number = ((matrix @ sums).reshape(-1, *self.shape) for sums in self._sums_per_image)
        made = self.prediction_counts
        if self._never_made is not None:
            made = made + self._never_made
        boxes = (matrix @ self.reference_counts)[:, :, None]
        predictions = (matrix @ made)[:, :, None]
        denominator = predictions + (boxes - number if with_missed else 0.0)
        mean = np.divide(overlap, denominator, out=np.zeros_like(overlap), where=denominator > 0)
        return np.where(boxes > 0, mean, np.nan)

    def recall(self, weights: NDArray[np.number]) -> Floats:
        """Share of the reference boxes that are found, whatever the confidence; weights as of `mean_iou`.

        Shape (resamples, classes, thresholds); NaN where a class has no reference box of weight.
        """
        matrix = np.asarray(weights, dtype=np.float64)
        _, number = self._sums_per_image
        boxes = (matrix @ self.reference_counts)[:, :, None]
        return ratio_or_nan((matrix @ number).reshape(-1, *self.shape), boxes)

    def precision_recall(
        self, weights: NDArray[np.number], class_index: int, threshold_index: int
    ) -> PrecisionRecall:
        """Return the points of one curve under weights of shape (images,); none without reference boxes."""
        position, segment = self.true_positives
        starts = np.flatnonzero(np.diff(segment, prepend=-1))
        matrix = np.asarray(weights, dtype=np.float64)[None]
        chosen = segment == class_index * self.shape[1] + threshold_index
        boxes = float((matrix @ self.reference_counts)[0, class_index])
        if not chosen.any() or boxes == 0:
            return PrecisionRecall(np.zeros(0), np.zeros(0), np.zeros(0))
        precision, weight = self._precision(matrix, starts)
        return PrecisionRecall(
            self.confidence[position[chosen]], np.cumsum(weight[0, chosen]) / boxes, precision[0, chosen]
        )

    def _precision(self, weights: Floats, starts: Integers) -> tuple[Floats, Floats]:
        """Return raw precision at, and weight of, every true positive; shape (rows, true positives)."""
        position, _ = self.true_positives
        detection_weights = weights[:, self._image]
        weight = detection_weights[:, position]
        made = _running_sum(detection_weights, np.flatnonzero(np.diff(self._class, prepend=-1)))[:, position]
        right = _running_sum(weight, starts)
        return np.divide(right, made, out=np.zeros_like(right), where=made > 0), weight


def mean_over_classes(values: Floats) -> Floats:
    """Mean over the classes that exist: (…, classes, thresholds) to (…, thresholds); NaN where none does."""
    existing = ~np.isnan(values)
    return ratio_or_nan(
        np.where(existing, values, 0.0).sum(axis=-2), existing.sum(axis=-2).astype(np.float64)
    )


def _levels_passed(found: Floats, boxes: Floats, starts: Integers, rule: AveragePrecision) -> Floats:
    """Return at how many levels of recall each true positive is the first that reaches them.

    found: weight of the true positives up to each, shape (rows, true positives); boxes: of its class.
    """
    if rule == "101_points":
        # The levels and the comparison are those of pycocotools, also where rounding decides.
        recall = np.divide(found, boxes, out=np.zeros_like(found), where=boxes > 0)
        reached = np.searchsorted(np.linspace(0, 1, _LEVELS[rule]), recall, side="right")
    else:
        steps = _LEVELS[rule] - 1
        reached = 1 + np.floor_divide(steps * found, boxes, out=np.zeros_like(found), where=boxes > 0)
    passed: Floats = np.diff(reached, axis=1, prepend=0).astype(np.float64)
    passed[:, starts] = reached[:, starts]
    return passed


def _running_sum(values: Floats, starts: Integers) -> Floats:
    """Return cumulative sums along axis 1 that restart at every start; exact for whole numbers."""
    total = np.cumsum(values, axis=1)
    before = total[:, starts] - values[:, starts]
    lengths = np.diff(starts, append=values.shape[1])
    return total - np.repeat(before, lengths, axis=1)
