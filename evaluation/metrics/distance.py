"""Distances between points of an image, in pixels."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray


def euclidean_distance(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """Euclidean distance between the points of two arrays.

    a, b: shape (…, 2), one point per last axis, in the same order and unit; leading axes broadcast.
    Returns shape (…) in that unit, at least 0; NaN where a coordinate is NaN.
    Raises ValueError for another last axis.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape[-1:] != (2,) or second.shape[-1:] != (2,):
        raise ValueError(f"points: expected shapes (…, 2), found {first.shape} and {second.shape}")
    difference = first - second
    return np.asarray(np.hypot(difference[..., 0], difference[..., 1]))


def image_diagonal(width: float, height: float) -> float:
    """Length of an image's diagonal, sqrt(width² + height²): the worst distance, that of a missing point."""
    return math.hypot(width, height)
