"""Distances between points of an image, in pixels."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray


def euclidean_distance(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """Return the Euclidean distances between the points of two arrays.

    Parameters
    ----------
    a, b : array_like of float, shape (..., 2)
        Points (x, y) in one unit, for example pixels; leading axes broadcast.

    Returns
    -------
    numpy.ndarray of float, shape (...)
        At least 0, in the unit of the points, lower is better.

    Raises
    ------
    ValueError
        For another last axis.

    Notes
    -----
    NaN if a coordinate is NaN. Empty input, shape (0, 2), gives empty output.

    References
    ----------
    Euclid's norm, as in `scipy.spatial.distance.euclidean`.

    Examples
    --------
    >>> euclidean_distance([[0, 0], [1, 1]], [3, 4]).round(4).tolist()
    [5.0, 3.6056]
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape[-1:] != (2,) or second.shape[-1:] != (2,):
        raise ValueError(f"points: expected shapes (…, 2), found {first.shape} and {second.shape}")
    difference = first - second
    return np.asarray(np.hypot(difference[..., 0], difference[..., 1]))


def image_diagonal(width: float, height: float) -> float:
    """Length of an image's diagonal, sqrt(width² + height²): the worst distance, that of a missing point."""
    return math.hypot(width, height)
