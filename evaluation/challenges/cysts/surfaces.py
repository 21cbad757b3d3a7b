"""Surface distances of two regions of a volume."""

import math

from evaluation.metrics.arrays import Bools
from evaluation.metrics.label_surfaces import compare_surfaces
from evaluation.metrics.nearest import Spacing

_PERCENT = 95
MAX_WINDOW_VOXELS = 1 << 20
"""Up to here grand_challenge_metrics computes its own definition; it needs some 60 bytes per voxel."""


def surface_distances(
    prediction: Bools,
    reference: Bools,
    spacing_mm: Spacing,
    diagonal_mm: float,
) -> tuple[float, float]:
    """Return the 95th percentile (Hausdorff distance, 95 %) and the mean of the surface distances, in mm.

    Of two regions in one box, shape (z, y, x); so is the spacing. NaN for an empty reference; the volume's
    diagonal for an empty prediction. The convention is that of grand_challenge_metrics
    (`hausdorff_distance_measures`: percentile and modified distance), which computes it for regions in a
    small box.
    """
    if not reference.any():
        return math.nan, math.nan
    if not prediction.any():
        return diagonal_mm, diagonal_mm
    if prediction.size <= MAX_WINDOW_VOXELS:
        from grand_challenge_metrics.stats import hausdorff_distance_measures  # imports SciPy

        measures = hausdorff_distance_measures(prediction, reference, spacing_mm, percentile=_PERCENT / 100)
        return float(measures.percentile_distance), float(measures.modified_distance)
    compared = compare_surfaces(prediction, reference, spacing_mm, "voxels")
    return compared.hausdorff_distance(_PERCENT), compared.average_distance("directed")
