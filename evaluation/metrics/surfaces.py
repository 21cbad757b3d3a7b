"""Distances between the surfaces of two regions, in 2D and 3D, under the conventions in use.

Two conventions of a surface are in use (`SurfaceConvention`): "voxels" are the region's voxels with a face
neighbour outside of it, of equal weight; "elements" lie between voxels and are weighted by their area. Their
figures differ by up to several per cent.

Distances are exact at any size. Memory holds the two surfaces, and for millions of surface voxels some
ten bytes for each voxel of the box around half of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arguments import mask_of
from evaluation.metrics.arrays import Bools, Floats
from evaluation.metrics.crops import Box, Crop, box_of_content
from evaluation.metrics.nearest import Spacing, nearest_distances
from evaluation.metrics.surface_elements import element_planes, element_sizes

__all__ = ["average_symmetric_surface_distance", "modified_hausdorff_distance"]

Directed = tuple[Floats, Floats]
Surface = Literal["voxels", "elements"]
Directions = Literal["directed", "pooled"]
_PERCENT = 95
MAX_WINDOW_VOXELS = 1 << 20
"""Up to here grand_challenge_metrics computes its own definition; it needs some 60 bytes per voxel."""
_NEIGHBOURS = (
    (slice(None, -2), slice(1, -1)),
    (slice(2, None), slice(1, -1)),
    (slice(1, -1), slice(None, -2)),
    (slice(1, -1), slice(2, None)),
)
Percentile = Literal["index", "linear"]
_MAX_SORTED = 1 << 22
_BINS = 1024
ROUNDING = 1e-6
"""A distance that exceeds a tolerance by this share of it does so by rounding: of spacings, of distances."""


def modified_hausdorff_distance(
    prediction: ArrayLike, reference: ArrayLike, spacing_mm: Sequence[float] | None = None
) -> float:
    """Return the modified Hausdorff distance: the larger of the two mean distances between the surfaces.

    Parameters
    ----------
    prediction : array_like of bool, shape (y, x) or (z, y, x)
        The predicted region: true or 1 inside.
    reference : array_like of bool, same shape
        The reference region.
    spacing_mm : sequence of float, optional
        Size of a pixel along every axis of the array, in mm; by default 1.

    Returns
    -------
    float
        At least 0, in mm, lower is better.

    Raises
    ------
    ValueError
        For shapes that differ or have other than two or three axes, values other than 0 and 1, or a spacing
        that is not above 0.

    Notes
    -----
    NaN if the reference is empty; the diagonal of the array if only the prediction is empty.

    References
    ----------
    M.-P. Dubuisson and A. K. Jain, "A modified Hausdorff distance for object matching", Proceedings of the
    12th International Conference on Pattern Recognition, 566–568, 1994.

    Examples
    --------
    >>> modified_hausdorff_distance([[1, 1, 0, 0, 0]], [[1, 0, 0, 0, 1]])
    1.5
    """
    found = _directed(prediction, reference, spacing_mm)
    return found if isinstance(found, float) else max(float(distances.mean()) for distances in found)


def average_symmetric_surface_distance(
    prediction: ArrayLike, reference: ArrayLike, spacing_mm: Sequence[float] | None = None
) -> float:
    """Return the mean of the distances from every surface pixel of either region to the other surface.

    Parameters
    ----------
    prediction, reference, spacing_mm
        See `modified_hausdorff_distance`.

    Returns
    -------
    float
        At least 0, in mm, lower is better.

    Raises
    ------
    ValueError
        As `modified_hausdorff_distance`.

    Notes
    -----
    NaN if the reference is empty; the diagonal of the array if only the prediction is empty. The distances of
    both directions are pooled, so the region with the larger surface has more influence.

    References
    ----------
    T. Heimann et al., "Comparison and evaluation of methods for liver segmentation from CT datasets", IEEE
    Transactions on Medical Imaging 28:1251–1265, 2009.

    Examples
    --------
    >>> average_symmetric_surface_distance([[1, 1, 0, 0, 0]], [[1, 0, 0, 0, 1]])
    1.0
    """
    found = _directed(prediction, reference, spacing_mm)
    return found if isinstance(found, float) else float(np.concatenate(found).mean())


def _directed(
    prediction: ArrayLike, reference: ArrayLike, spacing_mm: Sequence[float] | None
) -> Directed | float:
    """Return the sorted distances in both directions, or the value where a region is empty."""
    first, second = mask_of(prediction, "prediction"), mask_of(reference, "reference")
    if first.shape != second.shape or first.ndim not in (2, 3):
        raise ValueError(
            f"expected two arrays of one shape (y, x) or (z, y, x), found {first.shape} and {second.shape}"
        )
    spacing = np.ones(first.ndim) if spacing_mm is None else np.asarray(spacing_mm, dtype=np.float64)
    if spacing.shape != (first.ndim,) or not (np.isfinite(spacing) & (spacing > 0)).all():
        raise ValueError(f"spacing_mm: expected {first.ndim} numbers above 0, found {spacing_mm}")
    here, there = _surface(first), _surface(second)
    if not any(plane.values.any() for plane in there):
        return math.nan
    if not any(plane.values.any() for plane in here):
        return math.hypot(*(spacing * first.shape))
    spacing_zyx = (1.0, *spacing.tolist())[-3:]
    forwards, backwards = (
        np.sort(nearest_distances(*pair, spacing_zyx)).astype(np.float64, copy=False)
        for pair in ((here, there), (there, here))
    )
    return forwards, backwards


def _surface(values: NDArray[np.generic]) -> list[Crop]:
    """Return the surface of a region as boolean planes."""
    if values.dtype != np.bool_ and not ((values == 0) | (values == 1)).all():
        raise ValueError("expected 0 and 1 only; choose a label first, for example mask == 255")
    region = values.astype(np.bool_)
    if region.ndim == 3:
        return surface_planes([_cropped(plane) for plane in region])
    # Between two copies of itself a plane has no neighbours in z that are outside.
    return surface_planes([_cropped(region)] * 3)[1:2]


def _cropped(plane: Bools) -> Crop:
    box = box_of_content(plane)
    return Crop(plane[box.slices], box.top, box.left)


@dataclass(frozen=True, slots=True)
class SurfaceConvention:
    """How surfaces are compared; the definitions in use differ in these three choices.

    surface: "voxels" are the region's voxels with one of their 6 neighbours outside of the region or of the
    volume, each of weight 1 (grand_challenge_metrics, MedPy, MONAI, SimpleITK). "elements" lie between 2
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


_DEFAULT = SurfaceConvention()


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


def _small_window(prediction: Sequence[Crop], reference: Sequence[Crop]) -> tuple[Bools, Bools] | None:
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


def _by_grand_challenge_metrics(prediction: Bools, reference: Bools, spacing_mm: Spacing) -> SurfaceDistances:
    from grand_challenge_metrics.stats import hausdorff_distance_measures  # imports SciPy

    measures = hausdorff_distance_measures(prediction, reference, spacing_mm, percentile=_PERCENT / 100)
    return SurfaceDistances(float(measures.percentile_distance), float(measures.modified_distance))


def _areas(surface: Sequence[Crop], spacing_mm: Spacing, convention: SurfaceConvention) -> Floats | None:
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


def _cut(plane: Crop, box: Box) -> Bools:
    """Return the values of a plane in a box that it need not cover; around it they are false."""
    whole = plane.box.union(box)
    values: Bools = plane.within(whole)[
        box.top - whole.top : box.bottom - whole.top, box.left - whole.left : box.right - whole.left
    ]
    return values


@dataclass(frozen=True, slots=True)
class WeightedDistances:
    """Distances in mm, shape (n,), and their weights, shape (n,) (None: equal).

    Mean and percentile need one distance or more.
    """

    values: NDArray[Any]
    weights: Floats | None

    def mean(self) -> float:
        """Return the weighted mean."""
        return float(np.average(self.values.astype(np.float64, copy=False), weights=self.weights))

    def percentile(self, percent: float, definition: Percentile) -> float:
        """Return a percentile, in [0, 100], as `SurfaceConvention` defines it; with weights, by index."""
        if percent == 100:
            return float(self.values.max())
        share = percent / 100
        if self.weights is not None:
            return _weighted_percentile(self.values, self.weights, share)
        if definition == "linear":
            return float(np.percentile(self.values, percent))
        position = int((self.values.size - 1) * share)
        return float(np.partition(self.values, position)[position])

    def weight(self) -> float:
        """Return the sum of the weights."""
        return float(self.values.size if self.weights is None else self.weights.sum())

    def weight_within(self, tolerance_mm: float) -> float:
        """Return the sum of the weights of the distances that do not exceed a tolerance."""
        near = self.values <= tolerance_mm * (1 + ROUNDING)
        return float(np.count_nonzero(near) if self.weights is None else self.weights[near].sum())


def _weighted_percentile(values: NDArray[Any], weights: Floats, share: float) -> float:
    """Return the first value at which the cumulated weight reaches a share of the whole weight."""
    whole, below = weights.sum(), 0.0
    if values.size > _MAX_SORTED:
        # Sorting tens of millions takes gigabytes: only the bin in which the share is reached is sorted.
        in_bins, edges = np.histogram(values, _BINS, weights=weights)
        found = min(int(np.searchsorted(np.cumsum(in_bins) / whole, share)), _BINS - 1)
        # With a neighbour on each side, since a value on an edge may be counted on either side of it.
        low, high = edges[max(found - 1, 0)], edges[min(found + 2, _BINS)]
        below = float(weights[values < low].sum())
        chosen = (values >= low) & (values <= high)
        values, weights = values[chosen], weights[chosen]
    order = np.lexsort((weights, values))
    reached = (below + np.cumsum(weights[order])) / whole
    position = min(int(np.searchsorted(reached, share)), order.size - 1)
    return float(values[order[position]])


def pooled(first: WeightedDistances, second: WeightedDistances) -> WeightedDistances:
    """Return the distances of both directions together."""
    weights = (
        None
        if first.weights is None or second.weights is None
        else np.concatenate((first.weights, second.weights))
    )
    return WeightedDistances(np.concatenate((first.values, second.values)), weights)
