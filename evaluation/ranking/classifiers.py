"""Further classifiers of every team beside its likelihood, such as the cup-to-disc ratio of its masks.

Source: Orlando et al. 2020 (REFUGE), section 4.1, Table 4 and Figure 5, and section 5.3.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.metric import Curve, Metric
from evaluation.core.resampling import Resampling
from evaluation.metrics.roc import roc_points, roc_table
from evaluation.ranking.annotators import curve_of
from evaluation.ranking.comparisons import compare
from evaluation.ranking.pair_tests import TestChoice
from evaluation.ranking.resampling import TeamCases, intervals_of_teams
from evaluation.ranking.statistics.pairwise import holm_of_families

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
    """
    if not columns:
        return Classifiers()
    task, curve = curve_of(metrics)
    of_curve = {name: metric for name, metric in metrics.items() if _is_of(name, metric, task, curve)}
    area = next(name for name, metric in of_curve.items() if _curve(metric).is_area)
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
        found: dict[str, dict[str, float]] = {}
        for name, metric in of_curve.items():
            found[name] = {title: _value(metric, table) for title, table in scored.items()}
            for title, value in found[name].items():
                if math.isnan(value):
                    continue
                interval = intervals.get(name, {}).get(title)
                bounds = (None, None) if interval is None else (interval.lower, interval.upper)
                values.append(ClassifierValue(name, team, title, len(scored[title]), value, *bounds))
        if all(map(math.isfinite, found[area].values())):
            tests += _tests(area, metrics[area], team, found[area], of_team, choice)
        curves += (_points(team, title, table, curve) for title, table in scored.items())
    return Classifiers(tuple(values), tuple(_corrected(tests, ranked)), tuple(curves))


def _curve(metric: Metric) -> Curve:
    assert metric.aggregate.curve is not None
    return metric.aggregate.curve


def _is_of(name: str, metric: Metric, task: str, curve: Curve) -> bool:
    own = metric.aggregate.curve
    return (
        name.partition(".")[0] == task
        and own is not None
        and (own.score, own.label) == (curve.score, curve.label)
    )


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
        rows = [
            {curve.score: _filled(of_title[name], labels[name]), curve.label: labels[name]} for name in shared
        ]
        yield title, CaseTable(shared, rows)


def _filled(score: float, label: float) -> float:
    return _WORST[label] if math.isnan(score) else score


def _value(metric: Metric, table: CaseTable) -> float:
    return float(metric.aggregate.values(WeightedCases(table, np.ones((1, len(table)))))[0])


def _tests(
    name: str,
    metric: Metric,
    team: str,
    values: Mapping[str, float],
    of_team: TeamCases,
    choice: TestChoice,
) -> Iterator[ClassifierTest]:
    order = {frozenset(pair): pair for pair in combinations(of_team.teams, 2)}
    for pair in compare(name, metric, values, of_team, None, choice).pairs:
        first, second = order[frozenset((pair.first, pair.second))]
        difference = pair.difference if pair.first == first else -pair.difference
        yield ClassifierTest(
            name,
            team,
            first,
            second,
            difference,
            pair.method,
            pair.p_value,
            None,
            pair.favours,
            pair.note,
        )


def _corrected(tests: list[ClassifierTest], ranked: Collection[str]) -> list[ClassifierTest]:
    families = [(test.first, test.second, test.team in ranked) for test in tests]
    adjusted = holm_of_families([test.p_value for test in tests], families)
    return [replace(test, p_holm=p_holm) for test, p_holm in zip(tests, adjusted, strict=True)]


def _points(team: str, title: str, table: CaseTable, curve: Curve) -> ClassifierCurve:
    points = roc_points(roc_table(table[curve.score], table[curve.label] > 0), np.ones(len(table)))
    return ClassifierCurve(
        team, title, tuple(points.false_positive_rate.tolist()), tuple(points.sensitivity.tolist())
    )
