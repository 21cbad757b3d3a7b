"""Boxes of one image and class that several models or people give, made into one list."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.metrics.box_matching import Floats, Integers, box_iou


@dataclass(frozen=True, slots=True)
class FusedBoxes:
    """The boxes that are left, and what became of those that were given.

    corners: shape (left, 2 · axes). confidence: shape (left,). group: shape (given,), for each given box
    the position of the one that stands for it.
    """

    corners: Floats
    confidence: Floats
    group: Integers


def weighted_boxes_fusion(
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
        overlap = box_iou(fused[:made], corner, inclusive_corners)
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


def non_maximum_suppression(
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
        overlap = box_iou(corners[order], corners[best], inclusive_corners)
        gone = overlap > iou_threshold
        gone[0] = True  # a box without area does not overlap itself
        group[order[gone]] = len(kept)
        kept.append(int(best))
        order = order[~gone]
    return FusedBoxes(corners[kept], confidence[kept], group)
