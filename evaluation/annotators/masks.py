"""One mask from those of several annotators: majority vote, or STAPLE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.form import CaseForm
from evaluation.io.kinds.label_mask import LabelMask
from evaluation.metrics.crop import Box, Crop

Mask = NDArray[np.bool_]
_STAPLE_ITERATIONS = 1000


@dataclass(frozen=True, slots=True)
class Rules:
    """How an organiser wants annotators to be combined.

    ``tie``: what a pixel, a label or a visibility is on which an even number of annotators is divided.
    ``method`` is that of masks.
    """

    tie: Literal["background", "foreground"] = "background"
    method: Literal["majority", "staple"] = "majority"

    @property
    def tie_is_foreground(self) -> bool:
        """Whether a tie is decided for the structure."""
        return self.tie == "foreground"


def majority_vote(votes: NDArray[np.bool_], tie_is_foreground: bool = False) -> Mask:
    """Return for every pixel what most annotators say; votes has shape (annotator, …), the result (…).

    Raises `ValueError` for no annotator.
    """
    if not len(votes):
        raise ValueError("votes: expected at least one annotator, found none")
    twice = 2 * np.count_nonzero(votes, axis=0)
    return np.asarray(twice >= len(votes) if tie_is_foreground else twice > len(votes))


@dataclass(frozen=True)
class Staple:
    """The mask that STAPLE estimates, and how sensitive and specific every annotator is against it."""

    mask: Mask
    sensitivities: tuple[float, ...]
    specificities: tuple[float, ...]


def staple(votes: NDArray[np.bool_]) -> Staple:
    """Return the pixels whose estimated probability is at least ½, by expectation maximisation.

    votes: (annotator, …). Votes that all annotators share are returned unchanged, since nothing can be
    estimated from them.
    Source: Warfield et al., IEEE Trans. Med. Imaging 23:903, 2004, as SimpleITK implements it.
    """
    if not len(votes):
        raise ValueError("votes: expected at least one annotator, found none")
    if (votes == votes[0]).all():
        return Staple(votes[0].copy(), (1.0,) * len(votes), (1.0,) * len(votes))
    import SimpleITK

    images = [SimpleITK.GetImageFromArray(np.atleast_2d(vote).astype(np.uint8)) for vote in votes]
    estimate = SimpleITK.STAPLEImageFilter()
    estimate.SetForegroundValue(1)
    estimate.SetMaximumIterations(_STAPLE_ITERATIONS)
    # Sums over pixels in one order, so that the same masks give the same bytes.
    estimate.SetNumberOfThreads(1)
    estimate.SetNumberOfWorkUnits(1)
    probability = SimpleITK.GetArrayFromImage(estimate.Execute(images)).reshape(votes.shape[1:])
    return Staple(probability >= 0.5, tuple(estimate.GetSensitivity()), tuple(estimate.GetSpecificity()))


def vote(votes: NDArray[np.bool_], rules: Rules) -> Mask:
    """Return the combined region of masks (annotator, …) by the method of the rules."""
    return staple(votes).mask if rules.method == "staple" else majority_vote(votes, rules.tie_is_foreground)


def combine_label_masks(
    kind: LabelMask, masks: Sequence[Crop], case: CaseForm, rules: Rules
) -> NDArray[np.uint8]:
    """Return the full image (y, x) whose regions are voted one by one, never by grey values.

    Of nested regions (a disc and the cup in it) each includes those inside of it; where regions that exclude
    each other tie for a pixel, the one that is listed last has it.
    """
    image = np.full((case.height, case.width), kind.background, dtype=np.uint8)
    # Outside of all that anybody marked everybody agrees, except that STAPLE counts every pixel.
    box = reduce(Box.union, (mask.box for mask in masks))
    if rules.method == "staple":
        box = Box(0, case.height, 0, case.width)
    window = image[box.slices]
    for label, labels in kind.regions():
        votes = np.stack(
            [Crop(np.isin(mask.values, labels), mask.top, mask.left).within(box) for mask in masks]
        )
        window[vote(votes, rules)] = label
    return image
