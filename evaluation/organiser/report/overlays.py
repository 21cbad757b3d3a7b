"""Pictures of regions as colour images: agreement, missed and false regions."""

import base64
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaluation.charts.chart import GREY, SKY, VERMILION, YELLOW
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.core.views import Regions
from evaluation.io.kinds.label_map import spacing_of
from evaluation.io.volumes import case_geometry
from evaluation.metrics.crops import Box, Crop, around
from evaluation.metrics.segmentation import edge, overlap_of
from evaluation.organiser.views import (
    plane_of,
    regions_of,
    vertical_ratios,
    voxel_of,
)

# --- The structures of a case: of a mask or a volume, predicted and in the reference ---

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ComparedStructure:
    """A structure of a volume, as booleans (z, y, x); an image is a volume of one plane.

    ``shape`` of the whole volume; ``spacing_mm`` likewise, None where it is not known.
    """

    name: str
    predicted: Crop
    reference: Crop
    shape: tuple[int, int, int]
    spacing_mm: tuple[float, float, float] | None = None

    @property
    def whole(self) -> tuple[Mask, Mask]:
        """Prediction and reference in the whole volume."""
        one, other = (mask.whole(self.shape) for mask in (self.predicted, self.reference))
        return one.astype(np.bool_, copy=False), other.astype(np.bool_, copy=False)

    @property
    def is_there(self) -> bool:
        """Whether prediction or reference has any of it."""
        return self.predicted.any() or self.reference.any()

    @property
    def difference(self) -> int:
        """The number of voxels in which prediction and reference differ."""
        counts = overlap_of(self.predicted, self.reference)
        return counts.prediction + counts.reference - 2 * counts.intersection


@dataclass(frozen=True)
class ComparedNumber:
    """A number of a case in prediction and reference: a size, a submitted one, or a ratio of structures."""

    title: str
    predicted: float
    reference: float
    unit: str = ""


def regions_in(field: Field) -> Regions | None:
    """Return the structures of a field, None where prediction and reference have none in common."""
    own, true = regions_of(field.kind), regions_of(field.reference.kind)
    return own if own and true and own.names == true.names else None


def structures(field: Field, case: CaseForm, predicted: Any, reference: Any) -> Iterator[ComparedStructure]:
    """Yield the structures of a field with `regions_in`; nested ones include those inside."""
    own, true = regions_in(field), regions_of(field.reference.kind)
    if own and true:
        geometry = case_geometry(case, own.dimensions)
        for name, one, other in zip(own.names, own.of(predicted), true.of(reference), strict=True):
            yield ComparedStructure(name or field.title, one, other, geometry.shape, spacing_of(geometry))


def sizes(field: Field, case: CaseForm, predicted: Any, reference: Any) -> Iterator[ComparedNumber]:
    """Yield the sizes of the structures of an image (pixels) or a volume (mm³)."""
    view = regions_in(field)
    voxel, unit = voxel_of(case, 3) if view and view.dimensions == 3 else (1, "pixels")
    for one in structures(field, case, predicted, reference):
        found, true = (voxel * int(np.count_nonzero(mask.values)) for mask in (one.predicted, one.reference))
        yield ComparedNumber(one.name, found, true, unit)


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


def region_panels(found: Sequence[ComparedStructure], photograph: Colours | None) -> Image.Image:
    """Return one panel for each structure of an image side by side, each cropped to the content of all.

    photograph: None, or colours of shape (height, width, 3).
    """
    pairs = [(plane_of(one.predicted), plane_of(one.reference)) for one in found]
    part = window_of(around(*chain(*pairs)), found[0].shape[1:])
    below = ground(part, photograph)
    panels = []
    for pair in pairs:
        predicted, reference = (crop.within(part).astype(np.bool_) for crop in pair)
        panels.append(fitted(_painted(predicted, reference, below)))
    return beside(panels)


def solid_panels(volume: ComparedStructure, original: Greys | None = None) -> Image.Image:
    """Return the planes across each axis in which prediction and reference differ most, side by side.

    The axes are z (the plane of a scan), y and x; pixels are stretched to equal lengths. Without a
    difference, the planes with the largest reference are shown. original: grey values of the same shape (z,
    y, x).
    """
    whole = volume.whole
    different = whole[0] != whole[1]
    if not different.any():
        different = whole[1]
    spacing = volume.spacing_mm or (1.0, 1.0, 1.0)
    panels = []
    for axis in range(3):
        others = tuple(other for other in range(3) if other != axis)
        position = int(np.argmax(different.sum(axis=others)))
        predicted, reference = (np.take(mask, position, axis) for mask in whole)
        if original is None:
            below = np.full((*predicted.shape, 3), BACKGROUND, np.uint8)
        else:
            below = np.repeat(np.take(original, position, axis)[..., np.newaxis], 3, axis=-1)
        painted = _painted(predicted, reference, below)
        panels.append(fitted(painted, spacing[others[0]] / spacing[others[1]]))
    return beside(panels)


def window_of(content: Box, size: tuple[int, ...]) -> Box:
    """Return a rectangle with a margin, within the image; the whole image where there is nothing."""
    whole = Box.whole(size)
    if content.is_empty:
        return whole
    margin = int(_MARGIN * max(content.shape)) + 4
    ends = tuple(end + margin for end in content.end)
    return Box(tuple(start - margin for start in content.corner), ends).intersection(whole)


def ground(window: Box, photograph: Colours | None) -> Colours:
    """Return the background of a part of an image: the photograph, or one dark colour."""
    if photograph is not None:
        return photograph[window.slices]
    return np.full((*window.shape, 3), BACKGROUND, np.uint8)


def _painted(predicted: Mask, reference: Mask, ground: Colours) -> Colours:
    """Return the ground under the three kinds of regions, with opaque edges."""
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
