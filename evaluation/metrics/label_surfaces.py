"""Distances between the surfaces of two regions, and surface Dice.

Regions are compared in the smallest box around both. Parts of a surface that both share have a distance of 0
and are not searched for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Bools, Floats, regions_of
from evaluation.metrics.crops import content_of
from evaluation.metrics.nearest import nearest_distances
from evaluation.metrics.surfaces import (
    Directions,
    DirectionsOfMean,
    Percentile,
    Surface,
    SurfaceNeighbours,
    WeightedDistances,
    check_neighbours,
    check_percentile,
    element_codes,
    element_sizes,
    pooled,
    spacing_of,
)

__all__ = ["average_surface_distance", "hausdorff_distance", "surface_dice"]

Codes = NDArray[np.uint8]
_NO_DISTANCES = WeightedDistances(np.zeros(0), None)


def hausdorff_distance(
    prediction: ArrayLike,
    reference: ArrayLike,
    spacing_mm: Sequence[float] | None = None,
    *,
    percentile: float = 100.0,
    surface: Surface = "elements",
    surface_neighbours: SurfaceNeighbours = "faces",
    percentile_method: Percentile = "index",
    directions: Directions = "directed",
    worst: float | None = None,
) -> float:
    """Return the Hausdorff distance between the surfaces of two regions, or a percentile of the distances.

    At least 0, lower is better, in mm. The distances are those from all parts of one surface to the other, in
    both directions; 0 if both regions are empty, ``worst`` if one of them is.

    prediction, reference: 0 and 1 or booleans, of one shape (y, x) or (z, y, x). spacing_mm: of every axis,
    by default 1. percentile: from 0 to 100, which is the largest distance. surface: "elements" between
    voxels, weighted by area, or "voxels" of equal weight (SimpleITK, MedPy). surface_neighbours: voxels of a
    region are its surface where one of these is outside of it: 6 "faces" or "all" 26 (in two dimensions 4 or
    8). Beyond the array is outside, but for "faces_in_image", with which a region that fills the array has no
    surface, as if it were empty. percentile_method: "index" takes one of the distances, of elements the first
    at which the cumulated area reaches the percentile, of n voxels number 1 + floor((n − 1)·p / 100);
    "linear" interpolates between two, for voxels only (NumPy, MedPy, MONAI, MetricsReloaded). directions:
    "directed", the larger of the percentiles of both, or "pooled", that of all distances together (MedPy).
    worst: the largest value in mm, by default the diagonal of the array. Raises ValueError for shapes that
    differ or have another number of axes, other values, a spacing that is not above 0, or an unknown option.
    Source: Huttenlocher et al., IEEE TPAMI 15:850, 1993.

    >>> hausdorff_distance([[1, 1, 0, 0, 0]], [[1, 0, 0, 0, 1]], spacing_mm=(1.0, 0.5), surface="voxels")
    1.5
    """
    if not 0 <= percentile <= 100:
        raise ValueError(f"percentile: expected a number from 0 to 100, found {percentile}")
    _check("directions", directions, get_args(Directions))
    check_percentile(surface, percentile_method)
    compared = _compared(prediction, reference, spacing_mm, surface, surface_neighbours)
    found = compared.hausdorff_distance(percentile, percentile_method, directions)
    return _at_most(found, reference, spacing_mm, worst)


def average_surface_distance(
    prediction: ArrayLike,
    reference: ArrayLike,
    spacing_mm: Sequence[float] | None = None,
    *,
    surface: Surface = "elements",
    surface_neighbours: SurfaceNeighbours = "faces",
    directions: DirectionsOfMean = "pooled",
    worst: float | None = None,
) -> float:
    """Return the mean distance between the surfaces of two regions, by default the symmetric one (ASSD).

    At least 0, lower is better, in mm. directions: "pooled" is the mean of the distances of both together, in
    which the larger surface has more influence, "directed" the larger of the two means, "mean" their mean
    (MASD), "to_reference" the one from the prediction's surface alone. All else as of `hausdorff_distance`.
    Source: Heimann et al., IEEE TMI 28:1251, 2009.

    >>> average_surface_distance([[1, 1, 0, 0, 0]], [[1, 0, 0, 0, 1]], surface="voxels")
    1.0
    """
    _check("directions", directions, get_args(DirectionsOfMean))
    compared = _compared(prediction, reference, spacing_mm, surface, surface_neighbours)
    return _at_most(compared.average_distance(directions), reference, spacing_mm, worst)


def surface_dice(
    prediction: ArrayLike,
    reference: ArrayLike,
    tolerance_mm: float,
    spacing_mm: Sequence[float] | None = None,
    *,
    surface: Surface = "elements",
    surface_neighbours: SurfaceNeighbours = "faces",
) -> float:
    """Return the normalised surface Dice: the share of two surfaces within a tolerance of the other surface.

    From 0 to 1, higher is better. tolerance_mm: at least 0; a distance that equals it up to rounding is
    within. 1 if both regions are empty, 0 if one of them is. All else as of `hausdorff_distance`.
    Source: Nikolov et al., arXiv:1809.04430, 2018.

    >>> surface_dice([[0, 1, 1, 0, 0, 0]], [[0, 1, 1, 1, 1, 0]], tolerance_mm=1, surface="voxels")
    0.8333333333333334
    """
    if not tolerance_mm >= 0:
        raise ValueError(f"tolerance_mm: expected a number of at least 0, found {tolerance_mm}")
    return _compared(prediction, reference, spacing_mm, surface, surface_neighbours).surface_dice(
        tolerance_mm
    )


def _check(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, known))}, found {value!r}")


def _at_most(
    found: float, values: ArrayLike, spacing_mm: Sequence[float] | None, worst: float | None
) -> float:
    """Return a distance of at most the worst one, by default the diagonal."""
    array = np.asarray(values)
    return min(found, math.hypot(*(spacing_of(array, spacing_mm) * array.shape)) if worst is None else worst)


def _compared(
    prediction: ArrayLike,
    reference: ArrayLike,
    spacing_mm: Sequence[float] | None,
    surface: Surface,
    neighbours: SurfaceNeighbours,
) -> "SurfaceComparison":
    """Return the comparison of two regions; raise ValueError for arguments that do not fit."""
    regions = regions_of(prediction, reference)
    _check("surface", surface, get_args(Surface))
    check_neighbours(surface, neighbours)
    spacing = spacing_of(regions[0], spacing_mm).tolist()
    first, second = (content_of(region).box for region in regions)
    if (box := first.union(second)).is_empty:
        return SurfaceComparison(_NO_DISTANCES, _NO_DISTANCES)
    if neighbours != "faces_in_image":  # which needs the border of the image
        regions = regions[0][box.slices], regions[1][box.slices]
    return compare_surfaces(*regions, spacing, surface, neighbours)


@dataclass(frozen=True, slots=True)
class SurfaceComparison:
    """Distances in mm between the surfaces of a prediction and a reference, in both directions.

    A region without voxels has no surface and no distance. If both are empty, every figure is as of two equal
    regions; if one is, distances are infinite and surface Dice is 0.
    """

    prediction: WeightedDistances
    reference: WeightedDistances

    def hausdorff_distance(
        self, percent: float = 100, percentile: Percentile = "index", directions: Directions = "directed"
    ) -> float:
        """Return `hausdorff_distance` in mm; percent: from 0 to 100."""
        if (figure := self._figure_of_empty()) is not None:
            return figure
        return max(distances.percentile(percent, percentile) for distances in self._directed(directions))

    def average_distance(self, directions: DirectionsOfMean = "pooled") -> float:
        """Return `average_surface_distance` in mm."""
        if (figure := self._figure_of_empty()) is not None:
            return figure
        if directions == "to_reference":
            return self.prediction.mean()
        if directions == "mean":
            return (self.prediction.mean() + self.reference.mean()) / 2
        return max(distances.mean() for distances in self._directed(directions))

    def surface_dice(self, tolerance_mm: float) -> float:
        """Return `surface_dice`."""
        within, whole = self.within(tolerance_mm)
        return within / whole if whole else 1.0

    def within(self, tolerance_mm: float) -> tuple[float, float]:
        """Return how much of both surfaces is not farther from the other than a tolerance, of how much."""
        sides = (self.prediction, self.reference)
        return sum(side.weight_within(tolerance_mm) for side in sides), sum(side.weight() for side in sides)

    def _directed(self, directions: Directions) -> Sequence[WeightedDistances]:
        both = (self.prediction, self.reference)
        return (pooled(*both),) if directions == "pooled" else both

    def _figure_of_empty(self) -> float | None:
        empty = [not side.values.size for side in (self.prediction, self.reference)]
        if not any(empty):
            return None
        return 0.0 if all(empty) else math.inf


def compare_surfaces(
    prediction: Bools,
    reference: Bools,
    spacing_mm: Sequence[float],
    surface: Surface,
    neighbours: SurfaceNeighbours = "faces",
) -> SurfaceComparison:
    """Return the comparison of the surfaces of two masks of one shape, (z, y, x) or (y, x).

    spacing_mm: along every axis. "faces_in_image" takes the border of the masks for that of the image.
    """
    if surface == "elements":
        first, second, sizes = element_codes(prediction), element_codes(reference), element_sizes(spacing_mm)
    else:
        first, second, sizes = _outline(prediction, neighbours), _outline(reference, neighbours), None
    return SurfaceComparison(
        _distances(first, second, sizes, spacing_mm), _distances(second, first, sizes, spacing_mm)
    )


def _distances(
    here: Codes, there: Codes, sizes: Floats | None, spacing_mm: Sequence[float]
) -> WeightedDistances:
    """Return the distances from every part of one surface, where it is not 0, to the nearest of another."""
    parts = np.flatnonzero(here != 0)  # booleans are far faster to find
    weights = None if sizes is None else sizes[here.reshape(-1)[parts]]
    apart = there.reshape(-1)[parts] == 0
    del parts  # as large as the surface, and for noise as the volume
    if not apart.any():
        return WeightedDistances(np.zeros(apart.size), weights)
    if not there.any():
        return WeightedDistances(np.full(apart.size, math.inf), weights)
    axes: list[float] = [1.0, *spacing_mm][-3:]
    own, other = (side.reshape(-1, *here.shape[-2:]) for side in (here * (there == 0), there))
    found = nearest_distances(own, other, (axes[0], axes[1], axes[2]))
    distances = np.zeros(apart.size, dtype=found.dtype)
    distances[apart] = found
    return WeightedDistances(distances, weights)


def _outline(mask: Bools, neighbours: SurfaceNeighbours) -> Codes:
    """Return 1 for mask voxels with such a neighbour outside the mask, else 0."""
    enclosed = mask
    for axis in range(mask.ndim):
        # One axis after the other reaches every corner, each from the mask itself the faces alone.
        along = enclosed if neighbours == "all" else mask
        beyond = [(1, 1) if own == axis else (0, 0) for own in range(mask.ndim)]
        padded = np.pad(along, beyond, "edge" if neighbours == "faces_in_image" else "constant")
        before, after = (padded[(slice(None),) * axis + (part,)] for part in (slice(-2), slice(2, None)))
        enclosed = enclosed & before & after
    return (mask & ~enclosed).view(np.uint8)
