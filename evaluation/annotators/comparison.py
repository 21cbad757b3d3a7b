"""How far annotators agree: values of one case in pairs, by kind of value, and figures over all cases."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from itertools import chain, combinations
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
from evaluation.metrics.agreement import Agreement, cohen_kappa, fleiss_kappa
from evaluation.metrics.box_matching import box_iou
from evaluation.metrics.crop import Crop
from evaluation.metrics.intraclass import intraclass_correlations, limits_of_agreement
from evaluation.metrics.krippendorff import krippendorff_alpha
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
    """Return the numbers that an annotator's value of one case gives, by name; NaN where undefined.

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
    """Return the similarities of lists; of single boxes their IoU, however small."""
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
    """Return figures by name without those of regions that are left out, whose names begin their names."""
    regions = {region for regions in left_out for region in regions}
    return {
        name: figure
        for name, figure in figures.items()
        if not any(name.startswith(f"{region} ") for region in regions)
    }


@dataclass
class FieldAgreement:
    """Collects the annotators' values of one field, case by case; only the figures of a case are kept."""

    name: str
    kind: Kind
    _decisions: dict[str, list[dict[str, Hashable]]] = field(default_factory=lambda: defaultdict(list))
    _amounts: dict[str, list[dict[str, float]]] = field(default_factory=lambda: defaultdict(list))
    _measures: dict[tuple[str, str, str], list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, values: Mapping[str, Any], left_out: LeftOut | None = None) -> None:
        """Add the values of one case by annotator; regions that are left out of a mask do not count."""
        annotators = sorted(values)
        without = left_out or {}

        def of(figures: Mapping[str, Figure], *those: str) -> dict[str, Figure]:
            return counting(figures, *(without.get(one, ()) for one in those))

        decided = {
            annotator: of(categories(self.kind, values[annotator]), annotator) for annotator in annotators
        }
        for decision in dict.fromkeys(
            name for annotator_decisions in decided.values() for name in annotator_decisions
        ):
            self._decisions[decision].append(
                {annotator: named[decision] for annotator, named in decided.items() if decision in named}
            )
        given = {annotator: of(amounts(self.kind, values[annotator]), annotator) for annotator in annotators}
        for amount in dict.fromkeys(name for of_annotator in given.values() for name in of_annotator):
            numbers = {
                annotator: of_annotator[amount]
                for annotator, of_annotator in given.items()
                if amount in of_annotator
            }
            self._amounts[amount].append(
                {annotator: number for annotator, number in numbers.items() if not math.isnan(number)}
            )
        for first, second in combinations(annotators, 2):
            compared = measures(self.kind, values[first], values[second])
            for name, value in of(compared, first, second).items():
                if not math.isnan(value):
                    self._measures[name, first, second].append(value)

    def result(self) -> list[Agreement]:
        """Return the figures of decisions, of numbers, and the mean measures of every pair.

        Decisions: Cohen's kappa of every pair, Fleiss' kappa and Krippendorff's alpha of all. Numbers:
        ICC(2,1) and ICC(3,1) over the cases that all annotators have, Krippendorff's alpha, and Bland and
        Altman's limits of agreement of every pair. Undefined figures (only one category occurs) are left out.
        """
        found = []
        for decision, cases in self._decisions.items():
            prefix = f"{decision}: " if decision else ""
            annotators = sorted({annotator for case_values in cases for annotator in case_values})
            for first, second in combinations(annotators, 2):
                both = [case for case in cases if first in case and second in case]
                kappa = cohen_kappa([case[first] for case in both], [case[second] for case in both])
                found.append(self._agreement(f"{prefix}Cohen's kappa", first, second, len(both), kappa))
            several = [list(case.values()) for case in cases if len(case) > 1]
            kappa = fleiss_kappa(several)
            found.append(self._agreement(f"{prefix}Fleiss' kappa", "all", "", len(several), kappa))
            categories_of_all = {value: code for code, value in enumerate(dict.fromkeys(chain(*several)))}
            codes = [[float(categories_of_all[value]) for value in case] for case in several]
            alpha = krippendorff_alpha(codes, "nominal")
            found.append(self._agreement(f"{prefix}Krippendorff's alpha", "all", "", len(several), alpha))
        for amount, numbers in self._amounts.items():
            found += self._of_numbers(f"{amount}: " if amount else "", numbers)
        for (name, first, second), values in sorted(self._measures.items()):
            mean = math.fsum(values) / len(values)
            found.append(self._agreement(f"mean {name}", first, second, len(values), mean))
        return [agreement for agreement in found if not math.isnan(agreement.value)]

    def _of_numbers(self, prefix: str, cases: Sequence[Mapping[str, float]]) -> Iterator[Agreement]:
        annotators = sorted({annotator for case in cases for annotator in case})
        of_all = [case for case in cases if len(case) == len(annotators)]
        table = [[case[annotator] for annotator in annotators] for case in of_all]
        correlations = intraclass_correlations(table) if table else None
        if correlations is not None:
            named = (("ICC(2,1)", correlations.agreement), ("ICC(3,1)", correlations.consistency))
            for measure, found in named:
                yield replace(
                    self._agreement(f"{prefix}{measure}", "all", "", len(table), found.value),
                    lower=found.interval.lower,
                    upper=found.interval.upper,
                )
        several = [list(case.values()) for case in cases if len(case) > 1]
        alpha = krippendorff_alpha(several, "interval")
        yield self._agreement(f"{prefix}Krippendorff's alpha", "all", "", len(several), alpha)
        for first, second in combinations(annotators, 2):
            both = [case for case in cases if first in case and second in case]
            limits = limits_of_agreement([case[first] for case in both], [case[second] for case in both])
            if limits is None:
                continue
            for measure, value, interval in (
                ("mean difference", limits.bias, limits.bias_interval),
                ("lower limit of agreement", limits.lower, limits.lower_interval),
                ("upper limit of agreement", limits.upper, limits.upper_interval),
            ):
                yield replace(
                    self._agreement(f"{prefix}{measure}", first, second, len(both), value),
                    lower=interval.lower,
                    upper=interval.upper,
                )

    def _agreement(self, measure: str, first: str, second: str, cases: int, value: float) -> Agreement:
        return Agreement(self.name, measure, first, second, cases, value)
