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
    """What a kind says of its boxes: whether they have a confidence, both corners count, how many may be."""

    with_confidence: bool
    inclusive_corners: bool
    max_boxes: int


def combine_boxes(given: Sequence[Rows], kind: BoxRules, rules: Rules) -> Rows:
    """Return the combined boxes, by descending confidence; the order of ``given`` does not matter.

    given: one array (boxes, 2 + 2 · axes) from each: class index, confidence, lower and upper corner. With
    confidences, those are the ones of weighted boxes fusion or non-maximum suppression. Without, overlapping
    boxes are grouped in the same way, the one that agrees most with the boxes of others first, and a group
    stays if most annotators have a box in it. Beyond ``max_boxes`` the least confident ones are left out.
    """
    owner = np.repeat(np.arange(len(given)), list(map(len, given)))
    rows = np.concatenate(given)
    found = []
    for label in np.unique(rows[:, 0]):
        chosen = rows[:, 0] == label
        corners, confidence = rows[chosen, 2:], rows[chosen, 1]
        if kind.with_confidence:
            order = np.lexsort((*corners.T[::-1], -confidence))
            kept = _grouped(corners[order], confidence[order], len(given), kind, rules)
        else:
            order = _most_agreed(corners, owner[chosen], kind.inclusive_corners)
            fused = _grouped(corners[order], np.ones(len(order)), len(given), kind, rules)
            kept = _voted(fused, owner[chosen][order], len(given), rules)
        labels = np.full(len(kept.corners), label)
        found.append(np.column_stack([labels, kept.confidence, kept.corners]))
    combined = np.concatenate([*found, rows[:0]])
    return combined[np.argsort(-combined[:, 1], kind="stable")][: kind.max_boxes]


def mean_box(given: Sequence[Rows]) -> Rows:
    """Return the mean of the only box that each gives; such a box has no class."""
    # Sorted, so that rounding does not depend on the order of the annotators.
    rows = np.sort(np.concatenate(given), axis=0)
    mean: Rows = np.clip(rows.sum(axis=0, keepdims=True) / len(rows), rows[0], rows[-1])
    return mean


def _grouped(corners: Rows, confidence: Rows, members: int, kind: BoxRules, rules: Rules) -> FusedBoxes:
    if rules.boxes == "nms":
        return non_maximum_suppression(corners, confidence, rules.box_iou, kind.inclusive_corners)
    return weighted_boxes_fusion(corners, confidence, members, rules.box_iou, kind.inclusive_corners)


def _most_agreed(corners: Rows, owner: NDArray[np.intp], inclusive_corners: bool) -> NDArray[np.intp]:
    """Return the order of boxes by their overlap with those of others, the most first; ties by corners."""
    support = np.array(
        [
            # Sorted, so that rounding does not depend on the order of the annotators.
            np.sort(box_iou(corners[owner != own], corner, inclusive_corners)).sum()
            for corner, own in zip(corners, owner, strict=True)
        ]
    )
    return np.lexsort((*corners.T[::-1], -support))


def _voted(fused: FusedBoxes, owner: NDArray[np.intp], annotators: int, rules: Rules) -> FusedBoxes:
    """Return the boxes for which most annotators vote, with confidence 1."""
    votes = np.zeros((annotators, len(fused.corners)), dtype=np.bool_)
    votes[owner, fused.group] = True
    kept = majority_vote(votes, rules.tie_is_foreground)
    return FusedBoxes(fused.corners[kept], np.ones(np.count_nonzero(kept)), fused.group)
