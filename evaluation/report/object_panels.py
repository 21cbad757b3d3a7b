"""Pictures of points and boxes: in the image, in a plane, or along each of three axes."""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image, ImageDraw

from evaluation.metrics.crop import Box
from evaluation.report.objects import Drawn, Objects, Position
from evaluation.report.overlays import BACKGROUND, PANEL, Colours, beside, fitted, ground

_MARK = 7
"""Half of the width of the mark of a point, in pixels of the picture."""
_LINE, _WIDE = 3, 7
_LABEL_SIZE = 15
_MARGIN = 0.15
_SURROUNDINGS = 0.08
_SMALLEST = 1.0
_VIEWS = ((0, 1), (0, 2), (1, 2))
"""Axes to the right and down (y) or up (z) of each panel of three axes."""
VIEW_NAMES = ("seen along z", "seen along y", "seen along x")


@dataclass(frozen=True)
class _View:
    """A rectangle of a plane: its ends along the axes to the right and down, and which axes these are."""

    axes: tuple[int, int]
    left: float
    right: float
    top: float
    bottom: float

    @property
    def upwards(self) -> bool:
        """Whether the second axis points up: z does, and y points down as in an image."""
        return self.axes[1] == 2

    def place(self, position: Position, scale: float) -> tuple[float, float]:
        """Return a position's coordinates in a picture."""
        x, y = (position[axis] for axis in self.axes)
        down = self.bottom - y if self.upwards else y - self.top
        return (x - self.left) * scale, down * scale


def object_panels(found: Objects, size: tuple[int, int], photograph: Colours | None) -> Image.Image:
    """Return one panel, or with three axes three panels side by side.

    size: height and width of the case's image in pixels, 0 where they are not known. photograph: None, or
    colours of shape (height, width, 3).
    """
    if found.axes == 3:
        return beside([_on_nothing(found, axes) for axes in _VIEWS])
    if not (found.in_pixels and all(size)):
        return _on_nothing(found, (0, 1))
    window = _window(found, size)
    view = _View((0, 1), window.left, window.right, window.top, window.bottom)
    return _drawn(found, view, fitted(ground(window, photograph)))


def _window(found: Objects, size: tuple[int, int]) -> Box:
    """Return the part of an image that is shown, in whole pixels."""
    height, width = size
    if not found.surroundings:
        return Box(0, height, 0, width)
    reach = _SURROUNDINGS * max(size)
    (left, right), (top, bottom) = _ends(found, 0), _ends(found, 1)
    return Box(
        max(0, int(top - reach)),
        min(height, int(bottom + reach) + 1),
        max(0, int(left - reach)),
        min(width, int(right + reach) + 1),
    )


def _around(found: Objects, axes: tuple[int, int]) -> _View:
    """Return a square that holds all objects with a margin, of one size in all views."""
    ends = [_ends(found, axis) for axis in range(found.axes)]
    half = (0.5 + _MARGIN) * max(_SMALLEST, *(high - low for low, high in ends))
    (x, y) = ((ends[axis][0] + ends[axis][1]) / 2 for axis in axes)
    return _View(axes, x - half, x + half, y - half, y + half)


def _ends(found: Objects, axis: int) -> tuple[float, float]:
    return min(one.lower[axis] for one in found.drawn), max(one.upper[axis] for one in found.drawn)


def _on_nothing(found: Objects, axes: tuple[int, int]) -> Image.Image:
    """Return the objects in a plane without an image, with a margin."""
    return _drawn(found, _around(found, axes), Image.new("RGB", (PANEL, PANEL), BACKGROUND))


def _drawn(found: Objects, view: _View, picture: Image.Image) -> Image.Image:
    """Return a picture of a view with the objects in it."""
    scale = picture.width / (view.right - view.left)
    draw = ImageDraw.Draw(picture)
    for ends in found.joined:
        draw.line([view.place(end, scale) for end in ends], fill="#ffffff", width=1)
    for one in found.drawn:
        _draw(draw, one, *_corners(one, view, scale))
    return picture


def _corners(one: Drawn, view: _View, scale: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the corners of an object in a picture, at the upper left and at the lower right."""
    ends = [view.place(end, scale) for end in (one.lower, one.upper)]
    (left, right), (top, bottom) = (sorted(along) for along in zip(*ends, strict=True))
    if one.shape == "box":
        return (left, top), (right, bottom)
    x, y = (left + right) / 2, (top + bottom) / 2
    wide, high = (max(_MARK, (end - start) / 2) for start, end in ((left, right), (top, bottom)))
    return (x - wide, y - high), (x + wide, y + high)


def _draw(
    draw: ImageDraw.ImageDraw, one: Drawn, first: tuple[float, float], last: tuple[float, float]
) -> None:
    width = _WIDE if one.wide else _LINE
    if one.shape == "box":
        draw.rectangle((first, last), outline=one.colour, width=width)
    elif one.shape == "ring":
        draw.ellipse((first, last), outline=one.colour, width=width)
    else:
        draw.line((first, last), fill=one.colour, width=width)
        draw.line((first[0], last[1], last[0], first[1]), fill=one.colour, width=width)
    if one.label:
        at, size = (last[0] + 2, first[1] - _LABEL_SIZE / 2), _LABEL_SIZE
        draw.text(at, one.label, fill="#ffffff", stroke_width=1, stroke_fill="#000000", font_size=size)
