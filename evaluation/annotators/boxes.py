"""Combine the boxes of several submissions or annotators in one image, class by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.annotators.masks import Rules, majority_vote
from evaluation.metrics.box_fusion import FusedBoxes, non_maximum_suppression, weighted_boxes_fusion
from evaluation.metrics.box_matching import box_iou

Rows = NDArray[np.float64]


@dataclass(frozen=True)
class BoxRules:
    """The declared properties of boxes: confidence, inclusive corners, largest number."""

    with_confidence: bool
    inclusive_corners: bool
    max_boxes: int


def combine_boxes(given: Sequence[Rows], kind: BoxRules, rules: Rules) -> Rows:
    """Return the combined boxes, by descending confidence; the order of ``given`` does not matter.

    given: one array (boxes, 2 + 2 · axes) from each: class index, confidence, lower and upper corner. With
    confidences, by weighted boxes fusion or non-maximum suppression. Without, see `voted_boxes`. Beyond
    ``max_boxes`` the least confident ones are left out.
    """
    owner = np.repeat(np.arange(len(given)), list(map(len, given)))
    rows = np.concatenate(given)
    found = []
    for label in np.unique(rows[:, 0]):
        chosen = rows[:, 0] == label
        corners, confidence = rows[chosen, 2:], rows[chosen, 1]
        if kind.with_confidence:
            order = np.lexsort((*corners.T[::-1], -confidence))
            fused = _fused(corners[order], confidence[order], len(given), kind, rules)
            kept, sure = fused.corners, fused.confidence
        else:
            kept = voted_boxes(corners, owner[chosen], len(given), kind.inclusive_corners, rules)
            sure = np.ones(len(kept))
        found.append(np.column_stack([np.full(len(kept), label), sure, kept]))
    combined = np.concatenate([*found, rows[:0]])
    return combined[np.argsort(-combined[:, 1], kind="stable")][: kind.max_boxes]


def voted_boxes(
    corners: Rows, owner: NDArray[np.intp], annotators: int, inclusive_corners: bool, rules: Rules
) -> Rows:
    """Return the boxes of one class for which most annotators vote, shape (boxes, 2 · axes).

    corners: shape (boxes, 2 · axes); owner: shape (boxes,), the annotator of each. The box that overlaps most
    with other annotators' boxes starts a group. From every other annotator, the group takes the box that
    overlaps it most, if the IoU is above the threshold. The remaining boxes are grouped in the same way. So a
    group has at most one box of each annotator. A group that most annotators have becomes the mean of its
    members, or with "nms" its first box.
    """
    found = []
    left = _most_agreed(corners, owner, inclusive_corners)
    while left.size:
        first, left = left[0], left[1:]
        members = [first]
        overlap = box_iou(corners[left], corners[first], inclusive_corners)
        for other in np.unique(owner[left]):
            theirs = np.flatnonzero(owner[left] == other)
            best = theirs[overlap[theirs].argmax()]
            if other != owner[first] and overlap[best] > rules.box_iou:
                members.append(left[best])
        left = left[~np.isin(left, members)]
        votes = np.arange(annotators) < len(members)
        if majority_vote(votes, rules.tie_is_foreground):
            found.append(corners[first] if rules.boxes == "nms" else _mean(corners[members]))
    return np.array(found).reshape(-1, corners.shape[1])


def mean_box(given: Sequence[Rows]) -> Rows:
    """Return the mean of single boxes, one from each; they have no class."""
    return _mean(np.concatenate(given))[np.newaxis]


def _mean(rows: Rows) -> Rows:
    # Sorted, so that rounding does not depend on the order of the annotators; the mean must not leave their
    # range.
    ordered = np.sort(rows, axis=0)
    mean: Rows = np.clip(ordered.sum(axis=0) / len(rows), ordered[0], ordered[-1])
    return mean


def _fused(corners: Rows, confidence: Rows, members: int, kind: BoxRules, rules: Rules) -> FusedBoxes:
    if rules.boxes == "nms":
        return non_maximum_suppression(corners, confidence, rules.box_iou, kind.inclusive_corners)
    return weighted_boxes_fusion(corners, confidence, members, rules.box_iou, kind.inclusive_corners)


def _most_agreed(corners: Rows, owner: NDArray[np.intp], inclusive_corners: bool) -> NDArray[np.intp]:
    """Return the order of boxes by descending overlap with other annotators' boxes; ties by corners."""
    support = np.array(
        [
            # Sorted, so that rounding does not depend on the order of the annotators.
            np.sort(box_iou(corners[owner != own], corner, inclusive_corners)).sum()
            for corner, own in zip(corners, owner, strict=True)
        ]
    )
    return np.lexsort((*corners.T[::-1], -support))
