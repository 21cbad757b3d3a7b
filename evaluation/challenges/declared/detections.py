"""Detected objects: the fields that list them, and figures of hits whatever is detected."""

import math
import sys
from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, model_validator

from evaluation.challenges.declared import tables
from evaluation.challenges.declared.spaces import ListFieldTable, distinct, figure_names
from evaluation.core.case_table import CaseTable, Row, WeightedCases
from evaluation.core.challenge import Values
from evaluation.core.estimator import DetectionCurves, FunctionOfCases, MeanOfFigures
from evaluation.core.field import CaseColumns, HiddenField, Reference
from evaluation.core.keys import Key
from evaluation.core.metric import Metric, mean_metric
from evaluation.core.sources import EntriesBy
from evaluation.io.kinds.number import Number
from evaluation.io.kinds.objects import Attributes
from evaluation.metrics.arrays import Floats, Integers, ratio_or_nan
from evaluation.metrics.free_response import LUNA16_RATES, Candidates, FrocReading, FrocTable
from evaluation.metrics.points import PointMatches

CERTAIN = sys.float_info.max
"""Above every confidence: the confidence of false predictions in a case without a result."""

MOST_OBJECTS = 100_000
Share = Literal["f1", "precision", "recall"]
Count = TypeVar("Count", int, Floats)
Rate = Annotated[float, Key(gt=0, allow_inf_nan=False)]

READING = (
    "Sensitivity between the points of the curve. `linear`: interpolated (LUNA16: Setio et al., 2017). "
    "`step`: the highest at a rate of at most the given one (PI-CAI: Saha et al., 2024)."
)
RATES = list(LUNA16_RATES)


@dataclass(frozen=True)
class Hits:
    """The detections of one class in one case; predictions that are neither hit nor false are left out.

    hits, false: probabilities of the predictions. objects: the number of objects in the reference.
    """

    hits: Floats
    false: Floats
    objects: int

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of hits, of false predictions and of missed objects."""
        return len(self.hits), len(self.false), self.objects - len(self.hits)


def missing_result(objects: int) -> Hits:
    """Return the detections of a case without a result that has ``objects`` objects of a class.

    It misses all of its objects and has as many false predictions with the highest probability, at least one:
    so it is worse than an empty list, and no case is left out of any sum.
    """
    return Hits(np.zeros(0), np.full(max(1, objects), CERTAIN), objects)


@dataclass(frozen=True)
class Verdicts:
    """The verdicts on the predictions and the objects of one case, in their order.

    hit, false: shape (predictions,); a prediction that is neither does not count. found: shape (objects,).
    """

    hit: NDArray[np.bool_]
    false: NDArray[np.bool_]
    found: NDArray[np.bool_]


@dataclass(frozen=True)
class MatchedObjects:
    """The predictions and the objects of one case, which are matched class by class.

    labels, probabilities: shape (predictions,). true_labels: shape (objects,). matches: returns the matches
    of the predictions within one class.
    """

    labels: NDArray[np.int64]
    probabilities: Floats
    true_labels: NDArray[np.int64]
    matches: Callable[[int], PointMatches]

    def hits(self, classes: int) -> list[Hits]:
        """Return the detections of each of so many classes."""
        found = []
        for label in range(classes):
            matches = self.matches(label)
            of_class = self.probabilities[self.labels == label]
            hits = of_class[matches.hit[matches.hit >= 0]]
            found.append(Hits(hits, of_class[matches.false], len(matches.hit)))
        return found

    def verdicts(self) -> Verdicts:
        """Return the verdict on each prediction and each object."""
        hit, false = (np.zeros(len(self.labels), dtype=np.bool_) for _ in range(2))
        found = np.zeros(len(self.true_labels), dtype=np.bool_)
        for label in np.union1d(self.labels, self.true_labels).tolist():
            matches = self.matches(label)
            chosen = np.flatnonzero(self.labels == label)
            hit[chosen[matches.hit[matches.hit >= 0]]] = True
            false[chosen[matches.false]] = True
            found[self.true_labels == label] = matches.hit >= 0
        return Verdicts(hit, false, found)


@dataclass(frozen=True)
class CaseDetections:
    """Functions from a case's values to its detections of each class.

    ``hits`` returns the hits of every class, ``objects`` the number of reference objects of every class.
    ``classes`` names the classes in the figures; empty for a single one.
    """

    hits: Callable[[tables.FieldComparison], Sequence[Hits]]
    objects: Callable[[Values], Sequence[int]]
    classes: tuple[str, ...] = ()

    def missing(self, references: Values) -> list[Hits]:
        """Return the detections of a case without a result."""
        return [missing_result(count) for count in self.objects(references)]


def share_measure(
    name: str,
    title: str,
    share: Share,
    detections: CaseDetections,
    of_nothing: float = 1.0,
    by_class: bool = False,
) -> tables.Measure:
    """Return F1, precision or recall of the sums over all cases, for all classes together and for each.

    ``of_nothing``: the figure of a single case without objects and predictions. ``by_class``: the figure of
    all classes is the mean over those that occur.
    """
    of_each = tables.titles_of_each(name, title, detections.classes)
    titles, keys = {name: title, **of_each}, list(of_each) or [name]

    def columns(found: Sequence[Hits]) -> Row:
        return {
            f"{key}_{part}": count
            for key, hits in zip(keys, found, strict=True)
            for part, count in zip(_PARTS, hits.counts, strict=True)
        }

    each = [_share_of(share, [key]) for key in keys]

    def metric(of: str, title: str) -> Metric:
        whole = MeanOfFigures(tuple(each)) if by_class else _share_of(share, keys)
        figure = whole if of == name else each[keys.index(of)]
        return Metric(of, title, figure, best=1, worst=0)

    def of_case(found: Sequence[Hits]) -> Row:
        counts = [hits.counts for hits in found]
        sums = (tuple(map(sum, zip(*counts, strict=True))), *(counts if detections.classes else ()))
        values = {key: _share_of_case(share, one, of_nothing) for key, one in zip(titles, sums, strict=True)}
        if not by_class:
            return values
        return values | {_occurs(key): float(any(one)) for key, one in zip(keys, counts, strict=True)}

    means = tuple(_mean_where_it_occurs(key) for key in keys)

    def mean_over_cases(key: str, words: str) -> Metric:
        metric = replace(mean_metric(key, words, best=1, worst=0), reached=of_nothing == 1)
        if not by_class:
            return metric
        return replace(metric, estimator=MeanOfFigures(means) if key == name else means[keys.index(key)])

    return tables.Measure(
        tuple(metric(key, words) for key, words in titles.items()),
        row=lambda comparison: columns(detections.hits(comparison)),
        worst=lambda references: columns(detections.missing(references)),
        of_cases=tables.Measure(
            tuple(mean_over_cases(key, words) for key, words in titles.items()),
            row=lambda comparison: of_case(detections.hits(comparison)),
            worst=lambda references: of_case(detections.missing(references)),
        ),
    )


def _share_of_case(share: Share, counts: tuple[int, ...], of_nothing: float) -> float:
    """Return a share of one case; a recall needs objects."""
    number, of = _parts_of(share, *counts)
    if of:
        return number / of
    return math.nan if share == "recall" else 0.0 if any(counts) else of_nothing


def _parts_of(share: Share, hits: Count, false: Count, missed: Count) -> tuple[Count, Count]:
    """Return numerator and denominator of a share."""
    if share == "f1":
        return 2 * hits, 2 * hits + false + missed
    return hits, hits + (false if share == "precision" else missed)


def _occurs(key: str) -> str:
    return f"{key}_occurs"


def _mean_where_it_occurs(key: str) -> FunctionOfCases:
    """Return the mean over cases; NaN for a class that has neither objects nor predictions in any of them."""

    def values(cases: WeightedCases) -> Floats:
        found = cases.table[key]
        weights = cases.weights * ~np.isnan(found)
        mean = ratio_or_nan(weights @ np.nan_to_num(found), weights.sum(axis=1) * 1.0)
        return np.where(cases.weights @ cases.table[_occurs(key)] > 0, mean, np.nan)

    return FunctionOfCases(values)


_PARTS = ("true_positives", "false_positives", "false_negatives")


def _share_of(share: Share, keys: Sequence[str]) -> FunctionOfCases:
    """Return a share of sums; NaN where the reference has no object of weight, 0 where nothing was found."""

    def values(cases: WeightedCases) -> Floats:
        hits, false, missed = (
            sum((cases.weights @ cases.table[f"{key}_{part}"] for key in keys), np.zeros(len(cases.weights)))
            for part in _PARTS
        )
        number, of = _parts_of(share, hits, false, missed)
        found = np.divide(number, of, out=np.zeros_like(number), where=of > 0)
        return np.where(hits + missed > 0, found, np.nan)

    return FunctionOfCases(values)


def froc_measure(
    name: str,
    title: str,
    rates: Sequence[float],
    detections: CaseDetections,
    reading: FrocReading = "linear",
    area: HiddenField | None = None,
    without_lowest: bool = False,
) -> tables.Measure:
    """Return the mean sensitivity over rates of false positives per case, and each sensitivity.

    With the label of an ``area`` the rates are per mm².
    """
    columns = _froc_columns(name, detections)
    area_column = area.name if area else ""

    def candidates(table: CaseTable) -> Candidates:
        sizes = table[area_column] if area else None
        return replace(_candidates(table, columns), sizes=sizes, without_lowest=without_lowest)

    def sensitivities(cases: WeightedCases) -> Floats:
        """Return the sensitivity at every rate, shape (resamples, rates)."""
        key = ("froc", area_column, without_lowest, *columns)
        table = cases.table.derive(key, lambda table: FrocTable(candidates(table)))
        return table.sensitivity_at(cases.weights, rates, reading)

    def figure(of: Callable[[Floats], Floats]) -> FunctionOfCases:
        key = ("froc", reading, area_column, without_lowest, *columns, *rates)
        return FunctionOfCases(lambda cases: of(cases.derive(key, sensitivities)))

    parts = [
        Metric(
            f"{name}_at_{rate:g}".replace(".", "_"),
            f"Sensitivity at {rate:g} false positives per {'mm²' if area else 'case'}",
            figure(lambda values, position=position: values[:, position]),  # type: ignore[misc]
            best=1,
            worst=0,
        )
        for position, rate in enumerate(rates)
    ]
    # Reports draw curves by false positives per case.
    curves = None if area else DetectionCurves(candidates, _RULE)
    overall = replace(figure(lambda values: values.mean(axis=1)), detections=curves)
    metrics = [replace(of, reached=not without_lowest) for of in (Metric(name, title, overall, 1, 0), *parts)]
    found = _froc_figures(tuple(metrics), columns, detections)
    return found.with_label(area_column) if area else found


def average_precision_measure(name: str, title: str, detections: CaseDetections) -> tables.Measure:
    """Return the average precision of all detections; objects without a hit count as never found."""
    columns = _froc_columns(name, detections)

    def values(cases: WeightedCases) -> Floats:
        key = ("froc", "", False, *columns)
        table = cases.table.derive(key, lambda table: FrocTable(_candidates(table, columns)))
        return table.average_precision(cases.weights)

    figure = FunctionOfCases(
        values, detections=DetectionCurves(lambda table: _candidates(table, columns), _RULE)
    )
    return _froc_figures((Metric(name, title, figure, best=1, worst=0),), columns, detections)


_RULE = "Hits are those of the metric."


def _froc_columns(name: str, detections: CaseDetections) -> list[str]:
    if detections.classes:
        raise ValueError("expected a field without classes, or with one")
    return [f"{name}_{part}" for part in ("hits", "false", "objects")]


def _froc_figures(
    metrics: tuple[Metric, ...], columns: Sequence[str], detections: CaseDetections
) -> tables.Measure:
    def row(found: Sequence[Hits]) -> Row:
        (hits,) = found
        return dict(zip(columns, (hits.hits, hits.false, hits.objects), strict=True))

    return tables.Measure(
        metrics,
        row=lambda comparison: row(detections.hits(comparison)),
        worst=lambda references: row(detections.missing(references)),
    )


def _candidates(table: CaseTable, columns: Sequence[str]) -> Candidates:
    """Return all detections, from the columns of hits, of false predictions and of the number of objects."""
    hits, false = (table.objects(column) for column in columns[:2])
    numbers = [len(of_case) for of_case in (*hits, *false)]
    case = np.repeat(np.tile(np.arange(len(table)), 2), numbers)
    is_hit: NDArray[np.bool_] = np.repeat([True, False], [sum(map(len, hits)), sum(map(len, false))])
    confidence = np.concatenate([*hits, *false, np.zeros(0)])
    return Candidates(case, confidence, is_hit, table[columns[2]].astype(np.int64))


# --- Fields that list any number of objects in each case: rows of a table, or the platform's JSON ---


class ObjectFieldTable(ListFieldTable):
    """A field that lists objects, with a class and a probability where they have them."""

    classes: Annotated[list[tables.Name], AfterValidator(distinct)] = Key(
        default=[], description="The classes of the objects. Default: they have none."
    )
    probability: bool = Key(
        default=False, description="Whether every predicted object has a probability from 0 to 1."
    )

    stacked: bool | Literal["name", "third_coordinate"] = Key(  # type: ignore[assignment]  # further ways
        default=False,
        description="Algorithm phases: each job runs on a stack of images and writes one JSON of all, whose "
        "entries tell their image. `true`: by their order in a list. `name`: each entry has the name of its "
        "image, or `image_<i>` (OCELOT). `third_coordinate`: that of points or corners (DENTEX). Indices "
        f"count from 0. {tables.STACK_COLUMNS}",
    )
    class_in: Literal["name", "third_coordinate"] = Key(
        default="name",
        description="Algorithm phases: what tells the class of a point. `third_coordinate`: 1 is the first "
        "class, for positions in two axes (OCELOT).",
    )

    at_most: int | None = Key(
        default=None,
        description="Largest number of objects of a case in a submission, and of their mean over the cases. "
        "Default: 10000, with a mean of 1000.",
        ge=1,
        le=MOST_OBJECTS,
    )

    @property
    def entries_by(self) -> EntriesBy | None:
        return self.stacked if isinstance(self.stacked, str) else super().entries_by

    def limits(self, submitted: bool) -> tuple[int, int]:
        """Return the largest number of objects of a case, and the largest mean; a reference may have more.

        `seal` then says what submissions need.
        """
        return (self.at_most or 10_000, self.at_most or 1000) if submitted else (MOST_OBJECTS, MOST_OBJECTS)

    @model_validator(mode="after")
    def _class_fits(self) -> Self:
        if self.stacked == "third_coordinate" and self.dimensions == 3:
            raise ValueError(f"stacked: expected another way to tell images, found {self.stacked!r}")
        if self.class_in == "third_coordinate" and (self.dimensions == 3 or self.stacked == self.class_in):
            raise ValueError("class_in: expected two axes, and images told by another way")
        if self.stacked == "name" and len(self.classes) > 1 and self.class_in == "name":
            raise ValueError("stacked: expected another way to tell images, since `name` is the class")
        return self

    def attributes(self, submitted: bool) -> Attributes:
        """Return the attributes of objects; reference objects have no probability."""
        of_third = submitted and self.class_in == "third_coordinate"
        names = tuple(self.classes)
        return Attributes(names, submitted and self.probability, in_third_coordinate=of_third)


# --- Metrics of listed objects by any rule for hits: F1, precision, recall, free-response ROC ---


class ObjectMetric(tables.MetricTable):
    """A metric of the hits, false predictions and missed objects of all cases."""

    @abstractmethod
    def case_detections(self, field_name: str, table: tables.FieldTable) -> CaseDetections:
        """Return how hits follow from objects. Raises ValueError for options that do not fit the field."""

    @abstractmethod
    def matched(self, field_name: str, submitted: Any, references: Values) -> MatchedObjects:
        """Return the submitted objects of a case with their matches in its references."""

    def detections_of(
        self, field_name: str, table: ObjectFieldTable, options: Hashable, labels: Callable[[Any], Integers]
    ) -> CaseDetections:
        """Return the detections under the options of a hit; ``labels``: the classes of a field's objects."""
        classes = max(1, len(table.classes))

        def hits(comparison: tables.FieldComparison) -> list[Hits]:
            return self.matched(field_name, comparison.submitted, comparison.references).hits(classes)

        return CaseDetections(
            lambda comparison: comparison.derive(("hits", options), hits),
            lambda references: np.bincount(labels(references[field_name]), minlength=classes).tolist(),
            figure_names(table.classes),
        )


class ShareOfObjects(ObjectMetric):
    """F1, precision or recall of the sums."""

    common = (
        "With several classes, predictions hit objects of their own class, and there is a figure for each "
        "class beside the figure of all sums. A phase without any object has no such figure. In a case "
        "without a result all objects are missed, and as many predictions are false, at least one."
    )
    share: ClassVar[Share]
    of_nothing: float = Key(
        default=1.0,
        description="Figure of a case with neither objects nor predictions (of a class), with `over_cases` "
        "other than `pooled`; a recall has none there. PUMA: 0.",
        ge=0,
        le=1,
    )
    mean: Literal["of_objects", "of_classes"] = Key(
        default="of_objects",
        description="The figure of all classes. `of_objects`: that of all their objects together. "
        "`of_classes`: the mean of the classes' figures, without a class that no case has (PUMA).",
    )

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        detections = self.case_detections(field_name, table)
        by_class = self.mean == "of_classes" and bool(detections.classes)
        return share_measure(name, self.title_of(name), self.share, detections, self.of_nothing, by_class)


class FrocOfObjects(ObjectMetric):
    """Sensitivities of the free-response ROC curve."""

    common = (
        "It is of a field with at most one class, with a figure for each number of false positives. A phase "
        "without any object has no such figure. In a case without a result all objects are missed, and as "
        "many predictions of the highest probability are false, at least one."
    )
    false_positives_per_case: list[Rate] = Key(
        default=RATES,
        description="At which numbers of false positives per case the sensitivity is read.",
        min_length=1,
    )
    reading: FrocReading = Key(default="linear", description=READING)
    area: str | None = Key(
        default=None,
        description="Column of `cases.csv` with the area of each case in mm². The rates are then false "
        "positives per mm², the sum of the one by the sum of the other (MONKEY: 10, 20, 50, 100, 200, 300).",
    )
    lowest_threshold: Literal["included", "excluded"] = Key(
        default="included",
        description="`excluded`: the lowest probability of all predictions that count is no point of the "
        "curve, as in the copies of CAMELYON16's program (MONAI, MONKEY). A perfect result with one "
        "probability for all then has 0.",
    )

    @property
    def caution(self) -> str:
        if self.lowest_threshold == "included":
            return ""
        return (
            "a perfect result with one probability for all has 0; a false prediction of a lower one mends it"
        )

    def further_labels(self, table: tables.FieldTable) -> tuple[HiddenField, ...]:
        return (*super().further_labels(table), *self._area())

    def _area(self) -> tuple[HiddenField, ...]:
        if self.area is None:
            return ()
        reference = Reference(Number(minimum=0.0), CaseColumns((self.area,)))
        return (HiddenField(f"area_{self.area}", reference),)

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        assert isinstance(table, ObjectFieldTable)
        if not table.probability:
            raise ValueError(f"expected probability = true in field {field_name!r}")
        detections = self.case_detections(field_name, table)
        title, rates = self.title or "FROC score", self.false_positives_per_case
        area, without_lowest = next(iter(self._area()), None), self.lowest_threshold == "excluded"
        return froc_measure(name, title, rates, detections, self.reading, area, without_lowest)
