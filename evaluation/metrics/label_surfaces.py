"""Distances between the surfaces of two label maps, label by label, and surface Dice.

Each label is compared in the smallest box around it in both maps. Parts of a surface that both maps share
have a distance of 0 and are not searched for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Bools, Floats, check_shapes, mask_of
from evaluation.metrics.crops import Crop
from evaluation.metrics.nearest import nearest_distances
from evaluation.metrics.segmentation import LabelMap, label_boxes
from evaluation.metrics.surfaces import (
    Directions,
    DirectionsOfMean,
    Percentile,
    Surface,
    SurfaceConvention,
    SurfaceNeighbours,
    WeightedDistances,
    check_neighbours,
    element_codes,
    element_sizes,
    pooled,
    spacing_of,
)

__all__ = [
    "average_surface_distance",
    "hausdorff_distance",
    "label_average_surface_distance",
    "label_hausdorff_distance",
    "label_surface_dice",
    "surface_dice",
]

_MOST_LABELS = 255
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
    """Return the Hausdorff distance between the surfaces of two regions, or a percentile of it.

    Parameters
    ----------
    prediction, reference, spacing_mm
        See `modified_hausdorff_distance`.
    percentile, surface, surface_neighbours, percentile_method, directions, worst : optional
        See `label_hausdorff_distance`.

    Returns
    -------
    float
        At least 0, in mm, lower is better.

    Notes
    -----
    0 if both regions are empty, ``worst`` if one of them is. With ``surface="voxels"`` it is the distance of
    SimpleITK and MedPy. Raises ValueError for values other than 0 and 1, and as `label_hausdorff_distance`.

    References
    ----------
    D. P. Huttenlocher et al., "Comparing images using the Hausdorff distance", IEEE Transactions on Pattern
    Analysis and Machine Intelligence 15:850–863, 1993.

    Examples
    --------
    >>> hausdorff_distance([[1, 1, 0, 0, 0]], [[1, 0, 0, 0, 1]], spacing_mm=(1.0, 0.5), surface="voxels")
    1.5
    """
    found = label_hausdorff_distance(
        mask_of(prediction, "prediction"),
        mask_of(reference, "reference"),
        [1],
        spacing_mm,
        percentile=percentile,
        surface=surface,
        surface_neighbours=surface_neighbours,
        percentile_method=percentile_method,
        directions=directions,
        worst=worst,
    )
    return float(found[0])


def label_hausdorff_distance(
    prediction: ArrayLike,
    reference: ArrayLike,
    labels: Sequence[int],
    spacing_mm: Sequence[float] | None = None,
    *,
    percentile: float = 100.0,
    surface: Surface = "elements",
    surface_neighbours: SurfaceNeighbours = "faces",
    percentile_method: Percentile = "index",
    directions: Directions = "directed",
    worst: float | None = None,
) -> Floats:
    """Return the Hausdorff distance of each label of two label maps, or a percentile of it.

    The distances are those from all parts of one surface to the other, in both directions.

    References: as for `hausdorff_distance`.

    Parameters
    ----------
    prediction : array_like of int, shape (y, x) or (z, y, x)
        The predicted label map.
    reference : array_like of int, same shape
        The reference label map.
    labels : sequence of int
        The labels to compare; all other values are background.
    spacing_mm : sequence of float, optional
        Size of a voxel along every axis of the array, in mm; by default 1: the result is in voxels.
    percentile : float, optional
        In [0, 100]: 100 gives the Hausdorff distance, 95 the robust variant.
    surface : {"elements", "voxels"}, optional
        Elements between voxels, weighted by area, or voxels of equal weight.
    surface_neighbours : {"faces", "all", "faces_in_image"}, optional
        Voxels of a region are its surface where one of these neighbours is outside of it: 6 faces or all 26
        (in two dimensions 4 or 8). Beyond the array is outside, but for "faces_in_image", with which a region
        that fills the array has no surface, as if it were empty. Elements have no such choice.
    percentile_method : {"index", "linear"}, optional
        "index" takes one of the distances: of elements the first at which the cumulated area reaches the
        percentile, of n voxels number 1 + floor((n − 1)·p / 100). "linear" interpolates between two, for
        voxels only (NumPy, MedPy, MONAI, MetricsReloaded).
    directions : {"directed", "pooled"}, optional
        "directed" is the larger of the percentiles of both directions, "pooled" the percentile of the
        distances of both directions together (MedPy).
    worst : float, optional
        The value, in mm, for a label that one of the maps lacks, and the largest one for any label; by
        default the diagonal of the array.

    Returns
    -------
    numpy.ndarray of float, shape (labels,)
        At least 0, in mm, lower is better.

    Notes
    -----
    0 for a label that neither map has. Raises ValueError for shapes that differ or have other than two or
    three axes, a spacing that is not above 0, a percentile outside [0, 100], "linear" for elements, an
    unknown option, or labels that repeat or exceed 255 in number.

    Examples
    --------
    >>> prediction, reference = [[1, 1, 0, 2, 0]], [[1, 0, 0, 0, 2]]
    >>> label_hausdorff_distance(prediction, reference, labels=[1, 2, 3], spacing_mm=(1, 0.5)).tolist()
    [0.5, 0.5, 0.0]
    """
    if not 0 <= percentile <= 100:
        raise ValueError(f"percentile: expected a number from 0 to 100, found {percentile}")
    _check_directions(directions)
    SurfaceConvention(surface, percentile_method, directions)
    compared = compared_labels(prediction, reference, labels, spacing_mm, surface, surface_neighbours)
    found = [label.hausdorff_distance(percentile, percentile_method, directions) for label in compared]
    return _with_worst(found, prediction, spacing_mm, worst)


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

    Returns and Notes: as for `hausdorff_distance`. References: as for `label_average_surface_distance`.

    Parameters
    ----------
    prediction, reference, spacing_mm, surface, surface_neighbours, worst
        See `hausdorff_distance`.
    directions : {"pooled", "directed", "mean"}, optional
        See `label_average_surface_distance`.

    Examples
    --------
    >>> average_surface_distance([[1, 1, 0, 0, 0]], [[1, 0, 0, 0, 1]], surface="voxels")
    1.0
    """
    masks = mask_of(prediction, "prediction"), mask_of(reference, "reference")
    found = label_average_surface_distance(
        *masks,
        [1],
        spacing_mm,
        surface=surface,
        surface_neighbours=surface_neighbours,
        directions=directions,
        worst=worst,
    )
    return float(found[0])


def label_average_surface_distance(
    prediction: ArrayLike,
    reference: ArrayLike,
    labels: Sequence[int],
    spacing_mm: Sequence[float] | None = None,
    *,
    surface: Surface = "elements",
    surface_neighbours: SurfaceNeighbours = "faces",
    directions: DirectionsOfMean = "pooled",
    worst: float | None = None,
) -> Floats:
    """Return the average symmetric surface distance of each label of two label maps.

    It is the mean distance from all parts of either surface to the other one.

    Returns and errors: as for `label_hausdorff_distance`.

    Parameters
    ----------
    prediction, reference, labels, spacing_mm, surface, surface_neighbours, worst
        See `label_hausdorff_distance`.
    directions : {"pooled", "directed", "mean", "to_reference"}, optional
        "pooled" is the mean of the distances of both directions together, "directed" the larger of the two
        means, "mean" their mean (MASD), "to_reference" the one from the prediction's surface alone.

    Notes
    -----
    0 for a label that neither map has. In the pooled distances the larger surface has more influence.

    References
    ----------
    T. Heimann et al., "Comparison and evaluation of methods for liver segmentation from CT datasets", IEEE
    Transactions on Medical Imaging 28:1251–1265, 2009.

    Examples
    --------
    >>> prediction, reference = [[1, 1, 0, 2, 0]], [[1, 0, 0, 0, 2]]
    >>> label_average_surface_distance(prediction, reference, labels=[2, 3], surface="voxels").tolist()
    [1.0, 0.0]
    """
    if directions not in get_args(DirectionsOfMean):
        known = ", ".join(map(repr, get_args(DirectionsOfMean)))
        raise ValueError(f"directions: expected one of {known}, found {directions!r}")
    compared = compared_labels(prediction, reference, labels, spacing_mm, surface, surface_neighbours)
    found = [label.average_distance(directions) for label in compared]
    return _with_worst(found, prediction, spacing_mm, worst)


def _with_worst(
    found: Sequence[float], values: ArrayLike, spacing_mm: Sequence[float] | None, worst: float | None
) -> Floats:
    """Return distances of at most the worst one, by default the diagonal."""
    array = np.asarray(values)
    limit = math.hypot(*(spacing_of(array, spacing_mm) * array.shape)) if worst is None else worst
    return np.minimum(found, limit)


def _check_directions(directions: Directions) -> None:
    if directions not in get_args(Directions):
        raise ValueError(f"directions: expected 'directed' or 'pooled', found {directions!r}")


def surface_dice(
    prediction: ArrayLike,
    reference: ArrayLike,
    tolerance_mm: float,
    spacing_mm: Sequence[float] | None = None,
    *,
    surface: Surface = "elements",
    surface_neighbours: SurfaceNeighbours = "faces",
) -> float:
    """Return the share of the surfaces of two regions that is not farther from the other than a tolerance.

    Parameters
    ----------
    prediction, reference, spacing_mm, surface, surface_neighbours
        See `hausdorff_distance`.
    tolerance_mm : float
        At least 0. A distance that equals it up to rounding is within.

    Returns
    -------
    float
        In [0, 1], higher is better.

    Notes
    -----
    Also called normalised surface Dice. 1 if both regions are empty, 0 if one of them is. Raises ValueError
    as `hausdorff_distance`, and for a tolerance below 0.

    References
    ----------
    S. Nikolov et al., "Deep learning to achieve clinically applicable segmentation of head and neck anatomy
    for radiotherapy", arXiv:1809.04430, 2018.

    Examples
    --------
    >>> surface_dice([[0, 1, 1, 0, 0, 0]], [[0, 1, 1, 1, 1, 0]], tolerance_mm=1, surface="voxels")
    0.8333333333333334
    """
    masks = mask_of(prediction, "prediction"), mask_of(reference, "reference")
    found = label_surface_dice(
        *masks, [1], tolerance_mm, spacing_mm, surface=surface, surface_neighbours=surface_neighbours
    )
    return float(found[0])


def label_surface_dice(
    prediction: ArrayLike,
    reference: ArrayLike,
    labels: Sequence[int],
    tolerance_mm: float | Sequence[float],
    spacing_mm: Sequence[float] | None = None,
    *,
    surface: Surface = "elements",
    surface_neighbours: SurfaceNeighbours = "faces",
) -> Floats:
    """Return the surface Dice of each label of two label maps (see `surface_dice`).

    References: as for `surface_dice`.

    Parameters
    ----------
    prediction, reference, labels, spacing_mm, surface, surface_neighbours
        See `label_hausdorff_distance`.
    tolerance_mm : float or sequence of float
        At least 0; one for all labels or one for each.

    Returns
    -------
    numpy.ndarray of float, shape (labels,)
        In [0, 1], higher is better.

    Notes
    -----
    1 for a label that neither map has, 0 for one that one of them lacks. Raises ValueError as
    `label_hausdorff_distance`, and for a tolerance below 0 or another number of them than of labels.

    Examples
    --------
    >>> label_surface_dice([[0, 1, 1, 2]], [[0, 1, 1, 0]], labels=[1, 2, 3], tolerance_mm=0).tolist()
    [1.0, 0.0, 1.0]
    """
    tolerances = np.asarray(tolerance_mm, dtype=np.float64)
    if tolerances.shape not in ((), (len(labels),)) or not (tolerances >= 0).all():
        raise ValueError(
            f"tolerance_mm: expected a number of at least 0, or one for each label, found {tolerance_mm}"
        )
    compared = compared_labels(prediction, reference, labels, spacing_mm, surface, surface_neighbours)
    each = np.broadcast_to(tolerances, len(labels)).tolist()
    return np.array([label.surface_dice(mm) for label, mm in zip(compared, each, strict=True)])


def compared_labels(
    prediction: ArrayLike,
    reference: ArrayLike,
    labels: Sequence[int],
    spacing_mm: Sequence[float] | None,
    surface: Surface,
    neighbours: SurfaceNeighbours = "faces",
) -> "list[SurfaceComparison]":
    """Return the comparison of each label; raise ValueError for arguments that do not fit."""
    maps = np.asarray(prediction), np.asarray(reference)
    check_shapes(*maps)
    if maps[0].ndim not in (2, 3):
        raise ValueError(f"expected arrays of shape (y, x) or (z, y, x), found {maps[0].shape}")
    if len(set(labels)) < len(labels) or len(labels) > _MOST_LABELS:
        raise ValueError(f"labels: expected up to {_MOST_LABELS} different ones, found {list(labels)}")
    if surface not in get_args(Surface):
        raise ValueError(f"surface: expected 'elements' or 'voxels', found {surface!r}")
    check_neighbours(surface, neighbours)
    spacing = spacing_of(maps[0], spacing_mm).tolist()
    first, second = (_positions(values, labels) for values in maps)
    return compare_labels(first, second, len(labels), spacing, surface, neighbours)


def _positions(values: NDArray[np.generic], labels: Sequence[int]) -> LabelMap:
    """Return a map with the labels as 1 … n and all other values as 0."""
    if values.dtype == np.bool_ and list(labels) == [1]:
        return values.view(np.uint8)
    positions = np.zeros(values.shape, dtype=np.uint8)
    for position, label in enumerate(labels, 1):
        positions[values == label] = position
    return positions


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
        """Return the Hausdorff distance in mm, at least 0, or a percentile of it.

        percent: in [0, 100]; percentile and directions: see `SurfaceConvention`. Source: Huttenlocher et al.
        1993, IEEE TPAMI 15:850.
        """
        if (figure := self._figure_of_empty()) is not None:
            return figure
        return max(distances.percentile(percent, percentile) for distances in self._directed(directions))

    def average_distance(self, directions: DirectionsOfMean = "pooled") -> float:
        """Return the mean distance in mm, at least 0: of both directions together, or of one, larger or mean.

        "pooled" is the average symmetric surface distance (Heimann et al. 2009, IEEE TMI 28:1251).
        """
        if (figure := self._figure_of_empty()) is not None:
            return figure
        if directions == "to_reference":
            return self.prediction.mean()
        if directions == "mean":
            return (self.prediction.mean() + self.reference.mean()) / 2
        return max(distances.mean() for distances in self._directed(directions))

    def surface_dice(self, tolerance_mm: float) -> float:
        """Return the share of both surfaces, in [0, 1], that is not farther from the other than a tolerance.

        A distance that equals the tolerance up to rounding is within it. Source: Nikolov et al. 2018
        (arXiv:1809.04430), "surface DSC".
        """
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


def compare_labels(
    prediction: LabelMap,
    reference: LabelMap,
    labels: int,
    spacing_mm: Sequence[float],
    surface: Surface,
    neighbours: SurfaceNeighbours = "faces",
) -> list[SurfaceComparison]:
    """Return the comparison of the surfaces of each label 1 … ``labels`` in two maps of one shape.

    Maps are 8-bit, shape (z, y, x) or (y, x); beyond them is background. spacing_mm: size of a voxel along
    every axis. surface: see `SurfaceConvention`, neighbours: see
    `SurfaceNeighbours`.
    """
    boxes = label_boxes(prediction, reference, labels)
    if neighbours == "faces_in_image":  # which needs the border of the image
        boxes = [None if box is None else (slice(None),) * prediction.ndim for box in boxes]
    return [
        SurfaceComparison(_NO_DISTANCES, _NO_DISTANCES)
        if box is None
        else compare_surfaces(
            prediction[box] == label, reference[box] == label, spacing_mm, surface, neighbours
        )
        for label, box in enumerate(boxes, 1)
    ]


def compare_surfaces(
    prediction: Bools,
    reference: Bools,
    spacing_mm: Sequence[float],
    surface: Surface,
    neighbours: SurfaceNeighbours = "faces",
) -> SurfaceComparison:
    """Return the comparison of the surfaces of two masks of one shape, (z, y, x) or (y, x).

    spacing_mm: size of a voxel along every axis. surface: see `SurfaceConvention`, neighbours: see
    `SurfaceNeighbours`; "faces_in_image" takes the border of the masks for that of the image.
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
    parts = np.flatnonzero(here)
    weights = None if sizes is None else sizes[here.reshape(-1)[parts]]
    apart = there.reshape(-1)[parts] == 0
    del parts  # as large as the surface, and for noise as the volume
    if not apart.any():
        return WeightedDistances(np.zeros(apart.size), weights)
    if not there.any():
        return WeightedDistances(np.full(apart.size, math.inf), weights)
    axes: list[float] = [1.0, *spacing_mm][-3:]
    own = here * (there == 0)
    found = nearest_distances(_planes(own), _planes(there), (axes[0], axes[1], axes[2]))
    distances = np.zeros(apart.size, dtype=found.dtype)
    distances[apart] = found
    return WeightedDistances(distances, weights)


def _planes(values: Codes) -> list[Crop]:
    return [Crop(plane) for plane in values.reshape(-1, *values.shape[-2:])]


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
