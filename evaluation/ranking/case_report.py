"""What a report for the organiser shows of single cases: the values of every team, and ROC curves.

Both reveal labels: a step of a curve is a case of one class.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evaluation.core.metric import Metric
from evaluation.metrics.roc import roc_points, roc_table
from evaluation.ranking.leaderboard_file import CaseValues, CurvePoints
from evaluation.ranking.resampling import TeamCases


def case_values(metrics: Mapping[str, Metric], cases: TeamCases) -> dict[str, CaseValues]:
    """Return the values by case of every metric that is a mean of them, by metric and team."""
    found = {}
    for name, metric in metrics.items():
        column, tables = metric.aggregate.spread_column, cases.task_tables(name.partition(".")[0])
        if column is None or not tables:
            continue
        found[name] = CaseValues(
            next(iter(tables.values())).names,
            {
                cases.teams[position]: tuple(
                    value if np.isfinite(value) else None for value in table[column].tolist()
                )
                for position, table in tables.items()
            },
        )
    return found


def curves(metrics: Mapping[str, Metric], cases: TeamCases) -> dict[str, dict[str, CurvePoints]]:
    """Return the ROC curves of every metric that is an area under one, by metric and team."""
    found = {}
    for name, metric in metrics.items():
        curve = metric.aggregate.curve
        if curve is None or not curve.is_area:
            continue
        of_teams = {}
        for position, table in cases.task_tables(name.partition(".")[0]).items():
            labelled = ~np.isnan(table[curve.label])
            roc = roc_table(table[curve.score][labelled], table[curve.label][labelled] > 0)
            points = roc_points(roc, np.ones(int(labelled.sum())))
            of_teams[cases.teams[position]] = CurvePoints(
                tuple(points.false_positive_rate.tolist()), tuple(points.sensitivity.tolist())
            )
        if of_teams:
            found[name] = of_teams
    return found
