"""Overlap of two regions: Dice, Jaccard, precision, recall and F-beta from one triple of pixel counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.crop import Crop, intersection_of

Integers = NDArray[np.integer]
Floats = NDArray[np.float64]
Count = TypeVar("Count", int, Integers)


@dataclass(frozen=True, slots=True)
class OverlapCounts(Generic[Count]):
    """Numbers of pixels: in both regions, in the predicted region, in the reference region.

    Either integers or integer arrays of one shape, for example one entry per image or per class.
    """

    intersection: Count
    prediction: Count
    reference: Count


def count_overlap(prediction: NDArray[np.bool_], reference: NDArray[np.bool_]) -> OverlapCounts[int]:
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


def region_of(mask: Crop, labels: Sequence[int]) -> Crop:
    """Return the pixels of a mask that carry any of the labels, as booleans."""
    pixels = mask.values == labels[0]
    for label in labels[1:]:
        pixels |= mask.values == label
    return Crop(pixels, mask.top, mask.left)


def overlap_of(prediction: Crop, reference: Crop) -> OverlapCounts[int]:
    """Return the pixel counts of two regions of one image."""
    return OverlapCounts(
        intersection=intersection_of(prediction, reference),
        prediction=int(np.count_nonzero(prediction.values)),
        reference=int(np.count_nonzero(reference.values)),
    )


@overload
def dice(counts: OverlapCounts[int], *, both_empty: float) -> float: ...
@overload
def dice(counts: OverlapCounts[Integers], *, both_empty: float) -> Floats: ...
def dice(counts: OverlapCounts[int] | OverlapCounts[Integers], *, both_empty: float) -> float | Floats:
    """Dice coefficient 2·|A∩B| / (|A| + |B|), in [0, 1]; `both_empty` where both regions are empty.

    Source: Dice 1945, Ecology 26:297. Equal to `f_beta` with beta = 1.
    """
    return _ratio(2 * counts.intersection, counts.prediction + counts.reference, counts, both_empty)


@overload
def jaccard(counts: OverlapCounts[int], *, both_empty: float) -> float: ...
@overload
def jaccard(counts: OverlapCounts[Integers], *, both_empty: float) -> Floats: ...
def jaccard(counts: OverlapCounts[int] | OverlapCounts[Integers], *, both_empty: float) -> float | Floats:
    """Jaccard index (intersection over union) |A∩B| / |A∪B|, in [0, 1]; `both_empty` where both are empty."""
    union = counts.prediction + counts.reference - counts.intersection
    return _ratio(counts.intersection, union, counts, both_empty)


@overload
def precision(counts: OverlapCounts[int], *, both_empty: float) -> float: ...
@overload
def precision(counts: OverlapCounts[Integers], *, both_empty: float) -> Floats: ...
def precision(counts: OverlapCounts[int] | OverlapCounts[Integers], *, both_empty: float) -> float | Floats:
    """Share of the predicted pixels that are in the reference, in [0, 1].

    0 if only the prediction is empty; `both_empty` if both are empty.
    """
    return _ratio(counts.intersection, counts.prediction, counts, both_empty)


@overload
def recall(counts: OverlapCounts[int], *, both_empty: float) -> float: ...
@overload
def recall(counts: OverlapCounts[Integers], *, both_empty: float) -> Floats: ...
def recall(counts: OverlapCounts[int] | OverlapCounts[Integers], *, both_empty: float) -> float | Floats:
    """Share of the reference's pixels that are predicted (sensitivity), in [0, 1].

    0 if only the reference is empty; `both_empty` if both are empty.
    """
    return _ratio(counts.intersection, counts.reference, counts, both_empty)


@overload
def f_beta(counts: OverlapCounts[int], beta: float, *, both_empty: float) -> float: ...
@overload
def f_beta(counts: OverlapCounts[Integers], beta: float, *, both_empty: float) -> Floats: ...
def f_beta(
    counts: OverlapCounts[int] | OverlapCounts[Integers], beta: float, *, both_empty: float
) -> float | Floats:
    """F-beta, the harmonic mean of precision and recall with recall weighted beta² times, in [0, 1].

    (1 + beta²)·|A∩B| / (beta²·|reference| + |prediction|): 0 if one region is empty or nothing overlaps,
    `both_empty` if both are empty. Source: van Rijsbergen, Information Retrieval, 1979, chapter 7.
    """
    squared = beta * beta
    numerator = (1.0 + squared) * counts.intersection
    return _ratio(numerator, squared * counts.reference + counts.prediction, counts, both_empty)


def _ratio(
    numerator: float | NDArray[np.number],
    denominator: float | NDArray[np.number],
    counts: OverlapCounts[int] | OverlapCounts[Integers],
    both_empty: float,
) -> float | Floats:
    occupied = np.asarray(counts.prediction + counts.reference) > 0
    value = np.where(occupied, 0.0, both_empty)
    np.divide(numerator, denominator, out=value, where=occupied & (np.asarray(denominator) > 0))
    return value if value.ndim else float(value)
