"""One point from those of several readers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evaluation.io.kinds.point import Point, PointInImage


def combine_points(kind: PointInImage, points: Sequence[Point], tie_is_visible: bool = False) -> Point:
    """Return the mean of the points, in pixels.

    Where a point may be invisible, it is visible if most readers say so, and then the mean is of those
    readers only. The order of the points does not matter. Raises `ValueError` for no point at all.
    """
    if not points:
        raise ValueError("points: expected at least one, found none")
    seen = [point for point in points if kind.is_visible(point)]
    visible = 2 * len(seen) > len(points) or (tie_is_visible and 2 * len(seen) == len(points))
    if not visible:
        return Point(0.0, 0.0)
    return Point(_mean([point.x for point in seen]), _mean([point.y for point in seen]))


def _mean(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    # Rounding must not lead out of the readers' range, nor out of the image.
    return min(max(values), max(min(values), mean))
