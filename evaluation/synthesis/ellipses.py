"""Tilted ellipses on a pixel grid: rasterising, jittering, majority vote.

Pixel (x, y) represents the point at its centre, so the first pixel is the point (0, 0); x runs to the right
and y downwards. Shapes are rasterised into patches (their bounding boxes) instead of whole images: a fundus
photograph has 3 to 4 million pixels, its optic disc about ten thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, cos, exp, floor, hypot, isfinite, pi, sin, sqrt

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Ellipse:
    """A filled ellipse: centre and semi-axes in pixels, tilt in radians.

    A positive tilt turns the x semi-axis towards the y axis (clockwise on the screen, y runs downwards).
    Raises ValueError where a semi-axis is not positive or a number is not finite.
    """

    center_x: float
    center_y: float
    semi_axis_x: float
    semi_axis_y: float
    tilt_radians: float = 0.0

    def __post_init__(self) -> None:
        if not all(isfinite(value) for value in (self.center_x, self.center_y, self.tilt_radians)):
            raise ValueError(f"ellipse: expected a finite centre and tilt, found {self}")
        if not all(isfinite(axis) and axis > 0 for axis in (self.semi_axis_x, self.semi_axis_y)):
            raise ValueError(f"ellipse: expected finite semi-axes above 0, found {self}")

    @property
    def half_width(self) -> float:
        """Half the horizontal extent in pixels."""
        return hypot(self.semi_axis_x * cos(self.tilt_radians), self.semi_axis_y * sin(self.tilt_radians))

    @property
    def half_height(self) -> float:
        """Half the vertical extent in pixels."""
        return hypot(self.semi_axis_x * sin(self.tilt_radians), self.semi_axis_y * cos(self.tilt_radians))

    def moved(self, x: float, y: float) -> Ellipse:
        """Return the ellipse moved by a vector in pixels."""
        return replace(self, center_x=self.center_x + x, center_y=self.center_y + y)


@dataclass(frozen=True)
class Patch:
    """A rectangle of a mask, boolean (y, x); its first pixel lies at row `top` and column `left`."""

    values: NDArray[np.bool_]
    top: int
    left: int

    @property
    def bottom(self) -> int:
        """The first row below the patch."""
        return self.top + int(self.values.shape[0])

    @property
    def right(self) -> int:
        """The first column to the right of the patch."""
        return self.left + int(self.values.shape[1])


def rasterise(ellipse: Ellipse, width: int, height: int) -> Patch:
    """Mark the pixels with centres in the ellipse or on its border.

    The patch is the bounding box, clipped to the image of `width` × `height` pixels; an ellipse outside
    the image, or one that contains no pixel centre of any row or column, gives a patch without pixels.
    """
    half_width, half_height = ellipse.half_width, ellipse.half_height
    top, bottom = _pixel_span(ellipse.center_y, half_height, height)
    left, right = _pixel_span(ellipse.center_x, half_width, width)
    # Every row meets the ellipse in one interval: cheaper than the quadratic form at every pixel.
    below_center = np.arange(top, bottom) - ellipse.center_y
    sheared = (ellipse.semi_axis_x**2 - ellipse.semi_axis_y**2) * (
        sin(ellipse.tilt_radians) * cos(ellipse.tilt_radians)
    )
    middle = ellipse.center_x + below_center * (sheared / half_height**2)
    half_chord = (
        ellipse.semi_axis_x
        * ellipse.semi_axis_y
        / half_height**2
        * np.sqrt(np.maximum(half_height**2 - below_center**2, 0.0))
    )
    columns = np.arange(left, right)
    values = (columns >= (middle - half_chord)[:, None]) & (columns <= (middle + half_chord)[:, None])
    return Patch(values=values, top=top, left=left)


def intersection(first: Patch, second: Patch) -> Patch:
    """Return the pixels that both patches mark, in the box that they share."""
    top, bottom = max(first.top, second.top), min(first.bottom, second.bottom)
    left, right = max(first.left, second.left), min(first.right, second.right)
    if top >= bottom or left >= right:
        return Patch(values=np.zeros((0, 0), dtype=np.bool_), top=first.top, left=first.left)
    window_of_first = first.values[
        top - first.top : bottom - first.top, left - first.left : right - first.left
    ]
    window_of_second = second.values[
        top - second.top : bottom - second.top, left - second.left : right - second.left
    ]
    return Patch(values=window_of_first & window_of_second, top=top, left=left)


def jitter(ellipse: Ellipse, rng: np.random.Generator, relative: float) -> Ellipse:
    """Vary an ellipse randomly, like a second grader.

    `relative` is the standard deviation of the centre in semi-axes, of the logarithm of each semi-axis
    and of the tilt in radians, all independent and normal; 0 returns an equal ellipse.
    """
    shift_x, shift_y, scale_x, scale_y, turn = (relative * rng.standard_normal(5)).tolist()
    return Ellipse(
        center_x=ellipse.center_x + shift_x * ellipse.semi_axis_x,
        center_y=ellipse.center_y + shift_y * ellipse.semi_axis_y,
        semi_axis_x=ellipse.semi_axis_x * exp(scale_x),
        semi_axis_y=ellipse.semi_axis_y * exp(scale_y),
        tilt_radians=ellipse.tilt_radians + turn,
    )


def inner_ellipse(outer: Ellipse, ratio: float, rng: np.random.Generator) -> Ellipse:
    """Draw an ellipse inside another one, with its tilt; `ratio`: inner over outer y semi-axis.

    In the frame where the outer ellipse is the unit circle, the inner one has the semi-axes `ratio_x` and
    `ratio`, so it lies inside if its centre is nearer than 1 − max(ratio_x, ratio).
    """
    ratio_x = ratio * float(rng.uniform(0.92, 1.05))
    distance = 0.7 * (1 - max(ratio_x, ratio)) * sqrt(rng.random())
    direction = float(rng.uniform(-pi, pi))
    along_x = distance * cos(direction) * outer.semi_axis_x
    along_y = distance * sin(direction) * outer.semi_axis_y
    cosine, sine = cos(outer.tilt_radians), sin(outer.tilt_radians)
    return Ellipse(
        center_x=outer.center_x + along_x * cosine - along_y * sine,
        center_y=outer.center_y + along_x * sine + along_y * cosine,
        semi_axis_x=ratio_x * outer.semi_axis_x,
        semi_axis_y=ratio * outer.semi_axis_y,
        tilt_radians=outer.tilt_radians,
    )


def majority_vote(patches: Sequence[Patch], width: int, height: int, graders: int) -> NDArray[np.bool_]:
    """Mark the pixels that more than half of the graders mark.

    Returns a boolean mask (height, width). A grader without a patch marked nothing; exactly half of the
    graders is not a majority. Raises ValueError if there are more patches than graders or a patch leaves the
    image.

    Source: REFUGE, section 3.1 (majority voting of seven experts).
    """
    if len(patches) > graders:
        raise ValueError(
            f"majority vote: expected at most {graders} patches, one a grader, found {len(patches)}"
        )
    if any(
        patch.top < 0 or patch.left < 0 or patch.bottom > height or patch.right > width for patch in patches
    ):
        raise ValueError(
            f"majority vote: expected patches inside {width} × {height} pixels, found one outside"
        )
    majority = np.zeros((height, width), dtype=np.bool_)
    marked = [patch for patch in patches if patch.values.size]
    if not marked:
        return majority
    top, bottom = min(patch.top for patch in marked), max(patch.bottom for patch in marked)
    left, right = min(patch.left for patch in marked), max(patch.right for patch in marked)
    votes = np.zeros((bottom - top, right - left), dtype=np.int32)
    for patch in marked:
        votes[patch.top - top : patch.bottom - top, patch.left - left : patch.right - left] += patch.values
    majority[top:bottom, left:right] = 2 * votes > graders
    return majority


def _pixel_span(center: float, half_extent: float, size: int) -> tuple[int, int]:
    """First pixel within the extent and first one after it, clipped to the image."""
    first = min(max(ceil(center - half_extent), 0), size)
    return first, max(min(floor(center + half_extent) + 1, size), first)
