"""Comparisons of the values of one case, by kind: decisions, numbers, similarities, distances."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping
from functools import singledispatch
from math import nan
from typing import Any, TypeVar

import numpy as np

from evaluation.annotators.box_agreement import compared_boxes, numbers_of_boxes
from evaluation.core.field import Kind
from evaluation.io.kinds.boxes import Boxes, BoxList
from evaluation.io.kinds.boxes_in_space import BoxesInSpace
from evaluation.io.kinds.class_label import ClassLabel
from evaluation.io.kinds.label_mask import LabelMask
from evaluation.io.kinds.multilabel_mask import MultilabelMask
from evaluation.io.kinds.number import Label, Number
from evaluation.io.kinds.point import Point, PointInImage, distance
from evaluation.metrics.box_matching import box_iou
from evaluation.metrics.crop import Crop
from evaluation.metrics.overlap import dice, overlap_of, region_of

Figure = TypeVar("Figure")
LeftOut = Mapping[str, Collection[str]]
"""The names of regions by annotator."""


@singledispatch
def categories(kind: Kind, value: Any) -> Mapping[str, Hashable]:
    """Return an annotator's categorical decisions in one case, by name; they are compared by kappa."""
    return {}


@categories.register
def _label(kind: Label, value: int) -> Mapping[str, Hashable]:
    return {"": value}


@categories.register
def _class(kind: ClassLabel, value: float) -> Mapping[str, Hashable]:
    return {"": "excluded" if math.isnan(value) else kind.names[int(value)]}


@categories.register
def _presence(kind: LabelMask, value: Crop) -> Mapping[str, Hashable]:
    return {
        f"{kind.labels[label]} present": bool(region_of(value, labels).values.any())
        for label, labels in kind.regions()
    }


@categories.register
def _presence_of_classes(kind: MultilabelMask, value: tuple[Crop, ...]) -> Mapping[str, Hashable]:
    return {
        f"{name} present": bool(region.values.any()) for name, region in zip(kind.classes, value, strict=True)
    }


@categories.register(BoxList)
@categories.register(BoxesInSpace)
def _presence_of_boxes(kind: BoxList | BoxesInSpace, value: Boxes) -> Mapping[str, Hashable]:
    return {f"{name} present": number > 0 for name, number in _numbers_of_boxes(kind, value).items()}


@categories.register
def _visibility(kind: PointInImage, value: Point) -> Mapping[str, Hashable]:
    return {"visible": kind.is_visible(value)} if kind.may_be_invisible else {}


@singledispatch
def amounts(kind: Kind, value: Any) -> Mapping[str, float]:
    """Return the numbers in an annotator's value of one case, by name; NaN where undefined.

    They are compared by intraclass correlation, Krippendorff's alpha and limits of agreement.
    """
    return {}


@amounts.register
def _number(kind: Number, value: float) -> Mapping[str, float]:
    return {"": value}


@amounts.register
def _areas(kind: LabelMask, value: Crop) -> Mapping[str, float]:
    return {
        f"{kind.labels[label]} area in pixels": float(np.count_nonzero(region_of(value, labels).values))
        for label, labels in kind.regions()
    }


@amounts.register
def _areas_of_classes(kind: MultilabelMask, value: tuple[Crop, ...]) -> Mapping[str, float]:
    return {
        f"{name} area in pixels": float(np.count_nonzero(region.values))
        for name, region in zip(kind.classes, value, strict=True)
    }


@amounts.register(BoxList)
@amounts.register(BoxesInSpace)
def _counts_of_boxes(kind: BoxList | BoxesInSpace, value: Boxes) -> Mapping[str, float]:
    return {f"number of {name}": float(number) for name, number in _numbers_of_boxes(kind, value).items()}


@amounts.register
def _coordinates(kind: PointInImage, value: Point) -> Mapping[str, float]:
    visible = kind.is_visible(value)
    return {"x in pixels": value.x if visible else nan, "y in pixels": value.y if visible else nan}


@singledispatch
def measures(kind: Kind, first: Any, second: Any) -> Mapping[str, float]:
    """Return similarities or distances of two values of one case, by name; NaN where undefined."""
    return {}


@measures.register
def _dice(kind: LabelMask, first: Crop, second: Crop) -> Mapping[str, float]:
    """Return the Dice of every region; NaN where neither annotator marked it."""
    return {
        f"{kind.labels[label]} Dice": dice(
            overlap_of(region_of(first, labels), region_of(second, labels)), both_empty=nan
        )
        for label, labels in kind.regions()
    }


@measures.register
def _dice_of_classes(
    kind: MultilabelMask, first: tuple[Crop, ...], second: tuple[Crop, ...]
) -> Mapping[str, float]:
    pairs = zip(kind.classes, first, second, strict=True)
    return {f"{name} Dice": dice(overlap_of(one, other), both_empty=nan) for name, one, other in pairs}


@measures.register
def _box_lists(kind: BoxList, first: Boxes, second: Boxes) -> Mapping[str, float]:
    return compared_boxes(first.rows, second.rows, kind.classes, kind.inclusive_corners)


@measures.register
def _boxes_in_space(kind: BoxesInSpace, first: Boxes, second: Boxes) -> Mapping[str, float]:
    """Return the similarities of lists; for single boxes the IoU, however small."""
    if kind.single:
        (one,), (other,) = first.rows[:, 2:], second.rows[:, 2:]
        return {"IoU": float(box_iou(one, other, inclusive_corners=False))}
    return compared_boxes(first.rows, second.rows, kind.attributes.classes, inclusive_corners=False)


@measures.register
def _distance(kind: PointInImage, first: Point, second: Point) -> Mapping[str, float]:
    """Return the distance in pixels; NaN where one annotator marked the structure as invisible."""
    both = kind.is_visible(first) and kind.is_visible(second)
    return {"distance in pixels": distance(first, second) if both else nan}


def _numbers_of_boxes(kind: BoxList | BoxesInSpace, value: Boxes) -> Mapping[str, int]:
    if isinstance(kind, BoxesInSpace) and kind.single:
        return {}
    classes = kind.classes if isinstance(kind, BoxList) else kind.attributes.classes
    return numbers_of_boxes(value.rows, classes)


def counting(figures: Mapping[str, Figure], *left_out: Collection[str]) -> dict[str, Figure]:
    """Return figures by name, without the ones whose names begin with a region that is left out."""
    regions = {region for regions in left_out for region in regions}
    return {
        name: figure
        for name, figure in figures.items()
        if not any(name.startswith(f"{region} ") for region in regions)
    }
