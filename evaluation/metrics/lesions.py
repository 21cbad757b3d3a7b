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
from evaluation.metrics.surfaces import spacing_of

__all__ = [
    "detected_lesions",
    "false_lesions",
    "false_negative_volume",
    "false_positive_volume",
    "lesion_count_difference",
    "lesion_f1",
    "panoptic_quality",
]

F1Formula = Literal["shares", "counts"]


def lesion_f1(
    prediction: ArrayLike,
    reference: ArrayLike,
    *,
    neighbours: Neighbours = "all",
    formula: F1Formula = "shares",
) -> float:
    """Return the F1 of lesions: those of both regions that touch one of the other, against those that do not.

    From 0 to 1, higher is better; 1 if both regions are empty, 0 if exactly one is. Lesions are connected
    components. prediction, reference: 0 and 1 or booleans, of one shape (y, x) or (z, y, x). neighbours:
    pixels of one component, "all" 8 (26 in 3D), those that share at least "edges" (18 in 3D), or the 4 (6)
    that share "faces". formula: "shares", the harmonic mean of the share of the reference's components that
    are touched and of that of the predicted ones; "counts", tp / (tp + (fp + fn) / 2), in which tp and fn are
    the reference's components that are and are not touched, fp the predicted ones that touch none. Raises
    ValueError for shapes that differ or have another number of axes, or other values.
    Source: Commowick et al., Scientific Reports 8:13650, 2018, for `shares`; Hernandez Petzsche et al.,
    Scientific Data 9:762, 2022 (ISLES 2022), for `counts`.

    >>> lesion_f1([[1, 1, 0, 1, 0, 0]], [[1, 1, 0, 0, 0, 1]])
    0.5
    """
    if formula not in get_args(F1Formula):
        raise ValueError(f"formula: expected 'shares' or 'counts', found {formula!r}")
    return f1_of_lesions(_lesions(prediction, reference, neighbours), formula)


def lesion_count_difference(
    prediction: ArrayLike, reference: ArrayLike, *, neighbours: Neighbours = "all"
) -> int:
    """Return the absolute difference of the numbers of predicted lesions and of the reference's lesions.

    At least 0, lower is better. Arguments as of `lesion_f1`.
    Source: Hernandez Petzsche et al., Scientific Data 9:762, 2022 (ISLES 2022).

    >>> lesion_count_difference([[1, 1, 0, 1]], [[1, 1, 0, 0]])
    1
    """
    found = _lesions(prediction, reference, neighbours)
    return abs(len(found.prediction_voxels) - len(found.reference_voxels))


def panoptic_quality(
    prediction: ArrayLike, reference: ArrayLike, *, neighbours: Neighbours = "all"
) -> "LesionPanopticQuality":
    """Return the panoptic quality of lesions or instances: recognition quality times segmentation quality.

    From 0 to 1, higher is better. Arguments as of `lesion_f1`. Returns ``recognition``, the F1 of the
    components, of which a pair matches if its intersection is more than half of its union, ``segmentation``,
    the mean intersection over union of those that match, and ``panoptic``, their product. All 1 if both
    regions are empty, all 0 without a match.
    Source: Kirillov et al., CVPR 2019.

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
    """Return the volume of the predicted lesions that touch no lesion of the reference.

    At least 0, lower is better. It is in mm³ (mm² in two dimensions). spacing_mm: of each axis, by default 1
    each, so that it is in pixels; else arguments and errors as of `lesion_f1`.
    Source: Gatidis et al., Nature Machine Intelligence 6:1396, 2024.

    >>> false_positive_volume([[1, 1, 0, 1, 0, 0]], [[1, 1, 0, 0, 0, 1]], spacing_mm=(0.5, 1.0))
    0.5
    """
    found = _lesions(prediction, reference, neighbours)
    return found.false_voxels * _voxel(reference, spacing_mm)


def false_negative_volume(
    prediction: ArrayLike,
    reference: ArrayLike,
    *,
    spacing_mm: Sequence[float] | None = None,
    neighbours: Neighbours = "all",
) -> float:
    """Return the volume of the reference's lesions that the prediction does not touch.

    At least 0, lower is better. It is in mm³ (mm² in two dimensions). Arguments as of
    `false_positive_volume`.
    Source: Gatidis et al., Nature Machine Intelligence 6:1396, 2024.

    >>> false_negative_volume([[1, 1, 0, 1, 0, 0]], [[1, 1, 0, 0, 0, 1]], spacing_mm=(0.5, 1.0))
    0.5
    """
    found = _lesions(prediction, reference, neighbours)
    return found.missed_voxels * _voxel(reference, spacing_mm)


def _lesions(prediction: ArrayLike, reference: ArrayLike, neighbours: Neighbours) -> Overlaps:
    regions = regions_of(prediction, reference)
    if neighbours not in get_args(Neighbours):
        raise ValueError(f"neighbours: expected 'all', 'edges' or 'faces', found {neighbours!r}")
    return find_lesions(*regions, neighbours)


def _voxel(reference: ArrayLike, spacing_mm: Sequence[float] | None) -> float:
    return float(np.prod(spacing_of(np.asarray(reference), spacing_mm)))


def detected_lesions(prediction: ArrayLike, reference: ArrayLike, *, neighbours: Neighbours = "all") -> float:
    """Return the share of the reference's lesions, connected components, that the prediction touches.

    From 0 to 1, higher is better; one common voxel is enough. Arguments as of `lesion_f1`. NaN if the
    reference is empty.
    Source: "A novel benchmark model for intelligent annotation of spectral-domain optical coherence
    tomography scans using the example of cyst annotation", 2016.

    >>> detected_lesions([[1, 0, 0, 0]], [[1, 1, 0, 1]])
    0.5
    """
    found = _lesions(prediction, reference, neighbours)
    references = len(found.reference_voxels)
    return found.detected / references if references else math.nan


def false_lesions(prediction: ArrayLike, reference: ArrayLike, *, neighbours: Neighbours = "all") -> int:
    """Return the number of predicted lesions that touch no lesion of the reference.

    At least 0, lower is better. Arguments as of `lesion_f1`.
    Source: as of `detected_lesions`.

    >>> false_lesions([[1, 0, 1, 0, 1]], [[1, 1, 0, 0, 0]])
    2
    """
    return _lesions(prediction, reference, neighbours).false


@dataclass(frozen=True, slots=True)
class LesionPanopticQuality:
    """`panoptic_quality` and its two factors."""

    panoptic: float
    segmentation: float
    recognition: float


def find_lesions(prediction: Bools, reference: Bools, neighbours: Neighbours = "all") -> Overlaps:
    """Return the connected components of two boolean masks of one shape and how they overlap.

    Raises ValueError where the shapes differ.
    """
    if prediction.shape != reference.shape:
        raise ValueError(f"prediction: expected shape {reference.shape}, found {prediction.shape}")
    (predicted, predictions), (true, references) = (
        components_of(mask, neighbours) for mask in (prediction, reference)
    )
    return overlaps_of(predicted, true, predictions, references)


def f1_of_lesions(found: Overlaps, formula: F1Formula = "shares") -> float:
    """`lesion_f1` of components in pairs."""
    references, predictions = len(found.reference_voxels), len(found.prediction_voxels)
    if not references or not predictions:
        return 1.0 if references == predictions else 0.0
    if formula == "counts":
        return found.detected / (found.detected + (found.false + references - found.detected) / 2)
    recall, precision = found.detected / references, found.hits / predictions
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0
