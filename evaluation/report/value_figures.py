"""The section of values by case: distributions and cumulative errors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby

from evaluation.charts.chart import Chart
from evaluation.charts.cumulative import cumulative_chart
from evaluation.charts.distribution import Distribution, distribution_chart
from evaluation.core.challenge import Task
from evaluation.core.metric import Metric
from evaluation.report.page import Figure, Section, identifier
from evaluation.report.results import SubmissionResults


def values_section(results: SubmissionResults) -> Section | None:
    """Return the section of all metrics that are means over cases, None if there is none."""
    figures = tuple(Figure(chart) for task in results.tasks for chart in _charts(results, task))
    return Section("values", "Values of the cases", figures) if figures else None


def averaged_metrics(results: SubmissionResults, task: Task) -> list[tuple[Metric, str]]:
    """Return the metrics of a task that exist and are means of a column, with the column."""
    return [
        (metric, metric.aggregate.spread_column)
        for metric in task.metrics
        if metric.aggregate.spread_column and metric.name in results.estimates[task.name]
    ]


def _charts(results: SubmissionResults, task: Task) -> Iterator[Chart]:
    table = results.tables[task.name]
    metrics = sorted(averaged_metrics(results, task), key=lambda found: _scale(found[0]))
    for number, (scale, group) in enumerate(groupby(metrics, key=lambda found: _scale(found[0]))):
        members = list(group)
        unit, *ends = scale
        yield distribution_chart(
            identifier(f"{task.name}-distribution-{number + 1}"),
            f"Distribution over the cases. {task.title}",
            [Distribution(metric.title, table[column], table.names) for metric, column in members],
            unit or ("share" if sorted(ends) == [0, 1] else "value"),
        )
        for metric, column in members:
            if not math.isfinite(metric.worst) and metric.ordered:
                yield cumulative_chart(
                    identifier(f"{task.name}-{metric.name}-cumulative"),
                    f"Cumulative distribution. {metric.title}",
                    table[column],
                    metric.unit or metric.title,
                )


def _scale(metric: Metric) -> tuple[str, float, float]:
    return metric.unit, metric.best, metric.worst
