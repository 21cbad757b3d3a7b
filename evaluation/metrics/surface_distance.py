"""Distances between the surfaces of two regions of a volume, in mm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.crop import Box, Crop

MAX_WINDOW_VOXELS = 1 << 20
"""Up to this size the dense distance transform of the library is used; it needs about 60 bytes a voxel."""

MAX_SURFACE_VOXELS = 1 << 22
"""A prediction with a larger surface is noise: it takes the worst distance, the diagonal."""

MAX_MEASURED = 1 << 18
"""Of a larger surface, every k-th voxel in the order (z, y, x) is compared with the whole other surface."""

_PERCENTILE = 0.95
_NEIGHBOURS = (
    (slice(None, -2), slice(1, -1)),
    (slice(2, None), slice(1, -1)),
    (slice(1, -1), slice(None, -2)),
    (slice(1, -1), slice(2, None)),
)

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SurfaceDistances:
    """Both figures in mm, each the larger of the two directions.

    ``hausdorff_95``: 95th percentile of the distances from one surface to the other; ``mean``: their mean.
    """

    hausdorff_95: float
    mean: float


def surface_distances(
    prediction: Sequence[Crop],
    reference: Sequence[Crop],
    spacing_mm: tuple[float, float, float],
    diagonal_mm: float,
) -> SurfaceDistances:
    """Return the surface distances of two regions given as boolean planes; spacing is (z, y, x).

    A voxel belongs to the surface if one of its 6 neighbours is outside the region or the volume. The
    definition is that of grand_challenge_metrics (`hausdorff_distance_measures`: percentile and modified
    distance), which computes small volumes. Its distance transform would need gigabytes for larger ones:
    these use a k-d tree of the surface voxels, exact up to 262,144 of them; above, every second, third, …
    surface voxel is measured.

    NaN for an empty reference; the volume's diagonal for an empty prediction, and for one of more than 4
    million surface voxels.
    """
    predicted, true = _extent(prediction), _extent(reference)
    if true.is_empty:
        return SurfaceDistances(math.nan, math.nan)
    if predicted.is_empty:
        return SurfaceDistances(diagonal_mm, diagonal_mm)
    box = predicted.union(true)
    occupied = [
        z for z in range(len(reference)) if not (prediction[z].box.is_empty and reference[z].box.is_empty)
    ]
    planes = slice(occupied[0], occupied[-1] + 1)
    window = (planes.stop - planes.start) * (box.bottom - box.top) * (box.right - box.left)
    if window <= MAX_WINDOW_VOXELS:
        return _dense(
            np.stack([plane.within(box) for plane in prediction[planes]]),
            np.stack([plane.within(box) for plane in reference[planes]]),
            spacing_mm,
        )
    first = surface_voxels(prediction, MAX_SURFACE_VOXELS)
    if len(first) > MAX_SURFACE_VOXELS:
        return SurfaceDistances(diagonal_mm, diagonal_mm)
    return nearest_distances(first, surface_voxels(reference), spacing_mm)


def _dense(prediction: Bools, reference: Bools, spacing_mm: tuple[float, float, float]) -> SurfaceDistances:
    from grand_challenge_metrics.stats import hausdorff_distance_measures  # imports SciPy

    measures = hausdorff_distance_measures(prediction, reference, spacing_mm, percentile=_PERCENTILE)
    return SurfaceDistances(float(measures.percentile_distance), float(measures.modified_distance))


def nearest_distances(
    first: NDArray[np.int32], second: NDArray[np.int32], spacing_mm: Sequence[float]
) -> SurfaceDistances:
    """Return the distances between two sets of voxels (n, 3), neither of them empty."""
    directed = directed_distances(first, second, spacing_mm, MAX_MEASURED)
    return SurfaceDistances(
        max(float(distances[int((len(distances) - 1) * _PERCENTILE)]) for distances in directed),
        max(float(distances.mean()) for distances in directed),
    )


def directed_distances(
    first: NDArray[np.integer], second: NDArray[np.integer], spacing_mm: Sequence[float], max_measured: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the distances in mm from each voxel of one set to the nearest of the other, both ways, sorted.

    first, second: shape (n, axes), not empty; of more than ``max_measured`` voxels every k-th is measured.
    """
    from scipy.spatial import KDTree  # 0.3 s that only volumes need

    here, there = (voxels * np.asarray(spacing_mm) for voxels in (first, second))
    steps = [max(1, math.ceil(len(voxels) / max_measured)) for voxels in (here, there)]
    forwards, _ = KDTree(there).query(here[:: steps[0]])
    backwards, _ = KDTree(here).query(there[:: steps[1]])
    return np.sort(forwards), np.sort(backwards)


def surface_voxels(planes: Sequence[Crop], most: float = math.inf) -> NDArray[np.int32]:
    """Return the surface voxels (z, y, x) of a region given as boolean planes, in order, shape (n, 3).

    The search ends at the first plane with which there are more than ``most``.
    """
    box = _extent(planes)
    around = Box(box.top - 1, box.bottom + 1, box.left - 1, box.right + 1)
    inner = (slice(1, -1), slice(1, -1))
    empty = np.zeros((box.bottom - box.top, box.right - box.left), dtype=np.bool_)
    found = []
    before, padded = empty, None
    for z, plane in enumerate(planes):
        if plane.box.is_empty:
            before, padded = empty, None
            continue
        here = plane.within(around) if padded is None else padded
        has_next = z + 1 < len(planes) and not planes[z + 1].box.is_empty
        padded = planes[z + 1].within(around) if has_next else None
        enclosed = before & (empty if padded is None else padded[inner])
        for neighbour in _NEIGHBOURS:
            enclosed &= here[neighbour]
        rows, columns = np.divmod(np.flatnonzero(here[inner] & ~enclosed), empty.shape[1])
        voxels = np.empty((len(rows), 3), dtype=np.int32)
        voxels[:, 0], voxels[:, 1], voxels[:, 2] = z, rows + box.top, columns + box.left
        found.append(voxels)
        if sum(map(len, found)) > most:
            break
        before = here[inner]
    return np.concatenate(found) if found else np.zeros((0, 3), dtype=np.int32)


def _extent(planes: Sequence[Crop]) -> Box:
    """Return the smallest box around the boxes of all planes."""
    box = Box(0, 0, 0, 0)
    for plane in planes:
        box = box.union(plane.box)
    return box
