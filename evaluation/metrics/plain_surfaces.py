"""Distances between the surfaces of two regions on plain arrays, in 2D and 3D.

A pixel or voxel is of the surface if one of its 4 (2D) or 6 (3D) neighbours is outside the region or the
array. All surface pixels have equal weight, as in SimpleITK and MedPy; tools that weight surface elements by
their area give values that differ by up to several per cent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.crop import Crop, box_of_content
from evaluation.metrics.nearest import nearest_distances
from evaluation.metrics.plain_arguments import mask_of
from evaluation.metrics.surface_distance import surface_planes

Directed = tuple[NDArray[np.float64], NDArray[np.float64]]


def hausdorff_distance(
    prediction: ArrayLike,
    reference: ArrayLike,
    spacing_mm: Sequence[float] | None = None,
    *,
    percentile: float = 100.0,
) -> float:
    """Return the Hausdorff distance between the surfaces of two regions, or a percentile of it.

    The percentile is taken of the distances from every surface pixel of one region to the surface of the
    other, in both directions; the larger of the two values is returned.

    Parameters
    ----------
    prediction : array_like of bool, shape (y, x) or (z, y, x)
        The predicted region: true or 1 inside.
    reference : array_like of bool, same shape
        The reference region.
    spacing_mm : sequence of float, optional
        Size of a pixel along every axis of the array, in mm. By default 1 along every axis: the result is in
        pixels.
    percentile : float, optional
        In [0, 100]: 100 gives the Hausdorff distance, 95 the robust variant.

    Returns
    -------
    float
        At least 0, in mm, lower is better.

    Raises
    ------
    ValueError
        For shapes that differ or have other than two or three axes, values other than 0 and 1, a spacing that
        is not above 0, or a percentile outside [0, 100].

    Notes
    -----
    NaN if the reference is empty; the diagonal of the array if only the prediction is empty. Of n sorted
    distances the percentile p is number 1 + floor((n − 1)·p / 100), without interpolation.

    References
    ----------
    D. P. Huttenlocher et al., "Comparing images using the Hausdorff distance", IEEE Transactions on Pattern
    Analysis and Machine Intelligence 15:850–863, 1993.

    Examples
    --------
    >>> hausdorff_distance([[1, 1, 0, 0, 0]], [[1, 0, 0, 0, 1]], spacing_mm=(1.0, 0.5))
    1.5
    """
    if not 0 <= percentile <= 100:
        raise ValueError(f"percentile: expected a number from 0 to 100, found {percentile}")
    found = _directed(prediction, reference, spacing_mm)
    if isinstance(found, float):
        return found
    return max(float(distances[int((len(distances) - 1) * percentile / 100)]) for distances in found)


def modified_hausdorff_distance(
    prediction: ArrayLike, reference: ArrayLike, spacing_mm: Sequence[float] | None = None
) -> float:
    """Return the modified Hausdorff distance: the larger of the two mean distances between the surfaces.

    Parameters
    ----------
    prediction : array_like of bool, shape (y, x) or (z, y, x)
        The predicted region: true or 1 inside.
    reference : array_like of bool, same shape
        The reference region.
    spacing_mm : sequence of float, optional
        Size of a pixel along every axis of the array, in mm; by default 1.

    Returns
    -------
    float
        At least 0, in mm, lower is better.

    Raises
    ------
    ValueError
        For shapes that differ or have other than two or three axes, values other than 0 and 1, or a spacing
        that is not above 0.

    Notes
    -----
    NaN if the reference is empty; the diagonal of the array if only the prediction is empty.

    References
    ----------
    M.-P. Dubuisson and A. K. Jain, "A modified Hausdorff distance for object matching", Proceedings of the
    12th International Conference on Pattern Recognition, 566–568, 1994.

    Examples
    --------
    >>> modified_hausdorff_distance([[1, 1, 0, 0, 0]], [[1, 0, 0, 0, 1]])
    1.5
    """
    found = _directed(prediction, reference, spacing_mm)
    return found if isinstance(found, float) else max(float(distances.mean()) for distances in found)


def average_symmetric_surface_distance(
    prediction: ArrayLike, reference: ArrayLike, spacing_mm: Sequence[float] | None = None
) -> float:
    """Return the mean of the distances from every surface pixel of either region to the other surface.

    Parameters
    ----------
    prediction : array_like of bool, shape (y, x) or (z, y, x)
        The predicted region: true or 1 inside.
    reference : array_like of bool, same shape
        The reference region.
    spacing_mm : sequence of float, optional
        Size of a pixel along every axis of the array, in mm; by default 1.

    Returns
    -------
    float
        At least 0, in mm, lower is better.

    Raises
    ------
    ValueError
        For shapes that differ or have other than two or three axes, values other than 0 and 1, or a spacing
        that is not above 0.

    Notes
    -----
    NaN if the reference is empty; the diagonal of the array if only the prediction is empty. The distances of
    both directions are pooled, so the region with the larger surface has more influence.

    References
    ----------
    T. Heimann et al., "Comparison and evaluation of methods for liver segmentation from CT datasets", IEEE
    Transactions on Medical Imaging 28:1251–1265, 2009.

    Examples
    --------
    >>> average_symmetric_surface_distance([[1, 1, 0, 0, 0]], [[1, 0, 0, 0, 1]])
    1.0
    """
    found = _directed(prediction, reference, spacing_mm)
    return found if isinstance(found, float) else float(np.concatenate(found).mean())


def _directed(
    prediction: ArrayLike, reference: ArrayLike, spacing_mm: Sequence[float] | None
) -> Directed | float:
    """Return the sorted distances in both directions, or the value where a region is empty."""
    first, second = mask_of(prediction, "prediction"), mask_of(reference, "reference")
    if first.shape != second.shape or first.ndim not in (2, 3):
        raise ValueError(
            f"expected two arrays of one shape (y, x) or (z, y, x), found {first.shape} and {second.shape}"
        )
    spacing = np.ones(first.ndim) if spacing_mm is None else np.asarray(spacing_mm, dtype=np.float64)
    if spacing.shape != (first.ndim,) or not (np.isfinite(spacing) & (spacing > 0)).all():
        raise ValueError(f"spacing_mm: expected {first.ndim} numbers above 0, found {spacing_mm}")
    here, there = _surface(first), _surface(second)
    if not any(plane.values.any() for plane in there):
        return math.nan
    if not any(plane.values.any() for plane in here):
        return math.hypot(*(spacing * first.shape))
    spacing_zyx = (1.0, *spacing.tolist())[-3:]
    forwards, backwards = (
        np.sort(nearest_distances(*pair, spacing_zyx)).astype(np.float64, copy=False)
        for pair in ((here, there), (there, here))
    )
    return forwards, backwards


def _surface(values: NDArray[np.generic]) -> list[Crop]:
    """Return the surface of a region as boolean planes."""
    if values.dtype != np.bool_ and not ((values == 0) | (values == 1)).all():
        raise ValueError("expected 0 and 1 only; choose a label first, for example mask == 255")
    region = values.astype(np.bool_)
    if region.ndim == 3:
        return surface_planes([_cropped(plane) for plane in region])
    # Between two copies of itself a plane has no neighbours in z that are outside.
    return surface_planes([_cropped(region)] * 3)[1:2]


def _cropped(plane: NDArray[np.bool_]) -> Crop:
    box = box_of_content(plane)
    return Crop(plane[box.slices], box.top, box.left)
