"""Lesions as connected components of two masks: which are found, which are false, how well they fit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Bools, Floats, Integers, regions_of

__all__ = [
    "detection_ratio",
    "false_components",
    "false_negative_volume",
    "false_positive_volume",
    "lesion_difference",
    "lesion_f1",
    "panoptic_quality",
]

Neighbours = Literal["all", "edges", "faces"]
F1Reading = Literal["shares", "counts"]
AnyIntegers = NDArray[np.integer]


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


def lesion_difference(prediction: ArrayLike, reference: ArrayLike, *, neighbours: Neighbours = "all") -> int:
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
    >>> lesion_difference([[1, 1, 0, 1]], [[1, 1, 0, 0]])
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
    return panoptic_quality_of_lesions(_lesions(prediction, reference, neighbours))


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
    return false_positive_voxels(found) * _voxel(spacing_mm, np.ndim(reference))


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
    return false_negative_voxels(found) * _voxel(spacing_mm, np.ndim(reference))


def _lesions(prediction: ArrayLike, reference: ArrayLike, neighbours: Neighbours) -> "Lesions":
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


def detection_ratio(prediction: ArrayLike, reference: ArrayLike, *, neighbours: Neighbours = "all") -> float:
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
    >>> detection_ratio([[1, 0, 0, 0]], [[1, 1, 0, 1]])
    0.5
    """
    found = _lesions(prediction, reference, neighbours)
    references = len(found.reference_voxels)
    return found.detected / references if references else math.nan


def false_components(prediction: ArrayLike, reference: ArrayLike, *, neighbours: Neighbours = "all") -> int:
    """Return the number of the prediction's connected components that do not touch the reference.

    Parameters and errors: as for `lesion_f1`. Returns: as for `lesion_difference`. References: as for
    `detection_ratio`.

    Notes
    -----
    0 if the prediction is empty; all its components if the reference is empty.

    Examples
    --------
    >>> false_components([[1, 0, 1, 0, 1]], [[1, 1, 0, 0, 0]])
    2
    """
    return _lesions(prediction, reference, neighbours).false


@dataclass(frozen=True, slots=True)
class Lesions:
    """Components of a predicted and a reference mask, and the pairs that overlap.

    prediction_voxels, reference_voxels: size of each component. pair_prediction, pair_reference: indices of
    the components of each overlapping pair; pair_voxels: voxels that both have; all of shape (pairs,).
    """

    prediction_voxels: Integers
    reference_voxels: Integers
    pair_prediction: Integers
    pair_reference: Integers
    pair_voxels: Integers

    @property
    def iou(self) -> Floats:
        """Intersection over union of each pair, in (0, 1]."""
        union = (
            self.prediction_voxels[self.pair_prediction]
            + self.reference_voxels[self.pair_reference]
            - self.pair_voxels
        )
        return self.pair_voxels / union

    @property
    def detected(self) -> int:
        """Number of reference components that the prediction touches."""
        return len(np.unique(self.pair_reference))

    @property
    def hits(self) -> int:
        """Number of predicted components that touch a reference component."""
        return len(np.unique(self.pair_prediction))

    @property
    def false(self) -> int:
        """Number of predicted components that touch no reference component."""
        return len(self.prediction_voxels) - self.hits


@dataclass(frozen=True, slots=True)
class LesionPanopticQuality:
    """Panoptic quality, the product of recognition (F1 of pairs with IoU > ½) and segmentation (mean IoU).

    Each in [0, 1], higher is better. ``segmentation`` is 0 where no pair matches.
    """

    panoptic: float
    segmentation: float
    recognition: float


def neighbourhood(axes: int, neighbours: Neighbours) -> Bools:
    """Return the 3 × 3 (× 3) pixels around one that count as its neighbours, with itself."""
    from scipy import ndimage  # 0.3 s that only few challenges need

    steps = {"faces": 1, "edges": 2, "all": axes}[neighbours]
    around: Bools = ndimage.generate_binary_structure(axes, steps)
    return around


def find_lesions(prediction: Bools, reference: Bools, neighbours: Neighbours = "all") -> Lesions:
    """Return the connected components of two masks of one shape and how they overlap.

    prediction, reference: boolean, shape (z, y, x) or (y, x). neighbours: see `lesion_f1`. Raises ValueError
    where the shapes differ.
    """
    from scipy import ndimage  # 0.3 s that only few challenges need

    if prediction.shape != reference.shape:
        raise ValueError(f"prediction: expected shape {reference.shape}, found {prediction.shape}")
    structure = neighbourhood(prediction.ndim, neighbours)
    (predicted, predictions), (true, references) = (
        ndimage.label(mask, structure=structure) for mask in (prediction, reference)
    )
    both = np.flatnonzero(prediction & reference)
    pairs, voxels = np.unique(
        (predicted.reshape(-1)[both].astype(np.int64) - 1) * references + true.reshape(-1)[both] - 1,
        return_counts=True,
    )
    of_prediction, of_reference = np.divmod(pairs, max(1, references))
    return Lesions(
        np.bincount(predicted[prediction], minlength=predictions + 1)[1:],
        np.bincount(true[reference], minlength=references + 1)[1:],
        of_prediction,
        of_reference,
        voxels,
    )


def f1_of_lesions(found: Lesions, reading: F1Reading = "shares") -> float:
    """F1 of touched components, in [0, 1]; 1 where neither mask has one. Readings: see `lesion_f1`."""
    references, predictions = len(found.reference_voxels), len(found.prediction_voxels)
    if not references or not predictions:
        return 1.0 if references == predictions else 0.0
    if reading == "counts":
        return found.detected / (found.detected + (found.false + references - found.detected) / 2)
    recall, precision = found.detected / references, found.hits / predictions
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def panoptic_quality_of_lesions(found: Lesions) -> LesionPanopticQuality:
    """Return the panoptic quality of the components; all 1 where neither mask has one.

    A pair matches where its IoU is above ½, which no component can be in two of.
    Source: Kirillov et al. 2019, CVPR, p. 9396.
    """
    references, predictions = len(found.reference_voxels), len(found.prediction_voxels)
    if not references and not predictions:
        return LesionPanopticQuality(1.0, 1.0, 1.0)
    matched = found.iou[found.iou > 0.5]
    segmentation = math.fsum(matched) / len(matched) if len(matched) else 0.0
    recognition = 2 * len(matched) / (references + predictions)
    return LesionPanopticQuality(segmentation * recognition, segmentation, recognition)


def false_positive_voxels(found: Lesions) -> int:
    """Return the voxels of the predicted components that touch no reference component."""
    return int(np.delete(found.prediction_voxels, found.pair_prediction).sum())


def false_negative_voxels(found: Lesions) -> int:
    """Return the voxels of the reference components that no predicted component touches."""
    return int(np.delete(found.reference_voxels, found.pair_reference).sum())


@dataclass(frozen=True, slots=True)
class CandidateMatches:
    """The candidates of an image by their matches.

    hits, false: boolean, shape (candidates,): matched to a lesion, and without sufficient overlap with any. A
    candidate that is neither overlaps a lesion that another one hits. lesions: the number of lesions.
    """

    hits: Bools
    false: Bools
    lesions: int


def overlap_of_components(candidates: AnyIntegers, lesions: AnyIntegers, candidate_count: int) -> Floats:
    """Return the intersection over union of each lesion and candidate, shape (lesions, candidates).

    candidates, lesions: numbers of components from 1 on, 0 for none, of one shape; every lesion has a voxel.
    """
    lesion_count = int(lesions.max(initial=0))
    columns = candidate_count + 1
    pairs = lesions.astype(np.int64) * columns + candidates
    voxels = np.bincount(pairs.reshape(-1), minlength=(lesion_count + 1) * columns).reshape(-1, columns)
    intersection = voxels[1:, 1:]
    union = voxels[1:].sum(axis=1)[:, None] + voxels[:, 1:].sum(axis=0) - intersection
    ratio: Floats = intersection / np.maximum(union, 1)
    return ratio


def match_candidates(overlap: Floats, least_overlap: float) -> CandidateMatches:
    """Match candidates and lesions one to one so that the sum of 1 + overlap over all pairs is the largest.

    overlap: shape (lesions, candidates), in [0, 1]. least_overlap: smallest overlap of a pair.
    Confidences play no part. Source: Saha et al. 2024, Lancet Oncol. 25:879 (PI-CAI), with an overlap of 0.1.
    """
    from scipy.optimize import linear_sum_assignment  # takes a while to import

    suffices = (overlap >= least_overlap) & (overlap > 0)
    lesion, candidate = linear_sum_assignment(np.where(suffices, 1 + overlap, 0), maximize=True)
    hits = np.zeros(overlap.shape[1], dtype=np.bool_)
    hits[candidate[suffices[lesion, candidate]]] = True
    return CandidateMatches(hits, np.logical_not(suffices.any(axis=0)), overlap.shape[0])
