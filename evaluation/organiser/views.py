"""Views that follow from those of a kind: what the voxels of a volume mark, and the overlap of masks."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.core.views import Regions
from evaluation.io.volumes import case_geometry
from evaluation.metrics.crops import Crop, stack_of
from evaluation.metrics.segmentation import (
    vertical_cup_to_disc_ratio,
    vertical_diameter,
)


def regions_of(kind: Kind) -> Regions | None:
    """Return the regions of a kind, or the nameless one that its voxels above 0 mark; None without any."""
    voxels = kind.voxels
    if kind.regions or not (voxels and voxels.marks):
        return kind.regions
    planes_of = voxels.of

    def marked(value: object) -> list[Crop]:
        # A plane is valid until the next one is read: comparisons copy it.
        return [stack_of((Crop(plane.values > 0, plane.corner) for plane in planes_of(value)), np.bool_)]

    return Regions(("",), marked, dimensions=voxels.dimensions)


def left_out(name: str, kind: Kind, doing: str, views: str) -> str:
    """Return the line that says why something leaves a field out: its kind has no such view."""
    return f"{name}: left out of {doing}, since a {type(kind).__name__} has no {views}"


def plane_of(mask: Crop) -> Crop:
    """Return the only plane of a mask of an image."""
    return Crop(mask.values[0] if len(mask.values) else np.zeros((0, 0), np.bool_), mask.corner[1:])


def vertical_ratios(view: Regions, masks: Sequence[Crop]) -> Iterator[tuple[str, str, float]]:
    """Yield the names of each nested structure and of the one around it, and the ratio of their diameters.

    The ratio is that of the vertical diameters, 0 where the outer structure is empty.
    """
    if view.nested:
        planes = (plane_of(mask).values for mask in masks)
        named = zip(view.names, (vertical_diameter(plane, view.nested) for plane in planes), strict=True)
        for (inner, one), (outer, other) in pairwise(named):
            yield inner, outer, vertical_cup_to_disc_ratio(one, other)


def voxel_of(case: CaseForm, dimensions: Literal[2, 3]) -> tuple[float, str]:
    """Return the size of a pixel or voxel of a case, and its unit; 1 where the spacing is not known."""
    spacing = case_geometry(case, dimensions).spacing_mm
    if spacing is None:
        return 1.0, "pixels" if dimensions == 2 else "voxels"
    return math.prod(spacing), "mm²" if dimensions == 2 else "mm³"
