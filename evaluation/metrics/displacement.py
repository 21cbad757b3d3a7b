"""Displacement fields of registered images: warped labels, landmarks, and how smooth a field is."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Floats

_BORDER = 2
_OFFSET = 3.0
_BOUNDS = (1e-9, 1e9)


def warp_labels(labels: ArrayLike, vectors: ArrayLike) -> NDArray[Any]:
    """Return the labels of a moving image at the nearest voxels of where a displacement field leads.

    labels: shape (z, y, x). vectors: components x, y and z in voxels, shape (3, z, y, x), for each voxel of
    the fixed image; the result has its shape, and 0 where it leads out of the moving image. As SciPy's
    `map_coordinates` with ``order=0``. Raises ValueError for a field of another shape. Source: Hering et al.,
    IEEE TMI 42:697, 2023 (Learn2Reg), as for all functions here.
    """
    moving, field = np.asarray(labels), _field(vectors)
    warped = np.zeros(field.shape[1:], moving.dtype)
    flat, strides = moving.reshape(-1), (1, moving.shape[2], moving.shape[1] * moving.shape[2])
    rest = np.ogrid[: field.shape[2], : field.shape[3]]
    for z, plane in enumerate(warped):
        index, outside = np.zeros(plane.shape, np.int64), np.zeros(plane.shape, np.bool_)
        for component, start in enumerate((rest[1], rest[0], z)):
            place = field[component, z] + np.asarray(start, np.float64)
            outside |= (place < 0) | (place > moving.shape[2 - component] - 1)
            place += 0.5
            index += place.astype(np.int64) * strides[component]
        index[outside] = 0
        np.take(flat, index, out=plane)
        plane[outside] = 0
    return warped


def target_registration_errors(
    fixed: ArrayLike, moving: ArrayLike, vectors: ArrayLike, spacing_mm: tuple[float, float, float]
) -> Floats:
    """Return the distance in mm of each landmark of the moving image from where a field leads the fixed one.

    fixed, moving: x, y and z in voxels, shape (landmarks, 3), as is the result without its axes. spacing_mm:
    (z, y, x). The field is a cubic spline between voxels, and 0 outside of the image. Empty input gives empty
    output. Raises ValueError for lists that are not equally long.
    """
    from scipy.ndimage import map_coordinates  # 0.2 s that few phases need

    start, end = (np.asarray(points, np.float64).reshape(-1, 3) for points in (fixed, moving))
    if start.shape != end.shape:
        raise ValueError(f"expected as many fixed as moving landmarks, found {len(start)} and {len(end)}")
    if not len(start):
        return np.zeros(0)
    places = start[:, ::-1].T
    led = start + np.stack([map_coordinates(of, places, np.float64) for of in _field(vectors)], axis=1)
    return np.asarray(np.linalg.norm((led - end) * np.asarray(spacing_mm)[::-1], axis=1))


def jacobian_determinants(vectors: ArrayLike) -> Floats:
    """Return the Jacobian determinants of a deformation, of all voxels but the outer two on each side.

    1: a volume stays as it is; 0 or below: it folds. Derivatives are central differences. Empty where a side
    has fewer than five voxels.
    """
    field = _field(vectors)
    shape = [max(0, size - 2 * _BORDER) for size in field.shape[1:]]
    found = np.zeros(shape)
    inner = slice(_BORDER, -_BORDER)
    for z in range(shape[0]):
        # Three planes at a time: all derivatives of a volume would take nine times its memory.
        part = field[:, z + 1 : z + 4].astype(np.float64)
        ahead = (part[:, 1, inner, 3:-1], part[:, 1, 3:-1, inner], part[:, 2, inner, inner])
        behind = (part[:, 1, inner, 1:-3], part[:, 1, 1:-3, inner], part[:, 0, inner, inner])
        (xx, yx, zx), (xy, yy, zy), (xz, yz, zz) = (
            [0.5 * (after - before) + (axis == component) for component, (after, before) in enumerate(pairs)]
            for axis, pairs in enumerate(zip(*both, strict=True) for both in zip(ahead, behind, strict=True))
        )
        found[z] = xx * (yy * zz - zy * yz) - yx * (xy * zz - zy * xz) + zx * (xy * yz - yy * xz)
    return found


def log_jacobian_deviation(determinants: Floats) -> float:
    """Return the standard deviation of the logarithm of determinants + 3, within 1e-9 and 1e9 (Learn2Reg)."""
    return float(np.log(np.clip(determinants + _OFFSET, *_BOUNDS)).std())


LARGEST_DEVIATION = math.log(_BOUNDS[1])
"""The largest standard deviation that there can be: half of the logarithms at either bound."""


def _field(vectors: ArrayLike) -> Floats:
    field = np.asarray(vectors)
    if field.ndim != 4 or len(field) != 3:
        raise ValueError(f"expected a field of shape (3, z, y, x), found {field.shape}")
    return field
