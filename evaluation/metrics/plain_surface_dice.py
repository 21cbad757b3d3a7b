"""Surface Dice at a tolerance on plain arrays: of two regions, or of each label of two label maps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.plain_arguments import mask_of
from evaluation.metrics.plain_label_maps import compared_labels
from evaluation.metrics.surface_convention import Surface


def surface_dice(
    prediction: ArrayLike,
    reference: ArrayLike,
    tolerance_mm: float,
    spacing_mm: Sequence[float] | None = None,
    *,
    surface: Surface = "elements",
) -> float:
    """Return the share of the surfaces of two regions that is not farther from the other than a tolerance.

    Parameters
    ----------
    prediction : array_like of bool, shape (y, x) or (z, y, x)
        The predicted region: true or 1 inside.
    reference : array_like of bool, same shape
        The reference region.
    tolerance_mm : float
        At least 0. A distance that equals it up to rounding is within.
    spacing_mm : sequence of float, optional
        Size of a pixel along every axis of the array, in mm; by default 1.
    surface : {"elements", "voxels"}, optional
        Elements between voxels, weighted by area, or voxels of equal weight.

    Returns
    -------
    float
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        For shapes that differ or have other than two or three axes, values other than 0 and 1, a spacing that
        is not above 0, or a tolerance below 0.

    Notes
    -----
    Also called normalised surface Dice. 1 if both regions are empty, 0 if one of them is.

    References
    ----------
    S. Nikolov et al., "Deep learning to achieve clinically applicable segmentation of head and neck anatomy
    for radiotherapy", arXiv:1809.04430, 2018.

    Examples
    --------
    >>> surface_dice([[0, 1, 1, 0, 0, 0]], [[0, 1, 1, 1, 1, 0]], tolerance_mm=1, surface="voxels")
    0.8333333333333334
    """
    first, second = mask_of(prediction, "prediction"), mask_of(reference, "reference")
    return float(label_surface_dice(first, second, [1], tolerance_mm, spacing_mm, surface=surface)[0])


def label_surface_dice(
    prediction: ArrayLike,
    reference: ArrayLike,
    labels: Sequence[int],
    tolerance_mm: float | Sequence[float],
    spacing_mm: Sequence[float] | None = None,
    *,
    surface: Surface = "elements",
) -> NDArray[np.float64]:
    """Return the surface Dice of each label of two label maps (see `surface_dice`).

    Parameters
    ----------
    prediction : array_like of int, shape (y, x) or (z, y, x)
        The predicted label map.
    reference : array_like of int, same shape
        The reference label map.
    labels : sequence of int
        The labels to compare; all other values are background.
    tolerance_mm : float or sequence of float
        At least 0; one for all labels or one for each.
    spacing_mm : sequence of float, optional
        Size of a voxel along every axis of the array, in mm; by default 1.
    surface : {"elements", "voxels"}, optional
        Elements between voxels, weighted by area, or voxels of equal weight.

    Returns
    -------
    numpy.ndarray of float, shape (labels,)
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        For shapes that differ or have other than two or three axes, a spacing that is not above 0, a
        tolerance below 0, another number of tolerances than of labels, or labels that repeat or exceed 255 in
        number.

    Notes
    -----
    1 for a label that neither map has, 0 for one that one of them lacks.

    References
    ----------
    S. Nikolov et al., "Deep learning to achieve clinically applicable segmentation of head and neck anatomy
    for radiotherapy", arXiv:1809.04430, 2018.

    Examples
    --------
    >>> label_surface_dice([[0, 1, 1, 2]], [[0, 1, 1, 0]], labels=[1, 2, 3], tolerance_mm=0).tolist()
    [1.0, 0.0, 1.0]
    """
    tolerances = np.asarray(tolerance_mm, dtype=np.float64)
    if tolerances.shape not in ((), (len(labels),)) or not (tolerances >= 0).all():
        raise ValueError(
            f"tolerance_mm: expected a number of at least 0, or one for each label, found {tolerance_mm}"
        )
    compared = compared_labels(prediction, reference, labels, spacing_mm, surface)
    each = np.broadcast_to(tolerances, len(labels)).tolist()
    return np.array([label.surface_dice(mm) for label, mm in zip(compared, each, strict=True)])
