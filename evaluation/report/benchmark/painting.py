"""Confidences painted on a B-scan, and panels with titles in rows."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageColor, ImageDraw

from evaluation.charts.theme import SKY, VERMILION, YELLOW
from evaluation.metrics.crop import Box

RAMP = ((0.0, SKY), (0.5, YELLOW), (1.0, VERMILION))
"""Colours of confidences, interpolated between them."""

_COVER = 0.6
_MARGIN = 12
_WIDTH, _GAP, _TITLE = 320, 8, 22
_PAPER, _INK = (32, 36, 40), (236, 236, 236)

Colours = NDArray[np.uint8]


def around(box: Box, shape: Sequence[int]) -> tuple[slice, ...]:
    """Return a box with a margin, as slices of an image of the given shape."""
    return tuple(
        slice(max(0, part.start - _MARGIN), min(size, part.stop + _MARGIN))
        for part, size in zip(box.slices, shape, strict=True)
    )


def painted(image: NDArray[np.generic], confidence: NDArray[np.float64], brightest: float) -> Colours:
    """Return a grey B-scan (y, x) painted with confidences above 0, as colours (y, x, 3).

    ``brightest``: the intensity that is white.
    """
    grey = np.clip(image.astype(np.float64) / max(brightest, 1e-12), 0, 1) * 255
    colours = np.repeat(grey[..., np.newaxis], 3, axis=2)
    marked = confidence > 0
    steps = [step for step, _ in RAMP]
    ends = np.array([ImageColor.getrgb(name) for _, name in RAMP], dtype=np.float64)
    mixed = np.stack([np.interp(confidence[marked], steps, of_channel) for of_channel in ends.T], axis=1)
    colours[marked] = (1 - _COVER) * colours[marked] + _COVER * mixed
    return np.round(colours).astype(np.uint8)


def in_rows(panels: Sequence[tuple[str, Colours]], columns: int) -> Image.Image:
    """Return panels of one size with titles, in rows of a given length; pixels are square, as in a viewer."""
    rows = -(-len(panels) // columns)
    height, width = panels[0][1].shape[:2]
    size = (_WIDTH, max(1, round(_WIDTH * height / width)))
    step_x, step_y = size[0] + _GAP, size[1] + _TITLE + _GAP
    whole = Image.new("RGB", (columns * step_x - _GAP, rows * step_y - _GAP), _PAPER)
    pen = ImageDraw.Draw(whole)
    for position, (title, colours) in enumerate(panels):
        left, top = position % columns * step_x, position // columns * step_y
        pen.text((left + 4, top + 4), title, fill=_INK)
        whole.paste(Image.fromarray(colours).resize(size, Image.Resampling.NEAREST), (left, top + _TITLE))
    return whole


def as_uri(picture: Image.Image) -> str:
    """Return a picture as a data URI (PNG)."""
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
