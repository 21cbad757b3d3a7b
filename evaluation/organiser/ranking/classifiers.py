"""Classifiers beside the likelihood, and the operating points of teams. For organisers only."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task
from evaluation.core.estimator import Curve
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.metrics.classification import roc_points, roc_table
from evaluation.organiser.ranking.annotators import curve_of, metrics_of_curve, values_once
from evaluation.organiser.ranking.comparisons import compare
from evaluation.organiser.ranking.differences import Compared, corrected
from evaluation.organiser.ranking.resampling import TeamCases, intervals_of_teams
from evaluation.stats.figure import Difference, Figure

# --- Further classifiers of every team beside its likelihood, such as the cup-to-disc ratio of its masks ---

_WORST = {1.0: -math.inf, 0.0: math.inf}


@dataclass(frozen=True)
class ClassifierValue:
    """A metric of one classifier of a team, over the cases that all classifiers of the team have."""

    metric: str
    team: str
    classifier: str
    cases: int
    figure: Figure


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
    difference: Difference
    favours: str | None = None
    note: str | None = None
    p_holm: float | None = None


@dataclass(frozen=True)
class CurvePoints:
    """A ROC curve by descending threshold, from (0, 0) on."""

    false_positive_rate: tuple[float, ...]
    sensitivity: tuple[float, ...]


@dataclass(frozen=True)
class Classifiers:
    """All classifiers of all teams: values, tests, and curves by classifier and team."""

    values: tuple[ClassifierValue, ...] = ()
    tests: tuple[ClassifierTest, ...] = ()
    curves: Mapping[str, Mapping[str, CurvePoints]] = field(default_factory=dict)


def classifiers_of_teams(
    metrics: Mapping[str, Metric],
    columns: Sequence[str],
    cases: TeamCases,
    ranked: Collection[str],
    resampling: Resampling,
) -> Classifiers:
    """Return each team's columns as classifiers of the label of the first task with an area under a curve.

    columns: each as "task.column". A team without results for a column's task has no such classifier. A
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
    curves: dict[str, dict[str, CurvePoints]] = {}
    for team, tables in zip(cases.teams, cases.tables, strict=True):
        scored = dict(_tables_of(tables or {}, task, curve, columns))
        if len(scored) < 2:
            continue
        titles = tuple(scored)
        of_team = TeamCases(titles, tuple({task: table} for table in scored.values()))
        intervals = intervals_of_teams(of_curve, of_team, resampling).found
        found = {title: values_once(of_curve, table) for title, table in scored.items()}
        for name in of_curve:
            for title, table in scored.items():
                if not math.isnan(value := found[title][name]):
                    figure = intervals.get(name, {}).get(title, Figure(value))
                    values.append(ClassifierValue(name, team, title, len(table), figure))
        areas = {title: of_title[area] for title, of_title in found.items()}
        if all(map(math.isfinite, areas.values())):
            tests += _tests(area, team, areas, Compared(metrics[area], scored, resampling))
        for title, table in scored.items():
            curves.setdefault(title, {})[team] = roc_curve(table, curve)
    tested = corrected(tests, lambda test: (test.first, test.second, test.team in ranked))
    return Classifiers(tuple(values), tested, curves)


def _tables_of(
    tables: Mapping[str, CaseTable], task: str, curve: Curve, columns: Sequence[str]
) -> Iterator[tuple[str, CaseTable]]:
    """Yield a table of scores and labels for the likelihood and each column, all of the same cases."""
    if task not in tables:
        return
    labels = dict(zip(tables[task].names, tables[task][curve.label].tolist(), strict=True))
    scores = {}
    for name in (f"{task}.{curve.score}", *columns):
        of_task, _, column = name.partition(".")
        if of_task in tables and column in tables[of_task].column_names:
            table = tables[of_task]
            scores[name] = dict(zip(table.names, table[column].tolist(), strict=True))
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


def _tests(name: str, team: str, values: Mapping[str, float], compared: Compared) -> Iterator[ClassifierTest]:
    order = {frozenset(pair): pair for pair in combinations(compared.teams, 2)}
    for pair in compare(values, compared).pairs:
        first, second = order[frozenset((pair.first, pair.second))]
        difference = pair.difference if pair.first == first else pair.difference.reversed()
        yield ClassifierTest(name, team, first, second, difference, pair.favours, pair.note)


def roc_curve(table: CaseTable, curve: Curve) -> CurvePoints:
    """Return the ROC curve of the labelled cases of a table."""
    labelled = ~np.isnan(table[curve.label])
    roc = roc_table(table[curve.score][labelled], table[curve.label][labelled] > 0)
    points = roc_points(roc, np.ones(int(labelled.sum())))
    return CurvePoints(tuple(points.false_positive_rate.tolist()), tuple(points.sensitivity.tolist()))


# --- Every team's operating point. For organisers only, since its counts and its threshold reveal labels ---


def operating_points(tasks: Sequence[Task], cases: TeamCases) -> tuple[dict[str, Any], ...]:
    """Return the rows of `operating-points.csv`: every task that has such a point, teams as in ``cases``."""
    found = []
    for task in tasks:
        if (rule := task.operating_point) is None:
            continue
        for team, table in cases.task_tables(task.name).items():
            if (point := rule.point(table)) is not None:
                found.append({"task": task.name, "team": team, **rule.described(point)})
    return tuple(found)
