"""Regions of a case: what a mask or a volume shows of each structure, predicted and in the reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.field import Field, Kind
from evaluation.core.form import CaseForm
from evaluation.io.kinds.label_mask import LabelMask
from evaluation.io.kinds.multilabel_mask import MultilabelMask
from evaluation.io.kinds.volume import ConfidenceVolume, StoredVolume
from evaluation.io.volumes.case_geometry import geometry_of
from evaluation.metrics.crop import Crop
from evaluation.metrics.cup_to_disc import VerticalDiameter, vertical_cup_to_disc_ratio, vertical_diameter
from evaluation.metrics.overlap import overlap_of, region_of

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Region:
    """A structure of an image, cropped, as booleans (y, x)."""

    structure: str
    predicted: Crop
    reference: Crop


@dataclass(frozen=True)
class Solid:
    """A structure of a volume, as booleans (z, y, x); ``spacing_mm`` is (x, y, z)."""

    structure: str
    predicted: Mask
    reference: Mask
    spacing_mm: tuple[float, float, float]


@dataclass(frozen=True)
class Size:
    """How large a structure of a case is in prediction and reference, and what they share, in ``unit``."""

    structure: str
    unit: str
    predicted: float
    reference: float
    shared: float

    @property
    def dice(self) -> float:
        """Twice what is shared over the sum of both; 0 where both are empty."""
        total = self.predicted + self.reference
        return 2 * self.shared / total if total else 0.0


@dataclass(frozen=True)
class Ratio:
    """The vertical extent of the inner of two nested structures over that of the outer one."""

    title: str
    predicted: float
    reference: float


def has_regions(kind: Kind) -> bool:
    """Return whether values of a kind are masks of images."""
    return isinstance(kind, LabelMask | MultilabelMask)


def regions(field: Field, predicted: Any, reference: Any) -> Iterator[Region]:
    """Yield the structures of a mask; of nested labels, each includes those inside of it."""
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
    elif isinstance(field.kind, ConfidenceVolume):
        voxel_mm3 = float(np.prod(_spacing_mm(case)))
        counts_of_planes = [
            (np.count_nonzero(plane.values), np.count_nonzero(true), _shared(plane, true))
            for plane, true in zip(predicted, reference.planes(), strict=True)
        ]
        totals = (voxel_mm3 * float(sum(column)) for column in zip(*counts_of_planes, strict=True))
        yield Size(field.title, "mm³", *totals)


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


def _spacing_mm(case: CaseForm) -> tuple[float, float, float]:
    spacing = geometry_of(case).spacing_mm
    assert spacing is not None  # the case table gives it
    return spacing


def _shared(predicted: Crop, true: NDArray[Any]) -> int:
    return int(np.count_nonzero((predicted.values > 0) & (true[predicted.box.slices] > 0)))


def solid(field: Field, case: CaseForm, predicted: Sequence[Crop], reference: StoredVolume) -> Solid:
    """Return a volume as it is where its values are above 0."""
    geometry = geometry_of(case)
    depth, height, width = geometry.shape
    whole = np.zeros((depth, height, width), dtype=np.bool_)
    for z, plane in enumerate(predicted):
        whole[z] = plane.in_image(height, width) > 0
    true = np.stack([plane > 0 for plane in reference.planes()])
    return Solid(field.title, whole, true, _spacing_mm(case))


def _structures(kind: Kind) -> tuple[str, ...]:
    if isinstance(kind, LabelMask):
        return tuple(kind.labels.values())
    return kind.classes if isinstance(kind, MultilabelMask) else ()


def _regions(kind: Kind, value: Any) -> tuple[Crop, ...]:
    if not isinstance(kind, LabelMask):
        return tuple(value)
    labels = list(kind.labels)
    chosen = [labels[: i + 1] if kind.nested else [label] for i, label in enumerate(labels)]
    return tuple(region_of(value, members) for members in chosen)
