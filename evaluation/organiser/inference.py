"""Intervals and tests of figures of arrays and data frames, the same as those of `evaluate` and `rank`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import AveragePrecision, RocArea, SensitivityAtSpecificity
from evaluation.core.estimator import Estimator, Mean, RootMeanSquare, Share
from evaluation.core.intervals import intervals, value_of
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.organiser.ranking import comparisons, resampling
from evaluation.organiser.ranking.pair_tests import TestChoice, TestOfMeans

if TYPE_CHECKING:
    import pandas

Figure = Literal[
    "mean",
    "root_mean_square",
    "accuracy",
    "sensitivity",
    "specificity",
    "auc",
    "average_precision",
    "sensitivity_at_specificity",
]
Column = ArrayLike | str
_OF_DECISIONS = {"accuracy": None, "sensitivity": 1.0, "specificity": 0.0}
_NAME = "cases.figure"


@dataclass(frozen=True)
class FigureEstimate:
    """A figure with its 95 % interval.

    ``lower``, ``upper`` and ``method`` are None without an interval, and ``reason`` says why. ``cases``: how
    many enter; ``clusters``: how many groups of cases that belong together, None where cases are independent.
    """

    value: float
    lower: float | None
    upper: float | None
    method: str | None
    cases: int
    clusters: int | None = None
    reason: str | None = None


@dataclass(frozen=True)
class FigureDifference:
    """Two figures on the same cases, and their difference: ``first`` minus ``second``.

    ``lower``, ``upper``: its 95 % interval, None where one of the figures has none. ``p_value``: two-sided,
    None where the test cannot be computed; ``null``: the hypothesis that it rejects. ``detectable``: the
    difference that the test finds with 80 % power, None where no difference in the range can be found so.
    """

    first: FigureEstimate
    second: FigureEstimate
    difference: float
    lower: float | None
    upper: float | None
    p_value: float | None
    method: str
    null: str
    detectable: float | None


def interval(
    values: Column,
    reference: Column | None = None,
    *,
    metric: Figure = "mean",
    clusters: Column | None = None,
    data: pandas.DataFrame | None = None,
    best: float | None = None,
    worst: float | None = None,
    specificity: float | str = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    interval_minimum: int = 10,
) -> FigureEstimate:
    """Return a figure of one column with the interval that `evaluate` gives it.

    Parameters
    ----------
    values
        A value for each case: of "mean" and "root_mean_square" any numbers, such as Dice or errors, NaN where
        a case does not enter; of "accuracy", "sensitivity" and "specificity" decisions; of the others scores,
        higher = more likely positive. With ``data`` the name of a column.
    reference
        The true class of each case: any for "accuracy", else 0 or 1; not for "mean" and "root_mean_square".
    metric
        The figure.
    clusters
        What each case belongs to, such as its patient; None where cases are independent.
    data
        A frame, whose columns the other arguments name.
    best, worst
        Of a mean: the ends of its range, such as 1 and 0 of Dice. With ``worst`` the interval counts a
        failure that the cases may lack at this value, else beyond the farthest one seen.
    specificity
        Of "sensitivity_at_specificity"; a text such as "0.95" is exact.
    resamples, seed, interval_minimum
        Of the bootstrap, see `phase.toml`.

    Raises
    ------
    ValueError
        For columns of different lengths, an unknown figure, or without a case.
    """
    found = _metric(metric, best, worst, specificity)
    table, labels = _table(metric, values, reference, clusters, data)
    choice = _resampling(table, labels, seed, resamples, interval_minimum)
    (estimate,) = _estimates(found, [table], labels, choice)
    return estimate


def compare(
    first: Column,
    second: Column,
    reference: Column | None = None,
    *,
    metric: Figure = "mean",
    clusters: Column | None = None,
    data: pandas.DataFrame | None = None,
    best: float | None = None,
    worst: float | None = None,
    specificity: float | str = 0.95,
    test_of_means: TestOfMeans = "equal-means",
    permutations: int = 9_999,
    resamples: int = 1000,
    seed: int = 0,
    interval_minimum: int = 10,
) -> FigureDifference:
    """Return the difference of two figures on the same cases, with the interval and the test of `rank`.

    Parameters
    ----------
    first, second
        Values of the two methods for each case, see `interval`. A figure of decisions is compared as the mean
        of right and wrong.
    test_of_means, permutations
        As `rank --test-of-means` and `--permutations` take them.
    reference, metric, clusters, data, best, worst, specificity, resamples, seed, interval_minimum
        See `interval`.

    Raises
    ------
    ValueError
        As `interval`.
    """
    if test_of_means not in get_args(TestOfMeans):
        raise ValueError(f"test_of_means: expected one of {', '.join(get_args(TestOfMeans))}")
    found = _metric(metric, best, worst, specificity)
    both = [_table(metric, values, reference, clusters, data) for values in (first, second)]
    tables, labels = [table for table, _ in both], both[0][1]
    choice = _resampling(tables[0], labels, seed, resamples, interval_minimum)
    estimates = _estimates(found, tables, labels, choice)
    # A share is compared as the mean that it is.
    compared = found if metric not in _OF_DECISIONS else Metric("figure", metric, Mean("value"), 1, 0)
    teams = ("first", "second")
    cases = resampling.TeamCases(teams, tuple({"cases": table} for table in tables), choice.clusters)
    metrics = {_NAME: compared}
    drawn = resampling.resample_teams(metrics, cases, resampling.draw_cases(metrics, cases, choice)).values
    values_of = dict(zip(teams, (one.value for one in estimates), strict=True))
    by_team = dict(zip(teams, drawn[_NAME].T, strict=True)) if _NAME in drawn else {}
    tests = TestChoice(seed, permutations, test_of_means)
    (pair,) = comparisons.compare(_NAME, compared, values_of, cases, by_team, tests).pairs
    ends: tuple[float | None, float | None] = (None, None)
    of_teams = resampling.intervals_of_teams(metrics, cases, choice)
    if _NAME in drawn and _NAME in of_teams.found:
        margin = [comparisons.Margin(_NAME, 0.0, "second")]
        (beside,) = comparisons.margin_tests(
            margin, metrics, {_NAME: values_of}, cases, drawn, of_teams, in_fixed_order=False
        )
        ends = (beside.lower, beside.upper) if found.better == "higher" else (-beside.upper, -beside.lower)
    difference = pair.difference if pair.first == "first" else -pair.difference
    of_first, of_second = estimates
    return FigureDifference(
        of_first,
        of_second,
        difference,
        *ends,
        p_value=pair.p_value,
        method=pair.method,
        null=pair.null,
        detectable=pair.detectable_difference,
    )


def _metric(metric: Figure, best: float | None, worst: float | None, specificity: float | str) -> Metric:
    estimators: dict[str, Estimator] = {
        "mean": Mean("value", rare_failures=worst is not None),
        "root_mean_square": RootMeanSquare("value"),
        "auc": RocArea("value", "reference"),
        "average_precision": AveragePrecision("value", "reference"),
        "sensitivity_at_specificity": SensitivityAtSpecificity(
            "value", "reference", Fraction(str(specificity))
        ),
        **dict.fromkeys(_OF_DECISIONS, Share("value")),
    }
    if metric not in estimators:
        raise ValueError(f"metric: expected one of {', '.join(estimators)}, found {metric!r}")
    ends = (1.0, 0.0)
    if metric == "root_mean_square":
        ends = (0.0, math.inf if worst is None else worst)
    elif metric == "mean":
        high = math.inf if worst is None or best is None or best > worst else -math.inf
        ends = (high if best is None else best, -high if worst is None else worst)
    return Metric("figure", metric, estimators[metric], *ends)


def _table(
    metric: Figure,
    values: Column,
    reference: Column | None,
    clusters: Column | None,
    data: pandas.DataFrame | None,
) -> tuple[CaseTable, list[str] | None]:
    """Return the cases that enter, and the cluster of each."""
    given: dict[str, np.ndarray[Any, Any]] = {}
    for name, column in (("values", values), ("reference", reference), ("clusters", clusters)):
        if column is not None:
            given[name] = np.asarray(column if data is None else data[column])
            if given[name].ndim != 1 or given[name].size != given["values"].size:
                raise ValueError(f"{name}: expected a column of {given['values'].size} cases")
    needs = metric not in ("mean", "root_mean_square")
    if needs != ("reference" in given):
        raise ValueError(f"reference: {metric} {'needs' if needs else 'takes no'} reference")
    keep = np.ones(given["values"].size, dtype=np.bool_)
    if metric in _OF_DECISIONS:
        true = given["reference"]
        wanted = _OF_DECISIONS[metric]
        keep = keep if wanted is None else np.asarray(true == wanted)
        columns = {"value": np.asarray(given["values"] == true, dtype=np.float64)}
    else:
        columns = {"value": given["values"].astype(np.float64)}
        if needs:
            columns["reference"] = given["reference"].astype(np.float64)
    kept = np.flatnonzero(keep)
    if not kept.size or np.isnan(columns["value"][kept]).all():
        raise ValueError("values: expected at least one case")
    rows = zip(*(column[kept].tolist() for column in columns.values()), strict=True)
    names = tuple(f"{case:09}" for case in kept.tolist())
    labels = [str(label) for label in given["clusters"][kept].tolist()] if "clusters" in given else None
    return CaseTable(names, [dict(zip(columns, row, strict=True)) for row in rows]), labels


def _resampling(
    table: CaseTable, labels: list[str] | None, seed: int, resamples: int, minimum: int
) -> Resampling:
    clusters = None if labels is None else dict(zip(table.names, labels, strict=True))
    return Resampling(seed, resamples, minimum, clusters=clusters)


def _estimates(
    metric: Metric, tables: list[CaseTable], labels: list[str] | None, choice: Resampling
) -> list[FigureEstimate]:
    found = intervals({_NAME: metric}, tables, choice)
    number = None if labels is None else len(set(labels))
    estimates = []
    for position, table in enumerate(tables):
        value, entering = value_of(metric, table), int(np.count_nonzero(~np.isnan(table["value"])))
        if _NAME in found.found:
            one = found.found[_NAME][position]
            ends = one.interval.lower, one.interval.upper, one.method
            estimates.append(FigureEstimate(value, *ends, entering, number))
        else:
            estimates.append(FigureEstimate(value, None, None, None, entering, number, found.missing[_NAME]))
    return estimates
