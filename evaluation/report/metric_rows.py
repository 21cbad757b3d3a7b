"""The metrics of a submission with titles, directions, units and intervals, for tables and charts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.core.aggregation import Estimate
from evaluation.core.metric import Metric
from evaluation.phase.public_digits import digits_of
from evaluation.report.results import SubmissionResults


@dataclass(frozen=True)
class MetricRow:
    """A metric of a task with its published value.

    Decimals: ``digits`` of the value, ``spread_digits`` of its interval and spread.
    """

    task: str
    task_title: str
    metric: Metric
    estimate: Estimate
    digits: int
    spread_digits: int

    @property
    def name(self) -> str:
        """The name under which rankings and settings know it."""
        return f"{self.task}.{self.metric.name}"


def metric_rows(results: SubmissionResults) -> Iterator[MetricRow]:
    """Yield the published metrics of all tasks in the order of `metrics.json`."""
    for task in results.tasks:
        published = results.metrics.aggregates.get(task.name, {})
        for metric in task.metrics:
            if metric.name in published:
                digits = digits_of(results.phase.config, f"{task.name}.{metric.name}")
                yield MetricRow(
                    task.name, task.title, metric, published[metric.name], digits.value, digits.spread
                )
