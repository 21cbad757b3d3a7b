"""Dice and Hausdorff distance lesion by lesion, in which missed and false lesions count (BraTS)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Bools, Floats, Integers, regions_of
from evaluation.metrics.components import components_of
from evaluation.metrics.label_surfaces import compare_surfaces
from evaluation.metrics.segmentation import Region, around
from evaluation.metrics.surfaces import spacing_of

__all__ = ["lesion_wise_dice", "lesion_wise_hausdorff_distance"]

_BLOCK = 8  # voxels along each axis of the blocks by which lesions are told apart
_MOST_BOXES = 200


def lesion_wise_dice(
    prediction: ArrayLike,
    reference: ArrayLike,
    spacing_mm: Sequence[float] | None = None,
    *,
    dilations: int = 3,
    smallest_volume: float = 50.0,
) -> float:
    """Return the mean Dice coefficient of the lesions of a case, to which every false lesion adds a 0.

    From 0 to 1, higher is better. The connected components (26 neighbours, 8 in two dimensions) of the
    reference that join when it is dilated are one lesion. It is compared, not dilated, with all predicted
    components that touch it when it is dilated; one of these may serve several lesions. A missed lesion
    counts as 0, and so does a predicted component of any size that touches no lesion; 1 where there is
    neither.

    prediction, reference: 0 and 1 or booleans, of one shape (y, x) or (z, y, x). spacing_mm: of every axis,
    by default 1. dilations: how often, by voxels that share a face or an edge. smallest_volume: in mm³ (mm²);
    lesions of at most this do not count, found or not. Raises ValueError for shapes that differ or have
    another number of axes, other values, a spacing that is not above 0, or negative dilations.
    Source: Moawad et al., arXiv:2306.00838, 2023. BraTS 2023 has 3 dilations and 50 mm³ (gliomas), 1 and 50
    (meningiomas), 1 and 2 (metastases).

    >>> lesion_wise_dice([[1, 1, 0, 0, 0, 1]], [[1, 0, 0, 0, 0, 0]], dilations=1, smallest_volume=0)
    0.3333333333333333
    """
    found = _matched(prediction, reference, spacing_mm, dilations, smallest_volume)
    return _mean([value for box in found for value in box.dice()], found, best=1.0, worst=0.0)


def lesion_wise_hausdorff_distance(
    prediction: ArrayLike,
    reference: ArrayLike,
    spacing_mm: Sequence[float] | None = None,
    *,
    dilations: int = 3,
    smallest_volume: float = 50.0,
    percentile: float = 95.0,
    worst: float | None = None,
) -> float:
    """Return the mean Hausdorff distance of the lesions of a case; every false lesion adds the worst.

    At least 0, lower is better, in mm. It is a percentile of surface elements, the larger one of both
    directions, of lesions as of `lesion_wise_dice`. worst: distance of a missed and of a false lesion, which
    no other exceeds (BraTS: 374), by default the diagonal of the array; 0 where there is neither. Raises
    ValueError as `lesion_wise_dice`, and for a percentile outside of 0 to 100.
    Source: Moawad et al., arXiv:2306.00838, 2023.

    >>> lesion_wise_hausdorff_distance(
    ...     [[1, 1, 0, 0, 0, 1]], [[1, 0, 0, 0, 0, 0]], dilations=1, smallest_volume=0, worst=9
    ... )
    5.0
    """
    if not 0 <= percentile <= 100:
        raise ValueError(f"percentile: expected a number from 0 to 100, found {percentile}")
    found = _matched(prediction, reference, spacing_mm, dilations, smallest_volume)
    if worst is None:
        array = np.asarray(reference)
        worst = math.hypot(*(spacing_of(array, spacing_mm) * array.shape))
    values = [value for box in found for value in box.hausdorff_distances(percentile, worst)]
    return _mean(values, found, best=0.0, worst=worst)


def _matched(
    prediction: ArrayLike,
    reference: ArrayLike,
    spacing_mm: Sequence[float] | None,
    dilations: int,
    smallest_volume: float,
) -> "Sequence[LesionsInBox]":
    regions = regions_of(prediction, reference)
    if dilations < 0:
        raise ValueError(f"dilations: expected at least 0, found {dilations}")
    return match_lesions(*regions, spacing_of(regions[0], spacing_mm).tolist(), dilations, smallest_volume)


def _mean(values: Sequence[float], boxes: "Sequence[LesionsInBox]", best: float, worst: float) -> float:
    """Return the mean of the lesions' values and of ``worst`` for each false one, ``best`` for none."""
    false = sum(box.false for box in boxes)
    number = len(values) + false
    return float(math.fsum(values) + worst * false) / number if number else best


@dataclass(frozen=True, slots=True)
class LesionsInBox:
    """The lesions in a box, each with the predicted components that touch it when dilated.

    predicted, lesions: numbers of components and of lesions (not dilated) from 1 on, 0 for none, of one
    shape. chosen: the numbers of the lesions that count. taken: for each of them, the numbers of its
    predicted components. predicted_voxels, lesion_voxels: sizes by number, from 0 on. false: the number of
    predicted components that touch no dilated lesion. spacing_mm: of every axis.
    """

    predicted: NDArray[np.int32]
    lesions: NDArray[np.int32]
    chosen: Integers
    taken: Sequence[Integers]
    predicted_voxels: Integers
    lesion_voxels: Integers
    false: int
    spacing_mm: Sequence[float]

    def dice(self) -> Floats:
        """Return the Dice coefficient of each lesion that counts, shape (lesions,)."""
        both = np.bincount(self.lesions[self.predicted > 0], minlength=len(self.lesion_voxels))
        whole = [self.lesion_voxels[lesion] for lesion in self.chosen]
        found = [self.predicted_voxels[taken].sum() for taken in self.taken]
        dice: Floats = 2 * both[self.chosen] / (np.array(whole) + np.array(found))
        return dice

    def hausdorff_distances(self, percentile: float, worst: float) -> Floats:
        """Return the percentile of surface distances of each lesion that counts, at most ``worst``, in mm."""
        from scipy.ndimage import find_objects

        values = np.full(len(self.chosen), worst)
        if not any(map(len, self.taken)):
            return values
        boxes: list[Region] = find_objects(self.lesions)
        predicted: list[Region] = find_objects(self.predicted)
        for place, (lesion, taken) in enumerate(zip(self.chosen.tolist(), self.taken, strict=True)):
            if len(taken):
                box = around([boxes[lesion - 1], *(predicted[number - 1] for number in taken.tolist())])
                is_taken = np.zeros(len(self.predicted_voxels), dtype=np.bool_)
                is_taken[taken] = True
                masks = is_taken[self.predicted[box]], self.lesions[box] == lesion
                distance = compare_surfaces(*masks, self.spacing_mm, "elements").hausdorff_distance(
                    percentile
                )
                values[place] = min(distance, worst)
        return values


def match_lesions(
    prediction: Bools, reference: Bools, spacing_mm: Sequence[float], dilations: int, smallest_volume: float
) -> list[LesionsInBox]:
    """Return the lesions of a reference with their predicted components, in boxes that do not touch.

    See `lesion_wise_dice`. prediction, reference: boolean, of one shape (z, y, x) or (y, x), at least the box
    around both regions: lesions join as in the whole image, since no path between two voxels needs to leave
    their box.
    """
    boxes = _boxes_apart(prediction | reference, 2 * dilations + 1)
    options = (spacing_mm, dilations, smallest_volume)
    return [_matched_in_box(prediction[box], reference[box], *options) for box in boxes]


def _boxes_apart(mask: Bools, reach: int) -> list[Region]:
    """Return boxes around all voxels of a mask; voxels of two boxes are more than ``reach`` apart on an axis.

    Few lesions in a large volume then take the time of their boxes.
    """
    from scipy.ndimage import find_objects

    side = max(_BLOCK, reach)
    blocks = mask
    for axis, size in enumerate(mask.shape):
        blocks = np.logical_or.reduceat(blocks, np.arange(0, size, side), axis=axis) if size else blocks
    numbered, count = components_of(blocks)
    if count > _MOST_BOXES:
        return [(slice(None),) * mask.ndim]
    boxes: list[Region] = []
    for box in find_objects(numbered) if count else ():
        # A box that overlaps earlier ones becomes one with them, and may then overlap further ones.
        while touched := [other for other in boxes if _overlap(box, other)]:
            boxes = [other for other in boxes if other not in touched]
            box = around([box, *touched])
        boxes.append(box)
    return [tuple(slice(axis.start * side, axis.stop * side) for axis in box) for box in boxes]


def _overlap(first: Region, second: Region) -> bool:
    axes = zip(first, second, strict=True)
    return all(one.start < other.stop and other.start < one.stop for one, other in axes)


def _matched_in_box(
    prediction: Bools, reference: Bools, spacing_mm: Sequence[float], dilations: int, smallest_volume: float
) -> LesionsInBox:
    predicted, predictions = components_of(prediction)
    dilated, count = components_of(_dilated(reference, dilations))
    touching = dilated[prediction].astype(np.int64) * (predictions + 1) + predicted[prediction]
    pairs = np.unique(touching[touching > predictions])
    lesion_of_pair, taken = np.divmod(pairs, predictions + 1)
    lesions = np.where(reference, dilated, 0)
    voxels = np.bincount(dilated[reference], minlength=count + 1)
    chosen = np.flatnonzero(voxels * math.prod(spacing_mm) > smallest_volume)
    chosen = chosen[chosen > 0]
    return LesionsInBox(
        predicted,
        lesions,
        chosen,
        [taken[lesion_of_pair == lesion] for lesion in chosen],
        np.bincount(predicted[prediction], minlength=predictions + 1),
        voxels,
        predictions - len(np.unique(taken)),
        spacing_mm,
    )


def _dilated(mask: Bools, times: int) -> Bools:
    """Return a mask dilated so often by its neighbours that share a face or an edge.

    Of three axes the neighbours are those along any two of them: 3 × 3 voxels, one axis after the other.
    """
    for _ in range(times):
        along = [_spread(mask, axis) for axis in range(mask.ndim)]
        dilated = _spread(along[0], 1)
        for axis in range(2, mask.ndim):
            for other in range(axis):
                dilated |= _spread(along[other], axis)
        mask = dilated
    return mask


def _spread(mask: Bools, axis: int) -> Bools:
    """Return a mask with its neighbours along an axis."""
    spread = mask.copy()
    first, last = ((slice(None),) * axis + (part,) for part in (slice(None, -1), slice(1, None)))
    spread[first] |= mask[last]
    spread[last] |= mask[first]
    return spread
