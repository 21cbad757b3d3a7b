"""Distances between the surfaces of two label maps, label by label.

Each label is compared in the smallest box around it in both maps. Parts of a surface that both maps share
have a distance of 0 and are not searched for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.crop import Crop
from evaluation.metrics.label_overlap import LabelMap
from evaluation.metrics.label_regions import Region, around, label_regions
from evaluation.metrics.nearest import nearest_distances
from evaluation.metrics.surface_convention import Directions, Surface
from evaluation.metrics.surface_elements import element_codes, element_sizes
from evaluation.metrics.weighted_distances import Percentile, WeightedDistances, pooled

Bools = NDArray[np.bool_]
Codes = NDArray[np.uint8]

_NO_DISTANCES = WeightedDistances(np.zeros(0), None)


@dataclass(frozen=True, slots=True)
class SurfaceComparison:
    """Distances in mm from the surface of a prediction to that of a reference, and back.

    A region without voxels has no surface and no distance. Every figure then is that of two equal regions if
    both are empty, and infinite (surface Dice: 0) if one is.
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

    def average_distance(self, directions: Directions = "pooled") -> float:
        """Return the mean distance in mm, at least 0: of both directions together or the larger of the two.

        "pooled" is the average symmetric surface distance (Heimann et al. 2009, IEEE TMI 28:1251).
        """
        if (figure := self._figure_of_empty()) is not None:
            return figure
        return max(distances.mean() for distances in self._directed(directions))

    def surface_dice(self, tolerance_mm: float) -> float:
        """Return the share of both surfaces, in [0, 1], that is not farther from the other than a tolerance.

        A distance that equals the tolerance up to rounding is within it. Source: Nikolov et al. 2018
        (arXiv:1809.04430), "surface DSC".
        """
        whole = self.prediction.weight() + self.reference.weight()
        within = sum(side.weight_within(tolerance_mm) for side in (self.prediction, self.reference))
        return within / whole if whole else 1.0

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
) -> list[SurfaceComparison]:
    """Return the comparison of the surfaces of each label 1 … ``labels`` in two maps of one shape.

    Maps are 8-bit, shape (z, y, x) or (y, x); beyond them is background. spacing_mm: size of a voxel along
    every axis. surface: see `SurfaceConvention`.
    """
    boxes = label_boxes(prediction, reference, labels)
    return [
        compare_label(prediction, reference, label, box, spacing_mm, surface)
        for label, box in enumerate(boxes, 1)
    ]


def label_boxes(prediction: LabelMap, reference: LabelMap, labels: int) -> list[Region | None]:
    """Return the smallest box around each label 1 … ``labels`` in two maps, None where neither has it."""
    found = zip(label_regions(prediction, labels), label_regions(reference, labels), strict=True)
    occurring = ([region for region in regions if region is not None] for regions in found)
    return [around(regions) if regions else None for regions in occurring]


def compare_label(
    prediction: LabelMap,
    reference: LabelMap,
    label: int,
    box: Region | None,
    spacing_mm: Sequence[float],
    surface: Surface,
) -> SurfaceComparison:
    """Return the comparison of the surfaces of one label, given its box (see `label_boxes`)."""
    if box is None:
        return SurfaceComparison(_NO_DISTANCES, _NO_DISTANCES)
    return compare_surfaces(prediction[box] == label, reference[box] == label, spacing_mm, surface)


def compare_surfaces(
    prediction: Bools, reference: Bools, spacing_mm: Sequence[float], surface: Surface
) -> SurfaceComparison:
    """Return the comparison of the surfaces of two masks of one shape, (z, y, x) or (y, x).

    spacing_mm: size of a voxel along every axis. surface: see `SurfaceConvention`.
    """
    if surface == "elements":
        first, second, sizes = element_codes(prediction), element_codes(reference), element_sizes(spacing_mm)
    else:
        first, second, sizes = _outline(prediction), _outline(reference), None
    return SurfaceComparison(
        _distances(first, second, sizes, spacing_mm), _distances(second, first, sizes, spacing_mm)
    )


def _distances(
    here: Codes, there: Codes, sizes: NDArray[np.float64] | None, spacing_mm: Sequence[float]
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


def _outline(mask: Bools) -> Codes:
    """Return 1 for each voxel of a mask of which a neighbour along an axis is outside of it, else 0."""
    padded = np.pad(mask, 1)
    enclosed = mask.copy()
    for axis in range(mask.ndim):
        for part in (slice(None, -2), slice(2, None)):
            enclosed &= padded[tuple(part if own == axis else slice(1, -1) for own in range(mask.ndim))]
    outline: Codes = (mask & ~enclosed).view(np.uint8)
    return outline
