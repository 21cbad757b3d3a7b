"""Distances between the surfaces of two regions of a volume, in mm, under the conventions in use.

They are exact at any size. Memory is that of the two surfaces, and for millions of surface voxels some ten
bytes for each voxel of the box around half of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.crop import Box, Crop
from evaluation.metrics.nearest import Spacing, nearest_distances
from evaluation.metrics.surface_convention import SurfaceConvention
from evaluation.metrics.surface_elements import element_planes, element_sizes
from evaluation.metrics.weighted_distances import WeightedDistances, pooled

_PERCENT = 95
_DEFAULT = SurfaceConvention()
MAX_WINDOW_VOXELS = 1 << 20
"""Up to here grand_challenge_metrics computes its own definition; it needs some 60 bytes per voxel."""

_NEIGHBOURS = (
    (slice(None, -2), slice(1, -1)),
    (slice(2, None), slice(1, -1)),
    (slice(1, -1), slice(None, -2)),
    (slice(1, -1), slice(2, None)),
)


@dataclass(frozen=True, slots=True)
class SurfaceDistances:
    """95th percentile (Hausdorff distance, 95 %) and mean of the surface distances, in mm."""

    hausdorff_95: float
    mean: float


def surface_distances(
    prediction: Sequence[Crop],
    reference: Sequence[Crop],
    spacing_mm: Spacing,
    diagonal_mm: float,
    convention: SurfaceConvention = _DEFAULT,
) -> SurfaceDistances:
    """Return the surface distances of two regions given as boolean planes; spacing is (z, y, x).

    NaN for an empty reference; the volume's diagonal for an empty prediction. The default convention is that
    of grand_challenge_metrics (`hausdorff_distance_measures`: percentile and modified distance), which
    computes it for regions in a small box.
    """
    if not _any(reference):
        return SurfaceDistances(math.nan, math.nan)
    if not _any(prediction):
        return SurfaceDistances(diagonal_mm, diagonal_mm)
    if convention == _DEFAULT and (window := _small_window(prediction, reference)):
        return _by_grand_challenge_metrics(*window, spacing_mm)
    outline = element_planes if convention.surface == "elements" else surface_planes
    surfaces = (outline(prediction), outline(reference))
    measured = [
        WeightedDistances(nearest_distances(here, there, spacing_mm), _areas(here, spacing_mm, convention))
        for here, there in (surfaces, surfaces[::-1])
    ]
    if convention.directions == "pooled":
        measured = [pooled(*measured)]
    return SurfaceDistances(
        max(distances.percentile(_PERCENT, convention.percentile) for distances in measured),
        max(distances.mean() for distances in measured),
    )


def _small_window(
    prediction: Sequence[Crop], reference: Sequence[Crop]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Return both regions in the box around them, None if that is large."""
    pairs = list(zip(prediction, reference, strict=True))
    occupied = [z for z, planes in enumerate(pairs) if any(not plane.box.is_empty for plane in planes)]
    box = Box(0, 0, 0, 0)
    for plane in (*prediction, *reference):
        box = box.union(plane.box)
    planes = slice(occupied[0], occupied[-1] + 1)
    if (planes.stop - planes.start) * (box.bottom - box.top) * (box.right - box.left) > MAX_WINDOW_VOXELS:
        return None
    first, second = (
        np.stack([plane.within(box) for plane in region[planes]]) for region in (prediction, reference)
    )
    return first, second


def _by_grand_challenge_metrics(
    prediction: NDArray[np.bool_], reference: NDArray[np.bool_], spacing_mm: Spacing
) -> SurfaceDistances:
    from grand_challenge_metrics.stats import hausdorff_distance_measures  # imports SciPy

    measures = hausdorff_distance_measures(prediction, reference, spacing_mm, percentile=_PERCENT / 100)
    return SurfaceDistances(float(measures.percentile_distance), float(measures.modified_distance))


def _areas(
    surface: Sequence[Crop], spacing_mm: Spacing, convention: SurfaceConvention
) -> NDArray[np.float64] | None:
    if convention.surface == "voxels":
        return None
    areas = element_sizes(spacing_mm)
    return np.concatenate([areas[plane.values[plane.values != 0]] for plane in surface])


def _any(planes: Sequence[Crop]) -> bool:
    return any(plane.values.any() for plane in planes)


def surface_planes(planes: Sequence[Crop]) -> list[Crop]:
    """Return the surface voxels of a region given as boolean planes, as boolean planes."""
    nothing = Crop(np.zeros((0, 0), dtype=np.bool_))
    padded = [nothing, *planes, nothing]
    return [_surface_plane(*padded[z : z + 3]) for z in range(len(planes))]


def _surface_plane(before: Crop, here: Crop, after: Crop) -> Crop:
    box = here.box
    if box.is_empty:
        return here
    around = Box(box.top - 1, box.bottom + 1, box.left - 1, box.right + 1)
    padded = here.within(around)
    enclosed = _cut(before, box) & _cut(after, box)
    for neighbour in _NEIGHBOURS:
        enclosed &= padded[neighbour]
    return Crop(here.values & ~enclosed, box.top, box.left)


def _cut(plane: Crop, box: Box) -> NDArray[np.bool_]:
    """Return the values of a plane in a box that it need not cover; around it they are false."""
    whole = plane.box.union(box)
    values: NDArray[np.bool_] = plane.within(whole)[
        box.top - whole.top : box.bottom - whole.top, box.left - whole.left : box.right - whole.left
    ]
    return values
