"""Overlap of boxes on plain arrays: IoU of pairs of boxes, and its mean over detections."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics import box_matching
from evaluation.metrics.plain_box_table import box_table, corners_of


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
    return box_matching.box_iou(corners_of(first, "first"), corners_of(second, "second"), inclusive_corners)


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
    boxes, scores, images, reference_boxes, reference_images : array_like
        See `box_average_precision`.
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
    table = box_table(
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
