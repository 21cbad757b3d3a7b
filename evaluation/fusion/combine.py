"""How the values of one case from several readers or submissions become one, by the kind of the value.

A challenge with a kind of its own registers it: ``@combine.register`` on a function of the same arguments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.fields.label_mask import LabelMask
from evaluation.fields.number import Label, Number
from evaluation.fields.point import Point, PointInImage
from evaluation.files.crop import CroppedMask
from evaluation.fusion.masks import Rules, combine_label_masks, majority_vote
from evaluation.fusion.points import combine_points
from evaluation.model.field import Kind
from evaluation.model.form import CaseForm


@singledispatch
def combine(kind: Kind, values: Sequence[Any], case: CaseForm, rules: Rules) -> Any:
    """Return one value of a case, as the kind's writers take it; the order of ``values`` does not matter.

    values: what the kind read from each reader or submission, at least one. Raises
    `TypeError` for a kind of which nobody has said how (see `is_combinable`).
    """
    raise TypeError(f"values of {type(kind).__name__} cannot be combined")


def is_combinable(kind: Kind) -> bool:
    """Return whether somebody has said how values of a kind are combined."""
    return combine.dispatch(type(kind)) is not combine.dispatch(object)


@combine.register
def _numbers(kind: Number, values: Sequence[float], case: CaseForm, rules: Rules) -> float:
    """Return the mean."""
    mean = math.fsum(values) / len(values)
    return min(max(values), max(min(values), mean))


@combine.register
def _labels(kind: Label, values: Sequence[int], case: CaseForm, rules: Rules) -> int:
    """Return what most say."""
    return int(majority_vote(np.array(values, dtype=np.bool_), rules.tie_is_foreground))


@combine.register
def _points(kind: PointInImage, values: Sequence[Point], case: CaseForm, rules: Rules) -> Point:
    return combine_points(kind, values, rules.tie_is_foreground)


@combine.register
def _label_masks(
    kind: LabelMask, values: Sequence[CroppedMask], case: CaseForm, rules: Rules
) -> NDArray[np.uint8]:
    return combine_label_masks(kind, values, rules)


def normalised(kind: Kind, values: Sequence[float]) -> list[float]:
    """Return one submission's values of a field over all cases on a scale that submissions share.

    Numbers without bounds have none (a likelihood may be any finite number): they are mapped linearly to
    [0, 1] by their minimum and maximum, a constant submission to ½. All others are returned as they are.
    """
    if not isinstance(kind, Number) or kind.is_bounded or not values:
        return list(values)
    lowest, highest = min(values), max(values)
    if lowest == highest:
        return [0.5] * len(values)
    # Halved, since the difference of two finite numbers need not be finite.
    width = highest / 2 - lowest / 2
    return [min(1.0, (value / 2 - lowest / 2) / width) for value in values]
