"""Regions of label masks, and how much two of them overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.crop import Crop, intersection_of
from evaluation.metrics.overlap import OverlapCounts


def region_of(mask: Crop, labels: Sequence[int]) -> Crop:
    """Return the pixels of a mask that carry any of the labels, as booleans."""
    pixels = mask.values == labels[0]
    for label in labels[1:]:
        pixels |= mask.values == label
    return Crop(pixels, mask.top, mask.left)


def overlap_of(prediction: Crop, reference: Crop) -> OverlapCounts[int]:
    """Return the pixel counts of two regions of one image, from which Dice and the like derive."""
    return OverlapCounts(
        intersection=intersection_of(prediction, reference),
        prediction=int(np.count_nonzero(prediction.values)),
        reference=int(np.count_nonzero(reference.values)),
    )


def grow_by_a_pixel(image: NDArray[Any], background: int) -> None:
    """Give the first background pixel to the right of a region its label; without any, change nothing."""
    ends = (image[:, :-1] != background) & (image[:, 1:] == background)
    if ends.any():
        y, x = np.unravel_index(int(ends.argmax()), ends.shape)
        image[y, x + 1] = image[y, x]
