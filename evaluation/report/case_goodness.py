"""How good each case of a task is, to choose the worst, the median and the best."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task
from evaluation.core.metric import Metric
from evaluation.metrics.ratio import ratio_or_nan
from evaluation.report.box_hits import HIT, case_hits, inclusive_corners
from evaluation.report.results import SubmissionResults

Floats = NDArray[np.float64]
Counts = NDArray[np.float64]
"""Numbers of hits, false predictions and objects by case, shape (3, cases)."""

_SUMMED = ("true_positives", "false_positives", "false_negatives")


def goodness_of_cases(results: SubmissionResults, task: Task) -> Floats:
    """Return how good each case of a task is, higher is better, NaN if unknown.

    For detections, the F1 at any confidence. Else the mean over the task's averaged metrics of their position
    between worst and best; where none has a worst value, the first metric, with its sign such that higher is
    better.
    """
    table = results.tables[task.name]
    counts = next(_counts(results, task, table), None)
    if counts is not None:
        hits, false, objects = counts
        return ratio_or_nan(2 * hits, hits + false + objects)
    metrics = [metric for metric in task.metrics if metric.ordered and metric.aggregate.spread_column]
    bounded = [metric for metric in metrics if math.isfinite(metric.best) and math.isfinite(metric.worst)]
    if bounded:
        places = np.array([_place(metric, _values(table, metric)) for metric in bounded])
        entering = ~np.isnan(places)
        total = np.where(entering, places, 0.0).sum(axis=0)
        count = entering.sum(axis=0)
        return ratio_or_nan(total, count.astype(np.float64))
    if metrics:
        sign = 1.0 if metrics[0].better == "higher" else -1.0
        turned: Floats = sign * _values(table, metrics[0])
        return turned
    return np.full(len(table), np.nan)


def _counts(results: SubmissionResults, task: Task, table: CaseTable) -> Iterator[Counts]:
    """Yield the counts in the columns of detection metrics, the first metric first."""
    columns = table.column_names
    if {"predicted", "reference"} <= set(columns):
        inclusive = inclusive_corners(results.phase)
        sides = zip(table.objects("predicted"), table.objects("reference"), strict=True)
        matched = (case_hits(*pair, HIT, inclusive) for pair in sides)
        yield _as_counts((one.found, one.false, one.found + one.missed) for one in matched)
    for metric in task.metrics:
        hits, false, found, objects = (
            f"{metric.name}_{part}" for part in ("hits", "false", "found", "objects")
        )
        # of the metric itself, or of each class
        of_metric = [column for column in columns if column.startswith(f"{metric.name}_")]
        summed = [[table[one] for one in of_metric if one.endswith(f"_{part}")] for part in _SUMMED]
        if all(summed):
            right, wrong, missed = (np.sum(values, axis=0) for values in summed)
            yield np.array([right, wrong, right + missed])
        elif {hits, false, objects} <= set(columns):
            rows = zip(table.objects(hits), table.objects(false), table[objects].tolist(), strict=True)
            yield _as_counts((len(right), len(wrong), number) for right, wrong, number in rows)
        elif {found, objects} <= set(columns):
            # all classes, at the first threshold
            pairs = zip(table.objects(found), table.objects(objects), strict=True)
            sums = (
                (int(of_case[:, 0].sum()), len(of_case), int(numbers.sum())) for of_case, numbers in pairs
            )
            yield _as_counts((right, made - right, number) for right, made, number in sums)


def _as_counts(rows: Iterator[tuple[float, float, float]]) -> Counts:
    return np.array(list(rows), dtype=np.float64).reshape(-1, 3).T


def _values(table: CaseTable, metric: Metric) -> Floats:
    column = metric.aggregate.spread_column
    assert column is not None  # of the metrics that are asked for
    return table[column]


def _place(metric: Metric, values: Floats) -> Floats:
    """Return the position of values between the worst (0) and the best (1)."""
    return (values - metric.worst) / (metric.best - metric.worst)
