"""The comparison of volumes of confidences: weighted Dice, overlap, components and surface distances."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Bools, Floats, Integers
from evaluation.metrics.crops import VolumeCrop, in_slabs, together
from evaluation.metrics.label_surfaces import compare_surfaces
from evaluation.metrics.nearest import Spacing
from evaluation.metrics.segmentation import OverlapCounts, count_overlap

LEVELS = 6
"""Levels are 0 to 5."""


@dataclass(frozen=True, slots=True)
class ComparedVolume:
    """The sums and counts for all figures of one volume.

    The sums are Σ A·B, Σ A² and Σ B² over the voxels of a prediction A and a reference B. ``overlap``
    compares the marked voxels with the voxels of level > 0, ``annotator_overlaps`` with each annotator's by
    name, and with the "intersection" of all of them. ``voxels`` and ``found`` count the reference's voxels by
    level, all and the marked ones. ``cysts`` counts its components by their highest level and by whether they
    are touched (level, untouched | touched), ``false_components`` the predicted components that touch no
    voxel of level > 0. ``confidences`` are the distinct confidences of the reference above 0, with the number
    of voxels of each. ``marked`` and ``annotated`` are the marked voxels and those of level > 0 in the box
    around both.
    """

    product: float
    prediction_squared: float
    reference_squared: float
    overlap: OverlapCounts[int]
    annotator_overlaps: Mapping[str, OverlapCounts[int]]
    voxels: Integers
    found: Integers
    cysts: Integers
    false_components: int
    confidences: Floats
    voxels_of_confidence: Integers
    marked: Bools
    annotated: Bools


def compare_volumes(
    prediction: VolumeCrop,
    level: VolumeCrop,
    confidence: VolumeCrop,
    annotators: Mapping[str, VolumeCrop],
    *,
    marked_from: float,
    across_planes: bool,
) -> ComparedVolume:
    """Return the comparison of a prediction in [0, 1] with level 0 to 5, confidence and annotators' levels.

    ``marked_from``: the lowest prediction of a marked voxel. ``across_planes``: whether components join
    planes. A confidence is 0 where the level is 0.
    """
    marks = prediction.where(lambda values: values >= marked_from)
    marked, levels = together(marks, level)
    annotated = levels > 0
    found, *drawn = together(marks, *(one.where(_is_above_zero) for one in annotators.values()))
    by_name = dict(zip(annotators, drawn, strict=True))
    if drawn:
        by_name["intersection"] = np.logical_and.reduce(drawn)
    values, voxels = np.unique(confidence.values[confidence.values > 0], return_counts=True)
    confidences = values.astype(np.float64)
    products, squares = [], []
    for made, true in in_slabs(prediction, confidence):
        is_true = true > 0
        products.append(np.multiply(made[is_true], true[is_true], dtype=np.float64).sum())
        squares.append(np.square(made[made > 0], dtype=np.float64).sum())
    return ComparedVolume(
        product=math.fsum(products),
        prediction_squared=math.fsum(squares),
        reference_squared=math.fsum(confidences * confidences * voxels),
        overlap=count_overlap(marked, annotated),
        annotator_overlaps={name: count_overlap(found, of) for name, of in by_name.items()},
        voxels=np.bincount(levels[annotated], minlength=LEVELS),
        found=np.bincount(levels[marked & annotated], minlength=LEVELS),
        cysts=component_counts(annotated, marked, levels, across_planes),
        false_components=int(component_counts(marked, annotated, levels, across_planes)[:, 0].sum()),
        confidences=confidences,
        voxels_of_confidence=voxels,
        marked=marked,
        annotated=annotated,
    )


def _is_above_zero(values: NDArray[np.number]) -> Bools:
    return values > 0


def component_counts(
    mask: Bools, touching: Bools, levels: NDArray[np.uint8], across_planes: bool
) -> Integers:
    """Return the numbers of components, shape (highest level, not touched | touched).

    mask, touching, levels: shape (z, y, x). ``touching`` is the mask that components may touch. With
    ``across_planes`` a voxel has 26 neighbours. Otherwise it has the 8 neighbours in its plane, and every
    plane is counted separately.
    """
    from scipy import ndimage  # 0.25 s that only volumes need

    neighbours = np.ones((3, 3, 3), dtype=np.bool_)
    neighbours[[0, 2]] = across_planes
    component, number = ndimage.label(mask, neighbours)
    of_voxel = component[mask]
    highest, touched = np.zeros((2, number + 1), dtype=np.int64)
    np.maximum.at(highest, of_voxel, levels[mask])
    touched[of_voxel[touching[mask]]] = 1
    counts = np.zeros((LEVELS, 2), dtype=np.int64)
    np.add.at(counts, (highest[1:], touched[1:]), 1)
    return counts


# --- Weighted Dice of one volume and of all together, and the best that masks reach ---


def weighted_dice_of_sums(product: float, prediction_squared: float, reference_squared: float) -> float:
    """Return `weighted_dice` of its three sums; 1 if both maps are empty."""
    total = prediction_squared + reference_squared
    return 2 * product / total if total > 0 else 1.0


def pooled_weighted_dice(
    product: ArrayLike, prediction_squared: ArrayLike, reference_squared: ArrayLike, weights: ArrayLike
) -> Floats:
    """Return the weighted Dice over the pooled voxels of all cases, under each row of case weights.

    sums: shape (cases,). weights: shape (resamples, cases). Returns shape (resamples,): NaN in a row without
    weight, 1 where all maps are empty.
    """
    matrix = np.asarray(weights, dtype=np.float64)
    sums = np.column_stack([product, prediction_squared, reference_squared]).astype(np.float64)
    products, predictions, references = (matrix @ sums).T
    total = predictions + references
    value = np.where(matrix.sum(axis=1) > 0, 1.0, np.nan)
    np.divide(2 * products, total, out=value, where=total > 0)
    return value


def highest_binary_dice(confidences: ArrayLike, voxels: ArrayLike) -> float:
    """Return the highest weighted Dice that any binary mask reaches against a reference; 1 if that is empty.

    confidences, voxels: the distinct confidences above 0 and the number of voxels of each. The best mask of n
    voxels marks the n highest confidences, so the maximum is reached at one of these thresholds.
    """
    values = np.asarray(confidences, dtype=np.float64)
    order = np.argsort(values)[::-1]
    values, counts = values[order], np.asarray(voxels, dtype=np.float64)[order]
    if not len(values):
        return 1.0
    squared = math.fsum(values * values * counts)
    return float(np.max(2 * np.cumsum(values * counts) / (np.cumsum(counts) + squared)))


def pooled_highest_binary_dice(
    confidences: Sequence[ArrayLike], voxels: Sequence[ArrayLike], weights: ArrayLike
) -> Floats:
    """Return the highest pooled weighted Dice of binary masks of all cases, under each row of case weights.

    confidences, voxels: one entry for each case, see `highest_binary_dice`. weights: shape (resamples,
    cases). Returns shape (resamples,): NaN in a row without weight, 1 where all references are empty.
    """
    matrix = np.asarray(weights, dtype=np.float64)
    sizes = [np.size(case_confidences) for case_confidences in confidences]
    values, place = np.unique(np.concatenate([np.zeros(0), *map(np.ravel, confidences)]), return_inverse=True)
    counts = np.zeros((len(sizes), values.size))
    counts[np.repeat(np.arange(len(sizes)), sizes), place] = np.concatenate(
        [np.zeros(0), *map(np.ravel, voxels)]
    )
    return np.array(
        [
            highest_binary_dice(values[row > 0], row[row > 0]) if case_weights.any() else np.nan
            for row, case_weights in zip(matrix @ counts, matrix, strict=True)
        ]
    )


# --- Surface distances of two regions of a volume ---

_PERCENT = 95
MAX_WINDOW_VOXELS = 1 << 20
"""Up to here grand_challenge_metrics computes its own definition; it needs some 60 bytes per voxel."""


@dataclass(frozen=True, slots=True)
class SurfaceDistances:
    """95th percentile (Hausdorff distance, 95 %) and mean of the surface distances, in mm."""

    hausdorff_95: float
    mean: float


def surface_distances(
    prediction: Bools,
    reference: Bools,
    spacing_mm: Spacing,
    diagonal_mm: float,
) -> SurfaceDistances:
    """Return the surface distances of two regions in one box, shape (z, y, x); so is the spacing.

    NaN for an empty reference; the volume's diagonal for an empty prediction. The convention is that of
    grand_challenge_metrics (`hausdorff_distance_measures`: percentile and modified distance), which computes
    it for regions in a small box.
    """
    if not reference.any():
        return SurfaceDistances(math.nan, math.nan)
    if not prediction.any():
        return SurfaceDistances(diagonal_mm, diagonal_mm)
    if prediction.size <= MAX_WINDOW_VOXELS:
        from grand_challenge_metrics.stats import hausdorff_distance_measures  # imports SciPy

        measures = hausdorff_distance_measures(prediction, reference, spacing_mm, percentile=_PERCENT / 100)
        return SurfaceDistances(float(measures.percentile_distance), float(measures.modified_distance))
    compared = compare_surfaces(prediction, reference, spacing_mm, "voxels")
    return SurfaceDistances(compared.hausdorff_distance(_PERCENT), compared.average_distance("directed"))
