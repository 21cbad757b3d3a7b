"""Combine the values that several annotators or submissions give for one case, view by view."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.core.views import Choices, Numbers, Objects, Voxels
from evaluation.io.volumes import case_geometry
from evaluation.metrics.arrays import Floats
from evaluation.metrics.boxes import fuse_boxes, iou_of_corners, suppress_boxes
from evaluation.metrics.crops import Crop, around

# --- Combine the masks of several annotators by majority vote ---

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CombinationRules:
    """The organiser's rules for combining annotators.

    ``tie``: the result for a pixel, label or visibility with as many votes for as against. ``boxes``:
    weighted boxes fusion or non-maximum suppression; boxes with an IoU above ``box_iou`` belong together.
    """

    tie: Literal["background", "foreground"] = "background"
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


def _voted(masks: Sequence[Crop], rules: CombinationRules) -> Crop:
    """Return the majority vote for a region."""
    # Pixels that nobody marked need no vote.
    box = around(*masks)
    votes = np.stack([mask.within(box) for mask in masks])
    return Crop(majority_vote(votes, rules.tie_is_foreground), box.corner)


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


# --- Combine the values that several annotators or submissions give for one case, view by view ---


def is_combinable(kind: Kind) -> bool:
    """Return whether values of a kind can be combined.

    Lists of points cannot, since it is not known which of them belong together.
    """
    objects = kind.objects
    listed = objects and objects.value and not (objects.form == "point" and objects.number == "any")
    made = (view.value for view in (kind.regions, kind.voxels) if view)
    return bool(kind.numbers or kind.choices or listed or any(made))


def combine(kind: Kind, values: Sequence[Any], case: CaseForm, rules: CombinationRules) -> Any:
    """Return one value of a case, as the kind reads it; the order of ``values`` does not matter.

    values: one from each annotator or submission, at least one. Regions are voted one by one, choices too,
    numbers and voxels are averaged, and objects are fused. Raises `TypeError` where values of the kind cannot
    be combined, and `ValueError` without any value.
    """
    if not values:
        raise ValueError("values: expected at least one, found none")
    if not is_combinable(kind):
        raise TypeError(f"values of {type(kind).__name__} cannot be combined")
    if (regions := kind.regions) and regions.value:
        of_regions = zip(*map(regions.of, values), strict=True)
        return regions.value([_voted(masks, rules) for masks in of_regions], case)
    if (objects := kind.objects) and objects.value:
        return objects.value(_combine_objects(objects, list(map(objects.of, values)), rules), case)
    if (voxels := kind.voxels) and voxels.value:
        return voxels.value(_mean_voxels(voxels, values, case), case)
    if choices := kind.choices:
        decided = zip(*map(choices.of, values), strict=True)
        return choices.value([_most_frequent(choices, given, rules) for given in decided])
    numbers = kind.numbers
    assert numbers is not None
    return numbers.value([_mean_value(given) for given in zip(*map(numbers.of, values), strict=True)])


def _combine_objects(view: Objects, given: Sequence[Floats], rules: CombinationRules) -> Floats:
    """Return fused boxes; of a single object, or of one of each class, the mean of those that most have.

    A single object has the class that most of them have.
    """
    if view.number == "any":
        return _combine_boxes(given, rules, view.with_confidence, view.inclusive, view.most)
    rows = np.concatenate(given)
    labels, counts = np.unique(rows[:, 0], return_counts=True)
    if view.number == "one":
        labels = labels[[counts.argmax()]]
    elif view.number == "some":
        everyone = np.arange(len(given))
        there = [bool(majority_vote(everyone < count, rules.tie_is_foreground)) for count in counts]
        labels = labels[there]
    means = [[_mean_value(of_axis) for of_axis in rows[rows[:, 0] == label].T.tolist()] for label in labels]
    return np.array(means).reshape(-1, rows.shape[1])


def _mean_voxels(view: Voxels, values: Sequence[Any], case: CaseForm) -> NDArray[np.float32]:
    mean = np.zeros(case_geometry(case, view.dimensions).shape, np.float32)
    for plane, crops in zip(mean, zip(*map(view.of, values), strict=True), strict=True):
        box = around(*crops)
        if not box.is_empty:
            plane[box.slices] = _mean(np.stack([cropped.within(box).astype(np.float64) for cropped in crops]))
    return mean


def _most_frequent(view: Choices, given: Sequence[int | None], rules: CombinationRules) -> int | None:
    """Return the most frequent answer; of equal ones the first, or the last where a tie is foreground.

    None is an answer only where it stands for one, and then only if it is more frequent than all others.
    """
    votes = Counter(position for position in given if position is not None)
    most = max(votes.values(), default=0)
    if not most or (view.neither and len(given) - votes.total() > most):
        return None
    choose = max if rules.tie_is_foreground else min
    return choose(position for position, number in votes.items() if number == most)


def normalised(view: Numbers, values: Sequence[float]) -> list[float]:
    """Return one submission's numbers of a field over all cases, on a scale common to all submissions.

    Numbers without two bounds (any finite number is a valid likelihood) are mapped linearly from their
    minimum and maximum to [0, 1], a constant submission to ½. Others are returned unchanged.
    """
    if all(map(math.isfinite, view.bounds)) or not values:
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
    # Rounding must not leave the range of the values or the image.
    return min(max(values), max(min(values), mean))
