"""Predictions that are spoilt by a chosen amount, so that each case adds a different number to a sum."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.challenge import Task
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.io.kinds.label_mask import LabelMask
from evaluation.io.kinds.point import Point, PointInImage
from evaluation.metrics.crop import Crop, crop
from evaluation.organiser.attack.oracle import Oracle

Amounts = NDArray[np.float64]


@dataclass(frozen=True)
class Spoiler:
    """How predictions of a field are spoilt: by two amounts from 0 (whole) to 1."""

    field: Field
    spoil: Callable[[CaseForm, Amounts], Any]


def spoilers(task: Task, oracle: Oracle) -> Iterator[Spoiler]:
    """Yield the ways in which predictions of a task can be spoilt."""
    for field in task.fields:
        kind = field.kind
        if isinstance(kind, LabelMask):
            if kind.nested and len(kind.labels) > 1:
                yield Spoiler(field, partial(_nested, kind))
            yield Spoiler(field, partial(_erased, kind, partial(oracle.skilled, field)))
        elif isinstance(kind, PointInImage):
            yield Spoiler(field, partial(_moved, partial(oracle.skilled, field)))


def contribution(
    task: Task,
    case: CaseForm,
    whole: Mapping[str, Any],
    spoilt: Mapping[str, Any],
    opinion: Mapping[str, Any],
) -> dict[str, float]:
    """Return by column how far spoiling changes a case's row, if the reference is the opinion."""
    before, after = task.score(whole, opinion), task.score(spoilt, opinion)
    return {
        column: float(after[column]) - float(before[column])
        for column in before
        if isinstance(before[column], int | float)
    }


def _nested(kind: LabelMask, case: CaseForm, amounts: Amounts) -> Crop:
    """Return an image of an outer and an inner label whose height ratio is 1 − amounts[0]."""
    rows = case.height - round(float(amounts[1]) * case.height / 2)
    inner_rows = max(1, round((1 - float(amounts[0])) * rows))
    inner, outer = next(iter(kind.labels)), list(kind.labels)[-1]
    return _rows_of_labels(case.height, case.width, ((rows, outer), (inner_rows, inner)), kind.background)


@lru_cache(maxsize=8)  # images of one size share the whole prediction
def _rows_of_labels(height: int, width: int, labels: tuple[tuple[int, int], ...], background: int) -> Crop:
    image = np.full((height, width), background, np.uint8)
    for rows, label in labels:
        image[:rows] = label
    return crop(image, background)


def _erased(kind: LabelMask, skilled: Callable[[CaseForm], Any], case: CaseForm, amounts: Amounts) -> Crop:
    """Return a skilled mask without the first share of its labelled pixels, from top to bottom."""
    image = np.full((case.height, case.width), kind.background, np.uint8)
    mask: Crop = skilled(case)
    image[mask.box.slices] = mask.values
    rows, columns = np.nonzero(image != kind.background)
    erased = round(float(amounts[0]) * len(rows))
    image[rows[:erased], columns[:erased]] = kind.background
    return crop(image, kind.background).copy()


def _moved(skilled: Callable[[CaseForm], Any], case: CaseForm, amounts: Amounts) -> Point:
    """Return a skilled point, moved towards the farthest corner by a share of the way."""
    point: Point = skilled(case)
    corner = (
        0.0 if point.x > case.width / 2 else case.width,
        0.0 if point.y > case.height / 2 else case.height,
    )
    share = float(amounts[0])
    return replace(
        point, x=point.x + share * (corner[0] - point.x), y=point.y + share * (corner[1] - point.y)
    )
