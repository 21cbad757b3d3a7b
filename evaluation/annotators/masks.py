"""Combine the masks of several annotators by majority vote or STAPLE."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.io.kinds.label_mask import LabelMask
from evaluation.metrics.crop import Box, Crop
from evaluation.metrics.staple import staple

Mask = NDArray[np.bool_]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Rules:
    """The organiser's rules for combining annotators.

    ``tie``: the result for a pixel, label or visibility with as many votes for as against.
    ``method``: how masks are combined. ``boxes``: weighted boxes fusion or non-maximum suppression; boxes
    with an IoU above ``box_iou`` belong together.
    """

    tie: Literal["background", "foreground"] = "background"
    method: Literal["majority", "staple"] = "majority"
    boxes: Literal["wbf", "nms"] = "wbf"
    box_iou: float = 0.55

    @property
    def tie_is_foreground(self) -> bool:
        """Whether a tie counts as foreground."""
        return self.tie == "foreground"


def majority_vote(votes: NDArray[np.bool_], tie_is_foreground: bool = False) -> Mask:
    """Return the majority of votes (annotator, …) for every pixel, shape (…).

    Raises `ValueError` without any annotator.
    """
    if not len(votes):
        raise ValueError("votes: expected at least one annotator, found none")
    twice = 2 * np.count_nonzero(votes, axis=0)
    return np.asarray(twice >= len(votes) if tie_is_foreground else twice > len(votes))


def vote(votes: NDArray[np.bool_], rules: Rules, case: str) -> Mask:
    """Return the combined region of masks (annotator, …) by the method of the rules.

    Raises `PhaseError`, which names the case, where STAPLE does not converge.
    """
    if rules.method == "majority":
        return majority_vote(votes, rules.tie_is_foreground)
    found = staple(votes)
    if not found.converged:
        raise PhaseError(
            f"{case}: STAPLE did not converge in {found.iterations} iterations; combine by majority vote"
        )
    return found.mask


def voters(values: Sequence[Value], left_out: Sequence[Collection[str]] | None, region: str) -> list[Value]:
    """Return the values that vote for a region, see `combine_label_masks`."""
    if left_out is None:
        return list(values)
    return [value for value, regions in zip(values, left_out, strict=True) if region not in regions]


def combine_label_masks(
    kind: LabelMask,
    masks: Sequence[Crop],
    case: CaseForm,
    rules: Rules,
    left_out: Sequence[Collection[str]] | None = None,
) -> NDArray[np.uint8]:
    """Return the full image (y, x). Each region is voted separately; grey values are never averaged.

    left_out: for every mask the regions without its vote (None: it votes for all). A region without any vote
    stays empty. A nested region is part of the region around it (the cup of the disc). Where exclusive
    regions tie for a pixel, the region listed last wins.
    """
    image = np.full((case.height, case.width), kind.background, dtype=np.uint8)
    # Pixels that nobody marked need no vote, but STAPLE counts them.
    box = reduce(Box.union, (mask.box for mask in masks))
    if rules.method == "staple":
        box = Box(0, case.height, 0, case.width)
    window = image[box.slices]
    for label, labels in kind.regions():
        voting = voters(masks, left_out, kind.labels[label])
        if not voting:
            continue
        votes = np.stack(
            [Crop(np.isin(mask.values, labels), mask.top, mask.left).within(box) for mask in voting]
        )
        window[vote(votes, rules, case.name)] = label
    return image
