"""Hausdorff and average surface distance of each label of two label maps, on plain arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.plain_label_maps import compared_labels, spacing_of
from evaluation.metrics.surface_convention import Surface, SurfaceConvention
from evaluation.metrics.weighted_distances import Percentile

Floats = NDArray[np.float64]


def label_hausdorff_distance(
    prediction: ArrayLike,
    reference: ArrayLike,
    labels: Sequence[int],
    spacing_mm: Sequence[float] | None = None,
    *,
    percentile: float = 100.0,
    surface: Surface = "elements",
    method: Percentile = "index",
    worst_mm: float | None = None,
) -> Floats:
    """Return the Hausdorff distance of each label of two label maps, or a percentile of it.

    The percentile is taken of the distances from all parts of one surface to the other, in both directions;
    the larger of the two values is returned.

    Parameters
    ----------
    prediction : array_like of int, shape (y, x) or (z, y, x)
        The predicted label map.
    reference : array_like of int, same shape
        The reference label map.
    labels : sequence of int
        The labels to compare; all other values are background.
    spacing_mm : sequence of float, optional
        Size of a voxel along every axis of the array, in mm; by default 1: the result is in voxels.
    percentile : float, optional
        In [0, 100]: 100 gives the Hausdorff distance, 95 the robust variant.
    surface : {"elements", "voxels"}, optional
        Elements between voxels, weighted by area, or voxels of equal weight.
    method : {"index", "linear"}, optional
        "index" takes one of the distances: of elements the first at which the cumulated area reaches the
        percentile, of n voxels number 1 + floor((n − 1)·p / 100). "linear" interpolates between two, for
        voxels only (NumPy, MedPy, MONAI, MetricsReloaded).
    worst_mm : float, optional
        The value for a label that one of the maps lacks; by default the diagonal of the array.

    Returns
    -------
    numpy.ndarray of float, shape (labels,)
        At least 0, in mm, lower is better.

    Raises
    ------
    ValueError
        For shapes that differ or have other than two or three axes, a spacing that is not above 0, a
        percentile outside [0, 100], "linear" for elements, or labels that repeat or exceed 255 in number.

    Notes
    -----
    0 for a label that neither map has.

    References
    ----------
    D. P. Huttenlocher et al., "Comparing images using the Hausdorff distance", IEEE Transactions on Pattern
    Analysis and Machine Intelligence 15:850–863, 1993.

    Examples
    --------
    >>> prediction, reference = [[1, 1, 0, 2, 0]], [[1, 0, 0, 0, 2]]
    >>> label_hausdorff_distance(prediction, reference, labels=[1, 2, 3], spacing_mm=(1, 0.5)).tolist()
    [0.5, 0.5, 0.0]
    """
    if not 0 <= percentile <= 100:
        raise ValueError(f"percentile: expected a number from 0 to 100, found {percentile}")
    SurfaceConvention(surface, method)
    compared = compared_labels(prediction, reference, labels, spacing_mm, surface)
    found = [label.hausdorff_distance(percentile, method) for label in compared]
    return _with_worst(found, prediction, spacing_mm, worst_mm)


def label_average_surface_distance(
    prediction: ArrayLike,
    reference: ArrayLike,
    labels: Sequence[int],
    spacing_mm: Sequence[float] | None = None,
    *,
    surface: Surface = "elements",
    worst_mm: float | None = None,
) -> Floats:
    """Return the average symmetric surface distance of each label of two label maps.

    The mean is taken of the distances from all parts of either surface to the other one.

    Parameters
    ----------
    prediction : array_like of int, shape (y, x) or (z, y, x)
        The predicted label map.
    reference : array_like of int, same shape
        The reference label map.
    labels : sequence of int
        The labels to compare; all other values are background.
    spacing_mm : sequence of float, optional
        Size of a voxel along every axis of the array, in mm; by default 1: the result is in voxels.
    surface : {"elements", "voxels"}, optional
        Elements between voxels, weighted by area, or voxels of equal weight.
    worst_mm : float, optional
        The value for a label that one of the maps lacks; by default the diagonal of the array.

    Returns
    -------
    numpy.ndarray of float, shape (labels,)
        At least 0, in mm, lower is better.

    Raises
    ------
    ValueError
        For shapes that differ or have other than two or three axes, a spacing that is not above 0, or labels
        that repeat or exceed 255 in number.

    Notes
    -----
    0 for a label that neither map has. The distances of both directions are pooled, so the larger surface has
    more influence.

    References
    ----------
    T. Heimann et al., "Comparison and evaluation of methods for liver segmentation from CT datasets", IEEE
    Transactions on Medical Imaging 28:1251–1265, 2009.

    Examples
    --------
    >>> prediction, reference = [[1, 1, 0, 2, 0]], [[1, 0, 0, 0, 2]]
    >>> label_average_surface_distance(prediction, reference, labels=[2, 3], surface="voxels").tolist()
    [1.0, 0.0]
    """
    compared = compared_labels(prediction, reference, labels, spacing_mm, surface)
    found = [label.average_distance() for label in compared]
    return _with_worst(found, prediction, spacing_mm, worst_mm)


def _with_worst(
    found: Sequence[float], values: ArrayLike, spacing_mm: Sequence[float] | None, worst_mm: float | None
) -> Floats:
    """Return distances, with the worst one in place of those to nothing."""
    array = np.asarray(values)
    worst = math.hypot(*(spacing_of(array, spacing_mm) * array.shape)) if worst_mm is None else worst_mm
    return np.where(np.isinf(found), worst, found)
