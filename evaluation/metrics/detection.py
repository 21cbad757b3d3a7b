"""Detection of boxes in many images: average precision, precision, recall and overlap."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Bools, Floats, Integers, distinct, mean_of_defined, ratio_or_nan
from evaluation.metrics.boxes import corners_of, match_at_thresholds, match_boxes, overlapping_boxes
from evaluation.metrics.free_response import Candidates

__all__ = ["box_average_precision"]

CurveReading = Literal["all_points", "101_points", "11_points"]
"""Where a precision–recall curve is read: at all its points, or at equally spaced levels of recall."""
BoxMatching = Literal["by_confidence", "best_only"]
Ties = Literal["order", "together"]
"""Whether detections of equal confidence are ranked by position, or pass a threshold together."""
COCO_THRESHOLDS = tuple(hundredths / 100 for hundredths in range(50, 100, 5))
_LEVELS: dict[CurveReading, int] = {"101_points": 101, "11_points": 11}
_ENTRIES_AT_ONCE = 1 << 17  # 1 MB of float64, which stays in the processor's cache


def box_average_precision(
    boxes: ArrayLike,
    scores: ArrayLike,
    images: ArrayLike,
    reference_boxes: ArrayLike,
    reference_images: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    reference_classes: ArrayLike | None = None,
    iou_thresholds: Sequence[float] = COCO_THRESHOLDS,
    matching: BoxMatching = "by_confidence",
    inclusive_corners: bool = False,
    max_detections: int = 100,
    curve: CurveReading = "101_points",
    ties: Ties = "together",
) -> float:
    """Return the average precision of boxes: the mean over classes and IoU thresholds; by default COCO's mAP.

    From 0 to 1, higher is better. It is the area under the precision–recall curve with its envelope; classes
    without any reference box do not count.

    boxes, reference_boxes: x1, y1, x2, y2 in pixels, shape (boxes, 4), of all images. images,
    reference_images: of each box. classes, reference_classes: of each box, where there are several. scores:
    the confidence of each detection. iou_thresholds: smallest of a hit, above 0 and at most 1, by default
    0.5, 0.55, … 0.95. matching: detections are matched by falling score; "by_confidence": each takes the best
    reference box that is not yet taken (COCO), "best_only": only its best box counts, and it is false if that
    is taken (PASCAL VOC). inclusive_corners: see `box_iou`. max_detections: of one class in one image, the
    most confident ones. curve: read at 101 levels of recall (COCO), at "all_points" (PASCAL VOC from 2010 on)
    or at 11 levels (PASCAL VOC to 2009). ties: detections of equal confidence pass a threshold "together", of
    those in one image the highest IoU first, so that no order changes the result, or rank in their "order",
    as in pycocotools. 0 without detections; NaN without a reference box. Raises ValueError for shapes that do
    not fit, boxes as in `box_iou`, a score that is not finite, or another option.
    Source: Lin et al., ECCV 2014 (COCO); Everingham et al., International Journal of Computer Vision 88:303,
    2010 (PASCAL VOC).

    >>> boxes = [[0, 0, 10, 10], [20, 20, 30, 30], [0, 0, 10, 10]]
    >>> reference = [[0, 0, 10, 10], [0, 0, 10, 9]]
    >>> box_average_precision(boxes, [0.9, 0.8, 0.7], [1, 1, 2], reference, [1, 2], iou_thresholds=[0.5])
    0.834983498349835
    """
    for name, value, known in (
        ("matching", matching, get_args(BoxMatching)),
        ("curve", curve, get_args(CurveReading)),
        ("ties", ties, get_args(Ties)),
    ):
        if value not in known:
            raise ValueError(f"{name}: expected one of {', '.join(map(repr, known))}, found {value!r}")
    if max_detections < 1:
        raise ValueError(f"max_detections: expected at least 1, found {max_detections}")
    corners, true_corners = corners_of(boxes, "boxes"), corners_of(reference_boxes, "reference_boxes")
    confidence = np.asarray(scores, dtype=np.float64)
    if confidence.shape != (len(corners),) or not np.isfinite(confidence).all():
        raise ValueError(f"scores: expected {len(corners)} finite numbers")
    thresholds = np.asarray(iou_thresholds, dtype=np.float64)
    if thresholds.ndim != 1 or not thresholds.size or not ((thresholds > 0) & (thresholds <= 1)).all():
        raise ValueError(f"IoU thresholds: expected numbers above 0 and at most 1, found {iou_thresholds}")
    named = np.zeros(np.shape(images), np.int64) if classes is None else classes
    true_named = np.zeros(np.shape(reference_images), np.int64) if classes is None else reference_classes
    image, true_image, image_count = _codes(images, reference_images, corners, true_corners, "images")
    kind, true_kind, kinds = _codes(named, true_named, corners, true_corners, "classes")
    groups, true_groups, together = image * kinds + kind, true_image * kinds + true_kind, ties == "together"
    kept, hits = [np.zeros(0, dtype=np.int64)], [np.zeros((0, thresholds.size), dtype=np.bool_)]
    for group in distinct(groups):
        own, true = np.flatnonzero(groups == group), true_corners[true_groups == group]
        own = own[most_confident(confidence[own], max_detections, corners[own] if together else None)]
        kept.append(own)
        hits.append(
            hits_at_thresholds(
                corners[own], confidence[own], true, thresholds, matching, inclusive_corners, together
            )
        )
    order = np.concatenate(kept)
    back = np.argsort(order)
    chosen, found = order[back], np.concatenate(hits)[back]
    counts = np.bincount(true_groups, minlength=image_count * kinds).reshape(image_count, kinds)
    table = DetectionTable(
        image[chosen], kind[chosen], confidence[chosen], found, counts, thresholds, together=together
    )
    values = table.average_precision(np.ones((1, image_count)), curve)
    return float(np.mean(mean_of_defined(values, axis=-2)))


def hits_at_thresholds(
    corners: Floats,
    confidence: Floats,
    true_corners: Floats,
    thresholds: Floats,
    matching: BoxMatching,
    inclusive_corners: bool,
    together: bool,
) -> Bools:
    """Return which detections of one class in one image are hits, shape (detections, thresholds).

    Rules: see `box_average_precision`; ``together`` for equal confidences.
    """
    if matching == "best_only":
        group, true_group = (np.zeros(len(of), dtype=np.int64) for of in (corners, true_corners))
        return match_boxes(
            corners, group, confidence, true_corners, true_group, inclusive_corners, together
        ).found(thresholds)
    pairs = overlapping_boxes(corners, true_corners, inclusive_corners, thresholds.min())
    return match_at_thresholds(pairs, confidence, thresholds, together)


def most_confident(confidence: Floats, most: int, corners: Floats | None) -> Integers:
    """Return the positions of the most confident detections, in their order.

    ``corners``, shape (detections, corners), decide between equals, without them their positions.
    """
    first = np.arange(len(confidence)) if corners is None else np.lexsort(corners.T)
    return np.sort(first[np.argsort(-confidence[first], kind="stable")][:most])


def _codes(
    found: ArrayLike, true: ArrayLike | None, corners: Floats, true_corners: Floats, name: str
) -> tuple[Integers, Integers, int]:
    """Return numbers from 0 on for the names of both sides, and how many different names there are."""
    first, second = np.asarray(found), np.asarray(true)
    if first.shape != (len(corners),) or second.shape != (len(true_corners),):
        raise ValueError(f"{name}: expected one for every box, found shapes {first.shape} and {second.shape}")
    if not first.size or not second.size:  # an empty list has no type of its own
        first, second = (
            side.astype(second.dtype if second.size else first.dtype) for side in (first, second)
        )
    names, codes = np.unique(np.concatenate((first, second)), return_inverse=True)
    codes = codes.astype(np.int64)
    return codes[: len(first)], codes[len(first) :], max(1, len(names))


class DetectionTable:
    """Matched detections of all images, sorted once; the basis of every detection metric.

    images, classes, confidence: shape (detections,); ties in confidence keep this order, unless they are
    counted ``together``. hits: which are true positives, shape (detections, thresholds). reference_counts:
    shape (images, classes), boxes of each class. thresholds: shape (thresholds,), in (0, 1]. iou: shape
    (detections,), for `mean_iou` alone. missed_predictions: None, or shape (images, classes): additional
    predictions that `mean_iou` counts with IoU 0 (for an image without a result).
    """

    def __init__(
        self,
        images: Integers,
        classes: Integers,
        confidence: Floats,
        hits: Bools,
        reference_counts: Integers,
        thresholds: ArrayLike,
        *,
        iou: Floats | None = None,
        missed_predictions: Integers | None = None,
        together: bool = False,
    ) -> None:
        self._together = together
        self.thresholds = np.asarray(thresholds, dtype=np.float64)
        self.reference_counts = reference_counts.astype(np.float64)
        self.shape = (reference_counts.shape[1], self.thresholds.size)
        order = np.lexsort((-confidence, classes))
        self._image, self._class, self.confidence = images[order], classes[order], confidence[order]
        self._hits, self._iou = hits[order], None if iou is None else iou[order]
        size = reference_counts.size
        counts = np.bincount(images * self.shape[0] + classes, minlength=size).reshape(reference_counts.shape)
        self.prediction_counts: Floats = counts.astype(np.float64)
        self._never_made = missed_predictions

    def single_class(self, position: int) -> "DetectionTable":
        """Return the table of one class alone, whose index there is 0."""
        chosen = self._class == position
        never_made = self._never_made
        return DetectionTable(
            self._image[chosen],
            np.zeros(np.count_nonzero(chosen), dtype=np.int64),
            self.confidence[chosen],
            self._hits[chosen],
            self.reference_counts[:, [position]].astype(np.int64),
            self.thresholds,
            iou=None if self._iou is None else self._iou[chosen],
            missed_predictions=None if never_made is None else never_made[:, [position]],
            together=self._together,
        )

    def candidates(self, threshold_index: int) -> Candidates:
        """Return the detections of all classes at one threshold, for a free-response curve."""
        references = self.reference_counts.sum(axis=1).astype(np.int64)
        return Candidates(self._image, self.confidence, self._hits[:, threshold_index], references)

    @cached_property
    def true_positives(self) -> tuple[Integers, Integers]:
        """Positions of the true positives and their segment class · thresholds + threshold, by segment."""
        by_threshold = self._hits.T
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
        iou = None if self._iou is None else self._iou[position]
        overlap = np.asarray(np.bincount(cell, iou, size), dtype=np.float64)
        number = np.bincount(cell, minlength=size).astype(np.float64)
        return overlap.reshape(-1, segments), number.reshape(-1, segments)

    @cached_property
    def _ends_of_ties(self) -> tuple[Integers, Integers]:
        """For each detection the last one of its class and confidence, and so for each true positive."""
        position, segment = self.true_positives
        tie = np.cumsum((np.diff(self._class, prepend=-1) != 0) | (np.diff(self.confidence, prepend=-1) != 0))
        return _last_of_run(tie), _last_of_run(segment * (tie.size + 1) + tie[position])

    def average_precision(self, weights: NDArray[np.number], rule: CurveReading = "all_points") -> Floats:
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

    def _precision(self, weights: Floats, starts: Integers) -> tuple[Floats, Floats]:
        """Return raw precision at, and weight of, every true positive; shape (rows, true positives)."""
        position, _ = self.true_positives
        detection_weights = weights[:, self._image]
        weight = detection_weights[:, position]
        made = _running_sum(detection_weights, np.flatnonzero(np.diff(self._class, prepend=-1)))
        right = _running_sum(weight, starts)
        if self._together:
            last, last_right = self._ends_of_ties
            made, right = made[:, last[position]], right[:, last_right]
        else:
            made = made[:, position]
        return np.divide(right, made, out=np.zeros_like(right), where=made > 0), weight


def _levels_passed(found: Floats, boxes: Floats, starts: Integers, rule: CurveReading) -> Floats:
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


def _last_of_run(values: Integers) -> Integers:
    """Return for each position the last one of its run of equal values."""
    ends = np.flatnonzero(np.diff(values, append=-1))
    return np.repeat(ends, np.diff(ends, prepend=-1))


def _running_sum(values: Floats, starts: Integers) -> Floats:
    """Return cumulative sums along axis 1 that restart at every start; exact for whole numbers."""
    total = np.cumsum(values, axis=1)
    before = total[:, starts] - values[:, starts]
    lengths = np.diff(starts, append=values.shape[1])
    return total - np.repeat(before, lengths, axis=1)
