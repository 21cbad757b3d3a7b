"""Figures of detections of any kind: sums of hits and misses, and free-response ROC curves.

A case has hits, false predictions and missed objects in each class. A case without a result misses all of its
objects and has as many false predictions with the highest probability, at least one of each class: so it is
worse than an empty list, and no case is left out of any sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field as Key

from evaluation.challenges.declared.measure import Comparison, Measure
from evaluation.core.case_table import CaseTable, FloatArray, Row, WeightedCases
from evaluation.core.challenge import Values
from evaluation.core.metric import Aggregate, DetectionCurves, Metric, Strata
from evaluation.metrics.froc import Candidates, FrocTable
from evaluation.metrics.point_matching import PointMatches

CERTAIN = 2.0
"""Above every probability: the probability of false predictions in a case without a result."""

Share = Literal["f1", "precision", "recall"]
Rate = Annotated[float, Key(gt=0, allow_inf_nan=False)]

RATES = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0]
"""The numbers of false positives per case of LUNA16."""


@dataclass(frozen=True)
class Hits:
    """The detections of one class in one case; predictions that are neither hit nor false are left out.

    hits, false: probabilities of the predictions. objects: the number of objects in the reference.
    """

    hits: FloatArray
    false: FloatArray
    objects: int

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of hits, of false predictions and of missed objects."""
        return len(self.hits), len(self.false), self.objects - len(self.hits)


def missing_result(objects: int) -> Hits:
    """Return the detections of a case without a result that has ``objects`` objects of a class."""
    return Hits(np.zeros(0), np.full(max(1, objects), CERTAIN), objects)


@dataclass(frozen=True)
class Verdicts:
    """The verdicts on the predictions and the objects of one case, in their order.

    hit, false: shape (predictions,); a prediction that is neither does not count. found: shape (objects,).
    """

    hit: NDArray[np.bool_]
    false: NDArray[np.bool_]
    found: NDArray[np.bool_]


def verdicts_of(
    labels: NDArray[np.int64],
    counted: NDArray[np.bool_],
    true_labels: NDArray[np.int64],
    matches: Callable[[int], PointMatches],
) -> Verdicts:
    """Return the verdicts on objects that are matched class by class.

    labels, true_labels: the class of every prediction and of every object. counted: shape (predictions,),
    which predictions enter. matches: returns the matches within one class.
    """
    hit, false = (np.zeros(len(labels), dtype=np.bool_) for _ in range(2))
    found = np.zeros(len(true_labels), dtype=np.bool_)
    for label in np.union1d(labels, true_labels).tolist():
        chosen, objects = np.flatnonzero(counted & (labels == label)), np.flatnonzero(true_labels == label)
        of_class = matches(label)
        hit[chosen[of_class.hit[of_class.hit >= 0]]] = True
        false[chosen[of_class.false]] = True
        found[objects[of_class.hit >= 0]] = True
    return Verdicts(hit, false, found)


@dataclass(frozen=True)
class Detections:
    """Functions from a case's values to its detections of each class.

    ``hits`` returns the hits of every class, ``objects`` the number of reference objects of every class.
    ``classes`` names the classes in the figures; empty for a single one.
    """

    hits: Callable[[Comparison], Sequence[Hits]]
    objects: Callable[[Values], Sequence[int]]
    classes: tuple[str, ...] = ()

    def missing(self, references: Values) -> list[Hits]:
        """Return the detections of a case without a result."""
        return [missing_result(count) for count in self.objects(references)]


def share_measure(name: str, title: str, share: Share, detections: Detections) -> Measure:
    """Return F1, precision or recall of the sums over all cases, for all classes together and for each."""
    keys = [f"{name}_{of}" for of in detections.classes] or [name]

    def columns(found: Sequence[Hits]) -> Row:
        return {
            f"{key}_{part}": count
            for key, hits in zip(keys, found, strict=True)
            for part, count in zip(_PARTS, hits.counts, strict=True)
        }

    def metric(of: str, title: str, keys: Sequence[str]) -> Metric:
        return Metric(of, title, _share_of(share, keys), best=1, worst=0)

    parts = zip(keys, detections.classes, strict=False)
    return Measure(
        (metric(name, title, keys), *(metric(key, f"{title}, {of}", [key]) for key, of in parts)),
        row=lambda comparison: columns(detections.hits(comparison)),
        worst=lambda case, references: columns(detections.missing(references)),
    )


_PARTS = ("true_positives", "false_positives", "false_negatives")


def _share_of(share: Share, keys: Sequence[str]) -> Aggregate:
    """Return a share of sums; NaN where the reference has no object of weight, 0 where nothing was found."""

    def values(cases: WeightedCases) -> FloatArray:
        hits, false, missed = (
            sum((cases.weights @ cases.table[f"{key}_{part}"] for key in keys), np.zeros(len(cases.weights)))
            for part in _PARTS
        )
        if share == "f1":
            return _ratio(2 * hits, 2 * hits + false + missed, hits + missed)
        return _ratio(hits, hits + (false if share == "precision" else missed), hits + missed)

    return Aggregate(values, _all_cases)


def _ratio(numerator: FloatArray, denominator: FloatArray, objects: FloatArray) -> FloatArray:
    quotient = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
    return np.where(objects > 0, quotient, np.nan)


def froc_measure(name: str, title: str, rates: Sequence[float], detections: Detections) -> Measure:
    """Return the mean sensitivity over rates of false positives per case, and each sensitivity."""
    columns = _froc_columns(name, detections)

    def figure(of: Callable[[FloatArray], FloatArray]) -> Aggregate:
        return Aggregate(lambda cases: of(_sensitivities(cases, columns, rates)), _all_cases)

    parts = [
        Metric(
            f"{name}_at_{rate:g}".replace(".", "_"),
            f"Sensitivity at {rate:g} false positives per case",
            figure(lambda values, position=position: values[:, position]),  # type: ignore[misc]
            best=1,
            worst=0,
        )
        for position, rate in enumerate(rates)
    ]
    overall = replace(figure(lambda values: values.mean(axis=1)), detections=_curves_of(columns))
    mean = Metric(name, title, overall, best=1, worst=0)
    return _froc_figures((mean, *parts), columns, detections)


def average_precision_measure(name: str, title: str, detections: Detections) -> Measure:
    """Return the average precision of all detections; objects without a hit count as never found."""
    columns = _froc_columns(name, detections)
    aggregate = Aggregate(
        lambda cases: _froc_table(cases, columns).average_precision(cases.weights),
        _all_cases,
        detections=_curves_of(columns),
    )
    return _froc_figures((Metric(name, title, aggregate, best=1, worst=0),), columns, detections)


def _froc_columns(name: str, detections: Detections) -> list[str]:
    if detections.classes:
        raise ValueError("expected a field without classes, or with one")
    return [f"{name}_{part}" for part in ("hits", "false", "objects")]


def _curves_of(columns: Sequence[str]) -> DetectionCurves:
    return DetectionCurves(lambda table: _candidates(table, columns), "Hits are those of the metric.")


def _froc_figures(metrics: tuple[Metric, ...], columns: Sequence[str], detections: Detections) -> Measure:
    """Return figures of the hits, false predictions and objects of each case."""

    def row(found: Sequence[Hits]) -> Row:
        (hits,) = found
        return dict(zip(columns, (hits.hits, hits.false, hits.objects), strict=True))

    return Measure(
        metrics,
        row=lambda comparison: row(detections.hits(comparison)),
        worst=lambda case, references: row(detections.missing(references)),
    )


def _sensitivities(cases: WeightedCases, columns: Sequence[str], rates: Sequence[float]) -> FloatArray:
    """Return the sensitivity at every rate, shape (resamples, rates)."""

    def values(cases: WeightedCases) -> FloatArray:
        return _froc_table(cases, columns).sensitivity_at(cases.weights, rates)

    return cases.derive(("froc", *columns, *rates), values)


def _froc_table(cases: WeightedCases, columns: Sequence[str]) -> FrocTable:
    """Return all detections, from the columns of hits, of false predictions and of the number of objects."""
    return cases.table.derive(("froc", *columns), lambda table: FrocTable(_candidates(table, columns)))


def _candidates(table: CaseTable, columns: Sequence[str]) -> Candidates:
    hits, false = (table.objects(column) for column in columns[:2])
    numbers = [len(of_case) for of_case in (*hits, *false)]
    case = np.repeat(np.tile(np.arange(len(table)), 2), numbers)
    is_hit: NDArray[np.bool_] = np.repeat([True, False], [sum(map(len, hits)), sum(map(len, false))])
    confidence = np.concatenate([*hits, *false, np.zeros(0)])
    return Candidates(case, confidence, is_hit, table[columns[2]].astype(np.int64))


def _all_cases(table: CaseTable) -> Strata:
    return np.zeros(len(table), dtype=np.int64)
