"""Components (lesions) of two masks on plain arrays: F1, panoptic quality, volumes of false components."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics import lesions
from evaluation.metrics.lesions import Lesions, PanopticQuality
from evaluation.metrics.plain_arguments import mask_of


def lesion_f1(prediction: ArrayLike, reference: ArrayLike) -> float:
    """Return the F1 of connected components that touch a component of the other mask.

    Parameters
    ----------
    prediction : array_like of bool, shape (y, x) or (z, y, x)
        The predicted region: true or 1 inside.
    reference : array_like of bool, same shape
        The reference region.

    Returns
    -------
    float
        In [0, 1], higher is better. Recall is the share of the reference's components that are touched,
        precision that of the predicted ones.

    Raises
    ------
    ValueError
        For shapes that differ or have other than two or three axes, or values other than 0 and 1.

    Notes
    -----
    1 if both regions are empty, 0 if exactly one is. Pixels that touch at an edge or a corner belong to one
    component (8 neighbours in 2D, 26 in 3D).

    References
    ----------
    O. Commowick et al., "Objective evaluation of multiple sclerosis lesion segmentation using a data
    management and processing infrastructure", Scientific Reports 8:13650, 2018.

    Examples
    --------
    >>> lesion_f1([[1, 1, 0, 1, 0, 0]], [[1, 1, 0, 0, 0, 1]])
    0.5
    """
    return lesions.lesion_f1(_lesions(prediction, reference))


def lesion_difference(prediction: ArrayLike, reference: ArrayLike) -> int:
    """Return the difference of the numbers of connected components, without its sign.

    Parameters
    ----------
    prediction : array_like of bool, shape (y, x) or (z, y, x)
        The predicted region: true or 1 inside.
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
    0 if both regions are empty. Components as for `lesion_f1`.

    References
    ----------
    M. R. Hernandez Petzsche et al., "ISLES 2022: a multi-center magnetic resonance imaging stroke lesion
    segmentation dataset", Scientific Data 9:762, 2022.

    Examples
    --------
    >>> lesion_difference([[1, 1, 0, 1]], [[1, 1, 0, 0]])
    1
    """
    found = _lesions(prediction, reference)
    return abs(len(found.prediction_voxels) - len(found.reference_voxels))


def panoptic_quality(prediction: ArrayLike, reference: ArrayLike) -> PanopticQuality:
    """Return the panoptic quality of the connected components.

    Parameters
    ----------
    prediction : array_like of bool, shape (y, x) or (z, y, x)
        The predicted region: true or 1 inside.
    reference : array_like of bool, same shape
        The reference region.

    Returns
    -------
    PanopticQuality
        ``recognition`` is the F1 of the components, of which a pair matches if its IoU is above ½;
        ``segmentation`` the mean IoU of the matches; ``panoptic`` their product. Each in [0, 1], higher is
        better.

    Raises
    ------
    ValueError
        For shapes that differ or have other than two or three axes, or values other than 0 and 1.

    Notes
    -----
    All 1 if both regions are empty; all 0 without a match. Components as for `lesion_f1`.

    References
    ----------
    A. Kirillov et al., "Panoptic segmentation", CVPR, 9396–9405, 2019.

    Examples
    --------
    >>> quality = panoptic_quality([[1, 1, 0, 1, 0, 0]], [[1, 1, 0, 0, 0, 1]])
    >>> quality.panoptic, quality.segmentation, quality.recognition
    (0.5, 1.0, 0.5)
    """
    return lesions.panoptic_quality(_lesions(prediction, reference))


def false_positive_volume(
    prediction: ArrayLike, reference: ArrayLike, *, spacing_mm: Sequence[float] | None = None
) -> float:
    """Return the volume of the predicted components that touch no component of the reference.

    Parameters
    ----------
    prediction : array_like of bool, shape (y, x) or (z, y, x)
        The predicted region: true or 1 inside.
    reference : array_like of bool, same shape
        The reference region.
    spacing_mm : sequence of float, optional
        Size of a pixel along each axis, in mm. By default 1 each, so that the volume is in pixels.

    Returns
    -------
    float
        At least 0, in mm³ (mm² in 2D), lower is better.

    Raises
    ------
    ValueError
        For shapes that differ or have other than two or three axes, values other than 0 and 1, or a spacing
        that does not fit or is not above 0.

    Notes
    -----
    0 if the prediction is empty. Components as for `lesion_f1`.

    References
    ----------
    S. Gatidis et al., "Results from the autoPET challenge on fully automated lesion segmentation in oncologic
    PET/CT imaging", Nature Machine Intelligence 6:1396–1405, 2024.

    Examples
    --------
    >>> false_positive_volume([[1, 1, 0, 1, 0, 0]], [[1, 1, 0, 0, 0, 1]], spacing_mm=(0.5, 1.0))
    0.5
    """
    found = _lesions(prediction, reference)
    return lesions.false_positive_voxels(found) * _voxel(spacing_mm, np.ndim(reference))


def false_negative_volume(
    prediction: ArrayLike, reference: ArrayLike, *, spacing_mm: Sequence[float] | None = None
) -> float:
    """Return the volume of the reference's components that no predicted component touches.

    Parameters
    ----------
    prediction : array_like of bool, shape (y, x) or (z, y, x)
        The predicted region: true or 1 inside.
    reference : array_like of bool, same shape
        The reference region.
    spacing_mm : sequence of float, optional
        Size of a pixel along each axis, in mm. By default 1 each, so that the volume is in pixels.

    Returns
    -------
    float
        At least 0, in mm³ (mm² in 2D), lower is better.

    Raises
    ------
    ValueError
        For shapes that differ or have other than two or three axes, values other than 0 and 1, or a spacing
        that does not fit or is not above 0.

    Notes
    -----
    0 if the reference is empty. Components as for `lesion_f1`.

    References
    ----------
    S. Gatidis et al., "Results from the autoPET challenge on fully automated lesion segmentation in oncologic
    PET/CT imaging", Nature Machine Intelligence 6:1396–1405, 2024.

    Examples
    --------
    >>> false_negative_volume([[1, 1, 0, 1, 0, 0]], [[1, 1, 0, 0, 0, 1]], spacing_mm=(0.5, 1.0))
    0.5
    """
    found = _lesions(prediction, reference)
    return lesions.false_negative_voxels(found) * _voxel(spacing_mm, np.ndim(reference))


def _lesions(prediction: ArrayLike, reference: ArrayLike) -> Lesions:
    regions = mask_of(prediction, "prediction"), mask_of(reference, "reference")
    if regions[0].ndim not in (2, 3) or regions[0].shape != regions[1].shape:
        raise ValueError(
            "expected two arrays of one shape (y, x) or (z, y, x), "
            f"found {regions[0].shape} and {regions[1].shape}"
        )
    return lesions.lesions(*regions)


def _voxel(spacing_mm: Sequence[float] | None, axes: int) -> float:
    """Return the volume of one voxel in mm³."""
    sizes = (1.0,) * axes if spacing_mm is None else tuple(map(float, spacing_mm))
    if len(sizes) != axes or not all(math.isfinite(size) and size > 0 for size in sizes):
        raise ValueError(f"spacing_mm: expected {axes} finite numbers above 0, found {spacing_mm!r}")
    return math.prod(sizes)
