"""Average precision of detected boxes on plain arrays: of one class, and its mean over classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics.detection import mean_over_classes
from evaluation.metrics.plain_box_table import box_table


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
    boxes, scores, images, reference_boxes, reference_images : array_like
        See `box_average_precision`.
    classes : array_like of int or str, shape (detections,)
        The class of every detection.
    reference_classes : array_like of int or str, shape (references,)
        The class of every reference box.
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
    table = box_table(
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
