"""Agreement of two annotators on the boxes of an image, and on the classes of common boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.box_matching import box_iou
from evaluation.metrics.point_matching import match_pairs

Rows = NDArray[np.float64]
OVERLAP = 0.5
"""Least IoU of two boxes of the same object, as in PASCAL VOC."""


def compared_boxes(
    first: Rows, second: Rows, classes: Sequence[str], inclusive_corners: bool
) -> Mapping[str, float]:
    """Return similarities of two lists of boxes in one image, by name, all from 0 to 1; NaN where undefined.

    first, second: shape (boxes, 2 + 2 · axes), class index, confidence, corners. Boxes of one class are
    paired for the most pairs with an IoU of at least `OVERLAP`, then for the largest IoU. For every class, if
    there are several, and for all: F1, 2 · pairs / all boxes, undefined without any box; and the mean IoU of
    the pairs. With pairs across classes: the share of pairs of the same class.
    """
    found: dict[str, float] = {}
    overlaps: list[float] = []
    for label, name in enumerate(classes or ("",)):
        one, other = (rows[rows[:, 0] == label] for rows in (first, second))
        pairs = _paired(one, other, inclusive_corners)
        of_pairs = [iou for _, _, iou in pairs]
        overlaps += of_pairs
        if len(classes) > 1:
            found |= _similarities(f"{name} boxes", of_pairs, len(one) + len(other))
    found |= _similarities("boxes", overlaps, len(first) + len(second))
    if len(classes) > 1:
        same = [first[i, 0] == second[j, 0] for i, j, _ in _paired(first, second, inclusive_corners)]
        found["share of boxes with the same class"] = float(np.mean(same)) if same else nan
    return found


def numbers_of_boxes(rows: Rows, classes: Sequence[str]) -> Mapping[str, int]:
    """Return the number of boxes by class, or the total if there are no classes."""
    return {
        name: int(np.count_nonzero(rows[:, 0] == label)) for label, name in enumerate(classes or ("boxes",))
    }


def _similarities(name: str, overlaps: Sequence[float], boxes: int) -> dict[str, float]:
    return {
        f"{name} F1": 2 * len(overlaps) / boxes if boxes else nan,
        f"{name} IoU": sum(sorted(overlaps)) / len(overlaps) if overlaps else nan,
    }


def _paired(first: Rows, second: Rows, inclusive_corners: bool) -> list[tuple[int, int, float]]:
    """Return the positions and the IoU of the pairs."""
    overlap = box_iou(first[:, np.newaxis, 2:], second[np.newaxis, :, 2:], inclusive_corners)
    hit = match_pairs(1 - overlap, overlap >= OVERLAP, "optimal").hit
    return [(int(i), j, float(overlap[i, j])) for j, i in enumerate(hit) if i >= 0]
