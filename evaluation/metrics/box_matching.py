"""Boxes: their overlap, and greedy matching of detections with reference boxes for many images at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.grouped_order import order_in_groups

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]

_PAIRS_AT_ONCE = 1 << 20  # some 100 MB of intermediate arrays


@dataclass(frozen=True, slots=True)
class BoxMatches:
    """Which detections are true positives at which threshold: three arrays of shape (detections,).

    ``iou``: the IoU of the detection with the best-overlapping reference box of its group, 0 without one.
    ``claimed``: the largest such IoU among the more confident detections with the same best box, 0 without
    any. The box is still free at a threshold t if claimed < t. So the detection is a true positive if
    claimed < t ≤ iou, and a false positive at every other threshold in (0, 1]. ``best``: the position of
    that reference box, −1 without one.
    """

    iou: Floats
    claimed: Floats
    best: Integers

    def found(self, thresholds: Floats) -> Bools:
        """Return which detections are true positives, shape (detections, thresholds)."""
        # Computed threshold by threshold, in long rows.
        by_threshold = (self.claimed < thresholds[:, None]) & (thresholds[:, None] <= self.iou)
        return by_threshold.T

    def take(self, chosen: NDArray[Any]) -> BoxMatches:
        """Return the matches of some detections, by their positions or a mask."""
        return BoxMatches(self.iou[chosen], self.claimed[chosen], self.best[chosen])


@dataclass(frozen=True, slots=True)
class ThresholdMatches:
    """Which detections are true positives where each threshold is matched by itself, as in COCO.

    ``iou``: shape (detections,), the best IoU. ``at_thresholds``: shape (detections, thresholds).
    """

    iou: Floats
    at_thresholds: Bools

    def found(self, thresholds: Floats) -> Bools:
        """Return which detections are true positives, shape (detections, thresholds)."""
        return self.at_thresholds

    def take(self, chosen: NDArray[Any]) -> ThresholdMatches:
        """Return the matches of some detections, by their positions or a mask."""
        return ThresholdMatches(self.iou[chosen], self.at_thresholds[chosen])


def box_iou(first: Floats, second: Floats, inclusive_corners: bool) -> Floats:
    """Intersection over union of boxes of shape (…, 2 · axes); shape (…,), in [0, 1].

    A box is its lower corner and its upper corner: x1, y1, x2, y2 or x1, y1, z1, x2, y2, z2. With
    ``inclusive_corners`` both corners belong to the box (width = x2 − x1 + 1), as in PASCAL VOC; else a
    box without area has IoU 0 with everything. Exact to the last bit for integers below 2²⁶ in two axes.
    """
    extra = 1.0 if inclusive_corners else 0.0
    axes = first.shape[-1] // 2
    lengths = [
        np.maximum(
            np.minimum(first[..., axes + axis], second[..., axes + axis])
            - np.maximum(first[..., axis], second[..., axis])
            + extra,
            0.0,
        )
        for axis in range(axes)
    ]
    intersection = reduce(np.multiply, lengths)
    union = _area(first, extra) + _area(second, extra) - intersection
    iou: Floats = np.divide(intersection, union, out=np.zeros_like(intersection), where=union > 0)
    return iou


def match_boxes(
    corners: Floats,
    groups: Integers,
    confidence: Floats,
    reference_corners: Floats,
    reference_groups: Integers,
    inclusive_corners: bool,
) -> BoxMatches:
    """Match detections greedily by descending confidence with the reference boxes of their groups.

    corners: shape (detections, 4), pixels; groups: shape (detections,), one number per image and class;
    confidence: shape (detections,). Ties in confidence and in overlap are resolved by position. Only the
    best-overlapping box of a detection counts: if it is taken, the detection is a false positive even if
    another free box overlaps. Empty input gives empty output.
    Source: Everingham et al. 2010, Int. J. Comput. Vis. 88:303, section 4.2, and the development kit's code.
    """
    by_group = np.argsort(reference_groups, kind="stable")
    sorted_groups = reference_groups[by_group]
    first = np.searchsorted(sorted_groups, groups, side="left")
    count = np.searchsorted(sorted_groups, groups, side="right") - first
    iou = np.zeros(len(groups))
    best = np.full(len(groups), -1, dtype=np.int64)
    # Only detections with any box to look at, in portions of a bounded number of pairs.
    looking = np.flatnonzero(count)
    portion = np.cumsum(count[looking]) // _PAIRS_AT_ONCE
    for chosen in np.split(looking, np.flatnonzero(np.diff(portion)) + 1):
        if not chosen.size:
            continue
        counts = count[chosen]
        starts = np.cumsum(counts) - counts
        detection = np.repeat(np.arange(chosen.size), counts)
        reference = by_group[np.arange(detection.size) - np.repeat(starts - first[chosen], counts)]
        pairs = box_iou(corners[chosen[detection]], reference_corners[reference], inclusive_corners)
        highest = np.maximum.reduceat(pairs, starts)
        hits = np.flatnonzero(pairs == highest[detection])
        # Of the boxes with the highest overlap the first one.
        hits = hits[np.diff(detection[hits], prepend=-1) > 0]
        iou[chosen], best[chosen] = highest, reference[hits]
    return BoxMatches(iou, _claimed_before(iou, best, confidence), best)


def match_at_thresholds(iou: Floats, confidence: Floats, thresholds: Floats) -> ThresholdMatches:
    """Match the detections of one group greedily by descending confidence, at each threshold by itself.

    iou: shape (detections, references); confidence: shape (detections,); thresholds: shape (thresholds,). A
    detection takes the reference with the highest IoU of at least the threshold that is not yet taken. Ties
    in confidence go to the first detection, in overlap to the last reference.
    Source: Lin et al. 2014, ECCV, and its public evaluator, `COCOeval.evaluateImg`.
    """
    detections, references = iou.shape
    found = np.zeros((detections, thresholds.size), dtype=np.bool_)
    best = iou.max(axis=1, initial=0.0)
    if references:
        free = np.ones((thresholds.size, references), dtype=np.bool_)
        order = np.argsort(-confidence, kind="stable")
        for detection in order[best[order] >= thresholds.min()]:
            near = free & (iou[detection] >= thresholds[:, None])
            # The last of the highest ones.
            overlap = np.where(near, iou[detection], -1.0)[:, ::-1]
            taken = references - 1 - overlap.argmax(axis=1)
            hit = near.any(axis=1)
            found[detection] = hit
            free[hit, taken[hit]] = False
    return ThresholdMatches(best, found)


def _area(corners: Floats, extra: float) -> Floats:
    axes = corners.shape[-1] // 2
    area: Floats = reduce(
        np.multiply, [corners[..., axes + axis] - corners[..., axis] + extra for axis in range(axes)]
    )
    return area


def _claimed_before(iou: Floats, best: Integers, confidence: Floats) -> Floats:
    """Return for every detection the largest IoU of the more confident ones with the same best box."""
    claimed = np.zeros(iou.size)
    overlapping = np.flatnonzero(iou > 0)
    order = overlapping[order_in_groups(best[overlapping], confidence[overlapping])]
    box = best[order]
    highest = iou[order].copy()
    # Running maximum within each box, in steps of 1, 2, 4 … positions: exact, and few boxes have many claims.
    step = 1
    while step < box.size:
        same = box[step:] == box[:-step]
        if not same.any():
            break
        highest[step:] = np.where(same, np.maximum(highest[step:], highest[:-step]), highest[step:])
        step *= 2
    again = box[1:] == box[:-1]
    claimed[order[1:][again]] = highest[:-1][again]
    return claimed
