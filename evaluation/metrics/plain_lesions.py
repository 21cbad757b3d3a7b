"""Detection of connected components (lesions) on plain arrays, in 2D and 3D."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics.components import ComponentCounter
from evaluation.metrics.plain_arguments import mask_of


def detection_ratio(prediction: ArrayLike, reference: ArrayLike) -> float:
    """Return the share of the reference's connected components that the prediction touches.

    Parameters
    ----------
    prediction : array_like of bool, shape (y, x) or (z, y, x)
        The predicted region: true or 1 inside.
    reference : array_like of bool, same shape
        The reference region. Pixels that touch at an edge or a corner belong to one component (8 neighbours
        in 2D, 26 in 3D).

    Returns
    -------
    float
        In [0, 1], higher is better. One common pixel is enough to detect a component.

    Raises
    ------
    ValueError
        For shapes that differ or have other than two or three axes, or values other than 0 and 1.

    Notes
    -----
    NaN if the reference is empty.

    References
    ----------
    "A novel benchmark model for intelligent annotation of spectral-domain optical coherence tomography scans
    using the example of cyst annotation", 2016.

    Examples
    --------
    >>> detection_ratio([[1, 0, 0, 0]], [[1, 1, 0, 1]])
    0.5
    """
    missed, detected = _components(reference, prediction)
    return detected / (detected + missed) if detected + missed else math.nan


def false_components(prediction: ArrayLike, reference: ArrayLike) -> int:
    """Return the number of the prediction's connected components that do not touch the reference.

    Parameters
    ----------
    prediction : array_like of bool, shape (y, x) or (z, y, x)
        The predicted region: true or 1 inside. Pixels that touch at an edge or a corner belong to one
        component (8 neighbours in 2D, 26 in 3D).
    reference : array_like of bool, same shape
        The reference region.

    Returns
    -------
    int
        At least 0, lower is better.

    Raises
    ------
    ValueError
        For shapes that differ or have other than two or three axes, or values other than 0 and 1.

    Notes
    -----
    0 if the prediction is empty; all its components if the reference is empty.

    References
    ----------
    "A novel benchmark model for intelligent annotation of spectral-domain optical coherence tomography scans
    using the example of cyst annotation", 2016.

    Examples
    --------
    >>> false_components([[1, 0, 1, 0, 1]], [[1, 1, 0, 0, 0]])
    2
    """
    return _components(prediction, reference)[0]


def _components(mask: ArrayLike, touching: ArrayLike) -> tuple[int, int]:
    """Return the numbers of the mask's components that are not touched and that are."""
    regions = mask_of(mask, "mask"), mask_of(touching, "mask")
    if regions[0].ndim not in (2, 3) or regions[0].shape != regions[1].shape:
        raise ValueError(
            "expected two arrays of one shape (y, x) or (z, y, x), "
            f"found {regions[0].shape} and {regions[1].shape}"
        )
    counter = ComponentCounter(regions[0].shape[-1], across_planes=True)
    planes, other_planes = (region[np.newaxis] if region.ndim == 2 else region for region in regions)
    for plane, other in zip(planes, other_planes, strict=True):
        counter.add(plane, other, (0, 0))
    untouched, touched = counter.counts().sum(axis=0).tolist()
    return untouched, touched
