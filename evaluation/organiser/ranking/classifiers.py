"""Classifiers beside the likelihood, and operating points of teams and annotators. For organisers only."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, expit

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task
from evaluation.core.metric import Curve, Metric
from evaluation.core.resampling import Resampling
from evaluation.metrics.arrays import Floats
from evaluation.metrics.bootstrap import bootstrap_weights
from evaluation.metrics.classification import roc_points, roc_table
from evaluation.metrics.intervals import percentile_interval
from evaluation.organiser.ranking.annotators import (
    ReadColumns,
    curve_of,
    is_decision,
    metrics_of_curve,
    values_once,
)
from evaluation.organiser.ranking.comparisons import compare
from evaluation.organiser.ranking.exchanges import mean_tests
from evaluation.organiser.ranking.pair_tests import TestChoice
from evaluation.organiser.ranking.pairwise import PairTest, holm_of_families
from evaluation.organiser.ranking.resampling import TeamCases, intervals_of_teams

# --- Further classifiers of every team beside its likelihood, such as the cup-to-disc ratio of its masks ---

_WORST = {1.0: -math.inf, 0.0: math.inf}


@dataclass(frozen=True)
class ClassifierValue:
    """A metric of one classifier of a team, over the cases that all classifiers of the team have."""

    metric: str
    team: str
    classifier: str
    cases: int
    value: float
    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class ClassifierTest:
    """The test of the areas under the curves of two classifiers of one team; ``difference``: first − second.

    ``p_holm`` is corrected for all ranked teams with the same two classifiers; unranked teams are a separate
    family.
    """

    metric: str
    team: str
    first: str
    second: str
    difference: float
    method: str
    p_value: float | None
    p_holm: float | None
    favours: str | None
    note: str | None


@dataclass(frozen=True)
class ClassifierCurve:
    """The ROC curve of one classifier of a team by descending threshold, from (0, 0) on."""

    team: str
    classifier: str
    false_positive_rate: tuple[float, ...]
    sensitivity: tuple[float, ...]


@dataclass(frozen=True)
class Classifiers:
    """All classifiers of all teams: values, tests and curves."""

    values: tuple[ClassifierValue, ...] = ()
    tests: tuple[ClassifierTest, ...] = ()
    curves: tuple[ClassifierCurve, ...] = ()


def classifiers_of_teams(
    metrics: Mapping[str, Metric],
    columns: Mapping[str, str],
    cases: TeamCases,
    ranked: Collection[str],
    resampling: Resampling,
    choice: TestChoice,
) -> Classifiers:
    """Return each team's columns as classifiers of the label of the first task with an area under a curve.

    columns: "task.column" by title. A team without results for a column's task has no such classifier. A
    missing value is below every threshold for a positive case and above every one for a negative.
    Areas are tested by DeLong's test where it holds, see `compare`. No columns: nothing.
    Source: Orlando et al. 2020 (REFUGE), section 4.1, Table 4 and Figure 5, and section 5.3.
    """
    if not columns:
        return Classifiers()
    task, curve = curve_of(metrics)
    of_curve = metrics_of_curve(metrics, task, curve)
    area = next(name for name, metric in of_curve.items() if metric.aggregate.curve == curve)
    values: list[ClassifierValue] = []
    tests: list[ClassifierTest] = []
    curves: list[ClassifierCurve] = []
    for team, tables in zip(cases.teams, cases.tables, strict=True):
        scored = dict(_tables_of(tables or {}, task, curve, columns))
        if len(scored) < 2:
            continue
        titles = tuple(scored)
        of_team = TeamCases(titles, tuple({task: table} for table in scored.values()), cases.clusters)
        intervals = intervals_of_teams(of_curve, of_team, resampling).found
        found = {title: values_once(of_curve, table) for title, table in scored.items()}
        for name in of_curve:
            for title, table in scored.items():
                if not math.isnan(value := found[title][name]):
                    interval = intervals.get(name, {}).get(title)
                    bounds = (None, None) if interval is None else (interval.lower, interval.upper)
                    values.append(ClassifierValue(name, team, title, len(table), value, *bounds))
        areas = {title: of_title[area] for title, of_title in found.items()}
        if all(map(math.isfinite, areas.values())):
            tests += _tests(area, metrics[area], team, areas, of_team, choice)
        curves += (ClassifierCurve(team, title, *roc_curve(table, curve)) for title, table in scored.items())
    families = [(test.first, test.second, test.team in ranked) for test in tests]
    return Classifiers(tuple(values), _corrected(tests, families), tuple(curves))


def _tables_of(
    tables: Mapping[str, CaseTable], task: str, curve: Curve, columns: Mapping[str, str]
) -> Iterator[tuple[str, CaseTable]]:
    """Yield a table of scores and labels for the likelihood and each column, all of the same cases."""
    if task not in tables:
        return
    labels = dict(zip(tables[task].names, tables[task][curve.label].tolist(), strict=True))
    given = {f"{task}.{curve.score}": f"{task}.{curve.score}", **columns}
    scores = {}
    for title, name in given.items():
        of_task, _, column = name.partition(".")
        if of_task in tables and column in tables[of_task].column_names:
            table = tables[of_task]
            scores[title] = dict(zip(table.names, table[column].tolist(), strict=True))
    shared = [
        name
        for name, label in labels.items()
        if not math.isnan(label) and all(name in of_title for of_title in scores.values())
    ]
    for title, of_title in scores.items():
        rows = []
        for name in shared:
            score = _WORST[labels[name]] if math.isnan(of_title[name]) else of_title[name]
            rows.append({curve.score: score, curve.label: labels[name]})
        yield title, CaseTable(shared, rows)


def _tests(
    name: str, metric: Metric, team: str, values: Mapping[str, float], of_team: TeamCases, choice: TestChoice
) -> Iterator[ClassifierTest]:
    order = {frozenset(pair): pair for pair in combinations(of_team.teams, 2)}
    for pair in compare(name, metric, values, of_team, None, choice).pairs:
        first, second = order[frozenset((pair.first, pair.second))]
        difference = pair.difference if pair.first == first else -pair.difference
        yield ClassifierTest(
            name, team, first, second, difference, pair.method, pair.p_value, None, pair.favours, pair.note
        )


def roc_curve(table: CaseTable, curve: Curve) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the false positive rates and the sensitivities of the labelled cases of a table."""
    labelled = ~np.isnan(table[curve.label])
    roc = roc_table(table[curve.score][labelled], table[curve.label][labelled] > 0)
    points = roc_points(roc, np.ones(int(labelled.sum())))
    return tuple(points.false_positive_rate.tolist()), tuple(points.sensitivity.tolist())


# --- Every team's operating point. For organisers only, since its counts and its threshold reveal labels ---


@dataclass(frozen=True)
class TeamOperatingPoint:
    """A team's highest sensitivity at a specificity of at least ``specificity_at_least``.

    ``threshold`` is infinite where no finite one has that specificity.
    """

    task: str
    team: str
    specificity_at_least: float
    threshold: float
    sensitivity: float
    specificity: float
    false_positive_rate: float
    true_positives: int
    false_negatives: int
    false_positives: int
    true_negatives: int


def operating_points(tasks: Sequence[Task], cases: TeamCases) -> tuple[TeamOperatingPoint, ...]:
    """Return the operating points of every task that has one, teams in the order of ``cases``."""
    found = []
    for task in tasks:
        if (rule := task.operating_point) is None:
            continue
        for team, table in cases.task_tables(task.name).items():
            if (point := rule.point(table)) is None:
                continue
            found.append(
                TeamOperatingPoint(
                    task.name,
                    cases.teams[team],
                    float(rule.specificity),
                    point.threshold,
                    point.sensitivity,
                    point.specificity,
                    point.false_positives / (point.false_positives + point.true_negatives),
                    point.true_positives,
                    point.false_negatives,
                    point.false_positives,
                    point.true_negatives,
                )
            )
    return tuple(found)


@dataclass(frozen=True)
class PredictiveValues:
    """The predictive values at a team's operating point if a share of cases is positive, and intervals."""

    task: str
    team: str
    prevalence: float
    positive: float | None
    positive_lower: float
    positive_upper: float
    negative: float | None
    negative_lower: float
    negative_upper: float


def predictive_values(
    points: Sequence[TeamOperatingPoint], prevalence: float
) -> tuple[PredictiveValues, ...]:
    """Return PPV and NPV at a prevalence, in (0, 1), of every operating point with both classes.

    95 % intervals on the logit scale, with ½ added to each count where one is 0; they take the threshold as
    given. None: the PPV without a positive decision.
    Source: Mercaldo, Lau and Zhou 2007, Stat. Med. 26:2170.
    """
    odds, quantile = prevalence / (1 - prevalence), NormalDist().inv_cdf(0.975)

    def bounds(
        of_class: float, hits: int, members: int, rejected: int, others: int
    ) -> tuple[float | None, float, float]:
        share, passed = hits / members, 1 - rejected / others
        value = of_class * share / (of_class * share + passed) if share + passed else None
        more = 0.0 if 0 < hits < members and 0 < rejected < others else 0.5
        of_members, of_others = members + 2 * more, others + 2 * more
        share, passed = (hits + more) / of_members, 1 - (rejected + more) / of_others
        error = math.sqrt((1 / share - 1) / of_members + (1 / passed - 1) / of_others)
        centre = math.log(of_class * share / passed)
        ends = [float(expit(centre + side * quantile * error)) for side in (-1, 1)]
        known = ends if value is None else [*ends, value]
        return value, min(known), max(known)

    found = []
    for point in points:
        hits, rejected = point.true_positives, point.true_negatives
        positives, negatives = hits + point.false_negatives, rejected + point.false_positives
        positive = bounds(odds, hits, positives, rejected, negatives)
        negative = bounds(1 / odds, rejected, negatives, hits, positives)
        found.append(PredictiveValues(point.task, point.team, prevalence, *positive, *negative))
    return tuple(found)


# --- The sensitivity of every team at every annotator's specificity (REFUGE, sections 4.1, 5.3 and 6) ---


@dataclass(frozen=True)
class AnnotatorPoint:
    """A team at the operating point of an annotator, on the cases that the annotator read.

    ``team_sensitivity`` is the highest over thresholds that reach the annotator's specificity;
    ``difference``: the team's minus the annotator's, with an interval over resampled cases, each with its own
    threshold and annotator's figures. ``only_team``, ``only_annotator``: the positives that only one of them
    detects. ``p_holm`` is corrected for all ranked teams and annotators; unranked teams are a separate
    family.
    """

    annotator: str
    team: str
    positives: int
    negatives: int
    specificity: float
    annotator_sensitivity: float
    team_sensitivity: float
    difference: float
    lower: float | None
    upper: float | None
    only_team: int
    only_annotator: int
    method: str
    p_value: float | None
    p_holm: float | None
    note: str | None


def annotator_points(
    read: ReadColumns | None,
    metrics: Mapping[str, Metric],
    cases: TeamCases,
    ranked: Collection[str],
    resampling: Resampling,
    choice: TestChoice,
) -> tuple[AnnotatorPoint, ...]:
    """Return every team's point at every annotator's specificity; nothing without annotators.

    read: columns by annotator; columns other than decisions are left out. An annotator without a positive or
    without a negative has no operating point.
    """
    if read is None:
        return ()
    task, curve = curve_of(metrics)
    tables = cases.task_tables(task)
    found: list[AnnotatorPoint] = []
    if not tables:
        return ()
    names = next(iter(tables.values())).names
    decisions = {name: column for name, column in read(names).items() if is_decision(column)}
    for annotator, decision in decisions.items():
        for position, table in tables.items():
            kept = np.flatnonzero(~np.isnan(decision) & ~np.isnan(table[curve.label]))
            read_cases = table.take(kept)
            positive, units = read_cases[curve.label] > 0, cases.units(read_cases)
            one = _Compared(read_cases[curve.score], positive, decision[kept] > 0, units)
            if one.positive.any() and not one.positive.all():
                found.append(_point(annotator, cases.teams[position], one, resampling, choice))
    return _corrected(found, [point.team in ranked for point in found])


@dataclass(frozen=True)
class _Compared:
    """Scores of a team and decisions of an annotator on the same labelled cases; arrays of shape (cases,)."""

    score: Floats
    positive: NDArray[np.bool_]
    decided: NDArray[np.bool_]
    units: NDArray[np.int64] | None

    def detected(self, weights: Floats) -> NDArray[np.bool_]:
        """Return which positives the team detects, shape (rows, positives).

        weights: of cases, shape (rows, cases). A positive is detected where the negatives that score less
        weigh at least as much as the annotator's true negatives, so that the specificity is reached.
        """
        negative = np.flatnonzero(~self.positive)
        order = negative[np.argsort(self.score[negative], kind="stable")]
        below = np.concatenate([np.zeros((len(weights), 1)), np.cumsum(weights[:, order], axis=1)], axis=1)
        scores = self.score[self.positive]
        left = below[:, np.searchsorted(self.score[order], scores, side="left")]
        rejected = weights[:, ~self.positive & ~self.decided].sum(axis=1, keepdims=True)
        # A missing positive is below every threshold.
        return np.asarray((left >= rejected) & (scores > -math.inf))

    def difference(self, weights: Floats) -> Floats:
        """Return the team's sensitivity minus the annotator's, shape (rows,)."""
        of_positives = weights[:, self.positive]
        by_annotator = self.decided[self.positive]
        gained = self.detected(weights).astype(np.float64) - by_annotator
        return np.asarray((of_positives * gained).sum(axis=1) / of_positives.sum(axis=1))


def _point(
    annotator: str, team: str, one: _Compared, resampling: Resampling, choice: TestChoice
) -> AnnotatorPoint:
    ones = np.ones((1, one.score.size))
    by_team, by_annotator = one.detected(ones)[0], one.decided[one.positive]
    positives, negatives = int(one.positive.sum()), int((~one.positive).sum())
    only_team, only_annotator = int((by_team & ~by_annotator).sum()), int((by_annotator & ~by_team).sum())
    if one.units is None:
        # The positives are tested at the team's threshold, which depends on the negatives alone.
        test = PairTest("McNemar, exact", mcnemar_p(only_team, only_annotator), None)
    else:
        columns = np.stack([by_team, by_annotator]).astype(np.float64)
        units = one.units[one.positive]
        (test,) = mean_tests(columns, [(0, 1)], units, choice.seed, choice.permutations)
    lower, upper = _interval(one, resampling)
    hits, others = int(by_team.sum()), int(by_annotator.sum())
    return AnnotatorPoint(
        annotator,
        team,
        positives,
        negatives,
        int((~one.positive & ~one.decided).sum()) / negatives,
        others / positives,
        hits / positives,
        (hits - others) / positives,
        lower,
        upper,
        only_team,
        only_annotator,
        test.method,
        test.p_value,
        None,
        test.note,
    )


def mcnemar_p(first_alone: int, second_alone: int) -> float:
    """Return the two-sided exact p of McNemar's test: twice the smaller tail of the binomial law, at most 1.

    first_alone, second_alone: the cases that only the first or only the second detects; 1.0 without any.
    Source: McNemar 1947, Psychometrika 12:153.
    """
    total = first_alone + second_alone
    return min(1.0, 2 * float(bdtr(min(first_alone, second_alone), total, 0.5))) if total else 1.0


def _interval(one: _Compared, resampling: Resampling) -> tuple[float | None, float | None]:
    """Return the percentile interval of the difference, None with fewer units of a class than are needed."""
    labels = one.positive.astype(np.int64)
    of_class = np.arange(labels.size) if one.units is None else one.units
    fewest = min(np.unique(of_class[labels == label]).size for label in (0, 1))
    if not resampling.resamples or fewest < resampling.interval_minimum:
        return None, None
    differences = []
    for block in bootstrap_weights(labels, one.units, resampling.seed, resampling.resamples):
        weights = np.asarray(block, dtype=np.float64)
        drawn = weights[:, one.positive].any(axis=1) & weights[:, ~one.positive].any(axis=1)
        differences.append(one.difference(weights[drawn]))
    interval = percentile_interval(np.concatenate(differences))
    return (interval.lower, interval.upper) if interval else (None, None)


_Test = TypeVar("_Test", ClassifierTest, AnnotatorPoint)


def _corrected(tests: Sequence[_Test], families: Sequence[Hashable]) -> tuple[_Test, ...]:
    adjusted = holm_of_families([test.p_value for test in tests], families)
    return tuple(replace(test, p_holm=p_holm) for test, p_holm in zip(tests, adjusted, strict=True))
