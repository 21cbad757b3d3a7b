"""Agreement of annotators: by field over all cases, and case by case."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from math import nan
from typing import Any, TypeVar

import numpy as np

from evaluation.core.field import Kind
from evaluation.core.views import Objects
from evaluation.metrics.arrays import Floats
from evaluation.metrics.boxes import iou_of_corners
from evaluation.metrics.confusion import cohen_kappa, fleiss_kappa
from evaluation.metrics.near_pairs import NearPairs
from evaluation.metrics.points import euclidean_distance, match_pairs
from evaluation.metrics.regression import intraclass_correlation
from evaluation.metrics.segmentation import dice_of_counts, overlap_of
from evaluation.organiser.views import left_out

# --- Agreement of two annotators on the boxes of an image ---

_LEAST_IOU = 0.5
"""Least IoU of two boxes of the same object, as in PASCAL VOC."""


def _compared_boxes(view: Objects, first: Floats, second: Floats) -> Mapping[str, float]:
    """Return similarities of two lists of boxes in one image, by name, all from 0 to 1; NaN where undefined.

    Boxes of one class are paired for the most pairs with at least `_LEAST_IOU`, then for the largest IoU.
    F1 is 2 · pairs / all boxes, undefined without any box, and IoU the mean of the pairs.
    """
    overlaps: list[float] = []
    for label in range(len(view.classes) or 1):
        one, other = (rows[rows[:, 0] == label] for rows in (first, second))
        overlap = iou_of_corners(one[:, np.newaxis, 2:], other[np.newaxis, :, 2:], view.inclusive)
        hit = match_pairs(NearPairs.of_table(1 - overlap, overlap >= _LEAST_IOU), "optimal").hit
        overlaps += [float(overlap[i, j]) for j, i in enumerate(hit) if i >= 0]
    boxes = len(first) + len(second)
    return {
        "boxes F1": 2 * len(overlaps) / boxes if boxes else nan,
        "boxes IoU": sum(sorted(overlaps)) / len(overlaps) if overlaps else nan,
    }


# --- Comparisons of the values of one case, view by view: decisions, numbers, similarities, distances ---

Stated = TypeVar("Stated")
_AXES = "xyz"
_SIZES = {2: "area in pixels", 3: "volume in voxels"}


def not_compared(kinds: Mapping[str, Kind]) -> list[str]:
    """Return a line for each field, by name, whose values cannot be compared with each other."""
    return [
        left_out(name, kind, "the agreement", "regions, objects, decisions or numbers")
        for name, kind in kinds.items()
        if not (kind.regions or kind.objects or kind.choices or kind.numbers)
    ]


def facts(kind: Kind, value: Any) -> tuple[dict[str, Hashable], dict[str, float]]:
    """Return decisions and amounts that an annotator's value of one case states, by name.

    Decisions are categorical and compared by kappa. Amounts are numbers, NaN where undefined; they are
    compared by intraclass correlation and limits of agreement. None for a kind without a view.
    """
    decisions: dict[str, Hashable] = {}
    amounts: dict[str, float] = {}
    if choices := kind.choices:
        for name, chosen in zip(choices.names, choices.of(value), strict=True):
            if chosen is not None or choices.neither:
                decisions[name] = choices.neither if chosen is None else choices.options[chosen]
    if numbers := kind.numbers:
        amounts.update(zip(numbers.names, numbers.of(value), strict=True))
    if regions := kind.regions:
        for name, mask in zip(regions.names, regions.of(value), strict=True):
            pixels = int(np.count_nonzero(mask.values))
            decisions[f"{name} present"] = pixels > 0
            amounts[f"{name} {_SIZES[regions.dimensions]}"] = float(pixels)
    if (objects := kind.objects) and objects.number == "any":
        labels, several = objects.of(value)[:, 0], "boxes" if objects.form == "box" else f"{objects.form}s"
        for label, name in enumerate(objects.classes or (several,)):
            number = int(np.count_nonzero(labels == label))
            decisions[f"{name} present"] = number > 0
            amounts[f"number of {name}"] = float(number)
    elif objects and objects.form == "point":
        for name, position in _positions(objects, value):
            if objects.number == "some":
                decisions[f"{name}visible"] = position is not None
            for axis in range(objects.axes):
                amount = nan if position is None else float(position[axis])
                amounts[f"{name}{_AXES[axis]} in {objects.unit}"] = amount
    return decisions, amounts


def measures(kind: Kind, first: Any, second: Any) -> Mapping[str, float]:
    """Return similarities or distances of two values of one case, by name; NaN where undefined."""
    found: dict[str, float] = {}
    if regions := kind.regions:
        masks = zip(regions.names, regions.of(first), regions.of(second), strict=True)
        # Undefined where neither annotator marked the region.
        found |= {
            f"{name} Dice": dice_of_counts(overlap_of(one, other), both_empty=nan)
            for name, one, other in masks
        }
    objects = kind.objects
    if objects and objects.form == "point" and objects.number != "any":
        for (name, one), (_, other) in zip(
            _positions(objects, first), _positions(objects, second), strict=True
        ):
            apart = nan if one is None or other is None else float(euclidean_distance(one, other))
            found[f"{name}distance in {objects.unit}"] = apart
    elif objects and objects.form == "box":
        rows = objects.of(first), objects.of(second)
        if objects.number == "one":
            (one,), (other,) = (of_one[:, 2:] for of_one in rows)
            return {"IoU": float(iou_of_corners(one, other, inclusive_corners=objects.inclusive))}
        found |= _compared_boxes(objects, *rows)
    return found


def _positions(view: Objects, value: Any) -> Iterator[tuple[str, Floats | None]]:
    """Yield the position of each named point, with the name and a space; None for one that is not there."""
    rows = view.of(value)
    for label, name in enumerate(view.classes if view.number != "one" and view.classes else ("",)):
        own = rows if view.number == "one" else rows[rows[:, 0] == label]
        yield f"{name} ".lstrip(), own[0, 2 : 2 + view.axes] if len(own) else None


# --- Figures of agreement: limits of agreement ---

_LIMIT = 1.96


@dataclass(frozen=True, slots=True)
class AgreementFigure:
    """One figure of agreement; ``second`` is empty for a figure of all annotators together."""

    field: str
    measure: str
    first: str
    second: str
    cases: int
    value: float


def limits_of_agreement(first: Sequence[float], second: Sequence[float]) -> dict[str, float]:
    """Return the mean difference of two annotators, first minus second, and Bland and Altman's limits.

    first, second: of the same cases, finite. Within the limits, the mean difference ± 1.96 standard
    deviations (ddof = 1), lie 95 % of the differences. Empty with fewer than two cases.
    Source: Bland and Altman 1986, Lancet 327:307.
    """
    if len(first) < 2:
        return {}
    difference = np.subtract(first, second)
    bias, width = float(difference.mean()), _LIMIT * float(difference.std(ddof=1))
    return {
        "mean difference": bias,
        "lower limit of agreement": bias - width,
        "upper limit of agreement": bias + width,
    }


# --- How far annotators agree on one field, over all cases and case by case ---


@dataclass(frozen=True)
class CaseDisagreement:
    """How far the values of one case differ in one measure; 0 is complete agreement.

    The distance of two values, by measure: for masks 1 − Dice of every region, and 1 where only one of them
    has the region; for boxes 1 − each of their similarities; for points the distance in pixels; for numbers
    the absolute difference; for labels, presence and visibility 1 where they differ.

    ``mean`` and ``largest`` are over pairs; ``farthest`` has the largest mean distance to the others (several
    names: equal ones). ``votes``: the decision of each, where there is one.
    """

    field: str
    measure: str
    case: str
    values: int
    mean: float
    largest: float
    farthest: str
    votes: str = ""


_SIMILARITIES = (" Dice", " F1", "IoU")
_ALL, _LABEL = ("all", ""), "label"


@dataclass
class FieldAgreement:
    """Collects the figures of the annotators' values of one field, case by case; values are not kept."""

    name: str
    kind: Kind
    _decisions: dict[str, list[dict[str, Hashable]]] = field(default_factory=lambda: defaultdict(list))
    _amounts: dict[str, list[dict[str, float]]] = field(default_factory=lambda: defaultdict(list))
    _measures: dict[tuple[str, str, str], list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, case: str, values: Mapping[str, Any]) -> list[CaseDisagreement]:
        """Add the values of one case by annotator, and return how far they differ in every measure."""
        annotators = sorted(values)
        decisions: dict[str, dict[str, Hashable]] = defaultdict(dict)
        numbers: dict[str, dict[str, float]] = defaultdict(dict)
        for one in annotators:
            stated, amounts = facts(self.kind, values[one])
            for name, decision in stated.items():
                decisions[name][one] = decision
            for name, amount in amounts.items():
                numbers[name] |= {} if math.isnan(amount) else {one: amount}
        for name, decided in decisions.items():
            self._decisions[name].append(decided)
        for name, given in numbers.items():
            self._amounts[name].append(given)
        distances: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
        for pair in combinations(annotators, 2):
            first, second = (values[one] for one in pair)
            for name, value in measures(self.kind, first, second).items():
                if not math.isnan(value):
                    self._measures[name, *pair].append(value)
                    similar = name.endswith(_SIMILARITIES)
                    distances[f"1 − {name}" if similar else name][pair] = 1 - value if similar else value
            for name, decided in decisions.items():
                if decided.keys() >= set(pair):
                    distances[name or _LABEL][pair] = float(decided[pair[0]] != decided[pair[1]])
            if view := self.kind.numbers:
                for name, one, other in zip(view.names, *map(view.of, (first, second)), strict=True):
                    if not math.isnan(one - other):
                        distances[f"{name} difference".lstrip()][pair] = abs(one - other)
        voted = {name or _LABEL: decided for name, decided in decisions.items()}
        return [
            _disagreement(self.name, measure, case, of_pairs, voted.get(measure, {}))
            for measure, of_pairs in distances.items()
        ]

    def result(self) -> list[AgreementFigure]:
        """Return the figures of decisions, of numbers, and the mean measures of every pair.

        Decisions: Cohen's kappa of every pair, and Fleiss' kappa of all. Numbers: ICC(2,1) and Bland and
        Altman's limits of agreement of every pair. Undefined figures (only one category occurs) are left out.
        """
        found: list[AgreementFigure] = []
        for name, decided in self._decisions.items():
            found += self._of_decisions(f"{name}: " if name else "", decided)
        for name, numbers in self._amounts.items():
            found += self._of_numbers(f"{name}: " if name else "", numbers)
        for (name, first, second), values in sorted(self._measures.items()):
            mean = math.fsum(values) / len(values)
            found.append(self._figure(f"mean {name}", (first, second), len(values), mean))
        return [figure for figure in found if not math.isnan(figure.value)]

    def _of_decisions(
        self, prefix: str, cases: Sequence[Mapping[str, Hashable]]
    ) -> Iterator[AgreementFigure]:
        for pair, first, second in _pairs_of(cases):
            yield self._figure(f"{prefix}Cohen's kappa", pair, len(first), cohen_kappa(first, second))
        several = [list(case.values()) for case in cases if len(case) > 1]
        yield self._figure(f"{prefix}Fleiss' kappa", _ALL, len(several), fleiss_kappa(several))

    def _of_numbers(self, prefix: str, cases: Sequence[Mapping[str, float]]) -> Iterator[AgreementFigure]:
        for pair, first, second in _pairs_of(cases):
            correlation = intraclass_correlation(first, second)
            yield self._figure(f"{prefix}ICC(2,1)", pair, len(first), correlation)
            for name, value in limits_of_agreement(first, second).items():
                yield self._figure(f"{prefix}{name}", pair, len(first), value)

    def _figure(self, measure: str, who: tuple[str, str], cases: int, value: float) -> AgreementFigure:
        return AgreementFigure(self.name, measure, *who, cases, value)


def _pairs_of(
    cases: Sequence[Mapping[str, Stated]],
) -> Iterator[tuple[tuple[str, str], list[Stated], list[Stated]]]:
    """Yield every two annotators, and the values of each in the cases that have both."""
    for first, second in combinations(sorted(set(chain(*cases))), 2):
        both = [case for case in cases if first in case and second in case]
        yield (first, second), [case[first] for case in both], [case[second] for case in both]


def _disagreement(
    name: str,
    measure: str,
    case: str,
    distances: Mapping[tuple[str, str], float],
    decided: Mapping[str, Hashable],
) -> CaseDisagreement:
    """Return the disagreement in one measure; nobody is farthest where all are equally far."""
    means = {}
    for one in sorted(set(chain(*distances))):
        own = [distance for pair, distance in distances.items() if one in pair]
        means[one] = math.fsum(own) / len(own)
    farthest = max(means.values())
    names = [one for one in means if means[one] == farthest] if 0 < farthest != min(means.values()) else []
    mean, largest = math.fsum(distances.values()) / len(distances), max(distances.values())
    place = name, measure, case, len(means)
    return CaseDisagreement(*place, mean, largest, " ".join(names), _votes(decided))


def _votes(decided: Mapping[str, Hashable]) -> str:
    """Return every decision with the names of its annotators, the most frequent first."""
    by_decision: dict[str, list[str]] = defaultdict(list)
    for name, value in decided.items():
        by_decision[str(int(value)) if isinstance(value, bool) else str(value)].append(name)
    ordered = sorted(by_decision.items(), key=lambda item: (-len(item[1]), item[0]))
    return "; ".join(f"{decision}: {' '.join(names)}" for decision, names in ordered)


def most_disputed(found: Iterable[CaseDisagreement]) -> list[CaseDisagreement]:
    """Return the cases of every measure, the most disputed first, without cases of complete agreement."""
    disputed = (one for one in found if one.largest > 0)
    return sorted(disputed, key=lambda one: (one.field, one.measure, -one.mean, -one.largest, one.case))
