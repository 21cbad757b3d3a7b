"""Pictures of regions as colour images: agreement, missed and false regions."""

import base64
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaluation.charts.chart import GREY, SKY, VERMILION, YELLOW
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.core.views import Regions
from evaluation.io.kinds.label_map import spacing_of
from evaluation.io.volume_header import geometry_of
from evaluation.metrics.crops import Box, Crop, VolumeCrop
from evaluation.organiser.views import plane_of, regions_of, vertical_ratios, voxel_of

# --- Regions of a case: each structure of a mask or a volume, predicted and in the reference ---

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
class StructureSize:
    """The size of a structure of a field in prediction and reference, in ``unit``."""

    field: str
    structure: str
    unit: str
    predicted: float
    reference: float


@dataclass(frozen=True)
class ComparedNumber:
    """A number of a case in prediction and reference: a submitted one, or the ratio of two structures."""

    title: str
    predicted: float
    reference: float
    unit: str = ""


def regions_in(field: Field) -> Regions | None:
    """Return the structures of a field, None where prediction and reference have none in common."""
    own, true = regions_of(field.kind), regions_of(field.reference.kind)
    return own if own and true and own.names == true.names else None


def structures(field: Field, predicted: Any, reference: Any) -> Iterator[tuple[str, VolumeCrop, VolumeCrop]]:
    """Yield each structure of a field with `regions_in`: its name, and its predicted and its true voxels."""
    own, true = regions_of(field.kind), regions_of(field.reference.kind)
    if own and true:
        for name, one, other in zip(own.names, own.of(predicted), true.of(reference), strict=True):
            yield name or field.title, one, other


def regions(field: Field, predicted: Any, reference: Any) -> Iterator[Region]:
    """Yield the structures of an image; nested ones include those inside."""
    for name, *masks in structures(field, predicted, reference):
        yield Region(name, *map(plane_of, masks))


def solids(field: Field, case: CaseForm, predicted: Any, reference: Any) -> Iterator[Solid]:
    """Yield the structures of a volume."""
    geometry = geometry_of(case)
    for name, *masks in structures(field, predicted, reference):
        one, other = (mask.within((0, 0, 0), geometry.shape) for mask in masks)
        yield Solid(name, one, other, spacing_of(geometry))


def sizes(field: Field, case: CaseForm, predicted: Any, reference: Any) -> Iterator[StructureSize]:
    """Yield the sizes of the structures of an image (pixels) or a volume (mm³)."""
    if (view := regions_in(field)) is None:
        return
    voxel, unit = (1, "pixels") if view.dimensions == 2 else voxel_of(case, 3)
    for name, *masks in structures(field, predicted, reference):
        counts = (voxel * int(np.count_nonzero(mask.values)) for mask in masks)
        yield StructureSize(field.name, name, unit, *counts)


def is_number(field: Field) -> bool:
    """Return whether a field is a number with a true number as reference."""
    return bool(field.kind.numbers and field.reference.kind.numbers)


def measurements(field: Field, predicted: Any, reference: Any) -> Iterator[ComparedNumber]:
    """Yield the numbers, and the vertical ratio of each nested structure to the one around it."""
    own, true = field.kind.numbers, field.reference.kind.numbers
    if own and true:
        for name, one, other in zip(own.names, own.of(predicted), true.of(reference), strict=True):
            yield ComparedNumber(f"{field.title}: {name}" if name else field.title, one, other, own.unit)
    if (regions := field.kind.regions) and (of_reference := field.reference.kind.regions):
        pairs = zip(
            vertical_ratios(regions, list(regions.of(predicted))),
            vertical_ratios(of_reference, list(of_reference.of(reference))),
            strict=True,
        )
        for (inner, outer, ratio), (*_, true_ratio) in pairs:
            yield ComparedNumber(f"Vertical ratio of {inner} to {outer}", ratio, true_ratio)


# --- Pictures of a case as colour images: agreement, missed and false regions, points and boxes ---

Colours = NDArray[np.uint8]
Greys = NDArray[np.uint8]

AGREEMENT, MISSED, FALSE = SKY, VERMILION, YELLOW
"""Colours that differ in brightness too."""
LEFT_OUT = "#9a9a9a"
"""Colour of predictions that are neither hits nor false."""
BACKGROUND = (32, 36, 40)
_MARGIN = 0.15
PANEL = 300
_FILL = 0.55


def region_panels(found: Sequence[Region], size: tuple[int, int], photograph: Colours | None) -> Image.Image:
    """Return one panel for each region side by side, each cropped to its content.

    size: height and width of the image in pixels. photograph: None, or colours of shape (height, width, 3).
    """
    around = Box(0, 0, 0, 0)
    for region in found:
        around = around.union(region.predicted.box).union(region.reference.box)
    part = window_of(around, size)
    below = ground(part, photograph)
    pairs = ((cut(region.predicted, part), cut(region.reference, part)) for region in found)
    return beside([fitted(_painted(pair, below)) for pair in pairs])


def solid_panels(volume: Solid, original: Greys | None = None) -> Image.Image:
    """Return the planes across each axis in which prediction and reference differ most, side by side.

    The axes are z (the plane of a scan), y and x; pixels are stretched to equal lengths. Without a
    difference, the planes with the largest reference are shown. original: grey values of the same shape (z,
    y, x).
    """
    different = volume.predicted != volume.reference
    if not different.any():
        different = volume.reference
    spacing = volume.spacing_mm or (1.0, 1.0, 1.0)
    panels = []
    for axis in range(3):
        others = tuple(other for other in range(3) if other != axis)
        position = int(np.argmax(different.sum(axis=others)))
        pair = (np.take(volume.predicted, position, axis), np.take(volume.reference, position, axis))
        if original is None:
            below = np.full((*pair[0].shape, 3), BACKGROUND, np.uint8)
        else:
            below = np.repeat(np.take(original, position, axis)[..., np.newaxis], 3, axis=-1)
        panels.append(fitted(_painted(pair, below), spacing[others[0]] / spacing[others[1]]))
    return beside(panels)


def window_of(around: Box, size: tuple[int, int]) -> Box:
    """Return a rectangle with a margin, within the image; the whole image where there is nothing."""
    height, width = size
    whole = Box(0, height, 0, width)
    if around.is_empty:
        return whole
    margin = int(_MARGIN * max(around.shape)) + 4
    wide = Box(around.top - margin, around.bottom + margin, around.left - margin, around.right + margin)
    return wide.intersection(whole)


def ground(window: Box, photograph: Colours | None) -> Colours:
    """Return the background of a part of an image: the photograph, or one dark colour."""
    if photograph is not None:
        return photograph[window.slices]
    return np.full((*window.shape, 3), BACKGROUND, np.uint8)


def cut(crop: Crop, window: Box) -> Mask:
    """Return a region in a window that contains its box."""
    if not crop.values.size:
        return np.zeros(window.shape, np.bool_)
    return crop.within(window).astype(np.bool_)


def _painted(pair: tuple[Mask, Mask], ground: Colours) -> Colours:
    """Return the ground under the three kinds of regions, with opaque edges."""
    predicted, reference = pair
    kinds = (
        (AGREEMENT, predicted & reference),
        (MISSED, reference & ~predicted),
        (FALSE, predicted & ~reference),
    )
    return painted_over(ground, ((colour, members, edge(members)) for colour, members in kinds))


def painted_over(ground: Colours, kinds: Iterable[tuple[str, Mask, Mask]]) -> Colours:
    """Return the ground under areas in a colour, each with its opaque edges; later ones lie on top."""
    painted = ground.astype(np.float64)
    for colour, members, edges in kinds:
        full = np.array(rgb(colour), dtype=np.float64)
        painted[members] = (1 - _FILL) * painted[members] + _FILL * full
        painted[edges] = full
    return painted.round().astype(np.uint8)


def rgb(colour: str) -> tuple[int, int, int]:
    """Return the red, green and blue of a colour such as "#D55E00", 0 … 255."""
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


def edge(members: Mask) -> Mask:
    """Return the pixels of a region that have a neighbour outside of it."""
    padded = np.pad(members, 1)
    inner = padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    return members & ~inner


def fitted(colours: Colours, stretch: float = 1.0) -> Image.Image:
    """Return a picture resized to a panel; ``stretch`` is the height of a pixel over its width."""
    height, width = colours.shape[0] * stretch, float(colours.shape[1])
    scale = PANEL / max(height, width, 1.0)
    target = max(1, round(width * scale)), max(1, round(height * scale))
    method = Image.Resampling.NEAREST if scale > 1 else Image.Resampling.BOX
    return Image.fromarray(np.ascontiguousarray(colours)).resize(target, method)


def beside(panels: Sequence[Image.Image], gap: int = 6) -> Image.Image:
    """Return panels side by side."""
    width = sum(panel.width for panel in panels) + gap * (len(panels) - 1)
    whole = Image.new("RGB", (max(1, width), max(panel.height for panel in panels)), GREY)
    left = 0
    for panel in panels:
        whole.paste(panel, (left, 0))
        left += panel.width + gap
    return whole


def file_of(picture: Image.Image, kind: Literal["PNG", "JPEG"], **options: Any) -> bytes:
    """Return the file of a picture, with options of Pillow."""
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def data_uri(kind: Literal["png", "jpeg"], file: bytes) -> str:
    """Return the file of a picture as a data URI."""
    return f"data:image/{kind};base64,{base64.b64encode(file).decode('ascii')}"
