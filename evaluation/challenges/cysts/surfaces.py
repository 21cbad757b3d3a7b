"""Surface distances of volumes that are given plane by plane."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from evaluation.metrics.arrays import Bools
from evaluation.metrics.crops import NOTHING, Box, Crop
from evaluation.metrics.label_surfaces import compare_surfaces
from evaluation.metrics.nearest import Spacing
from evaluation.metrics.surfaces import SurfaceConvention

_PERCENT = 95
MAX_WINDOW_VOXELS = 1 << 20
"""Up to here grand_challenge_metrics computes its own definition; it needs some 60 bytes per voxel."""


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
    convention: SurfaceConvention,
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
    regions = _window(prediction, reference)
    if convention == SurfaceConvention() and regions[0].size <= MAX_WINDOW_VOXELS:
        from grand_challenge_metrics.stats import hausdorff_distance_measures  # imports SciPy

        measures = hausdorff_distance_measures(*regions, spacing_mm, percentile=_PERCENT / 100)
        return SurfaceDistances(float(measures.percentile_distance), float(measures.modified_distance))
    compared = compare_surfaces(*regions, spacing_mm, convention.surface)
    return SurfaceDistances(
        compared.hausdorff_distance(_PERCENT, convention.percentile, convention.directions),
        compared.average_distance(convention.directions),
    )


def _any(planes: Sequence[Crop]) -> bool:
    return any(plane.values.any() for plane in planes)


def _window(prediction: Sequence[Crop], reference: Sequence[Crop]) -> tuple[Bools, Bools]:
    """Return both regions in the box around them."""
    pairs = list(zip(prediction, reference, strict=True))
    occupied = [z for z, planes in enumerate(pairs) if any(not plane.box.is_empty for plane in planes)]
    box = reduce(Box.union, (plane.box for plane in (*prediction, *reference)), NOTHING)
    planes = slice(occupied[0], occupied[-1] + 1)
    first, second = (
        np.stack([plane.within(box) for plane in region[planes]]) for region in (prediction, reference)
    )
    return first, second
