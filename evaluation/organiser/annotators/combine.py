"""Combine the values that several annotators or submissions give for one case, by kind of value."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce, singledispatch
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import PhaseError
from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.io.kinds.boxes import Boxes, BoxesInSpace, BoxList
from evaluation.io.kinds.classes import ClassLabel, ClassProbabilities, Flags, FlagSet, Probabilities
from evaluation.io.kinds.masks import LabelMask, MultilabelMask
from evaluation.io.kinds.number import Label, Number
from evaluation.io.kinds.points import Point, PointInImage
from evaluation.io.kinds.volume import ConfidenceVolume, Volume
from evaluation.io.volume_header import geometry_of
from evaluation.metrics.agreement import staple
from evaluation.metrics.arrays import Floats
from evaluation.metrics.boxes import fuse_boxes, iou_of_corners, suppress_boxes
from evaluation.metrics.crops import Box, Crop

# --- Combine the masks of several annotators by majority vote or STAPLE ---

Mask = NDArray[np.bool_]
Regions = Collection[str]


@dataclass(frozen=True, slots=True)
class CombinationRules:
    """The organiser's rules for combining annotators.

    ``tie``: the result for a pixel, label or visibility with as many votes for as against.
    ``method``: how masks are combined. ``boxes``: weighted boxes fusion or non-maximum suppression; boxes
    with an IoU above ``box_iou`` belong together.
    """

    tie: Literal["background", "foreground"] = "background"
    method: Literal["majority", "staple"] = "majority"
    boxes: Literal["wbf", "nms"] = "wbf"
    box_iou: float = 0.55

    @property
    def tie_is_foreground(self) -> bool:
        """Whether a tie counts as foreground."""
        return self.tie == "foreground"


def majority_vote(votes: NDArray[np.bool_], tie_is_foreground: bool = False) -> Mask:
    """Return the majority of votes (annotator, …) for every pixel. Raises `ValueError` without any."""
    if not len(votes):
        raise ValueError("votes: expected at least one annotator, found none")
    twice = 2 * np.count_nonzero(votes, axis=0)
    return np.asarray(twice >= len(votes) if tie_is_foreground else twice > len(votes))


def _voted(
    region: str,
    masks: Sequence[Crop],
    left_out: Sequence[Regions] | None,
    box: Box,
    case: CaseForm,
    rules: CombinationRules,
) -> Mask:
    """Return a region in a box by the method of the rules, see `combine_label_masks`.

    Raises `PhaseError`, which names the case, where STAPLE does not converge.
    """
    silent = [region in regions for regions in left_out or [()] * len(masks)]
    if all(silent):
        return np.zeros(box.shape, dtype=np.bool_)
    votes = np.stack([mask.within(box) for mask, out in zip(masks, silent, strict=True) if not out])
    if rules.method == "majority":
        return majority_vote(votes, rules.tie_is_foreground)
    found = staple(votes)
    if not found.converged:
        raise PhaseError(
            f"{case.name}: STAPLE did not converge in {found.iterations} iterations; combine by majority vote"
        )
    return found.mask


def combine_label_masks(
    kind: LabelMask,
    masks: Sequence[Crop],
    case: CaseForm,
    rules: CombinationRules,
    left_out: Sequence[Regions] | None = None,
) -> NDArray[np.uint8]:
    """Return the full image (y, x). Each region is voted separately; grey values are never averaged.

    left_out: for every mask the regions without its vote (None: it votes for all). A region without any vote
    stays empty. A nested region is part of the region around it (the cup of the disc). Where exclusive
    regions tie for a pixel, the region listed last wins.
    """
    image = np.full((case.height, case.width), kind.background, dtype=np.uint8)
    # Pixels that nobody marked need no vote, but STAPLE counts them.
    box = reduce(Box.union, (mask.box for mask in masks))
    if rules.method == "staple":
        box = Box(0, case.height, 0, case.width)
    window = image[box.slices]
    for label, labels in kind.regions():
        marked = [Crop(np.isin(mask.values, labels), mask.top, mask.left) for mask in masks]
        window[_voted(kind.labels[label], marked, left_out, box, case, rules)] = label
    return image


# --- Combine the boxes of several submissions or annotators in one image, class by class ---


def _combine_boxes(
    given: Sequence[Floats], rules: CombinationRules, with_confidence: bool, inclusive: bool, max_boxes: int
) -> Floats:
    """Return the combined boxes, by descending confidence; the order of ``given`` does not matter.

    given: one array (boxes, 2 + 2 · axes) from each: class index, confidence, lower and upper corner. With
    confidences, by weighted boxes fusion or non-maximum suppression. Without, see `_voted_boxes`. Beyond
    ``max_boxes`` the least confident ones are left out.
    """
    owner = np.repeat(np.arange(len(given)), list(map(len, given)))
    rows = np.concatenate(given)
    found = []
    for label in np.unique(rows[:, 0]):
        chosen = rows[:, 0] == label
        corners, confidence = rows[chosen, 2:], rows[chosen, 1]
        if with_confidence:
            order = np.lexsort((*corners.T[::-1], -confidence))
            sorted_boxes = corners[order], confidence[order]
            if rules.boxes == "nms":
                fused = suppress_boxes(*sorted_boxes, rules.box_iou, inclusive)
            else:
                fused = fuse_boxes(*sorted_boxes, len(given), rules.box_iou, inclusive)
            kept, sure = fused.corners, fused.confidence
        else:
            kept = _voted_boxes(corners, owner[chosen], len(given), inclusive, rules)
            sure = np.ones(len(kept))
        found.append(np.column_stack([np.full(len(kept), label), sure, kept]))
    combined = np.concatenate([*found, rows[:0]])
    return combined[np.argsort(-combined[:, 1], kind="stable")][:max_boxes]


def _voted_boxes(
    corners: Floats, owner: NDArray[np.intp], annotators: int, inclusive: bool, rules: CombinationRules
) -> Floats:
    """Return the boxes of one class for which most annotators vote, shape (boxes, 2 · axes).

    corners: shape (boxes, 2 · axes); owner: shape (boxes,), the annotator of each. The box that overlaps most
    with other annotators' boxes starts a group. From every other annotator, the group takes the box that
    overlaps it most, if the IoU is above the threshold. The remaining boxes are grouped in the same way. So a
    group has at most one box of each annotator. A group that most annotators have becomes the mean of its
    members, or with "nms" its first box.
    """
    found = []
    left = _most_agreed(corners, owner, inclusive)
    while left.size:
        first, left = left[0], left[1:]
        members = [first]
        overlap = iou_of_corners(corners[left], corners[first], inclusive)
        for other in np.unique(owner[left]):
            theirs = np.flatnonzero(owner[left] == other)
            best = theirs[overlap[theirs].argmax()]
            if other != owner[first] and overlap[best] > rules.box_iou:
                members.append(left[best])
        left = left[~np.isin(left, members)]
        votes = np.arange(annotators) < len(members)
        if majority_vote(votes, rules.tie_is_foreground):
            found.append(corners[first] if rules.boxes == "nms" else _mean(corners[members]))
    return np.array(found).reshape(-1, corners.shape[1])


def _mean(rows: Floats) -> Floats:
    # Sorted, so that rounding does not depend on the order of the annotators; the mean must not leave their
    # range.
    ordered = np.sort(rows, axis=0)
    mean: Floats = np.clip(ordered.sum(axis=0) / len(rows), ordered[0], ordered[-1])
    return mean


def _most_agreed(corners: Floats, owner: NDArray[np.intp], inclusive: bool) -> NDArray[np.intp]:
    """Return the order of boxes by descending overlap with other annotators' boxes; ties by corners."""
    support = np.array(
        [
            # Sorted, so that rounding does not depend on the order of the annotators.
            np.sort(iou_of_corners(corners[owner != own], corner, inclusive)).sum()
            for corner, own in zip(corners, owner, strict=True)
        ]
    )
    return np.lexsort((*corners.T[::-1], -support))


# --- Combine the values that several annotators or submissions give for one case, by kind of value ---


@singledispatch
def combine(kind: Kind, values: Sequence[Any], case: CaseForm, rules: CombinationRules) -> Any:
    """Return one value of a case in the form that the kind writes; the order of ``values`` does not matter.

    values: one from each annotator or submission, at least one, as the kind reads them. A challenge registers
    its own kinds: ``@combine.register`` on a function of the same arguments. Raises `TypeError` for a kind
    that is not registered (see `is_combinable`).
    """
    raise TypeError(f"values of {type(kind).__name__} cannot be combined")


def is_combinable(kind: Kind) -> bool:
    """Return whether values of a kind can be combined."""
    return combine.dispatch(type(kind)) is not combine.dispatch(object)


@combine.register
def _numbers(kind: Number, values: Sequence[float], case: CaseForm, rules: CombinationRules) -> float:
    return _mean_value(values)


@combine.register
def _labels(kind: Label, values: Sequence[int | bool], case: CaseForm, rules: CombinationRules) -> int:
    return int(majority_vote(np.array(values, dtype=np.bool_), rules.tie_is_foreground))


@combine.register
def _flags(kind: FlagSet, values: Sequence[Flags], case: CaseForm, rules: CombinationRules) -> Flags:
    """Return every flag by majority among the values with it; a flag in none of them is missing."""
    given = ([flag for flag in flags if flag is not None] for flags in zip(*values, strict=True))
    return tuple(bool(_labels(Label(), flags, case, rules)) if flags else None for flags in given)


@combine.register
def most_frequent_class(
    kind: ClassLabel, classes: Sequence[float], case: CaseForm, rules: CombinationRules
) -> float:
    """Return the position of the most frequent class; NaN (excluded) only if it is more frequent.

    Of equally frequent classes the first in their order, or the last where a tie is foreground. Raises
    `ValueError` without any class.
    """
    if not classes:
        raise ValueError("classes: expected at least one, found none")
    votes = Counter(int(position) for position in classes if not math.isnan(position))
    most = max(votes.values(), default=0)
    if len(classes) - votes.total() > most:
        return math.nan
    choose = max if rules.tie_is_foreground else min
    return choose(position for position, number in votes.items() if number == most)


@combine.register
def mean_probabilities(
    kind: ClassProbabilities, given: Sequence[Probabilities], case: CaseForm, rules: CombinationRules
) -> Probabilities:
    """Return the mean of the probabilities of each class; the order of ``given`` does not matter.

    given: at least one sequence, with a number from 0 to 1 for each class. The sum of the means is the mean
    of the sums, up to rounding.
    """
    return tuple(min(1.0, math.fsum(of_class) / len(given)) for of_class in zip(*given, strict=True))


@combine.register
def combine_points(
    kind: PointInImage, points: Sequence[Point], case: CaseForm, rules: CombinationRules
) -> Point:
    """Return the mean of the points, in pixels.

    A point that can be invisible is visible if most annotators mark it; the mean is taken over those
    annotators. The order of the points does not matter. Raises `ValueError` without any point.
    """
    if not points:
        raise ValueError("points: expected at least one, found none")
    seen = [point for point in points if kind.is_visible(point)]
    if not majority_vote(np.arange(len(points)) < len(seen), rules.tie_is_foreground):
        return Point(0.0, 0.0)
    return Point(_mean_value([point.x for point in seen]), _mean_value([point.y for point in seen]))


@combine.register
def _box_lists(kind: BoxList, values: Sequence[Boxes], case: CaseForm, rules: CombinationRules) -> Boxes:
    """Return boxes fused by their confidences; boxes without any by the majority."""
    rows = [value.rows for value in values]
    return Boxes(_combine_boxes(rows, rules, kind.with_confidence, kind.inclusive_corners, kind.max_boxes))


@combine.register
def _boxes_in_space(
    kind: BoxesInSpace, values: Sequence[Boxes], case: CaseForm, rules: CombinationRules
) -> Boxes:
    """Return combined boxes with two or three axes; for single boxes the mean."""
    rows = [value.rows for value in values]
    if kind.single:
        return Boxes(_mean(np.concatenate(rows))[np.newaxis])
    return Boxes(_combine_boxes(rows, rules, kind.attributes.with_probability, False, kind.max_boxes))


combine.register(LabelMask, combine_label_masks)


def combine_without(
    kind: Kind, values: Sequence[Any], case: CaseForm, rules: CombinationRules, left_out: Sequence[Regions]
) -> Any:
    """Return one value of a case from values without some of their regions; see `combine`.

    left_out: the names of regions for every value, see `region_names`. A region left out of all is empty.
    Raises `TypeError` for a region of a kind without regions.
    """
    if not any(left_out):
        return combine(kind, values, case, rules)
    if not region_names(kind):
        raise TypeError(f"values of {type(kind).__name__} have no regions")
    return combine.dispatch(type(kind))(kind, values, case, rules, left_out)


@combine.register
def _multilabel_masks(
    kind: MultilabelMask,
    values: Sequence[tuple[Crop, ...]],
    case: CaseForm,
    rules: CombinationRules,
    left_out: Sequence[Regions] | None = None,
) -> NDArray[np.bool_]:
    """Return (class, y, x), each class voted separately."""
    whole = Box(0, case.height, 0, case.width)
    by_class = zip(kind.classes, zip(*values, strict=True), strict=True)
    return np.stack([_voted(name, crops, left_out, whole, case, rules) for name, crops in by_class])


def region_names(kind: Kind) -> tuple[str, ...]:
    """Return the names of the regions of a mask, each combined by itself; none for other kinds."""
    if isinstance(kind, LabelMask):
        return tuple(kind.labels.values())
    return kind.classes if isinstance(kind, MultilabelMask) else ()


@combine.register
def _volumes(
    kind: ConfidenceVolume, values: Sequence[tuple[Crop, ...]], case: CaseForm, rules: CombinationRules
) -> Volume:
    geometry = geometry_of(case)
    mean = np.zeros(geometry.shape, dtype=np.float32)
    for plane, plane_crops in zip(mean, zip(*values, strict=True), strict=True):
        box = reduce(Box.union, (cropped.box for cropped in plane_crops))
        if not box.is_empty:
            plane[box.slices] = _mean(
                np.stack([cropped.within(box).astype(np.float64) for cropped in plane_crops])
            )
    return Volume(mean, geometry)


def normalised(kind: Kind, values: Sequence[float]) -> list[float]:
    """Return one submission's values of a field over all cases, on a scale common to all submissions.

    Numbers without bounds (any finite number is a valid likelihood) are mapped linearly from their minimum
    and maximum to [0, 1], a constant submission to ½. Other values are returned unchanged.
    """
    if not isinstance(kind, Number) or kind.is_bounded or not values:
        return list(values)
    lowest, highest = min(values), max(values)
    if lowest == highest:
        return [0.5] * len(values)
    # The difference of two finite numbers can overflow; the difference of their halves cannot.
    scale = 1.0 if math.isfinite(highest - lowest) else 0.5
    width = scale * highest - scale * lowest
    return [(scale * value - scale * lowest) / width for value in values]


def _mean_value(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    # Rounding must not leave the range of the points or the image.
    return min(max(values), max(min(values), mean))
