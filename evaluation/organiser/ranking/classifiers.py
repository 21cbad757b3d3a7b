"""Classifiers beside the likelihood, and the operating points of teams. For organisers only."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import combinations
from statistics import NormalDist

import numpy as np

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task
from evaluation.core.estimator import Curve
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.metrics.classification import roc_points, roc_table
from evaluation.organiser.ranking.annotators import curve_of, metrics_of_curve, values_once
from evaluation.organiser.ranking.comparisons import TestChoice, compare
from evaluation.organiser.ranking.resampling import TeamCases, intervals_of_teams
from evaluation.stats.differences import corrected

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
    area = next(name for name, metric in of_curve.items() if metric.estimator.curve == curve)
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
            tests += _tests(area, metrics[area], team, areas, of_team, TestChoice(resampling))
        curves += (ClassifierCurve(team, title, *roc_curve(table, curve)) for title, table in scored.items())
    tested = corrected(tests, lambda test: (test.first, test.second, test.team in ranked))
    return Classifiers(tuple(values), tested, tuple(curves))


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
    for pair in compare(name, metric, values, of_team, choice).pairs:
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
            false_rate = point.false_positives / (point.false_positives + point.true_negatives)
            threshold, *counts = astuple(point)
            place = task.name, team, float(rule.specificity), threshold
            rates = point.sensitivity, point.specificity, false_rate
            found.append(TeamOperatingPoint(*place, *rates, *counts))
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
        from scipy.special import expit  # 0.2 s that not all rankings need

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
