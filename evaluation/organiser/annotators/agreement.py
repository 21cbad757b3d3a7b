"""Agreement of annotators or submissions: by field over all cases, and case by case."""

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from functools import singledispatch
from itertools import chain, combinations
from math import nan
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from evaluation.core.field import Kind
from evaluation.io.kinds.boxes import Boxes, BoxesInSpace, BoxList
from evaluation.io.kinds.classes import ClassLabel
from evaluation.io.kinds.masks import LabelMask, MultilabelMask
from evaluation.io.kinds.number import Label, Number
from evaluation.io.kinds.points import Point, PointInImage, distance
from evaluation.metrics.agreement import (
    AgreementFigure,
    cohen_kappa,
    fleiss_kappa,
    intraclass_correlations,
    krippendorff_alpha,
    limits_of_agreement,
)
from evaluation.metrics.arrays import Floats
from evaluation.metrics.boxes import iou_of_corners
from evaluation.metrics.crops import Crop
from evaluation.metrics.intervals import Interval
from evaluation.metrics.points import match_pairs
from evaluation.metrics.segmentation import dice_of_counts, overlap_of, region_of
from evaluation.organiser.output import write_rows

# --- Agreement of two annotators on the boxes of an image, and on the classes of common boxes ---

_LEAST_IOU = 0.5
"""Least IoU of two boxes of the same object, as in PASCAL VOC."""


def _compared_boxes(
    first: Floats, second: Floats, classes: Sequence[str], inclusive_corners: bool
) -> Mapping[str, float]:
    """Return similarities of two lists of boxes in one image, by name, all from 0 to 1; NaN where undefined.

    first, second: shape (boxes, 2 + 2 · axes), class index, confidence, corners. Boxes of one class are
    paired for the most pairs with at least `_LEAST_IOU`, then for the largest IoU. For every class, if there
    are several, and for all: F1, 2 · pairs / all boxes, undefined without any box; and the mean IoU of the
    pairs. With pairs across classes: the share of pairs of the same class.
    """
    found: dict[str, float] = {}
    overlaps: list[float] = []
    for label, name in enumerate(classes or ("",)):
        one, other = (rows[rows[:, 0] == label] for rows in (first, second))
        pairs = _paired(one, other, inclusive_corners)
        of_pairs = [iou for _, _, iou in pairs]
        overlaps += of_pairs
        if len(classes) > 1:
            found |= _similarities(f"{name} boxes", of_pairs, len(one) + len(other))
    found |= _similarities("boxes", overlaps, len(first) + len(second))
    if len(classes) > 1:
        same = [first[i, 0] == second[j, 0] for i, j, _ in _paired(first, second, inclusive_corners)]
        found["share of boxes with the same class"] = float(np.mean(same)) if same else nan
    return found


def _similarities(name: str, overlaps: Sequence[float], boxes: int) -> dict[str, float]:
    return {
        f"{name} F1": 2 * len(overlaps) / boxes if boxes else nan,
        f"{name} IoU": sum(sorted(overlaps)) / len(overlaps) if overlaps else nan,
    }


def _paired(first: Floats, second: Floats, inclusive_corners: bool) -> list[tuple[int, int, float]]:
    overlap = iou_of_corners(first[:, np.newaxis, 2:], second[np.newaxis, :, 2:], inclusive_corners)
    hit = match_pairs(1 - overlap, overlap >= _LEAST_IOU, "optimal").hit
    return [(int(i), j, float(overlap[i, j])) for j, i in enumerate(hit) if i >= 0]


# --- Comparisons of the values of one case, by kind: decisions, numbers, similarities, distances ---

Figure = TypeVar("Figure")
LeftOut = Mapping[str, Collection[str]]
"""The names of regions by annotator."""


@dataclass(frozen=True)
class Facts:
    """The facts that an annotator's value of one case states, by name.

    ``decisions`` are categorical and compared by kappa. ``amounts`` are numbers, NaN where undefined; they
    are compared by intraclass correlation, Krippendorff's alpha and limits of agreement.
    """

    decisions: Mapping[str, Hashable] = field(default_factory=dict)
    amounts: Mapping[str, float] = field(default_factory=dict)


@singledispatch
def facts(kind: Kind, value: Any) -> Facts:
    """Return the facts that an annotator's value of one case states; none for an unknown kind."""
    return Facts()


@facts.register
def _label(kind: Label, value: int) -> Facts:
    return Facts({"": value})


@facts.register
def _class(kind: ClassLabel, value: float) -> Facts:
    return Facts({"": "excluded" if math.isnan(value) else kind.names[int(value)]})


@facts.register
def _number(kind: Number, value: float) -> Facts:
    return Facts(amounts={"": value})


@facts.register(LabelMask)
@facts.register(MultilabelMask)
def _areas(kind: LabelMask | MultilabelMask, value: Any) -> Facts:
    pixels = {name: int(np.count_nonzero(region.values)) for name, region in _regions(kind, value)}
    return Facts(
        {f"{name} present": area > 0 for name, area in pixels.items()},
        {f"{name} area in pixels": float(area) for name, area in pixels.items()},
    )


@facts.register(BoxList)
@facts.register(BoxesInSpace)
def _numbers_of_boxes(kind: BoxList | BoxesInSpace, value: Boxes) -> Facts:
    """Return the presence and the number of the boxes of each class; a single box states neither."""
    if isinstance(kind, BoxesInSpace) and kind.single:
        return Facts()
    classes = kind.classes if isinstance(kind, BoxList) else kind.attributes.classes
    named = enumerate(classes or ("boxes",))
    numbers = {name: int(np.count_nonzero(value.rows[:, 0] == label)) for label, name in named}
    return Facts(
        {f"{name} present": number > 0 for name, number in numbers.items()},
        {f"number of {name}": float(number) for name, number in numbers.items()},
    )


@facts.register
def _coordinates(kind: PointInImage, value: Point) -> Facts:
    visible = kind.is_visible(value)
    return Facts(
        {"visible": visible} if kind.may_be_invisible else {},
        {"x in pixels": value.x if visible else nan, "y in pixels": value.y if visible else nan},
    )


@singledispatch
def measures(kind: Kind, first: Any, second: Any) -> Mapping[str, float]:
    """Return similarities or distances of two values of one case, by name; NaN where undefined."""
    return {}


@measures.register(LabelMask)
@measures.register(MultilabelMask)
def _dice(kind: LabelMask | MultilabelMask, first: Any, second: Any) -> Mapping[str, float]:
    """Return the Dice of every region; NaN where neither annotator marked it."""
    pairs = zip(_regions(kind, first), _regions(kind, second), strict=True)
    return {
        f"{name} Dice": dice_of_counts(overlap_of(one, other), both_empty=nan)
        for (name, one), (_, other) in pairs
    }


@measures.register
def _box_lists(kind: BoxList, first: Boxes, second: Boxes) -> Mapping[str, float]:
    return _compared_boxes(first.rows, second.rows, kind.classes, kind.inclusive_corners)


@measures.register
def _boxes_in_space(kind: BoxesInSpace, first: Boxes, second: Boxes) -> Mapping[str, float]:
    """Return the similarities of lists; for single boxes the IoU, however small."""
    if kind.single:
        (one,), (other,) = first.rows[:, 2:], second.rows[:, 2:]
        return {"IoU": float(iou_of_corners(one, other, inclusive_corners=False))}
    return _compared_boxes(first.rows, second.rows, kind.attributes.classes, inclusive_corners=False)


@measures.register
def _distance(kind: PointInImage, first: Point, second: Point) -> Mapping[str, float]:
    """Return the distance in pixels; NaN where one annotator marked the structure as invisible."""
    both = kind.is_visible(first) and kind.is_visible(second)
    return {"distance in pixels": distance(first, second) if both else nan}


def _regions(kind: LabelMask | MultilabelMask, value: Any) -> Iterator[tuple[str, Crop]]:
    if isinstance(kind, MultilabelMask):
        return zip(kind.classes, value, strict=True)
    return ((kind.labels[label], region_of(value, labels)) for label, labels in kind.regions())


def counting(figures: Mapping[str, Figure], *left_out: Collection[str]) -> dict[str, Figure]:
    """Return figures by name, without the ones whose names begin with a region that is left out."""
    regions = tuple(f"{region} " for region in chain(*left_out))
    return {name: figure for name, figure in figures.items() if not name.startswith(regions)}


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


_SIMILARITIES = (" Dice", " F1", "IoU", "with the same class")
_ALL, _LABEL = ("all", ""), "label"


@dataclass
class FieldAgreement:
    """Collects the figures of the annotators' values of one field, case by case; values are not kept."""

    name: str
    kind: Kind
    _decisions: dict[str, list[dict[str, Hashable]]] = field(default_factory=lambda: defaultdict(list))
    _amounts: dict[str, list[dict[str, float]]] = field(default_factory=lambda: defaultdict(list))
    _measures: dict[tuple[str, str, str], list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(
        self, case: str, values: Mapping[str, Any], left_out: LeftOut | None = None
    ) -> list[CaseDisagreement]:
        """Add the values of one case by annotator, and return how far they differ in every measure.

        Regions that are left out of a mask do not count.
        """
        annotators = sorted(values)
        without = left_out or {}
        decisions: dict[str, dict[str, Hashable]] = defaultdict(dict)
        numbers: dict[str, dict[str, float]] = defaultdict(dict)
        for one in annotators:
            stated = facts(self.kind, values[one])
            for name, decision in counting(stated.decisions, without.get(one, ())).items():
                decisions[name][one] = decision
            for name, amount in counting(stated.amounts, without.get(one, ())).items():
                numbers[name] |= {} if math.isnan(amount) else {one: amount}
        for name, decided in decisions.items():
            self._decisions[name].append(decided)
        for name, given in numbers.items():
            self._amounts[name].append(given)
        distances: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
        for pair in combinations(annotators, 2):
            first, second = (values[one] for one in pair)
            compared = measures(self.kind, first, second)
            for name, value in counting(compared, *(without.get(one, ()) for one in pair)).items():
                if not math.isnan(value):
                    self._measures[name, *pair].append(value)
                    similar = name.endswith(_SIMILARITIES)
                    distances[f"1 − {name}" if similar else name][pair] = 1 - value if similar else value
            for name, decided in decisions.items():
                if decided.keys() >= set(pair):
                    distances[name or _LABEL][pair] = float(decided[pair[0]] != decided[pair[1]])
            if isinstance(self.kind, Number) and not math.isnan(difference := abs(first - second)):
                distances["difference"][pair] = difference
        voted = {name or _LABEL: decided for name, decided in decisions.items()}
        return [
            _disagreement(self.name, measure, case, of_pairs, voted.get(measure, {}))
            for measure, of_pairs in distances.items()
        ]

    def result(self) -> list[AgreementFigure]:
        """Return the figures of decisions, of numbers, and the mean measures of every pair.

        Decisions: Cohen's kappa of every pair, Fleiss' kappa and Krippendorff's alpha of all. Numbers:
        ICC(2,1) and ICC(3,1) over the cases that all annotators have, Krippendorff's alpha, and Bland and
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
        codes = {value: float(code) for code, value in enumerate(dict.fromkeys(chain(*several)))}
        alpha = krippendorff_alpha([[codes[value] for value in case] for case in several], "nominal")
        yield self._figure(f"{prefix}Fleiss' kappa", _ALL, len(several), fleiss_kappa(several))
        yield self._figure(f"{prefix}Krippendorff's alpha", _ALL, len(several), alpha)

    def _of_numbers(self, prefix: str, cases: Sequence[Mapping[str, float]]) -> Iterator[AgreementFigure]:
        annotators = sorted(set(chain(*cases)))
        table = [[case[one] for one in annotators] for case in cases if len(case) == len(annotators)]
        if table and (found := intraclass_correlations(table)) is not None:
            for name, one in (("ICC(2,1)", found.agreement), ("ICC(3,1)", found.consistency)):
                yield self._figure(f"{prefix}{name}", _ALL, len(table), one.value, one.interval)
        several = [list(case.values()) for case in cases if len(case) > 1]
        alpha = krippendorff_alpha(several, "interval")
        yield self._figure(f"{prefix}Krippendorff's alpha", _ALL, len(several), alpha)
        for pair, first, second in _pairs_of(cases):
            if (limits := limits_of_agreement(first, second)) is not None:
                for name, one in (
                    ("mean difference", limits.bias),
                    ("lower limit of agreement", limits.lower),
                    ("upper limit of agreement", limits.upper),
                ):
                    yield self._figure(f"{prefix}{name}", pair, len(first), one.value, one.interval)

    def _figure(
        self, measure: str, who: tuple[str, str], cases: int, value: float, interval: Interval | None = None
    ) -> AgreementFigure:
        ends = (None, None) if interval is None else (interval.lower, interval.upper)
        return AgreementFigure(self.name, measure, *who, cases, value, *ends)


def _pairs_of(
    cases: Sequence[Mapping[str, Figure]],
) -> Iterator[tuple[tuple[str, str], list[Figure], list[Figure]]]:
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


# --- Tables of the agreement of annotators or submissions, and of the cases with disagreement ---

Who = Literal["annotator", "submission"]


def write_agreement_table(path: Path, who: Who, agreement: Iterable[AgreementFigure]) -> None:
    """Write a row for each figure; joint figures have no second annotator or submission."""
    header = ("field", "measure", f"{who}_1", f"{who}_2", "cases", "value", "lower", "upper")
    write_rows(path, header, map(astuple, agreement))


def write_disagreement_table(
    path: Path, who: Who, disagreement: Iterable[CaseDisagreement], with_votes: bool = False
) -> None:
    """Write a row for each case and measure that is disputed, with the votes if requested."""
    columns = [one.name for one in fields(CaseDisagreement) if with_votes or one.name != "votes"]
    header = [f"{who}s" if column == "values" else column for column in columns]
    rows = ([getattr(found, column) for column in columns] for found in most_disputed(disagreement))
    write_rows(path, header, rows)
