"""Matched boxes from plain arrays, with checks of the arguments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.box_matching import match_boxes
from evaluation.metrics.detection import DetectionTable


def box_table(
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
    """Return the matched boxes of all images. Raises ValueError for arguments that do not fit."""
    corners, true_corners = corners_of(boxes, "boxes"), corners_of(reference_boxes, "reference_boxes")
    confidence = np.asarray(scores, dtype=np.float64)
    if confidence.shape != (len(corners),) or not np.isfinite(confidence).all():
        raise ValueError(f"scores: expected {len(corners)} finite numbers")
    thresholds = np.asarray(iou_thresholds, dtype=np.float64)
    if thresholds.ndim != 1 or not thresholds.size or not ((thresholds > 0) & (thresholds <= 1)).all():
        raise ValueError(f"IoU thresholds: expected numbers above 0 and at most 1, found {iou_thresholds}")
    image, true_image, image_count = _codes(images, reference_images, corners, true_corners, "images")
    kind, true_kind, kinds = _codes(classes, reference_classes, corners, true_corners, "classes")
    true_groups = true_image * kinds + true_kind
    matches = match_boxes(
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


def corners_of(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return boxes as floats, shape (..., 4). Raises ValueError, naming the argument, for invalid ones."""
    corners = np.asarray(values, dtype=np.float64)
    if corners.shape == (0,):
        corners = corners.reshape(0, 4)
    if corners.shape[-1:] != (4,) or not np.isfinite(corners).all():
        raise ValueError(f"{name}: expected finite x1, y1, x2, y2 along the last axis, found {corners.shape}")
    if (corners[..., :2] > corners[..., 2:]).any():
        raise ValueError(f"{name}: expected x1 ≤ x2 and y1 ≤ y2")
    return corners
