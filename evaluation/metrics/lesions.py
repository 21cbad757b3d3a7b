"""Lesions as connected components of two masks: which are found, which are false, how well they fit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics.arrays import Bools, regions_of
from evaluation.metrics.components import Neighbours, components_of
from evaluation.metrics.matching import Overlaps, overlaps_of

__all__ = [
    "detected_lesions",
    "false_lesions",
    "false_negative_volume",
    "false_positive_volume",
    "lesion_count_difference",
    "lesion_f1",
    "panoptic_quality",
]

F1Reading = Literal["shares", "counts"]


def lesion_f1(
    prediction: ArrayLike,
    reference: ArrayLike,
    *,
    neighbours: Neighbours = "all",
    reading: F1Reading = "shares",
) -> float:
    """Return the F1 of connected components that touch a component of the other mask.

    Parameters
    ----------
    prediction : array_like of bool, shape (y, x) or (z, y, x)
        The predicted region: true or 1 inside.
    reference : array_like of bool, same shape
        The reference region.
    neighbours : {"all", "edges", "faces"}, optional
        Pixels of one component: "all" 8 neighbours (26 in 3D), those that share at least "edges" (18 in 3D),
        or the 4 (6) that share "faces".
    reading : {"shares", "counts"}, optional
        "shares": the harmonic mean of recall, the share of the reference's components that are touched, and
        precision, the share of the predicted ones. "counts": tp / (tp + (fp + fn) / 2), in which tp and fn
        are the reference's components that are and are not touched, fp the predicted ones that touch none.

    Returns
    -------
    float
        In [0, 1], higher is better.

    Notes
    -----
    1 if both regions are empty, 0 if exactly one is. By default pixels that touch at an edge or a corner
    belong to one component. Raises ValueError for shapes that differ or have other than two or three axes, or
    values other than 0 and 1.

    References
    ----------
    O. Commowick et al., "Objective evaluation of multiple sclerosis lesion segmentation using a data
    management and processing infrastructure", Scientific Reports 8:13650, 2018 ("shares"); M. R. Hernandez
    Petzsche et al., "ISLES 2022: a multi-center magnetic resonance imaging stroke lesion segmentation
    dataset", Scientific Data 9:762, 2022 ("counts").

    Examples
    --------
    >>> lesion_f1([[1, 1, 0, 1, 0, 0]], [[1, 1, 0, 0, 0, 1]])
    0.5
    """
    if reading not in get_args(F1Reading):
        raise ValueError(f"reading: expected 'shares' or 'counts', found {reading!r}")
    return f1_of_lesions(_lesions(prediction, reference, neighbours), reading)


def lesion_count_difference(
    prediction: ArrayLike, reference: ArrayLike, *, neighbours: Neighbours = "all"
) -> int:
    """Return the difference of the numbers of connected components, without its sign.

    Parameters and errors: as for `lesion_f1`.

    Returns
    -------
    int
        At least 0, lower is better.

    Notes
    -----
    0 if both regions are empty. Components as for `lesion_f1`.

    References
    ----------
    M. R. Hernandez Petzsche et al., "ISLES 2022: a multi-center magnetic resonance imaging stroke lesion
    segmentation dataset", Scientific Data 9:762, 2022.

    Examples
    --------
    >>> lesion_count_difference([[1, 1, 0, 1]], [[1, 1, 0, 0]])
    1
    """
    found = _lesions(prediction, reference, neighbours)
    return abs(len(found.prediction_voxels) - len(found.reference_voxels))


def panoptic_quality(
    prediction: ArrayLike, reference: ArrayLike, *, neighbours: Neighbours = "all"
) -> "LesionPanopticQuality":
    """Return the panoptic quality of the connected components.

    Parameters and errors: as for `lesion_f1`.

    Returns
    -------
    LesionPanopticQuality
        ``recognition`` is the F1 of the components, where a pair matches if its IoU is above ½;
        ``segmentation`` the mean IoU of the matches; ``panoptic`` their product. Each in [0, 1], higher is
        better.

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
    found = _lesions(prediction, reference, neighbours)
    if not found.objects:
        return LesionPanopticQuality(1.0, 1.0, 1.0)
    matched = found.matched(0.5, strict=True, matching="any").iou  # no component can be in two of these pairs
    segmentation = math.fsum(matched) / len(matched) if len(matched) else 0.0
    recognition = 2 * len(matched) / found.objects
    return LesionPanopticQuality(segmentation * recognition, segmentation, recognition)


def false_positive_volume(
    prediction: ArrayLike,
    reference: ArrayLike,
    *,
    spacing_mm: Sequence[float] | None = None,
    neighbours: Neighbours = "all",
) -> float:
    """Return the volume of the predicted components that touch no component of the reference.

    Parameters
    ----------
    prediction, reference, neighbours
        See `lesion_f1`.
    spacing_mm : sequence of float, optional
        Size of a pixel along each axis, in mm. By default 1 each, so that the volume is in pixels.

    Returns
    -------
    float
        At least 0, in mm³ (mm² in 2D), lower is better.

    Notes
    -----
    0 if the prediction is empty. Components as for `lesion_f1`. Raises ValueError as `lesion_f1`, and for a
    spacing that does not fit or is not above 0.

    References
    ----------
    S. Gatidis et al., "Results from the autoPET challenge on fully automated lesion segmentation in oncologic
    PET/CT imaging", Nature Machine Intelligence 6:1396–1405, 2024.

    Examples
    --------
    >>> false_positive_volume([[1, 1, 0, 1, 0, 0]], [[1, 1, 0, 0, 0, 1]], spacing_mm=(0.5, 1.0))
    0.5
    """
    found = _lesions(prediction, reference, neighbours)
    return found.false_voxels * _voxel(spacing_mm, np.ndim(reference))


def false_negative_volume(
    prediction: ArrayLike,
    reference: ArrayLike,
    *,
    spacing_mm: Sequence[float] | None = None,
    neighbours: Neighbours = "all",
) -> float:
    """Return the volume of the reference's components that no predicted component touches.

    Parameters, Returns, errors and References: as for `false_positive_volume`.

    Notes
    -----
    0 if the reference is empty. Components as for `lesion_f1`.

    Examples
    --------
    >>> false_negative_volume([[1, 1, 0, 1, 0, 0]], [[1, 1, 0, 0, 0, 1]], spacing_mm=(0.5, 1.0))
    0.5
    """
    found = _lesions(prediction, reference, neighbours)
    return found.missed_voxels * _voxel(spacing_mm, np.ndim(reference))


def _lesions(prediction: ArrayLike, reference: ArrayLike, neighbours: Neighbours) -> Overlaps:
    regions = regions_of(prediction, reference)
    if neighbours not in get_args(Neighbours):
        raise ValueError(f"neighbours: expected 'all', 'edges' or 'faces', found {neighbours!r}")
    return find_lesions(*regions, neighbours)


def _voxel(spacing_mm: Sequence[float] | None, axes: int) -> float:
    """Return the volume of one voxel in mm³."""
    sizes = (1.0,) * axes if spacing_mm is None else tuple(map(float, spacing_mm))
    if len(sizes) != axes or not all(math.isfinite(size) and size > 0 for size in sizes):
        raise ValueError(f"spacing_mm: expected {axes} finite numbers above 0, found {spacing_mm!r}")
    return math.prod(sizes)


def detected_lesions(prediction: ArrayLike, reference: ArrayLike, *, neighbours: Neighbours = "all") -> float:
    """Return the share of the reference's connected components that the prediction touches.

    Parameters and errors: as for `lesion_f1`.

    Returns
    -------
    float
        In [0, 1], higher is better. One common pixel is enough to detect a component.

    Notes
    -----
    NaN if the reference is empty.

    References
    ----------
    "A novel benchmark model for intelligent annotation of spectral-domain optical coherence tomography scans
    using the example of cyst annotation", 2016.

    Examples
    --------
    >>> detected_lesions([[1, 0, 0, 0]], [[1, 1, 0, 1]])
    0.5
    """
    found = _lesions(prediction, reference, neighbours)
    references = len(found.reference_voxels)
    return found.detected / references if references else math.nan


def false_lesions(prediction: ArrayLike, reference: ArrayLike, *, neighbours: Neighbours = "all") -> int:
    """Return the number of the prediction's connected components that do not touch the reference.

    Parameters and errors: as for `lesion_f1`. Returns: as for `lesion_count_difference`. References: as for
    `detected_lesions`.

    Notes
    -----
    0 if the prediction is empty; all its components if the reference is empty.

    Examples
    --------
    >>> false_lesions([[1, 0, 1, 0, 1]], [[1, 1, 0, 0, 0]])
    2
    """
    return _lesions(prediction, reference, neighbours).false


@dataclass(frozen=True, slots=True)
class LesionPanopticQuality:
    """Panoptic quality, the product of recognition (F1 of pairs with IoU > ½) and segmentation (mean IoU).

    Each in [0, 1], higher is better. ``segmentation`` is 0 where no pair matches.
    """

    panoptic: float
    segmentation: float
    recognition: float


def find_lesions(prediction: Bools, reference: Bools, neighbours: Neighbours = "all") -> Overlaps:
    """Return the connected components of two masks of one shape and how they overlap.

    prediction, reference: boolean, shape (z, y, x) or (y, x). neighbours: see `lesion_f1`. Raises ValueError
    where the shapes differ.
    """
    if prediction.shape != reference.shape:
        raise ValueError(f"prediction: expected shape {reference.shape}, found {prediction.shape}")
    (predicted, predictions), (true, references) = (
        components_of(mask, neighbours) for mask in (prediction, reference)
    )
    return overlaps_of(predicted, true, predictions, references)


def f1_of_lesions(found: Overlaps, reading: F1Reading = "shares") -> float:
    """F1 of components in pairs, in [0, 1]; 1 where neither mask has one. Readings: see `lesion_f1`."""
    references, predictions = len(found.reference_voxels), len(found.prediction_voxels)
    if not references or not predictions:
        return 1.0 if references == predictions else 0.0
    if reading == "counts":
        return found.detected / (found.detected + (found.false + references - found.detected) / 2)
    recall, precision = found.detected / references, found.hits / predictions
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0
