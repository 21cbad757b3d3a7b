"""The section of subgroups: forest plots and the table of all their figures."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaluation.charts.chart import Chart
from evaluation.charts.forest import SubgroupValue, forest_chart
from evaluation.core.challenge import Task, metrics_of
from evaluation.core.interval_methods import intervals
from evaluation.core.metric import Metric
from evaluation.phase.leaderboard_metrics import platform_metrics
from evaluation.phase.public_digits import digits_of
from evaluation.phase.subgroups import key_of, subgroup_masks
from evaluation.report.page import Block, Cell, Column, Figure, Section, Table, identifier
from evaluation.report.results import SubmissionResults
from evaluation.summary import Subgroups

_MOST_FORESTS = 6


def subgroups_section(results: SubmissionResults) -> Section | None:
    """Return the section with all subgroups, intervals and numbers of cases included; None without any."""
    if not results.subgroups:
        return None
    names = main_metrics(results)
    figures = [Figure(chart) for name in names[:_MOST_FORESTS] if (chart := _forest(results, name))]
    blocks: list[Block] = [*figures, subgroup_table(results, results.subgroups)]
    return Section("subgroups", "Subgroups", tuple(blocks))


def public_subgroups_section(results: SubmissionResults) -> Section | None:
    """Return the section with the published figures of the public subgroups alone; None without any."""
    published = results.metrics.subgroups
    if not published:
        return None
    blocks: list[Block] = []
    for name in main_metrics(results)[:_MOST_FORESTS]:
        task, metric = name.split(".")
        found = list(_values(published, task, metric))
        whole = results.metrics.aggregates.get(task, {}).get(metric)
        if found and whole:
            overall = SubgroupValue("", "all cases", whole.value)
            title = metrics_of(results.tasks)[name].title
            blocks.append(Figure(forest_chart(identifier(f"{name}-forest"), title, title, overall, found)))
    return Section("subgroups", "Subgroups", (*blocks, subgroup_table(results, published)))


def main_metrics(results: SubmissionResults) -> tuple[str, ...]:
    """Return the metrics ("task.metric") of the platform's leaderboard that this submission has."""
    phase = results.phase
    ranked = platform_metrics(phase.config, phase.challenge, phase.tasks)
    return tuple(name for name in ranked if name in metrics_of(results.tasks))


def subgroup_table(results: SubmissionResults, subgroups: Subgroups) -> Table:
    """Return the figures of subgroups by column, group and metric."""
    titles = metrics_of(results.tasks)
    rows: list[tuple[Cell, ...]] = [
        (column, group.replace("_", " "), titles[f"{task}.{name}"].title, round(value, 6))
        for column, groups in subgroups.items()
        for group, tasks in groups.items()
        for task, values in tasks.items()
        for name, value in values.items()
    ]
    digits = max((digits_of(results.phase.config, name).value for name in titles), default=4)
    columns = (Column("column"), Column("subgroup"), Column("metric"), Column("value", digits))
    return Table("subgroups", "All figures of subgroups", columns, tuple(rows))


def _values(subgroups: Subgroups, task: str, metric: str) -> Iterator[SubgroupValue]:
    for column, groups in subgroups.items():
        for group, tasks in groups.items():
            if metric in tasks.get(task, {}):
                yield SubgroupValue(column, group.replace("_", " "), tasks[task][metric])


def _forest(results: SubmissionResults, name: str) -> Chart | None:
    task_name, metric_name = name.split(".")
    task = next(task for task in results.tasks if task.name == task_name)
    metric = next(metric for metric in task.metrics if metric.name == metric_name)
    found = list(_with_intervals(results, task, metric))
    estimate = results.estimates[task_name].get(metric_name)
    if not found or estimate is None:
        return None
    interval = estimate.confidence_interval
    overall = SubgroupValue(
        "",
        "all cases",
        estimate.value,
        len(results.tables[task_name]),
        interval.lower if interval else None,
        interval.upper if interval else None,
    )
    title = f"{metric.title} by subgroup"
    return forest_chart(identifier(f"{name}-forest"), title, metric.title, overall, found)


def _with_intervals(results: SubmissionResults, task: Task, metric: Metric) -> Iterator[SubgroupValue]:
    """Yield the subgroups of a metric; subgroups of cases have the phase's intervals."""
    phase, table = results.phase, results.tables[task.name]
    for subgroup in phase.config.subgroups:
        groups = results.subgroups.get(key_of(subgroup.column), {})
        for group, members in subgroup_masks(subgroup, phase.cases, table.names).items():
            value = groups.get(group, {}).get(task.name, {}).get(metric.name)
            if value is None:
                continue
            lower = upper = None
            if subgroup.compare == "cases" and metric.resampled:
                part = table.take(np.flatnonzero(members))
                name = f"{task.name}.{metric.name}"
                if found := intervals({name: metric}, [part], results.resampling).found.get(name):
                    lower, upper = found[0].interval.lower, found[0].interval.upper
            yield SubgroupValue(
                subgroup.column, group.replace("_", " "), value, int(members.sum()), lower, upper
            )
