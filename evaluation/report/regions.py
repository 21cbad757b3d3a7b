"""Regions of a case: each structure of a mask or a volume, predicted and in the reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.field import Field, Kind
from evaluation.core.form import CaseForm
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.io.kinds.label_mask import LabelMask
from evaluation.io.kinds.multilabel_mask import MultilabelMask
from evaluation.io.kinds.volume import ConfidenceVolume
from evaluation.io.volumes.case_geometry import geometry_of
from evaluation.metrics.crop import Crop
from evaluation.metrics.cup_to_disc import VerticalDiameter, vertical_cup_to_disc_ratio, vertical_diameter
from evaluation.metrics.overlap import overlap_of, region_of

Mask = NDArray[np.bool_]
Spacing = tuple[float, float, float]


@dataclass(frozen=True)
class Region:
    """A structure of an image, cropped, as booleans (y, x)."""

    structure: str
    predicted: Crop
    reference: Crop


@dataclass(frozen=True)
class Solid:
    """A structure of a volume, as booleans (z, y, x); ``spacing_mm`` likewise, None where it is not known."""

    structure: str
    predicted: Mask
    reference: Mask
    spacing_mm: Spacing | None


@dataclass(frozen=True)
class Size:
    """The size of a structure in prediction, reference and both, in ``unit``."""

    structure: str
    unit: str
    predicted: float
    reference: float
    shared: float

    @property
    def dice(self) -> float:
        """Twice the shared size over the sum of both sizes; 0 where both are empty."""
        total = self.predicted + self.reference
        return 2 * self.shared / total if total else 0.0


@dataclass(frozen=True)
class Ratio:
    """The ratio of the vertical extents of two nested structures, inner over outer."""

    title: str
    predicted: float
    reference: float


def has_regions(kind: Kind) -> bool:
    """Return whether values of a kind are masks of images."""
    return isinstance(kind, LabelMask | MultilabelMask) or (
        isinstance(kind, LabelMap) and kind.dimensions == 2
    )


def has_solids(kind: Kind) -> bool:
    """Return whether values of a kind are masks of volumes."""
    return isinstance(kind, ConfidenceVolume) or (isinstance(kind, LabelMap) and kind.dimensions == 3)


def regions(field: Field, predicted: Any, reference: Any) -> Iterator[Region]:
    """Yield the structures of a mask; nested labels include the ones inside."""
    for structure, one, other in zip(
        _structures(field.kind),
        _regions(field.kind, predicted),
        _regions(field.reference.kind, reference),
        strict=True,
    ):
        yield Region(structure, one, other)


def sizes(field: Field, case: CaseForm, predicted: Any, reference: Any) -> Iterator[Size]:
    """Yield the sizes of the structures of a mask (pixels) or a volume (mm³)."""
    if has_regions(field.kind):
        for region in regions(field, predicted, reference):
            counts = overlap_of(region.predicted, region.reference)
            yield Size(region.structure, "pixels", counts.prediction, counts.reference, counts.intersection)
    elif has_solids(field.kind):
        for one in solids(field, case, predicted, reference):
            voxel = 1.0 if one.spacing_mm is None else float(np.prod(one.spacing_mm))
            parts = (one.predicted, one.reference, one.predicted & one.reference)
            numbers = (voxel * float(np.count_nonzero(part)) for part in parts)
            yield Size(one.structure, "voxels" if one.spacing_mm is None else "mm³", *numbers)


def ratios(field: Field, predicted: Any, reference: Any, definition: VerticalDiameter) -> Iterator[Ratio]:
    """Yield the vertical ratio of each structure to the next one around it, for nested labels."""
    if not isinstance(field.kind, LabelMask) or not field.kind.nested:
        return
    found = list(regions(field, predicted, reference))
    for inner, outer in pairwise(found):
        pairs = ((inner.predicted, outer.predicted), (inner.reference, outer.reference))
        one, other = (
            vertical_cup_to_disc_ratio(*(vertical_diameter(crop.values, definition) for crop in pair))
            for pair in pairs
        )
        yield Ratio(f"Vertical ratio of {inner.structure} to {outer.structure}", one, other)


def solids(field: Field, case: CaseForm, predicted: Any, reference: Any) -> Iterator[Solid]:
    """Yield the structures of a volume: where its values are above 0, or of each label."""
    if isinstance(field.kind, LabelMap):
        for position, structure in enumerate(field.kind.labels.values(), start=1):
            one, other = predicted.whole == position, reference.whole == position
            yield Solid(structure, one, other, predicted.spacing_mm)
        return
    geometry = geometry_of(case)
    depth, height, width = geometry.shape
    whole = np.zeros((depth, height, width), dtype=np.bool_)
    for z, plane in enumerate(predicted):
        whole[z] = plane.in_image(height, width) > 0
    true = np.stack([plane.in_image(height, width) > 0 for plane in reference.planes()])
    spacing = geometry.spacing_mm
    yield Solid(field.title, whole, true, None if spacing is None else (spacing[2], spacing[1], spacing[0]))


def _structures(kind: Kind) -> tuple[str, ...]:
    if isinstance(kind, LabelMask | LabelMap):
        return tuple(kind.labels.values())
    return kind.classes if isinstance(kind, MultilabelMask) else ()


def _regions(kind: Kind, value: Any) -> tuple[Crop, ...]:
    if isinstance(value, LabelMapValue):
        _, top, left = value.corner
        return tuple(Crop(_plane(value) == i, top, left) for i in range(1, len(_structures(kind)) + 1))
    if not isinstance(kind, LabelMask):
        return tuple(value)
    labels = list(kind.labels)
    chosen = [labels[: i + 1] if kind.nested else [label] for i, label in enumerate(labels)]
    return tuple(region_of(value, members) for members in chosen)


def _plane(value: LabelMapValue) -> NDArray[np.uint8]:
    """Return the only plane of an image's positions, shape (y, x); (0, 0) where all is background."""
    found: NDArray[np.uint8] = value.positions[0] if len(value.positions) else np.zeros((0, 0), np.uint8)
    return found
