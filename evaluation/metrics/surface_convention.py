"""The choices in which the definitions of surface distances in use differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evaluation.metrics.weighted_distances import Percentile

Surface = Literal["voxels", "elements"]
Directions = Literal["directed", "pooled"]


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
