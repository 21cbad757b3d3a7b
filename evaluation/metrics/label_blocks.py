"""Label maps given as the block of a volume that holds all of their labels, at its place in the volume."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Region = tuple[slice, ...]
"""First and last + 1 voxel along each axis of the volume."""


class LabelBlock(Protocol):
    """Values of a label map in two or three dimensions; outside of the block is background.

    Any class with these two attributes is one.
    """

    @property
    def positions(self) -> NDArray[np.uint8]:
        """Shape (z, y, x) or (y, x): 0 is background, i is label number i."""

    @property
    def corner(self) -> tuple[int, ...]:
        """The place of the first voxel of the block in the volume."""


@dataclass(frozen=True, slots=True)
class CroppedLabels:
    """A label map of which only the smallest block around all labels is kept."""

    positions: NDArray[np.uint8]
    corner: tuple[int, ...]


def cropped_labels(values: NDArray[np.uint8]) -> CroppedLabels:
    """Return a label map, shape (z, y, x) or (y, x), as the smallest block around its labels: a view.

    A map without labels gives a block without voxels.
    """
    region: list[slice] = []
    for axis in range(values.ndim):
        others = tuple(other for other in range(values.ndim) if other != axis)
        # The axes that were cropped already are shorter by then.
        within = values[tuple(region)]
        found = np.flatnonzero(np.bitwise_or.reduce(within, axis=others))
        region.append(slice(int(found[0]), int(found[-1]) + 1) if found.size else slice(0, 0))
    return CroppedLabels(values[tuple(region)], tuple(axis.start for axis in region))


def region_of(block: LabelBlock) -> Region:
    """Return the place of a block in its volume."""
    return tuple(
        slice(first, first + size) for first, size in zip(block.corner, block.positions.shape, strict=True)
    )


def label_regions(block: LabelBlock, labels: int) -> list[Region | None]:
    """Return the smallest region around each label 1 … ``labels``, None where it does not occur."""
    from scipy.ndimage import find_objects  # takes a while to import

    return [
        None
        if found is None
        else tuple(
            slice(own.start + first, own.stop + first) for own, first in zip(found, block.corner, strict=True)
        )
        for found in find_objects(block.positions, max_label=labels)
    ]


def around(first: Region, second: Region) -> Region:
    """Return the smallest region around two regions of one volume."""
    return tuple(
        slice(min(a.start, b.start), max(a.stop, b.stop)) for a, b in zip(first, second, strict=True)
    )


def positions_within(block: LabelBlock, region: Region) -> NDArray[np.uint8]:
    """Return the values in a region of the volume, which the block need not cover; a view where it does."""
    own = region_of(block)
    shared = tuple(
        slice(max(a.start, b.start), min(a.stop, b.stop)) for a, b in zip(own, region, strict=True)
    )
    covered = _shifted(shared, own)
    if shared == region:
        return block.positions[covered]
    values = np.zeros([axis.stop - axis.start for axis in region], dtype=np.uint8)
    if all(axis.start < axis.stop for axis in shared):
        values[_shifted(shared, region)] = block.positions[covered]
    return values


def _shifted(region: Region, frame: Region) -> Region:
    """Return a region as seen from the first voxel of another one."""
    return tuple(
        slice(axis.start - origin.start, axis.stop - origin.start)
        for axis, origin in zip(region, frame, strict=True)
    )
