"""Regions of cropped masks and how much two of them overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.files.crop import CroppedMask, overlap_of_crops
from evaluation.metrics.overlap import OverlapCounts


@dataclass(frozen=True, slots=True)
class Region:
    """The pixels (y, x) of one region in a box of the image whose corner is (top, left)."""

    pixels: NDArray[np.bool_]
    corner: tuple[int, int]


def region_of(mask: CroppedMask, labels: Sequence[int]) -> Region:
    """Return the region of a mask that carries any of the labels."""
    pixels = mask.values == labels[0]
    for label in labels[1:]:
        pixels |= mask.values == label
    return Region(pixels, (mask.top, mask.left))


def overlap_of(prediction: Region, reference: Region) -> OverlapCounts[int]:
    """Return the pixel counts of two regions of one image, from which Dice and the like derive."""
    return OverlapCounts(
        intersection=overlap_of_crops(
            prediction.pixels, prediction.corner, reference.pixels, reference.corner
        ),
        prediction=int(np.count_nonzero(prediction.pixels)),
        reference=int(np.count_nonzero(reference.pixels)),
    )


def image_of(region: Region, height: int, width: int) -> NDArray[np.bool_]:
    """Return a region as a whole image (y, x)."""
    image = np.zeros((height, width), bool)
    top, left = region.corner
    rows, columns = region.pixels.shape
    image[top : top + rows, left : left + columns] = region.pixels
    return image


def grow_by_a_pixel(image: NDArray[Any], background: int) -> None:
    """Give the first background pixel to the right of a region its label; without any, change nothing."""
    ends = (image[:, :-1] != background) & (image[:, 1:] == background)
    if ends.any():
        y, x = np.unravel_index(int(ends.argmax()), ends.shape)
        image[y, x + 1] = image[y, x]
