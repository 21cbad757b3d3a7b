"""Distances between the surfaces of two regions of a volume, in mm, under the conventions in use.

They are exact at any size. Memory is that of the two surfaces, and for millions of surface voxels some ten
bytes for each voxel of the box around half of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.crop import Box, Crop
from evaluation.metrics.nearest import Spacing, nearest_distances
from evaluation.metrics.surface_elements import element_areas, element_planes

Surface = Literal["voxels", "elements"]
Percentile = Literal["index", "linear"]
Directions = Literal["directed", "pooled"]

_SHARE = 0.95
MAX_WINDOW_VOXELS = 1 << 20
"""Up to here grand_challenge_metrics computes its own definition; it needs some 60 bytes per voxel."""

_NEIGHBOURS = (
    (slice(None, -2), slice(1, -1)),
    (slice(2, None), slice(1, -1)),
    (slice(1, -1), slice(None, -2)),
    (slice(1, -1), slice(2, None)),
)


@dataclass(frozen=True, slots=True)
class SurfaceConvention:
    """How surfaces are compared; the definitions in use differ in these three choices.

    surface: "voxels" is the region's voxels of which one of the 6 neighbours is outside of the region or of
    the volume, each of weight 1 (grand_challenge_metrics, MedPy, MONAI, SimpleITK). "elements" lie between 2
    × 2 × 2 voxels and are weighted by their area (google-deepmind/surface-distance; Nikolov et al. 2021).

    percentile: "index" is the value at position ⌊0.95 (n − 1)⌋ of the sorted distances, counted from 0
    (grand_challenge_metrics); of elements, the first at which the cumulated area reaches 95 %
    (surface-distance). "linear" interpolates between two positions (NumPy, MedPy, MONAI), which elements do
    not have.

    directions: "directed" is the larger of the figures of both directions, "pooled" the figure of all
    distances of both directions together (percentile: MedPy; mean: the average symmetric surface distance).

    Raises ValueError for "elements" with "linear".
    """

    surface: Surface = "voxels"
    percentile: Percentile = "index"
    directions: Directions = "directed"

    def __post_init__(self) -> None:
        if self.surface == "elements" and self.percentile == "linear":
            raise ValueError("percentile: expected 'index' for surface 'elements', found 'linear'")


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
    convention: SurfaceConvention = SurfaceConvention(),
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
    if convention == SurfaceConvention() and (window := _small_window(prediction, reference)):
        return _by_grand_challenge_metrics(*window, spacing_mm)
    outline = element_planes if convention.surface == "elements" else surface_planes
    surfaces = (outline(prediction), outline(reference))
    measured = [
        _Distances(nearest_distances(here, there, spacing_mm), _areas(here, spacing_mm, convention))
        for here, there in (surfaces, surfaces[::-1])
    ]
    if convention.directions == "pooled":
        measured = [_pooled(*measured)]
    return SurfaceDistances(
        max(distances.percentile(convention.percentile) for distances in measured),
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

    measures = hausdorff_distance_measures(prediction, reference, spacing_mm, percentile=_SHARE)
    return SurfaceDistances(float(measures.percentile_distance), float(measures.modified_distance))


@dataclass(frozen=True, slots=True)
class _Distances:
    """Distances of one direction or of both, and their weights (None: equal)."""

    values: NDArray[Any]
    weights: NDArray[np.float64] | None

    def mean(self) -> float:
        return float(np.average(self.values.astype(np.float64, copy=False), weights=self.weights))

    def percentile(self, definition: Percentile) -> float:
        if self.weights is not None:
            order = np.lexsort((self.weights, self.values))
            share = np.cumsum(self.weights[order]) / self.weights.sum()
            position = min(int(np.searchsorted(share, _SHARE)), order.size - 1)
            return float(self.values[order[position]])
        if definition == "linear":
            return float(np.percentile(self.values, 100 * _SHARE))
        position = int((self.values.size - 1) * _SHARE)
        return float(np.partition(self.values, position)[position])


def _pooled(first: _Distances, second: _Distances) -> _Distances:
    weights = (
        None
        if first.weights is None or second.weights is None
        else np.concatenate((first.weights, second.weights))
    )
    return _Distances(np.concatenate((first.values, second.values)), weights)


def _areas(
    surface: Sequence[Crop], spacing_mm: Spacing, convention: SurfaceConvention
) -> NDArray[np.float64] | None:
    if convention.surface == "voxels":
        return None
    areas = element_areas(spacing_mm)
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
