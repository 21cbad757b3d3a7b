"""Where in an image or volume each label of a label map is."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Region = tuple[slice, ...]
"""First and last + 1 pixel along each axis."""


def content_region(values: NDArray[np.uint8]) -> Region:
    """Return the smallest region outside of which all values are 0; without any other value an empty one.

    values: 8-bit, of any number of dimensions.
    """
    region: list[slice] = []
    for axis in range(values.ndim):
        others = tuple(other for other in range(values.ndim) if other != axis)
        found = np.flatnonzero(np.bitwise_or.reduce(values[tuple(region)], axis=others))
        region.append(slice(int(found[0]), int(found[-1]) + 1) if found.size else slice(0, 0))
    return tuple(region)


def label_regions(values: NDArray[np.uint8], labels: int) -> list[Region | None]:
    """Return the smallest region around each label 1 … ``labels``, None where it does not occur."""
    from scipy.ndimage import find_objects  # takes a while to import

    content = content_region(values)
    return [
        None
        if found is None
        else tuple(
            slice(own.start + outer.start, own.stop + outer.start)
            for own, outer in zip(found, content, strict=True)
        )
        for found in find_objects(values[content], max_label=labels)
    ]


def around(regions: Iterable[Region]) -> Region:
    """Return the smallest region around all regions of one image; at least one, none of them empty."""
    return tuple(
        slice(min(axis.start for axis in axes), max(axis.stop for axis in axes))
        for axes in zip(*regions, strict=True)
    )
