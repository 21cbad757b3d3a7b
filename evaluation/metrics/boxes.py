"""Boxes: their overlap, matching with reference boxes, and fusion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics.arrays import Bools, Floats, Integers, distinct
from evaluation.metrics.near_pairs import NearPairs

__all__ = ["box_iou"]

_PAIRS_AT_ONCE = 1 << 20  # some 100 MB of intermediate arrays
_MANY_REFERENCES = 100  # in a group, from which on a search for those nearby is faster


def box_iou(first: ArrayLike, second: ArrayLike, *, inclusive_corners: bool = False) -> Floats:
    """Return the intersection over union of pairs of boxes.

    From 0 to 1, higher is better; a box without area has 0 with every box. first, second: x1, y1, x2, y2 in
    pixels with x1 ≤ x2 and y1 ≤ y2, shape (…, 4), whose leading axes broadcast. inclusive_corners: whether
    both corner pixels belong to a box, so that its width is x2 − x1 + 1 (PASCAL VOC). Empty input gives empty
    output. Raises ValueError for another last axis, a coordinate that is not finite, or corners in the wrong
    order.
    Source: Everingham et al., International Journal of Computer Vision 88:303, 2010, section 4.2.

    >>> float(box_iou([0, 0, 2, 2], [1, 0, 3, 2]))
    0.3333333333333333
    """
    return iou_of_corners(corners_of(first, "first"), corners_of(second, "second"), inclusive_corners)


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


def iou_of_corners(first: Floats, second: Floats, inclusive_corners: bool) -> Floats:
    """`box_iou` of boxes in any number of axes, shape (…, 2 · axes): the lower corner, then the upper one.

    Exact to the last bit for integers below 2²⁶ in two axes.
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
    return np.divide(intersection, union, out=np.zeros_like(intersection), where=union > 0)


def overlapping_boxes(
    corners: Floats, reference_corners: Floats, inclusive_corners: bool, iou: float = 0.0
) -> NearPairs:
    """Return the pairs whose IoU is above 0 and at least ``iou``, with −IoU as their distance.

    corners, reference_corners: shape (boxes, 2 · axes), pixels.
    """
    axes = corners.shape[-1] // 2

    def measure(made: Integers, of: Integers) -> tuple[Floats, Bools]:
        overlap = iou_of_corners(
            corners[made][:, np.newaxis], reference_corners[of][np.newaxis], inclusive_corners
        )
        return -overlap, (overlap > 0) & (overlap >= iou)

    reach = 1.0 if inclusive_corners else 0.0
    extents = [(of[:, :axes], of[:, axes:] + reach) for of in (corners, reference_corners)]
    return NearPairs.within(*extents[0], *extents[1], measure)


def match_boxes(
    corners: Floats,
    groups: Integers,
    confidence: Floats,
    reference_corners: Floats,
    reference_groups: Integers,
    inclusive_corners: bool,
    together: bool = False,
) -> BoxMatches:
    """Match detections greedily by descending confidence with the reference boxes of their groups.

    corners: shape (detections, 4), pixels; groups: shape (detections,), one number per image and class;
    confidence: shape (detections,). Ties in confidence and in overlap are resolved by position; with
    ``together``, the higher overlap comes first in a tie of confidence. Only the
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
    for group in distinct(groups[count > _MANY_REFERENCES]):
        made, of = np.flatnonzero(groups == group), np.flatnonzero(reference_groups == group)
        pairs = overlapping_boxes(corners[made], reference_corners[of], inclusive_corners)
        # The highest overlap of each detection, of equal ones the first.
        order = np.lexsort((pairs.distance, pairs.prediction))
        detection, starts = np.unique(pairs.prediction[order], return_index=True)
        iou[made[detection]] = -pairs.distance[order[starts]]
        best[made[detection]] = of[pairs.reference[order[starts]]]
    # Only detections with any box to look at, in portions of a bounded number of pairs.
    looking = np.flatnonzero((count > 0) & (count <= _MANY_REFERENCES))
    portion = np.cumsum(count[looking]) // _PAIRS_AT_ONCE
    for chosen in np.split(looking, np.flatnonzero(np.diff(portion)) + 1):
        if not chosen.size:
            continue
        counts = count[chosen]
        starts = np.cumsum(counts) - counts
        detection = np.repeat(np.arange(chosen.size), counts)
        reference = by_group[np.arange(detection.size) - np.repeat(starts - first[chosen], counts)]
        overlap = iou_of_corners(corners[chosen[detection]], reference_corners[reference], inclusive_corners)
        highest = np.maximum.reduceat(overlap, starts)
        hits = np.flatnonzero(overlap == highest[detection])
        # Of the boxes with the highest overlap the first one.
        hits = hits[np.diff(detection[hits], prepend=-1) > 0]
        iou[chosen], best[chosen] = highest, reference[hits]
    return BoxMatches(iou, _claimed_before(iou, best, confidence, together), best)


def match_at_thresholds(
    pairs: NearPairs, confidence: Floats, thresholds: Floats, together: bool = False
) -> Bools:
    """Return the true positives among the detections of one group, shape (detections, thresholds).

    They are matched greedily by descending confidence, at each threshold by itself.

    pairs: of `overlapping_boxes` from the smallest threshold on; confidence: shape (detections,); thresholds:
    shape (thresholds,). A detection takes the reference with the highest IoU of at least the threshold that
    is not yet taken. Ties in confidence go to the first detection, with ``together`` to that of the highest
    overlap; those in overlap go to the last reference.
    Source: Lin et al. 2014, ECCV, and its public evaluator, `COCOeval.evaluateImg`.
    """
    found = np.zeros((pairs.predictions, thresholds.size), dtype=np.bool_)
    free = np.ones((thresholds.size, pairs.references), dtype=np.bool_)
    for of_detection in pairs.falling(confidence, together):
        detection, references = pairs.prediction[of_detection.start], pairs.reference[of_detection]
        iou = -pairs.distance[of_detection]
        near = free[:, references] & (iou >= thresholds[:, np.newaxis])
        # The last of the highest ones.
        taken = len(iou) - 1 - np.where(near, iou, -1.0)[:, ::-1].argmax(axis=1)
        hit = near.any(axis=1)
        found[detection] = hit
        free[hit, references[taken[hit]]] = False
    return found


def _area(corners: Floats, extra: float) -> Floats:
    axes = corners.shape[-1] // 2
    return reduce(
        np.multiply, [corners[..., axes + axis] - corners[..., axis] + extra for axis in range(axes)]
    )


def _claimed_before(iou: Floats, best: Integers, confidence: Floats, together: bool) -> Floats:
    """Return for every detection the largest IoU of the more confident ones with the same best box."""
    claimed = np.zeros(iou.size)
    overlapping = np.flatnonzero(iou > 0)
    if together:
        overlapping = overlapping[np.argsort(-iou[overlapping], kind="stable")]
    order = overlapping[np.lexsort((-confidence[overlapping], best[overlapping]))]
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


def corners_of(values: ArrayLike, name: str) -> Floats:
    """Return boxes as floats, shape (..., 4). Raises ValueError, naming the argument, for invalid ones."""
    corners = np.asarray(values, dtype=np.float64)
    if corners.shape == (0,):
        corners = corners.reshape(0, 4)
    if corners.shape[-1:] != (4,) or not np.isfinite(corners).all():
        raise ValueError(f"{name}: expected finite x1, y1, x2, y2 along the last axis, found {corners.shape}")
    if (corners[..., :2] > corners[..., 2:]).any():
        raise ValueError(f"{name}: expected x1 ≤ x2 and y1 ≤ y2")
    return corners


# --- Boxes that several models or people give, made into one list ---


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
    corners: Floats, confidence: Floats, models: int, iou_threshold: float, inclusive_corners: bool
) -> FusedBoxes:
    """Average the boxes of several models that overlap, by weighted boxes fusion.

    corners: shape (boxes, 2 · axes); confidence: shape (boxes,), not negative. By falling confidence, ties by
    position, each box joins the fused box whose IoU with it is the highest, if it is above the threshold.
    Corners are the mean of the members, weighted by confidence. The confidence is their mean times
    min(T, N) / N for T members and N ``models``.
    Source: Solovyev et al., Image and Vision Computing 107:104117, 2021, section 3.
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
    mean = np.divide(total, members, out=np.zeros(count), where=members > 0)
    score = np.minimum(mean, most) * (np.minimum(members, models) / models)  # nor may it leave theirs
    return FusedBoxes(fused[:made], score[:made], group)


def suppress_boxes(
    corners: Floats, confidence: Floats, iou_threshold: float, inclusive_corners: bool
) -> FusedBoxes:
    """Keep each box unless a more confident one that is kept overlaps it by more than the threshold.

    corners: shape (boxes, 2 · axes); confidence: shape (boxes,); ties go to the first.
    Source: Felzenszwalb et al., IEEE TPAMI 32:1627, 2010, section 7.2 (non-maximum suppression).
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
