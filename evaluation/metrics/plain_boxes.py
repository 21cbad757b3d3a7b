"""Detection of boxes on plain arrays: IoU, average precision and its mean over classes, mean IoU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics import box_matching
from evaluation.metrics.detection import DetectionTable, mean_over_classes


def box_iou(first: ArrayLike, second: ArrayLike, *, inclusive_corners: bool = False) -> NDArray[np.float64]:
    """Return the intersection over union of pairs of boxes.

    Parameters
    ----------
    first, second : array_like of float, shape (..., 4)
        Boxes x1, y1, x2, y2 in pixels with x1 ≤ x2 and y1 ≤ y2; leading axes broadcast.
    inclusive_corners : bool, optional
        Whether both corner pixels belong to the box, so that its width is x2 − x1 + 1 (PASCAL VOC).

    Returns
    -------
    numpy.ndarray of float, shape (...)
        In [0, 1].

    Raises
    ------
    ValueError
        For another last axis, a coordinate that is not finite, or corners in the wrong order.

    Notes
    -----
    Without ``inclusive_corners`` a box without area has IoU 0 with every box. Empty input gives empty output.

    References
    ----------
    M. Everingham et al., "The PASCAL Visual Object Classes (VOC) Challenge", International Journal of
    Computer Vision 88:303–338, 2010, section 4.2.

    Examples
    --------
    >>> float(box_iou([0, 0, 2, 2], [1, 0, 3, 2]))
    0.3333333333333333
    """
    return box_matching.box_iou(_corners(first, "first"), _corners(second, "second"), inclusive_corners)


def box_average_precision(
    boxes: ArrayLike,
    scores: ArrayLike,
    images: ArrayLike,
    reference_boxes: ArrayLike,
    reference_images: ArrayLike,
    *,
    iou_threshold: float = 0.5,
    inclusive_corners: bool = False,
) -> float:
    """Return the average precision of the detections of one class.

    It is the area under the precision–recall curve with its envelope, at all recall values (PASCAL VOC from
    2010 on). Detections are matched greedily by descending score.

    Parameters
    ----------
    boxes : array_like of float, shape (detections, 4)
        Detected boxes x1, y1, x2, y2 in pixels.
    scores : array_like of float, shape (detections,)
        Confidence of every detection; ties keep the order of the input.
    images : array_like of int or str, shape (detections,)
        The image of every detection.
    reference_boxes : array_like of float, shape (references, 4)
        Boxes of the reference.
    reference_images : array_like of int or str, shape (references,)
        The image of every reference box.
    iou_threshold : float, optional
        Smallest IoU of a true positive, in (0, 1].
    inclusive_corners : bool, optional
        See `box_iou`.

    Returns
    -------
    float
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        For shapes that do not fit, boxes as in `box_iou`, a score that is not finite, or a threshold outside
        (0, 1].

    Notes
    -----
    NaN without a reference box; 0 with reference boxes and without detections. A detection is compared with
    its best-overlapping reference box only: if that box is taken, it is a false positive.

    References
    ----------
    M. Everingham et al., "The PASCAL Visual Object Classes (VOC) Challenge", International Journal of
    Computer Vision 88:303–338, 2010, section 4.2.

    Examples
    --------
    >>> boxes = [[0, 0, 10, 10], [20, 20, 30, 30], [0, 0, 10, 10]]
    >>> box_average_precision(boxes, [0.9, 0.8, 0.7], [1, 1, 2], [[0, 0, 10, 10], [0, 0, 10, 9]], [1, 2])
    0.8333333333333333
    """
    return mean_average_precision(
        boxes,
        scores,
        np.zeros(np.shape(scores), dtype=np.int64),
        images,
        reference_boxes,
        np.zeros(np.shape(reference_images), dtype=np.int64),
        reference_images,
        iou_thresholds=(iou_threshold,),
        inclusive_corners=inclusive_corners,
    )


def mean_average_precision(
    boxes: ArrayLike,
    scores: ArrayLike,
    classes: ArrayLike,
    images: ArrayLike,
    reference_boxes: ArrayLike,
    reference_classes: ArrayLike,
    reference_images: ArrayLike,
    *,
    iou_thresholds: Sequence[float] = (0.5,),
    inclusive_corners: bool = False,
) -> float:
    """Return the average precision, averaged over the classes of the reference and over IoU thresholds.

    Parameters
    ----------
    boxes : array_like of float, shape (detections, 4)
        Detected boxes x1, y1, x2, y2 in pixels.
    scores : array_like of float, shape (detections,)
        Confidence of every detection; ties keep the order of the input.
    classes : array_like of int or str, shape (detections,)
        The class of every detection.
    images : array_like of int or str, shape (detections,)
        The image of every detection.
    reference_boxes : array_like of float, shape (references, 4)
        Boxes of the reference.
    reference_classes : array_like of int or str, shape (references,)
        The class of every reference box.
    reference_images : array_like of int or str, shape (references,)
        The image of every reference box.
    iou_thresholds : sequence of float, optional
        Thresholds in (0, 1]; EDD2020 uses 0.25, 0.30, … 0.75.
    inclusive_corners : bool, optional
        See `box_iou`.

    Returns
    -------
    float
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        As `box_average_precision`.

    Notes
    -----
    NaN without a reference box. Classes without a reference box are left out of the mean; so detections of
    such a class do not change the result.

    References
    ----------
    S. Ali et al., "Deep learning for detection and segmentation of artefact and disease instances in
    gastrointestinal endoscopy", Medical Image Analysis 70:102002, 2021 (EDD2020).

    Examples
    --------
    >>> square, line = [0, 0, 10, 10], [0, 0, 10, 6]
    >>> mean_average_precision(
    ...     [square, square], [0.9, 0.8], ["a", "b"], [1, 1],
    ...     [square, line], ["a", "b"], [1, 1], iou_thresholds=(0.5, 0.75),
    ... )
    0.75
    """
    table = _table(
        boxes,
        scores,
        classes,
        images,
        reference_boxes,
        reference_classes,
        reference_images,
        iou_thresholds,
        inclusive_corners,
    )
    values = table.average_precision(np.ones((1, len(table.reference_counts))))
    return float(np.mean(mean_over_classes(values)))


def mean_detection_iou(
    boxes: ArrayLike,
    scores: ArrayLike,
    images: ArrayLike,
    reference_boxes: ArrayLike,
    reference_images: ArrayLike,
    *,
    iou_threshold: float = 0.5,
    with_missed: bool = False,
    inclusive_corners: bool = False,
) -> float:
    """Return the mean IoU of the detections of one class; false positives count 0.

    Parameters
    ----------
    boxes : array_like of float, shape (detections, 4)
        Detected boxes x1, y1, x2, y2 in pixels.
    scores : array_like of float, shape (detections,)
        Confidence of every detection; ties keep the order of the input.
    images : array_like of int or str, shape (detections,)
        The image of every detection.
    reference_boxes : array_like of float, shape (references, 4)
        Boxes of the reference.
    reference_images : array_like of int or str, shape (references,)
        The image of every reference box.
    iou_threshold : float, optional
        Smallest IoU of a true positive, in (0, 1].
    with_missed : bool, optional
        Whether missed reference boxes count 0 as well.
    inclusive_corners : bool, optional
        See `box_iou`.

    Returns
    -------
    float
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        As `box_average_precision`.

    Notes
    -----
    NaN without a reference box; 0 with reference boxes and without detections.

    References
    ----------
    S. Ali et al., "Deep learning for detection and segmentation of artefact and disease instances in
    gastrointestinal endoscopy", Medical Image Analysis 70:102002, 2021 (EDD2020).

    Examples
    --------
    >>> boxes = [[0, 0, 10, 10], [20, 20, 30, 30]]
    >>> mean_detection_iou(boxes, [0.9, 0.8], [1, 1], [[0, 0, 10, 8]], [1])
    0.4
    """
    zeros = (np.zeros(np.shape(values), dtype=np.int64) for values in (scores, reference_images))
    table = _table(
        boxes,
        scores,
        next(zeros),
        images,
        reference_boxes,
        next(zeros),
        reference_images,
        (iou_threshold,),
        inclusive_corners,
    )
    values = table.mean_iou(np.ones((1, len(table.reference_counts))), with_missed)
    return float(values[0, 0, 0]) if values.size else float("nan")


def _table(
    boxes: ArrayLike,
    scores: ArrayLike,
    classes: ArrayLike,
    images: ArrayLike,
    reference_boxes: ArrayLike,
    reference_classes: ArrayLike,
    reference_images: ArrayLike,
    iou_thresholds: Sequence[float],
    inclusive_corners: bool,
) -> DetectionTable:
    corners, true_corners = _corners(boxes, "boxes"), _corners(reference_boxes, "reference_boxes")
    confidence = np.asarray(scores, dtype=np.float64)
    if confidence.shape != (len(corners),) or not np.isfinite(confidence).all():
        raise ValueError(f"scores: expected {len(corners)} finite numbers")
    thresholds = np.asarray(iou_thresholds, dtype=np.float64)
    if thresholds.ndim != 1 or not thresholds.size or not ((thresholds > 0) & (thresholds <= 1)).all():
        raise ValueError(f"IoU thresholds: expected numbers above 0 and at most 1, found {iou_thresholds}")
    image, true_image, image_count = _codes(images, reference_images, corners, true_corners, "images")
    kind, true_kind, kinds = _codes(classes, reference_classes, corners, true_corners, "classes")
    true_groups = true_image * kinds + true_kind
    matches = box_matching.match_boxes(
        corners, image * kinds + kind, confidence, true_corners, true_groups, inclusive_corners
    )
    counts = np.bincount(true_groups, minlength=image_count * kinds).reshape(image_count, kinds)
    return DetectionTable(image, kind, confidence, matches, counts, thresholds)


def _codes(
    found: ArrayLike,
    true: ArrayLike,
    corners: NDArray[np.float64],
    true_corners: NDArray[np.float64],
    name: str,
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
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


def _corners(values: ArrayLike, name: str) -> NDArray[np.float64]:
    corners = np.asarray(values, dtype=np.float64)
    if corners.shape == (0,):
        corners = corners.reshape(0, 4)
    if corners.shape[-1:] != (4,) or not np.isfinite(corners).all():
        raise ValueError(f"{name}: expected finite x1, y1, x2, y2 along the last axis, found {corners.shape}")
    if (corners[..., :2] > corners[..., 2:]).any():
        raise ValueError(f"{name}: expected x1 ≤ x2 and y1 ≤ y2")
    return corners
