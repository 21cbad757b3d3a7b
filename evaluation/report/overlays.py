"""Pictures of a case as colour images: agreement, missed and false regions, points and boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from evaluation.charts.theme import SKY, VERMILION, YELLOW
from evaluation.metrics.crop import Box, Crop
from evaluation.report.regions import Mask, Region, Solid

Colours = NDArray[np.uint8]

AGREEMENT, MISSED, FALSE = SKY, VERMILION, YELLOW
"""Colours that differ in brightness too."""
LEGEND = ((AGREEMENT, "agreement"), (MISSED, "missed"), (FALSE, "false"))
_BACKGROUND = (32, 36, 40)
_MARGIN = 0.15
_PANEL = 300
_FILL = 0.55


@dataclass(frozen=True)
class Corners:
    """A box of an image in pixels, and its colour."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str


def region_panels(found: Sequence[Region], size: tuple[int, int], photograph: Colours | None) -> Image.Image:
    """Return one panel for each region side by side, all cut around what they show.

    size: height and width of the image in pixels. photograph: None, or colours of shape (height, width, 3).
    """
    around = Box(0, 0, 0, 0)
    for region in found:
        around = around.union(region.predicted.box).union(region.reference.box)
    window = _window(around, size)
    ground = _ground(window, photograph)
    return _beside([_fitted(_painted(_within(region, window), ground)) for region in found])


def solid_panels(volume: Solid) -> Image.Image:
    """Return the planes across each axis in which prediction and reference differ most, side by side.

    The axes are z (the plane of a scan), y and x; pixels are stretched to equal lengths.
    """
    different = volume.predicted != volume.reference
    spacing = volume.spacing_mm or (1.0, 1.0, 1.0)
    panels = []
    for axis in range(3):
        others = tuple(other for other in range(3) if other != axis)
        position = int(np.argmax(different.sum(axis=others)))
        pair = (np.take(volume.predicted, position, axis), np.take(volume.reference, position, axis))
        ground = np.full((*pair[0].shape, 3), _BACKGROUND, np.uint8)
        panels.append(_fitted(_painted(pair, ground), spacing[others[0]] / spacing[others[1]]))
    return _beside(panels)


def point_panel(
    predicted: tuple[float, float],
    reference: tuple[float, float],
    size: tuple[int, int],
    photograph: Colours | None,
) -> Image.Image:
    """Return the surroundings of two points (x, y): a ring at the reference, a cross at the prediction."""
    columns, rows = zip(predicted, reference, strict=True)
    reach = 0.08 * max(size)
    around = Box(
        int(min(rows) - reach), int(max(rows) + reach), int(min(columns) - reach), int(max(columns) + reach)
    )
    window = _window(around, size)
    picture = _fitted(_ground(window, photograph))
    scale = picture.width / max(1, window.right - window.left)
    draw = ImageDraw.Draw(picture)
    (px, py), (rx, ry) = (
        ((x - window.left) * scale, (y - window.top) * scale) for x, y in (predicted, reference)
    )
    draw.line((px, py, rx, ry), fill="#ffffff", width=1)
    draw.ellipse((rx - 7, ry - 7, rx + 7, ry + 7), outline=AGREEMENT, width=3)
    draw.line((px - 7, py - 7, px + 7, py + 7), fill=FALSE, width=3)
    draw.line((px - 7, py + 7, px + 7, py - 7), fill=FALSE, width=3)
    return picture


def box_panel(boxes: Sequence[Corners], size: tuple[int, int], photograph: Colours | None) -> Image.Image:
    """Return the whole image with boxes in their colours."""
    height, width = size
    picture = _fitted(_ground(Box(0, height, 0, width), photograph))
    scale = picture.width / width
    draw = ImageDraw.Draw(picture)
    for box in boxes:
        corners = [scale * value for value in (box.x1, box.y1, box.x2, box.y2)]
        draw.rectangle(corners, outline=box.colour, width=3)
    return picture


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


def _ground(window: Box, photograph: Colours | None) -> Colours:
    if photograph is not None:
        return photograph[window.slices]
    return np.full((*window.shape, 3), _BACKGROUND, np.uint8)


def _within(region: Region, window: Box) -> tuple[Mask, Mask]:
    return _cut(region.predicted, window), _cut(region.reference, window)


def _cut(crop: Crop, window: Box) -> Mask:
    """Return a region in a window that contains its box."""
    found: Mask = (
        crop.within(window).astype(np.bool_) if crop.values.size else np.zeros(window.shape, np.bool_)
    )
    return found


def _painted(pair: tuple[Mask, Mask], ground: Colours) -> Colours:
    """Return the ground under the three kinds of regions, whose edges are opaque."""
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


def _fitted(colours: Colours, stretch: float = 1.0) -> Image.Image:
    """Return a picture that fits a panel; ``stretch`` is the height of a pixel over its width."""
    height, width = colours.shape[0] * stretch, float(colours.shape[1])
    scale = _PANEL / max(height, width, 1.0)
    target = max(1, round(width * scale)), max(1, round(height * scale))
    method = Image.Resampling.NEAREST if scale > 1 else Image.Resampling.BOX
    return Image.fromarray(np.ascontiguousarray(colours)).resize(target, method)


def _beside(panels: Sequence[Image.Image], gap: int = 6) -> Image.Image:
    width = sum(panel.width for panel in panels) + gap * (len(panels) - 1)
    whole = Image.new("RGB", (max(1, width), max(panel.height for panel in panels)), "#ffffff")
    left = 0
    for panel in panels:
        whole.paste(panel, (left, 0))
        left += panel.width + gap
    return whole
