"""Ellipses, of which the drawn eyes and lesions are made."""

from dataclasses import dataclass, replace
from math import ceil, cos, floor, hypot, isfinite, sin

import numpy as np

from evaluation.metrics.crops import Crop


@dataclass(frozen=True)
class Ellipse:
    """A filled ellipse: centre and semi-axes in pixels, tilt in radians.

    The centre of the first pixel is the point (0, 0); x runs to the right and y downwards. A positive tilt
    turns the x semi-axis towards the y axis (clockwise on the screen, y runs downwards). Raises ValueError
    where a semi-axis is not positive or a number is not finite.
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

    def moved(self, x: float, y: float) -> "Ellipse":
        """Return the ellipse moved by a vector in pixels."""
        return replace(self, center_x=self.center_x + x, center_y=self.center_y + y)


def rasterise(ellipse: Ellipse, width: int, height: int) -> Crop:
    """Mark the pixels with centres in the ellipse or on its border.

    The crop is the bounding box, clipped to the image of `width` × `height` pixels; an ellipse outside
    the image, or one that contains no pixel centre of any row or column, gives a crop without pixels.
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
    return Crop(values, top, left)


def _pixel_span(center: float, half_extent: float, size: int) -> tuple[int, int]:
    """First pixel within the extent and first one after it, clipped to the image."""
    first = min(max(ceil(center - half_extent), 0), size)
    return first, max(min(floor(center + half_extent) + 1, size), first)
