"""Label maps: counts of every label in one pass over two maps, and the region of each label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.arrays import Floats
from evaluation.metrics.segmentation import OverlapCounts

LabelMap = NDArray[np.uint8]
LabelCounts = OverlapCounts[NDArray[np.integer]]
Region = tuple[slice, ...]
"""First and last + 1 pixel along each axis."""


@dataclass(frozen=True, slots=True)
class LabelVolumeDifference:
    """Predicted minus reference volume of each label: shape (labels,) each.

    ``signed_mm3`` and ``absolute_mm3`` in mm³; ``relative`` by the reference's volume, NaN where that is 0.
    """

    signed_mm3: Floats
    absolute_mm3: Floats
    relative: Floats


def count_label_overlap(prediction: LabelMap, reference: LabelMap, labels: int) -> LabelCounts:
    """Count the voxels of each label 1 … ``labels`` of two maps of one shape, 0 being background.

    Maps are 8-bit of any number of dimensions, their values at most ``labels``. The counts have shape
    (labels,). Raises ValueError where shapes or types differ, or a value is no label.
    """
    if prediction.shape != reference.shape:
        raise ValueError(f"prediction: expected shape {reference.shape}, found {prediction.shape}")
    if prediction.dtype != np.uint8 or reference.dtype != np.uint8:
        raise ValueError(f"label maps: expected uint8, found {prediction.dtype} and {reference.dtype}")
    size = labels + 1
    code = np.uint8 if size * size <= 256 else np.uint16
    pairs = np.zeros(size * size, dtype=np.int64)
    # Plane by plane, so that what is computed stays in the processor's cache.
    for predicted, true in zip(np.atleast_2d(prediction), np.atleast_2d(reference), strict=True):
        if predicted.size and max(predicted.max(), true.max()) > labels:
            raise ValueError(f"label maps: expected values up to {labels}, found a larger one")
        found = np.bincount((predicted.astype(code) * code(size) + true).reshape(-1), minlength=pairs.size)
        pairs += found
    table = pairs.reshape(size, size)
    return OverlapCounts(
        intersection=np.diagonal(table)[1:].copy(),
        prediction=table.sum(axis=1)[1:],
        reference=table.sum(axis=0)[1:],
    )


def volume_difference(counts: LabelCounts, spacing_mm: Sequence[float]) -> LabelVolumeDifference:
    """Return how much larger each label is in the prediction; spacing in the order of the maps' axes."""
    voxel_mm3 = float(np.prod(spacing_mm))
    signed = (counts.prediction - counts.reference).astype(np.float64) * voxel_mm3
    reference = counts.reference * voxel_mm3
    relative = np.divide(signed, reference, out=np.full(signed.shape, np.nan), where=reference > 0)
    return LabelVolumeDifference(signed, np.abs(signed), relative)


def content_region(values: NDArray[np.uint8]) -> Region:
    """Return the smallest region with all values other than 0; an empty one if there are none.

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
