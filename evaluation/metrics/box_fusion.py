"""Boxes that several models or people give, made into one list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Floats, Integers
from evaluation.metrics.boxes import corners_of, iou_of_corners

__all__ = ["non_maximum_suppression", "weighted_boxes_fusion"]


@dataclass(frozen=True, slots=True)
class FusedDetections:
    """Boxes of one image by descending score.

    boxes: shape (detections, 4). scores: shape (detections,). classes: shape (detections,).
    """

    boxes: Floats
    scores: Floats
    classes: NDArray[np.generic]


def weighted_boxes_fusion(
    boxes: Sequence[ArrayLike],
    scores: Sequence[ArrayLike],
    classes: Sequence[ArrayLike],
    *,
    weights: Sequence[float] | None = None,
    iou_threshold: float = 0.55,
    allow_overflow: bool = False,
    inclusive_corners: bool = False,
) -> FusedDetections:
    """Return the boxes of several models in one image, averaged where they overlap.

    Parameters
    ----------
    boxes : sequence of array_like of float, shape (detections, 4)
        One array for each model: boxes x1, y1, x2, y2 in pixels.
    scores : sequence of array_like of float, shape (detections,)
        One array for each model: the confidence of every box, not negative.
    classes : sequence of array_like of int or str, shape (detections,)
        One array for each model: the class of every box. Only boxes of one class are averaged.
    weights : sequence of float, optional
        How much each model counts, above 0; its scores are multiplied by it. By default all count 1.
    iou_threshold : float, optional
        A box joins the fused box whose IoU with it is the highest, if it is above this.
    allow_overflow : bool, optional
        Whether the score grows further where a model has several boxes in a group; it can then exceed 1.
    inclusive_corners : bool, optional
        See `box_iou`.

    Returns
    -------
    Detections
        ``boxes``, ``scores`` and ``classes`` of one image, by descending score.

    Raises
    ------
    ValueError
        For shapes that do not fit, boxes as in `box_iou`, negative scores, weights that are not above 0, a
        threshold outside [0, 1), or without any model.

    Notes
    -----
    Boxes are taken by descending score, ties by model and position. The corners of a fused box are the
    mean of its members, weighted by their scores (plain where all are 0). Its score is their mean times
    min(T, N) / N for T members and N models; with ``allow_overflow`` times T / N, and with weights over
    their sum in place of N. Empty input gives empty output.

    References
    ----------
    R. Solovyev, W. Wang, T. Gabruseva, "Weighted boxes fusion: Ensembling boxes from different object
    detection models", Image and Vision Computing 107:104117, 2021, section 3.

    Examples
    --------
    >>> fused = weighted_boxes_fusion([[[0, 0, 10, 10]], [[0, 0, 10, 14]]], [[0.75], [0.25]], [["a"], ["a"]])
    >>> fused.boxes.tolist(), fused.scores.tolist()
    ([[0.0, 0.0, 10.0, 11.0]], [0.5])
    """
    given = _Given.of(boxes, scores, classes)
    factors = np.ones(len(boxes)) if weights is None else np.asarray(weights, dtype=np.float64)
    if factors.shape != (len(boxes),) or not (np.isfinite(factors) & (factors > 0)).all():
        raise ValueError(f"weights: expected {len(boxes)} numbers above 0, found {weights}")
    models = len(boxes)
    _require_threshold(iou_threshold)

    def fuse(corners: Floats, confidence: Floats) -> FusedBoxes:
        return fuse_boxes(corners, confidence, models, iou_threshold, inclusive_corners, allow_overflow)

    return given.of_each_class(given.scores * factors[given.model], fuse, models / float(factors.sum()))


def non_maximum_suppression(
    boxes: ArrayLike,
    scores: ArrayLike,
    classes: ArrayLike,
    *,
    iou_threshold: float = 0.5,
    inclusive_corners: bool = False,
) -> FusedDetections:
    """Return the boxes of one image without those that a more confident one of their class overlaps.

    Parameters
    ----------
    boxes : array_like of float, shape (detections, 4)
        Boxes x1, y1, x2, y2 in pixels, of one or of several models.
    scores : array_like of float, shape (detections,)
        The confidence of every box, not negative; ties go to the first.
    classes : array_like of int or str, shape (detections,)
        The class of every box.
    iou_threshold : float, optional
        A box is left out if its IoU with a kept box is above this.
    inclusive_corners : bool, optional
        See `box_iou`.

    Returns
    -------
    Detections
        ``boxes``, ``scores`` and ``classes`` that are kept, by descending score.

    Raises
    ------
    ValueError
        For shapes that do not fit, boxes as in `box_iou`, negative scores, or a threshold outside [0, 1).

    Notes
    -----
    Empty input gives empty output.

    References
    ----------
    P. Felzenszwalb et al., "Object detection with discriminatively trained part-based models", IEEE
    Transactions on Pattern Analysis and Machine Intelligence 32:1627–1645, 2010, section 7.2.

    Examples
    --------
    >>> kept = non_maximum_suppression([[0, 0, 9, 9], [0, 0, 9, 8], [5, 5, 9, 9]], [0.6, 0.9, 0.7], [1, 1, 1])
    >>> kept.scores.tolist()
    [0.9, 0.7]
    """
    given = _Given.of([boxes], [scores], [classes])
    _require_threshold(iou_threshold)
    return given.of_each_class(
        given.scores,
        lambda corners, confidence: suppress_boxes(corners, confidence, iou_threshold, inclusive_corners),
    )


@dataclass(frozen=True)
class _Given:
    """The boxes of all models in one table."""

    corners: Floats
    scores: Floats
    classes: NDArray[np.generic]
    model: Integers

    @classmethod
    def of(
        cls, boxes: Sequence[ArrayLike], scores: Sequence[ArrayLike], classes: Sequence[ArrayLike]
    ) -> _Given:
        if not len(boxes) == len(scores) == len(classes) > 0:
            numbers = f"{len(boxes)}, {len(scores)} and {len(classes)}"
            raise ValueError(f"boxes, scores, classes: expected one array for each model, found {numbers}")
        corners = [corners_of(given, "boxes") for given in boxes]
        confidences = [np.asarray(given, dtype=np.float64) for given in scores]
        labels = [np.asarray(given) for given in classes]
        for one, confidence, label in zip(corners, confidences, labels, strict=True):
            expected = (len(one),)
            if one.ndim != 2 or confidence.shape != expected or label.shape != expected:
                raise ValueError(
                    f"boxes, scores, classes: expected one for every box, found shapes {one.shape}, "
                    f"{confidence.shape} and {label.shape}"
                )
        all_scores = np.concatenate(confidences)
        if not (np.isfinite(all_scores) & (all_scores >= 0)).all():
            raise ValueError("scores: expected finite numbers that are not negative")
        # An empty list has no type of its own.
        given_labels = [label for label in labels if label.size] or labels[:1]
        model = np.repeat(np.arange(len(boxes)), list(map(len, corners)))
        return cls(np.concatenate(corners), all_scores, np.concatenate(given_labels), model)

    def of_each_class(
        self,
        confidence: Floats,
        fuse: Callable[[Floats, Floats], FusedBoxes],
        factor: float = 1.0,
    ) -> FusedDetections:
        names, codes = np.unique(self.classes, return_inverse=True)
        fused = [fuse(self.corners[codes == code], confidence[codes == code]) for code in range(len(names))]
        scores = np.concatenate([*(of_class.confidence for of_class in fused), np.zeros(0)]) * factor
        order = np.argsort(-scores, kind="stable")
        corners = np.concatenate([*(of_class.corners for of_class in fused), np.zeros((0, 4))])
        classes = np.repeat(names, [len(of_class.corners) for of_class in fused])
        return FusedDetections(corners[order], scores[order], classes[order])


def _require_threshold(iou_threshold: float) -> None:
    if not 0 <= iou_threshold < 1:
        raise ValueError(f"iou_threshold: expected a number from 0 to below 1, found {iou_threshold}")


@dataclass(frozen=True, slots=True)
class FusedBoxes:
    """Merged boxes, and the merged box of every given one.

    corners: shape (left, 2 · axes). confidence: shape (left,). group: shape (given,), for each given box
    the position of the one that stands for it.
    """

    corners: Floats
    confidence: Floats
    group: Integers


def fuse_boxes(
    corners: Floats,
    confidence: Floats,
    models: int,
    iou_threshold: float,
    inclusive_corners: bool,
    allow_overflow: bool = False,
) -> FusedBoxes:
    """Average the boxes that overlap, each by its confidence.

    corners: shape (boxes, 2 · axes), see `box_iou`; confidence: shape (boxes,), not negative. Boxes are taken
    by descending confidence, ties by position. Each joins the fused box with the highest IoU above the
    threshold, the first of several, or starts one. A fused box is the mean of its members, weighted by
    their confidences (plain where all are 0). Its confidence is their mean, times min(T, N) / N for T
    members of N = ``models``; with ``allow_overflow`` times T / N, which can exceed 1. Empty input gives
    empty output.
    Source: Solovyev et al. 2021, Image Vis. Comput. 107:104117, section 3 and Eq. 1 to 6.
    """
    count, width = corners.shape
    group = np.full(count, -1, dtype=np.int64)
    fused, sums = np.zeros((count, width)), np.zeros((count, width))
    lowest, highest = np.zeros((count, width)), np.zeros((count, width))
    total, weight, members, most = (np.zeros(count) for _ in range(4))
    made = 0
    for box in np.argsort(-confidence, kind="stable").tolist():
        corner, own = corners[box], float(confidence[box])
        overlap = iou_of_corners(fused[:made], corner, inclusive_corners)
        place = int(overlap.argmax()) if made else -1
        if place < 0 or overlap[place] <= iou_threshold:
            place, made = made, made + 1
            lowest[place] = highest[place] = corner
            most[place] = own
        members[place] += 1
        total[place] += own
        # Confidences fall: where the sum is 0, all are 0 and count alike.
        share = own if total[place] else 1.0
        weight[place] += share
        sums[place] += share * corner
        lowest[place] = np.minimum(lowest[place], corner)
        highest[place] = np.maximum(highest[place], corner)
        # Rounding must not leave the range of the members, which may end at the image's border.
        fused[place] = np.clip(sums[place] / weight[place], lowest[place], highest[place])
        group[box] = place
    counted = members if allow_overflow else np.minimum(members, models)
    mean = np.divide(total, members, out=np.zeros(count), where=members > 0)
    score = np.minimum(mean, most) * (counted / models)  # nor may it leave theirs
    return FusedBoxes(fused[:made], score[:made], group)


def suppress_boxes(
    corners: Floats, confidence: Floats, iou_threshold: float, inclusive_corners: bool
) -> FusedBoxes:
    """Keep each box unless a more confident one that is kept overlaps it by more than the threshold.

    corners: shape (boxes, 2 · axes), see `box_iou`; confidence: shape (boxes,); ties go to the first. Empty
    input gives empty output.
    Source: Felzenszwalb et al. 2010, IEEE Trans. Pattern Anal. Mach. Intell. 32:1627, section 7.2, with IoU.
    """
    order = np.argsort(-confidence, kind="stable")
    group = np.full(len(corners), -1, dtype=np.int64)
    kept: list[int] = []
    while order.size:
        best = order[0]
        overlap = iou_of_corners(corners[order], corners[best], inclusive_corners)
        gone = overlap > iou_threshold
        gone[0] = True  # a box without area does not overlap itself
        group[order[gone]] = len(kept)
        kept.append(int(best))
        order = order[~gone]
    return FusedBoxes(corners[kept], confidence[kept], group)
