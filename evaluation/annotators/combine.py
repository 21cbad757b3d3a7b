"""Combine the values that several annotators or submissions give for one case, by kind of value.

A challenge registers its own kinds: ``@combine.register`` on a function of the same arguments.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import reduce, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.annotators.boxes import BoxRules, combine_boxes, mean_box
from evaluation.annotators.classes import mean_probabilities, most_frequent_class
from evaluation.annotators.masks import Rules, combine_label_masks, majority_vote, vote, voters
from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.io.kinds.boxes import Boxes, BoxList
from evaluation.io.kinds.boxes_in_space import BoxesInSpace
from evaluation.io.kinds.class_label import ClassLabel
from evaluation.io.kinds.class_probabilities import ClassProbabilities, Probabilities
from evaluation.io.kinds.flags import Flags, FlagSet
from evaluation.io.kinds.label_mask import LabelMask
from evaluation.io.kinds.multilabel_mask import MultilabelMask
from evaluation.io.kinds.number import Label, Number
from evaluation.io.kinds.point import Point, PointInImage
from evaluation.io.kinds.volume import ConfidenceVolume, Volume
from evaluation.io.volumes.case_geometry import geometry_of
from evaluation.metrics.crop import Box, Crop


@singledispatch
def combine(kind: Kind, values: Sequence[Any], case: CaseForm, rules: Rules) -> Any:
    """Return one value of a case in the form that the kind writes; the order of ``values`` does not matter.

    values: one from each annotator or submission, at least one, as the kind reads them. Raises
    `TypeError` for a kind that is not registered (see `is_combinable`).
    """
    raise TypeError(f"values of {type(kind).__name__} cannot be combined")


def is_combinable(kind: Kind) -> bool:
    """Return whether values of a kind can be combined."""
    return combine.dispatch(type(kind)) is not combine.dispatch(object)


@combine.register
def _numbers(kind: Number, values: Sequence[float], case: CaseForm, rules: Rules) -> float:
    """Return the mean."""
    return _mean(values)


@combine.register
def _labels(kind: Label, values: Sequence[int | bool], case: CaseForm, rules: Rules) -> int:
    """Return the majority's answer."""
    return int(majority_vote(np.array(values, dtype=np.bool_), rules.tie_is_foreground))


@combine.register
def _flags(kind: FlagSet, values: Sequence[Flags], case: CaseForm, rules: Rules) -> Flags:
    """Return every flag by majority among the values with it; a flag in none of them is missing."""
    combined: list[bool | None] = []
    for flag_values in zip(*values, strict=True):
        given = [flag for flag in flag_values if flag is not None]
        combined.append(bool(_labels(Label(), given, case, rules)) if given else None)
    return tuple(combined)


@combine.register
def _classes_of_cases(kind: ClassLabel, values: Sequence[float], case: CaseForm, rules: Rules) -> float:
    """Return the position of the most frequent class, or NaN where most exclude the case."""
    found = most_frequent_class(values, rules.tie_is_foreground)
    return found if math.isnan(found) else int(found)


@combine.register
def _class_probabilities(
    kind: ClassProbabilities, values: Sequence[Probabilities], case: CaseForm, rules: Rules
) -> Probabilities:
    """Return the mean probability of every class."""
    return mean_probabilities(values)


@combine.register
def _points(kind: PointInImage, values: Sequence[Point], case: CaseForm, rules: Rules) -> Point:
    return combine_points(kind, values, rules.tie_is_foreground)


@combine.register
def _box_lists(kind: BoxList, values: Sequence[Boxes], case: CaseForm, rules: Rules) -> Boxes:
    """Return boxes fused by their confidences; boxes without any by the majority."""
    of_kind = BoxRules(kind.with_confidence, kind.inclusive_corners, kind.max_boxes)
    return Boxes(combine_boxes([value.rows for value in values], of_kind, rules))


@combine.register
def _boxes_in_space(kind: BoxesInSpace, values: Sequence[Boxes], case: CaseForm, rules: Rules) -> Boxes:
    """Return combined boxes with two or three axes; for single boxes the mean."""
    rows = [value.rows for value in values]
    if kind.single:
        return Boxes(mean_box(rows))
    of_kind = BoxRules(kind.attributes.with_probability, inclusive_corners=False, max_boxes=kind.max_boxes)
    return Boxes(combine_boxes(rows, of_kind, rules))


@combine.register
def _label_masks(kind: LabelMask, values: Sequence[Crop], case: CaseForm, rules: Rules) -> NDArray[np.uint8]:
    return combine_label_masks(kind, values, case, rules)


@combine.register
def _multilabel_masks(
    kind: MultilabelMask, values: Sequence[tuple[Crop, ...]], case: CaseForm, rules: Rules
) -> NDArray[np.bool_]:
    return _classes(kind, values, case, rules, None)


@singledispatch
def combine_without(
    kind: Kind, values: Sequence[Any], case: CaseForm, rules: Rules, left_out: Sequence[Collection[str]]
) -> Any:
    """Return one value of a case from values without some of their regions; see `combine`.

    left_out: the names of regions for every value, see `region_names`. A region left out of all is empty.
    Raises `TypeError` for a kind without regions.
    """
    raise TypeError(f"values of {type(kind).__name__} have no regions")


@combine_without.register
def _label_masks_without(
    kind: LabelMask,
    values: Sequence[Crop],
    case: CaseForm,
    rules: Rules,
    left_out: Sequence[Collection[str]],
) -> NDArray[np.uint8]:
    return combine_label_masks(kind, values, case, rules, left_out)


@combine_without.register
def _multilabel_masks_without(
    kind: MultilabelMask,
    values: Sequence[tuple[Crop, ...]],
    case: CaseForm,
    rules: Rules,
    left_out: Sequence[Collection[str]],
) -> NDArray[np.bool_]:
    return _classes(kind, values, case, rules, left_out)


def _classes(
    kind: MultilabelMask,
    values: Sequence[tuple[Crop, ...]],
    case: CaseForm,
    rules: Rules,
    left_out: Sequence[Collection[str]] | None,
) -> NDArray[np.bool_]:
    """Return (class, y, x), each class voted separately."""
    combined = np.zeros((len(kind.classes), case.height, case.width), dtype=np.bool_)
    for number, (name, class_regions) in enumerate(zip(kind.classes, zip(*values, strict=True), strict=True)):
        voting = voters(class_regions, left_out, name)
        if not voting:
            continue
        votes = np.zeros((len(voting), case.height, case.width), dtype=np.bool_)
        for one, region in zip(votes, voting, strict=True):
            one[region.box.slices] = region.values
        combined[number] = vote(votes, rules, case.name)
    return combined


def region_names(kind: Kind) -> tuple[str, ...]:
    """Return the names of the regions of a mask, each combined by itself; none for other kinds."""
    if isinstance(kind, LabelMask):
        return tuple(kind.labels.values())
    return kind.classes if isinstance(kind, MultilabelMask) else ()


@combine.register
def _volumes(
    kind: ConfidenceVolume, values: Sequence[tuple[Crop, ...]], case: CaseForm, rules: Rules
) -> Volume:
    """Return the mean confidence of every voxel."""
    geometry = geometry_of(case)
    mean = np.zeros(geometry.shape, dtype=np.float32)
    for plane, plane_crops in zip(mean, zip(*values, strict=True), strict=True):
        box = reduce(Box.union, (cropped.box for cropped in plane_crops))
        if not box.is_empty:
            # Sorted, so that rounding does not depend on the order of the annotators.
            stack = np.sort(
                np.stack([cropped.within(box).astype(np.float64) for cropped in plane_crops]), axis=0
            )
            plane[box.slices] = np.clip(stack.sum(axis=0) / len(stack), stack[0], stack[-1])
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


def combine_points(kind: PointInImage, points: Sequence[Point], tie_is_visible: bool = False) -> Point:
    """Return the mean of the points, in pixels.

    A point that can be invisible is visible if most annotators mark it; the mean is taken over those
    annotators. The order of the points does not matter. Raises `ValueError` without any point.
    """
    if not points:
        raise ValueError("points: expected at least one, found none")
    seen = [point for point in points if kind.is_visible(point)]
    visible = 2 * len(seen) > len(points) or (tie_is_visible and 2 * len(seen) == len(points))
    if not visible:
        return Point(0.0, 0.0)
    return Point(_mean([point.x for point in seen]), _mean([point.y for point in seen]))


def _mean(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    # Rounding must not leave the range of the points or the image.
    return min(max(values), max(min(values), mean))
