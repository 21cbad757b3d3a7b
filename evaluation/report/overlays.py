"""Pictures of a case as colour images: agreement, missed and false regions, points and boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaluation.charts.theme import SKY, VERMILION, YELLOW
from evaluation.metrics.crop import Box, Crop
from evaluation.report.regions import Mask, Region, Solid

Colours = NDArray[np.uint8]
Greys = NDArray[np.uint8]

AGREEMENT, MISSED, FALSE = SKY, VERMILION, YELLOW
"""Colours that differ in brightness too."""
LEFT_OUT = "#9a9a9a"
"""Colour of predictions that are neither hits nor false."""
LEGEND = ((AGREEMENT, "agreement"), (MISSED, "missed"), (FALSE, "false"))
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
    part = _window(around, size)
    below = ground(part, photograph)
    return beside([fitted(_painted(_within(region, part), below)) for region in found])


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


def _window(around: Box, size: tuple[int, int]) -> Box:
    """Return a rectangle with a margin, within the image; the whole image where there is nothing."""
    height, width = size
    if around.is_empty:
        return Box(0, height, 0, width)
    margin = int(_MARGIN * max(around.shape)) + 4
    return Box(
        max(0, around.top - margin),
        min(height, around.bottom + margin),
        max(0, around.left - margin),
        min(width, around.right + margin),
    )


def ground(window: Box, photograph: Colours | None) -> Colours:
    """Return the background of a part of an image: the photograph, or one dark colour."""
    if photograph is not None:
        return photograph[window.slices]
    return np.full((*window.shape, 3), BACKGROUND, np.uint8)


def _within(region: Region, window: Box) -> tuple[Mask, Mask]:
    return _cut(region.predicted, window), _cut(region.reference, window)


def _cut(crop: Crop, window: Box) -> Mask:
    """Return a region in a window that contains its box."""
    found: Mask = (
        crop.within(window).astype(np.bool_) if crop.values.size else np.zeros(window.shape, np.bool_)
    )
    return found


def _painted(pair: tuple[Mask, Mask], ground: Colours) -> Colours:
    """Return the ground under the three kinds of regions, with opaque edges."""
    predicted, reference = pair
    painted = ground.astype(np.float64)
    kinds = (
        (AGREEMENT, predicted & reference),
        (MISSED, reference & ~predicted),
        (FALSE, predicted & ~reference),
    )
    for colour, members in kinds:
        rgb = np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)], dtype=np.float64)
        painted[members] = (1 - _FILL) * painted[members] + _FILL * rgb
        painted[_edge(members)] = rgb
    return painted.round().astype(np.uint8)


def _edge(members: Mask) -> Mask:
    """Return the pixels of a region that have a neighbour outside of it."""
    padded = np.pad(members, 1)
    inner = padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    edge: Mask = members & ~inner
    return edge


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
    whole = Image.new("RGB", (max(1, width), max(panel.height for panel in panels)), "#ffffff")
    left = 0
    for panel in panels:
        whole.paste(panel, (left, 0))
        left += panel.width + gap
    return whole
