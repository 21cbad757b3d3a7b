"""Figures of arrays and data frames with intervals and tests, the same as those of `evaluate` and `rank`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import (
    Agreement,
    AveragePrecision,
    Concordance,
    ConfusionFigure,
    PresenceF1,
    RocArea,
    SensitivityAtSpecificity,
)
from evaluation.core.estimator import Estimator, Mean, Quantile, RootMeanSquare, Share
from evaluation.core.intervals import intervals
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.metrics.confusion import cohen_kappa_of_confusion
from evaluation.metrics.regression import (
    weighted_intraclass_correlation,
    weighted_pearson_correlation,
    weighted_spearman_correlation,
)
from evaluation.organiser.ranking.differences import Compared, TestOfMeans
from evaluation.stats.figure import Difference, Figure, IntervalChoice
from evaluation.stats.student import check_level

if TYPE_CHECKING:
    import pandas

Column = ArrayLike | str
Values = NDArray[Any]

# --- The figures, and what each takes ---


@dataclass(frozen=True)
class _Kind:
    """What a figure takes: "numbers" alone, "decisions", "scores" or "pairs" of numbers with a reference."""

    takes: Literal["numbers", "decisions", "classes", "scores", "pairs", "times"]
    estimator: Estimator
    best: float = 1.0
    worst: float = 0.0
    only: float | None = None  # the true class whose cases alone enter


_COLUMNS = "value", "reference"
_GIVEN = 0  # a number of classes or a specificity, which the arguments say
_KINDS: Mapping[str, _Kind] = {
    "mean": _Kind("numbers", Mean("value")),
    "median": _Kind("numbers", Quantile("value", 0.5)),
    "root_mean_square": _Kind("numbers", RootMeanSquare("value"), best=0.0, worst=math.inf),
    "accuracy": _Kind("classes", Share("right")),
    "sensitivity": _Kind("decisions", Share("right"), only=1.0),
    "specificity": _Kind("decisions", Share("right"), only=0.0),
    "f1": _Kind("decisions", PresenceF1(*_COLUMNS)),
    "kappa": _Kind("classes", ConfusionFigure(*_COLUMNS, _GIVEN, cohen_kappa_of_confusion), worst=-1.0),
    "auc": _Kind("scores", RocArea(*_COLUMNS)),
    "average_precision": _Kind("scores", AveragePrecision(*_COLUMNS)),
    "sensitivity_at_specificity": _Kind("scores", SensitivityAtSpecificity(*_COLUMNS, Fraction(_GIVEN))),
    "pearson": _Kind("pairs", Agreement(*_COLUMNS, weighted_pearson_correlation, absolute=False), worst=-1.0),
    "spearman": _Kind("pairs", Agreement(*_COLUMNS, weighted_spearman_correlation), worst=-1.0),
    "intraclass": _Kind(
        "pairs", Agreement(*_COLUMNS, weighted_intraclass_correlation, absolute=True), worst=-1.0
    ),
    "concordance": _Kind("times", Concordance(*_COLUMNS, "event", risk=True)),
}
_RANGED = ("mean", "median", "root_mean_square")


def interval(
    values: Column,
    reference: Column | None = None,
    *,
    metric: str = "mean",
    event: Column | None = None,
    clusters: Column | None = None,
    data: pandas.DataFrame | None = None,
    best: float | None = None,
    worst: float | None = None,
    specificity: float | str = 0.95,
    level: float = 0.95,
    method: IntervalChoice = "field",
    resamples: int = 1000,
    seed: int = 0,
    interval_minimum: int = 10,
) -> Figure:
    """Return a figure of one column with the intervals that `evaluate` gives it.

    Parameters
    ----------
    values
        A value for each case: of "mean", "median" and "root_mean_square" any numbers, such as Dice or
        errors, NaN where a case does not enter; of "accuracy" and "kappa" classes; of "sensitivity",
        "specificity" and "f1" decisions, 0 or 1; of "auc", "average_precision" and
        "sensitivity_at_specificity" scores, higher = more likely positive; of "pearson", "spearman" and
        "intraclass" numbers; of "concordance" risks. With ``data`` the name of a column.
    reference
        The true class of each case, its true number, or its time; not for a mean, median or root mean square.
    metric
        The figure.
    event
        Of "concordance": 1 where the event was observed at the time, 0 where the case was censored.
    clusters
        What each case belongs to, such as its patient; None where cases are independent.
    data
        A frame, whose columns the other arguments name.
    best, worst
        Of a mean, median or root mean square: the ends of its range, such as 1 and 0 of Dice. Bounds with
        unseen failures need ``worst``.
    specificity
        Of "sensitivity_at_specificity"; a text such as "0.95" is exact.
    level
        Of the intervals, between 0 and 1.
    method
        Which interval is ``lower`` and ``upper``: "field", or "any_distribution", with unseen failures.
    resamples, seed, interval_minimum
        Of the bootstrap, see `phase.toml`.

    Raises
    ------
    ValueError
        Names the argument, what was expected, and what was found.
    """
    given = _Given(metric, event, clusters, data, best, worst, specificity, reference)
    table = given.table("values", values)
    choice = given.resampling(seed, resamples, interval_minimum, level, method)
    return _figures(given.metric, {"values": table}, choice)["values"]


def compare(
    first: Column,
    second: Column,
    reference: Column | None = None,
    *,
    metric: str = "mean",
    event: Column | None = None,
    clusters: Column | None = None,
    data: pandas.DataFrame | None = None,
    best: float | None = None,
    worst: float | None = None,
    specificity: float | str = 0.95,
    level: float = 0.95,
    method: IntervalChoice = "field",
    test_of_means: TestOfMeans = "means",
    resamples: int = 1000,
    seed: int = 0,
    interval_minimum: int = 10,
) -> Difference:
    """Return the difference of two figures on the same cases, with the interval and the test of `rank`.

    Parameters
    ----------
    first, second
        Values of the two methods for each case, see `interval`.
    test_of_means
        As `rank --test-of-means` takes it; with "signed-rank" and "rank-sum" the interval is of the shift
        that the test is about, and ``estimate`` is its centre.
    reference, metric, event, clusters, data, best, worst, specificity, level, method, resamples, seed
        See `interval`.
    interval_minimum
        See `interval`.

    Raises
    ------
    ValueError
        As `interval`.
    """
    if test_of_means not in get_args(TestOfMeans):
        expected = ", ".join(get_args(TestOfMeans))
        raise ValueError(f"test_of_means: expected one of {expected}, found {test_of_means!r}")
    given = _Given(metric, event, clusters, data, best, worst, specificity, reference)
    tables = {name: given.table(name, values) for name, values in (("first", first), ("second", second))}
    if tables["first"].names != tables["second"].names:
        raise ValueError("second: expected values of the same cases as first")
    choice = given.resampling(seed, resamples, interval_minimum, level, method)
    figures = _figures(given.metric, tables, choice)
    return Compared(given.metric, tables, choice, figures, test_of_means).difference("first", "second")


_NAME = "cases.figure"


def _figures(metric: Metric, tables: Mapping[str, CaseTable], choice: Resampling) -> dict[str, Figure]:
    found = intervals({_NAME: metric}, list(tables.values()), choice)
    if _NAME in found.found:
        return dict(zip(tables, found.found[_NAME], strict=True))
    return {
        name: Figure(metric.estimator.value(table), n=len(table), reason=found.missing[_NAME])
        for name, table in tables.items()
    }


class _Given:
    """The arguments that are the same for both columns of a comparison, checked."""

    def __init__(
        self,
        metric: str,
        event: Column | None,
        clusters: Column | None,
        data: pandas.DataFrame | None,
        best: float | None,
        worst: float | None,
        specificity: float | str,
        reference: Column | None,
    ) -> None:
        if metric not in _KINDS:
            raise ValueError(f"metric: expected one of {', '.join(_KINDS)}, found {metric!r}")
        self._name, self._kind, self._data = metric, _KINDS[metric], data
        needs = self._kind.takes != "numbers"
        if needs != (reference is not None):
            found = "none" if needs else "one"
            raise ValueError(f"reference: {metric} takes {'one' if needs else 'no reference'}, found {found}")
        if (self._kind.takes == "times") != (event is not None):
            raise ValueError("event: expected with the metric concordance, and with no other")
        self._reference = None if reference is None else self._column("reference", reference)
        self._event = None if event is None else self._decisions("event", self._column("event", event))
        self._clusters = (
            None if clusters is None else _complete("clusters", self._column("clusters", clusters))
        )
        self._labels: dict[str, str] | None = None
        classes: list[Any] = []
        if self._reference is not None and self._kind.takes == "classes":
            classes = sorted(set(_complete("reference", self._reference).tolist()), key=str)
        self._classes = {label: float(number) for number, label in enumerate(classes)}
        try:
            wanted = Fraction(str(specificity))
        except ValueError:
            wanted = Fraction(-1)
        if not 0 <= wanted <= 1:
            raise ValueError(f"specificity: expected a number from 0 to 1, found {specificity!r}")
        estimator = self._kind.estimator
        if isinstance(estimator, SensitivityAtSpecificity):
            estimator = replace(estimator, target=wanted)
        elif isinstance(estimator, ConfusionFigure):
            # A prediction may be a class that the reference does not have.
            estimator = replace(estimator, classes=len(classes) + 1)
        self.metric = Metric("figure", metric, estimator, *self._ends(best, worst))

    def _ends(self, best: float | None, worst: float | None) -> tuple[float, float]:
        if self._name not in _RANGED:
            for name, given in (("best", best), ("worst", worst)):
                if given is not None:
                    fixed = f"{name}: expected none, since {self._name} has a fixed range"
                    raise ValueError(f"{fixed}, found {given}")
            return self._kind.best, self._kind.worst
        if self._name == "root_mean_square":
            best = 0.0 if best is None else best
        if best is not None and best == worst:
            raise ValueError(f"worst: expected another number than best, found {worst}")
        known = best if worst is None else worst
        if known is None:
            return math.inf, -math.inf
        # The side of the values tells which way is better.
        other = math.inf if known <= 0 else -math.inf
        return other if best is None else best, other if worst is None else worst

    def _column(self, name: str, column: Column) -> Values:
        if self._data is not None:
            if not isinstance(column, str) or column not in self._data:
                known = ", ".join(map(str, self._data))
                raise ValueError(f"{name}: expected a column of the data, {known}, found {column!r}")
            return np.asarray(self._data[column])
        # As objects: NumPy would make the text "nan" of a missing name among names.
        found = np.asarray(column, dtype=object) if isinstance(column, list | tuple) else np.asarray(column)
        if found.ndim != 1:
            raise ValueError(f"{name}: expected one value for each case, found the shape {found.shape}")
        return found

    def table(self, name: str, column: Column) -> CaseTable:
        """Return the cases of a column that enter."""
        values = self._column(name, column)
        for other, given in (
            ("reference", self._reference),
            ("event", self._event),
            ("clusters", self._clusters),
        ):
            if given is not None and given.size != values.size:
                raise ValueError(
                    f"{name} and {other}: found {values.size} and {given.size} cases, expected equal"
                )
        columns = self._columns(name, values)
        keep = np.ones(values.size, dtype=np.bool_)
        if self._kind.only is not None:
            keep = columns["reference"] == self._kind.only
        kept = np.flatnonzero(keep)
        if not kept.size or np.isnan(columns["value"][kept]).all():
            of = "" if self._kind.only is None else f" of class {self._kind.only:g}"
            raise ValueError(f"{name}: expected at least one case{of}, found none")
        rows = zip(*(entries[kept].tolist() for entries in columns.values()), strict=True)
        names = tuple(f"{case:09}" for case in kept.tolist())
        if self._clusters is not None:
            labels = map(str, self._clusters[kept].tolist())
            self._labels = dict(zip(names, labels, strict=True))
        return CaseTable(names, [dict(zip(columns, row, strict=True)) for row in rows])

    def _columns(self, name: str, values: Values) -> dict[str, Values]:
        takes, reference = self._kind.takes, self._reference
        if takes == "numbers":
            return {"value": self._within(name, _numbers(name, values))}
        assert reference is not None
        if takes == "classes":
            unknown, labels = float(len(self._classes)), _complete(name, values).tolist()
            decided = np.array([self._classes.get(label, unknown) for label in labels])
            true = np.array([self._classes[label] for label in reference.tolist()])
            return {"value": decided, "reference": true, "right": (decided == true) * 1.0}
        if takes == "decisions":
            decided, true = self._decisions(name, values), self._decisions("reference", reference)
            return {"value": decided, "reference": true, "right": (decided == true) * 1.0}
        numbers = _numbers(name, _complete(name, values))
        if takes == "scores":
            return {"value": numbers, "reference": self._decisions("reference", reference)}
        further = {} if self._event is None else {"event": self._event}
        return {
            "value": numbers,
            "reference": _numbers("reference", _complete("reference", reference)),
            **further,
        }

    def _decisions(self, name: str, values: Values) -> Values:
        numbers = _numbers(name, values)
        wrong = ~np.isin(numbers, (0.0, 1.0))
        if wrong.any():
            raise ValueError(
                f"{name}: expected 0 and 1 only, found {values[wrong.argmax()]} in row {wrong.argmax()}"
            )
        return numbers

    def _within(self, name: str, numbers: Values) -> Values:
        low, high = sorted((self.metric.best, self.metric.worst))
        outside = (numbers < low) | (numbers > high)
        if self._name == "root_mean_square":
            outside = np.abs(numbers) > high
        if outside.any():
            found = f"{numbers[outside.argmax()]:g} in row {outside.argmax()}"
            raise ValueError(
                f"{name}: expected numbers from {low:g} to {high:g} (best and worst), found {found}"
            )
        return numbers

    def resampling(
        self, seed: int, resamples: int, minimum: int, level: float, method: IntervalChoice
    ) -> Resampling:
        """Return the resampling of the cases that enter."""
        check_level(level)
        if method not in get_args(IntervalChoice):
            expected = ", ".join(get_args(IntervalChoice))
            raise ValueError(f"method: expected one of {expected}, found {method!r}")
        for name, number, least in (("resamples", resamples, 0), ("interval_minimum", minimum, 2)):
            if number < least:
                raise ValueError(f"{name}: expected at least {least}, found {number}")
        return Resampling(seed, resamples, minimum, clusters=self._labels, interval=method, level=level)


def _complete(name: str, values: Values) -> Values:
    """Return a column that has a value in every row. Raises ValueError."""
    for row, one in enumerate(values.tolist()):
        if one is None or one != one or one == "":
            raise ValueError(f"{name}: expected a value for each case, found none in row {row}")
    return values


def _numbers(name: str, values: Values) -> Values:
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected numbers, found {values.ravel()[:1].tolist()}") from None
    if np.isinf(numbers).any():
        raise ValueError(f"{name}: expected finite numbers, found {numbers[np.isinf(numbers)][0]}")
    return numbers
