"""Overlap of a predicted and a reference region: Dice, Jaccard, precision, recall and F-beta.

Also Dice of two maps of confidences, the vertical cup-to-disc ratio of an optic nerve head, and label maps.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Bools, Floats, check_shapes, mask_of
from evaluation.metrics.crops import Crop

__all__ = ["dice", "jaccard", "voxel_precision", "voxel_sensitivity", "weighted_dice"]

AnyIntegers = NDArray[np.integer]
Count = TypeVar("Count", int, AnyIntegers)
VerticalDiameter = Literal["column_count", "extent"]


def dice(prediction: ArrayLike, reference: ArrayLike, *, both_empty: float = 1.0) -> float:
    """Return the Dice coefficient of two regions: twice their overlap by the sum of their voxels.

    From 0 to 1, higher is better. prediction, reference: 0 and 1 or booleans, of one shape. 0 if one region
    is empty, ``both_empty`` if both are. Raises ValueError for shapes that differ, or other values.
    Source: Dice, Ecology 26:297, 1945.

    >>> dice([[1, 1], [0, 0]], [[1, 0], [1, 0]])
    0.5
    """
    return dice_of_counts(_counts(prediction, reference), both_empty=both_empty)


def jaccard(prediction: ArrayLike, reference: ArrayLike, *, both_empty: float = 1.0) -> float:
    """Return the Jaccard index of two regions: the overlap by the voxels of either (IoU).

    From 0 to 1, higher is better. Arguments and empty regions as of `dice`.
    Source: Jaccard, New Phytologist 11:37, 1912.

    >>> jaccard([1, 1, 1, 0], [0, 1, 1, 1])
    0.5
    """
    return jaccard_of_counts(_counts(prediction, reference), both_empty=both_empty)


def voxel_precision(prediction: ArrayLike, reference: ArrayLike, *, both_empty: float = 1.0) -> float:
    """Return the share of the predicted voxels that are in the region (positive predictive value).

    From 0 to 1, higher is better. Arguments and empty regions as of `dice`.
    Source: van Rijsbergen, Information Retrieval, 1979, chapter 7.

    >>> voxel_precision([1, 1, 1, 1], [0, 1, 0, 0])
    0.25
    """
    return precision_of_counts(_counts(prediction, reference), both_empty=both_empty)


def voxel_sensitivity(prediction: ArrayLike, reference: ArrayLike, *, both_empty: float = 1.0) -> float:
    """Return the share of a region's voxels that are predicted (recall).

    From 0 to 1, higher is better. Arguments and empty regions as of `dice`.
    Source: van Rijsbergen, Information Retrieval, 1979, chapter 7.

    >>> voxel_sensitivity([0, 1, 0, 0], [1, 1, 1, 1])
    0.25
    """
    return recall_of_counts(_counts(prediction, reference), both_empty=both_empty)


def _counts(prediction: ArrayLike, reference: ArrayLike) -> "OverlapCounts[int]":
    return count_overlap(mask_of(prediction, "prediction"), mask_of(reference, "reference"))


@dataclass(frozen=True, slots=True)
class OverlapCounts(Generic[Count]):
    """Numbers of pixels: in both regions, in the predicted region, in the reference region.

    Either integers or integer arrays of one shape, for example one entry per image or per class.
    """

    intersection: Count
    prediction: Count
    reference: Count


def count_overlap(prediction: Bools, reference: Bools) -> OverlapCounts[int]:
    """Count the pixels of two boolean masks of one shape, of any number of dimensions.

    Raises ValueError where the shapes differ or a mask is not boolean.
    """
    if prediction.shape != reference.shape:
        raise ValueError(f"prediction: expected shape {reference.shape}, found {prediction.shape}")
    if prediction.dtype != np.bool_ or reference.dtype != np.bool_:
        raise ValueError(f"masks: expected bool, found {prediction.dtype} and {reference.dtype}")
    return OverlapCounts(
        intersection=int(np.count_nonzero(prediction & reference)),
        prediction=int(np.count_nonzero(prediction)),
        reference=int(np.count_nonzero(reference)),
    )


def has_any(values: NDArray[Any], labels: Sequence[int]) -> Bools:
    """Return where an array has any of the labels."""
    found: Bools = values == labels[0]
    for label in labels[1:]:
        found |= values == label
    return found


def edge(members: NDArray[Any]) -> Bools:
    """Return the pixels of a region, or of numbered ones, that have a neighbour outside of their own.

    members: shape (y, x). Beyond the image is outside.
    """
    padded = np.pad(members, 1)
    sides = padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]
    found: Bools = (members > 0) & np.logical_or.reduce([side != members for side in sides])
    return found


def overlap_of(prediction: Crop, reference: Crop) -> OverlapCounts[int]:
    """Return the counts of two boolean regions of one image or volume; what both boxes share is compared."""
    shared = prediction.box.intersection(reference.box)
    first, second = (region.part(shared).values for region in (prediction, reference))
    return OverlapCounts(
        intersection=int(np.count_nonzero(first & second)),
        prediction=int(np.count_nonzero(prediction.values)),
        reference=int(np.count_nonzero(reference.values)),
    )


@dataclass(frozen=True, slots=True)
class OverlapRatio:
    """A ratio in [0, 1] of numbers of pixels: ``parts`` returns its numerator and its denominator.

    Called with counts and the value of two empty regions, ``both_empty``; 0 where only the denominator is 0.
    """

    parts: Callable[[OverlapCounts[Any]], tuple[Any, Any]]

    @overload
    def __call__(self, counts: OverlapCounts[int], *, both_empty: float) -> float: ...
    @overload
    def __call__(self, counts: OverlapCounts[AnyIntegers], *, both_empty: float) -> Floats: ...
    def __call__(
        self, counts: OverlapCounts[int] | OverlapCounts[AnyIntegers], *, both_empty: float
    ) -> float | Floats:
        numerator, denominator = self.parts(counts)
        occupied = np.asarray(counts.prediction + counts.reference) > 0
        value = np.where(occupied, 0.0, both_empty)
        np.divide(numerator, denominator, out=value, where=occupied & (np.asarray(denominator) > 0))
        return value if value.ndim else float(value)


dice_of_counts = OverlapRatio(lambda of: (2 * of.intersection, of.prediction + of.reference))
jaccard_of_counts = OverlapRatio(lambda of: (of.intersection, of.prediction + of.reference - of.intersection))
precision_of_counts = OverlapRatio(lambda of: (of.intersection, of.prediction))
recall_of_counts = OverlapRatio(lambda of: (of.intersection, of.reference))
volume_similarity_of_counts = OverlapRatio(
    lambda of: (
        of.prediction + of.reference - abs(of.prediction - of.reference),
        of.prediction + of.reference,
    )
)


def weighted_dice(prediction: ArrayLike, reference: ArrayLike) -> float:
    """Return the confidence-weighted Dice of two maps, 2·Σ A·B / (Σ A² + Σ B²); the Dice of binary ones.

    From 0 to 1, higher is better. prediction, reference: confidences from 0 to 1, of one shape. 0 if one map
    is 0 everywhere, 1 if both are. Raises ValueError for shapes that differ, or other values.
    Source: "A novel benchmark model for intelligent annotation of spectral-domain optical coherence
    tomography scans using the example of cyst annotation", 2016, Eq. 3.

    >>> weighted_dice([1.0, 0.5], [0.5, 1.0])
    0.8
    """
    first, second = np.asarray(prediction, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    check_shapes(first, second)
    for name, values in (("prediction", first), ("reference", second)):
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"{name}: expected confidences from 0 to 1")
    total = float((first * first).sum() + (second * second).sum())
    return float(2 * (first * second).sum()) / total if total > 0 else 1.0


def vertical_diameter(region: Bools, definition: VerticalDiameter) -> int:
    """Return the vertical diameter of a boolean region (y, x) in pixels, 0 for an empty region.

    "column_count" is the largest number of its pixels in one column, as in REFUGE's public evaluator and all
    of its published results; "extent" is the last row minus the first row plus one. They differ where the
    region is slanted, has holes or several parts. Raises ValueError for another definition, shape or type.
    """
    if region.ndim != 2 or region.dtype != np.bool_:
        raise ValueError(
            f"region: expected a bool array (y, x), found {region.dtype} of shape {region.shape}"
        )
    if definition == "column_count":
        # The bytes of a boolean mask are 0 and 1; summing them as uint32 is twice as fast as `sum`.
        per_column = np.add.reduce(region.view(np.uint8), axis=0, dtype=np.uint32)
        return int(per_column.max(initial=0))
    if definition == "extent":
        rows = np.flatnonzero(region.any(axis=1))
        return int(rows[-1] - rows[0] + 1) if rows.size else 0
    raise ValueError(f"definition: expected 'column_count' or 'extent', found {definition!r}")


def vertical_cup_to_disc_ratio(cup_diameter: float, disc_diameter: float) -> float:
    """Return the ratio of the vertical diameters of cup and disc in pixels, 0 where the disc is empty.

    From 0 to 1 if the disc, as it should, includes the cup.
    Source: Orlando et al., Medical Image Analysis 59:101570, 2020 (REFUGE).
    """
    return cup_diameter / disc_diameter if disc_diameter > 0 else 0.0


# --- Label maps: counts of every label in one pass over two maps, and the region of each label ---

LabelMap = NDArray[np.uint8]
LabelCounts = OverlapCounts[NDArray[np.integer]]
Region = tuple[slice, ...]
"""First and last + 1 pixel along each axis."""


def count_label_overlap(
    prediction: LabelMap, reference: LabelMap, labels: int, regions: Sequence[Sequence[int]] | None = None
) -> LabelCounts:
    """Count the voxels of each label 1 … ``labels`` of two maps of one shape, 0 being background.

    Maps are 8-bit of any number of dimensions, their values at most ``labels``. The counts have shape
    (labels,), or with ``regions``, each several of the labels, (regions,); regions may overlap. Raises
    ValueError where shapes or types differ, or a value is no label.
    """
    if prediction.shape != reference.shape:
        raise ValueError(f"prediction: expected shape {reference.shape}, found {prediction.shape}")
    if prediction.dtype != np.uint8 or reference.dtype != np.uint8:
        raise ValueError(f"label maps: expected uint8, found {prediction.dtype} and {reference.dtype}")
    size = labels + 1
    code = np.uint8 if size * size <= 256 else np.uint16
    pairs = np.zeros(size * size, dtype=np.int64)
    # Plane by plane, so that what is computed stays in the processor's cache.
    for predicted, true in zip(np.atleast_2d(prediction), np.atleast_2d(reference), strict=True):
        if predicted.size and max(predicted.max(), true.max()) > labels:
            raise ValueError(f"label maps: expected values up to {labels}, found a larger one")
        found = np.bincount((predicted.astype(code) * code(size) + true).reshape(-1), minlength=pairs.size)
        pairs += found
    table = pairs.reshape(size, size)
    chosen = [[label] for label in range(1, size)] if regions is None else [list(each) for each in regions]
    return OverlapCounts(
        intersection=np.array([table[np.ix_(each, each)].sum() for each in chosen], dtype=np.int64),
        prediction=np.array([table[each].sum() for each in chosen], dtype=np.int64),
        reference=np.array([table[:, each].sum() for each in chosen], dtype=np.int64),
    )


def around(regions: Iterable[Region]) -> Region:
    """Return the smallest region around all regions of one image; at least one, none of them empty."""
    return tuple(
        slice(min(axis.start for axis in axes), max(axis.stop for axis in axes))
        for axes in zip(*regions, strict=True)
    )


def label_boxes(prediction: LabelMap, reference: LabelMap, labels: int) -> list[Region | None]:
    """Return the smallest box around each label 1 … ``labels`` in two maps, None where neither has it."""
    from scipy.ndimage import find_objects  # takes a while to import

    found = zip(*(find_objects(of, max_label=labels) for of in (prediction, reference)), strict=True)
    occurring = ([region for region in regions if region is not None] for regions in found)
    return [around(regions) if regions else None for regions in occurring]
