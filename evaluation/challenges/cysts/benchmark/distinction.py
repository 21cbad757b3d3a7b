"""Contrast of a marked cyst with its surroundings (Eq. 1 of the cyst benchmark)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

BINS = 25
RING_PIXELS = 15
CONFIDENCES = (1, 2, 3, 4, 5)
_EIGHT_NEIGHBOURS = np.ones((3, 3), dtype=np.int64)

Plane = NDArray[Any]
Mask = NDArray[np.bool_]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Range:
    """The smallest and largest intensity of a volume: the range of its histograms."""

    lowest: float
    highest: float


@dataclass(frozen=True, slots=True)
class AnnotatedCyst:
    """One cyst of a B-scan: its confidence, its bounding box, and its pixels (y, x) in the box."""

    confidence: int
    box: tuple[slice, slice]
    pixels: Mask

    @property
    def centre(self) -> tuple[float, float]:
        """The mean of its pixels in the B-scan, x and y, in pixels counted from 0."""
        y, x = (float(np.mean(of_axis)) for of_axis in np.nonzero(self.pixels))
        return self.box[1].start + x, self.box[0].start + y


@dataclass(frozen=True, slots=True)
class CystHistograms:
    """Numbers of pixels of a cyst and of its ring in 25 equal bins of the volume's range."""

    inside: Counts
    ring: Counts

    @property
    def distinction(self) -> float:
        """1 − Σ min(H_inner, H_outer) over the bins of the two normalised histograms, in [0, 1] (Eq. 1).

        0 for equal histograms, 1 for histograms without a common bin; NaN where a region is empty.
        """
        if not self.inside.any() or not self.ring.any():
            return nan
        overlap = np.minimum(self.inside / self.inside.sum(), self.ring / self.ring.sum()).sum()
        return float(min(1.0, max(0.0, 1.0 - overlap)))


def cysts_of(levels: NDArray[np.uint8]) -> list[AnnotatedCyst]:
    """Return the cysts of one B-scan of confidences (y, x), by confidence and then from top to bottom.

    A cyst is an 8-connected component of one confidence above 0.
    """
    found = []
    for confidence in CONFIDENCES:
        marked = levels == confidence
        if not marked.any():
            continue
        components, _ = ndimage.label(marked, structure=_EIGHT_NEIGHBOURS)
        for number, box in enumerate(ndimage.find_objects(components), start=1):
            found.append(AnnotatedCyst(confidence, box, components[box] == number))
    return found


def histograms(
    image: Plane, levels: NDArray[np.uint8], cysts: Sequence[AnnotatedCyst], intensities: Range
) -> list[CystHistograms]:
    """Return the histograms of every cyst of one B-scan and of its ring.

    image, levels: (y, x), intensities and one annotator's confidences. Rings exclude all pixels that this
    annotator marked, and can be empty.
    """
    marked = levels > 0
    found = []
    for cyst in cysts:
        rows, columns = (
            slice(max(0, part.start - RING_PIXELS), min(size, part.stop + RING_PIXELS))
            for part, size in zip(cyst.box, levels.shape, strict=True)
        )
        inside = np.zeros((rows.stop - rows.start, columns.stop - columns.start), dtype=np.bool_)
        top, left = cyst.box[0].start - rows.start, cyst.box[1].start - columns.start
        height, width = cyst.pixels.shape
        inside[top : top + height, left : left + width] = cyst.pixels
        ring = ring_of(inside) & ~marked[rows, columns]
        found.append(histograms_of(image[rows, columns], inside, ring, intensities))
    return found


def distinctions(
    image: Plane, levels: NDArray[np.uint8], cysts: Sequence[AnnotatedCyst], intensities: Range
) -> list[float]:
    """Return the distinction of every cyst of one B-scan, NaN for a cyst whose ring is empty.

    See `histograms` for the arguments.
    """
    return [found.distinction for found in histograms(image, levels, cysts, intensities)]


def ring_of(inside: Mask, pixels: int = RING_PIXELS) -> Mask:
    """Return the pixels that a dilation by a disc adds to a region (y, x), clipped at the border."""
    if not inside.any():
        return np.zeros_like(inside)
    distance: NDArray[np.float64] = ndimage.distance_transform_edt(~inside)
    ring: Mask = (distance <= pixels) & ~inside
    return ring


def histograms_of(image: Plane, inside: Mask, ring: Mask, intensities: Range) -> CystHistograms:
    """Return the histograms of two regions of an image (y, x) over 25 equal bins of the volume's range."""
    return CystHistograms(
        _histogram(image[inside], intensities),
        _histogram(image[ring], intensities),
    )


def _histogram(values: Plane, intensities: Range) -> Counts:
    counts, _ = np.histogram(
        values.astype(np.float64), bins=BINS, range=(intensities.lowest, intensities.highest)
    )
    return counts.astype(np.int64)
