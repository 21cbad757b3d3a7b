"""Measurements of a mask, a map or a volume of the reference: areas, volumes, shares and ratios."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.field import Field, Kind
from evaluation.core.form import CaseForm
from evaluation.io.kinds.detection_map import DetectionMap, components_of
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.io.kinds.label_mask import LabelMask
from evaluation.io.kinds.multilabel_mask import MultilabelMask
from evaluation.io.kinds.volume import StoredVolume
from evaluation.io.volumes.case_geometry import geometry_of
from evaluation.metrics.crop import Crop
from evaluation.metrics.cup_to_disc import VerticalDiameter, vertical_cup_to_disc_ratio, vertical_diameter
from evaluation.metrics.overlap import region_of

Number = float | tuple[float, ...] | None
"""One number of a case, one per object, or None where the case lacks the structure."""


@dataclass(frozen=True)
class Quantity:
    """A measured quantity: once for each case, or once for each object (box, point, lesion) in it.

    ``source``: its field or column.
    """

    name: str
    unit: str = ""
    source: str = ""
    per: Literal["case", "object"] = "case"

    @property
    def title(self) -> str:
        """The name with its unit."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


@dataclass(frozen=True)
class Measurement:
    """A quantity with its number or numbers in one case."""

    quantity: Quantity
    number: Number


def measured_structures(
    name: str, kind: Kind, submitted: Kind | None, value: Any, case: CaseForm, diameter: VerticalDiameter
) -> Iterator[Measurement]:
    """Yield the measurements of structures in a mask, a map or a volume; nothing for any other value.

    ``submitted`` is the kind of the predictions: where it detects lesions, the components of the reference
    are counted and measured. A structure that the case lacks is measured as None.
    """
    if isinstance(kind, LabelMask):
        regions = [
            (structure, region_of(value, _members(kind, position)))
            for position, structure in enumerate(kind.labels.values())
        ]
        yield from _areas(name, regions, case, 1.0, "pixels")
        if kind.nested:
            yield from _ratios(name, regions, diameter)
    elif isinstance(kind, MultilabelMask):
        yield from _areas(name, list(zip(kind.classes, value, strict=True)), case, 1.0, "pixels")
    elif isinstance(kind, LabelMap):
        yield from _sizes(name, kind, value)
        if isinstance(submitted, DetectionMap):
            yield from _lesions(name, value, submitted.foreground)
    elif isinstance(value, StoredVolume):
        yield from _of_volume(name, value, case)


def is_measured(kind: Kind, value: Any) -> bool:
    """Return whether `measured_structures` measures values of a kind."""
    return isinstance(kind, LabelMask | MultilabelMask | LabelMap) or isinstance(value, StoredVolume)


def kind_submitted(field: Any) -> Kind | None:
    """Return the kind of the predictions of a field, None for a label that is not submitted."""
    return field.kind if isinstance(field, Field) else None


def _members(kind: LabelMask, position: int) -> list[int]:
    labels = list(kind.labels)
    return labels[: position + 1] if kind.nested else [labels[position]]


def _areas(
    name: str, regions: list[tuple[str, Crop]], case: CaseForm, pixel: float, unit: str
) -> Iterator[Measurement]:
    for structure, region in regions:
        pixels = int(np.count_nonzero(region.values))
        area = pixels * pixel if pixels else None
        yield Measurement(Quantity(f"area of {structure}", unit, name), area)
        share = 100 * pixels / (case.width * case.height) if pixels else None
        yield Measurement(Quantity(f"share of the image that is {structure}", "%", name), share)


def _ratios(
    name: str, regions: list[tuple[str, Crop]], definition: VerticalDiameter
) -> Iterator[Measurement]:
    """Yield the ratios of each nested region to the next one around it, None where the outer one is empty."""
    for (inner, one), (outer, other) in pairwise(regions):
        diameters = [vertical_diameter(region.values, definition) for region in (one, other)]
        areas = [int(np.count_nonzero(region.values)) for region in (one, other)]
        exists = areas[1] > 0
        vertical = vertical_cup_to_disc_ratio(*diameters) if exists else None
        yield Measurement(Quantity(f"vertical ratio of {inner} to {outer}", "", name), vertical)
        of_areas = areas[0] / areas[1] if exists else None
        yield Measurement(Quantity(f"ratio of the areas of {inner} and {outer}", "", name), of_areas)


def _sizes(name: str, kind: LabelMap, value: LabelMapValue) -> Iterator[Measurement]:
    counts = np.bincount(value.positions.ravel(), minlength=len(kind.labels) + 1)
    voxel, unit = _voxel(value, kind.dimensions)
    word = "area" if kind.dimensions == 2 else "volume"
    for position, structure in enumerate(kind.labels.values(), start=1):
        number = int(counts[position])
        size = number * voxel if number else None
        yield Measurement(Quantity(f"{word} of {structure}", unit, name), size)
        share = 100 * number / math.prod(value.shape) if number else None
        yield Measurement(Quantity(f"share of the image that is {structure}", "%", name), share)


def _lesions(name: str, value: LabelMapValue, foreground: int) -> Iterator[Measurement]:
    mask = (value.positions > 0) & (value.positions <= foreground)
    labelled, count = components_of(mask)
    voxel, unit = _voxel(value, 2 if value.shape[0] == 1 else 3)
    sizes = np.bincount(labelled.ravel(), minlength=count + 1)[1 : count + 1] * voxel
    yield Measurement(Quantity("number of lesions", "", name), float(count) or None)
    word = "area" if value.shape[0] == 1 else "volume"
    yield Measurement(Quantity(f"{word} of a lesion", unit, name, "object"), tuple(sizes.tolist()))


def _voxel(value: LabelMapValue, dimensions: int) -> tuple[float, str]:
    """Return the size of a pixel or voxel and its unit."""
    if value.spacing_mm is None:
        return 1.0, "pixels" if dimensions == 2 else "voxels"
    return math.prod(value.spacing_mm), "mm²" if dimensions == 2 else "mm³"


def _of_volume(name: str, value: StoredVolume, case: CaseForm) -> Iterator[Measurement]:
    """Yield the volume of each level of whole numbers, else the volume above 0 and the mean value there."""
    spacing = geometry_of(case).spacing_mm
    voxel, unit = (1.0, "voxels") if spacing is None else (math.prod(spacing), "mm³")
    if value.whole:
        counts = np.zeros(int(value.maximum) + 1, dtype=np.int64)
        for plane in value.planes():
            counts += np.bincount(_content(plane).astype(np.int64), minlength=len(counts))
        for level in range(1, len(counts)):
            size = int(counts[level]) * voxel or None
            yield Measurement(Quantity(f"volume of level {level}", unit, name), size)
        return
    number, total = 0, 0.0
    for plane in value.planes():
        content = _content(plane)
        number += content.size
        total += float(content.sum(dtype=np.float64))
    yield Measurement(Quantity("volume above 0", unit, name), number * voxel or None)
    yield Measurement(Quantity("mean value above 0", "", name), total / number if number else None)


def _content(plane: Crop) -> NDArray[Any]:
    content: NDArray[Any] = plane.values[plane.values > 0]
    return content
