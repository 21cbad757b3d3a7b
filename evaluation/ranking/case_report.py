"""Single cases in the organiser's report: values, ROC and free-response curves of every team.

All reveal labels: each step of a curve is a case of one class, or an object.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from evaluation.core.metric import Metric
from evaluation.metrics.froc import FrocTable
from evaluation.metrics.roc import roc_points, roc_table
from evaluation.ranking.leaderboard_file import CaseValues, CurvePoints, FrocPoints
from evaluation.ranking.resampling import FloatArray, TeamCases


def case_values(metrics: Mapping[str, Metric], cases: TeamCases) -> dict[str, CaseValues]:
    """Return the values by case of every metric that is a mean of them, by metric and team."""
    found = {}
    for name, metric in metrics.items():
        column, tables = metric.aggregate.spread_column, cases.task_tables(name.partition(".")[0])
        if column is None or not tables:
            continue
        found[name] = CaseValues(
            next(iter(tables.values())).names,
            {cases.teams[position]: _without_undefined(table[column]) for position, table in tables.items()},
        )
    return found


def _without_undefined(values: FloatArray) -> tuple[float | None, ...]:
    if np.isfinite(values).all():
        return tuple(values.tolist())
    return tuple(value if math.isfinite(value) else None for value in values.tolist())


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


def free_response_curves(metrics: Mapping[str, Metric], cases: TeamCases) -> dict[str, dict[str, FrocPoints]]:
    """Return the free-response ROC curves of every metric of detections, by metric and team.

    A metric without any object in the reference has none.
    """
    found = {}
    for name, metric in metrics.items():
        detections = metric.aggregate.detections
        if detections is None:
            continue
        of_teams = {}
        for position, table in cases.task_tables(name.partition(".")[0]).items():
            candidates = detections.candidates(table)
            if candidates.references.any():
                curve = FrocTable(candidates).curve(np.ones(len(table)))
                of_teams[cases.teams[position]] = FrocPoints(
                    tuple(curve.false_positives_per_case.tolist()), tuple(curve.sensitivity.tolist())
                )
        if of_teams:
            found[name] = of_teams
    return found
