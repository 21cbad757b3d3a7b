"""The sections on the run: failed and missing cases, run times, and all definitions."""

from __future__ import annotations

import math

import numpy as np

from evaluation.charts.histogram import histogram_chart
from evaluation.phase.leaderboard_metrics import platform_metrics
from evaluation.report.case_rows import troubled_cases
from evaluation.report.page import Block, Cell, Column, Figure, Section, Table, Text
from evaluation.report.results import SubmissionResults

_MISSING = {
    "reject": "A submission that lacks a value is rejected, so that no value is missing.",
    "worst": "A missing value takes the worst value of each metric.",
}


def troubles_section(results: SubmissionResults) -> Section:
    """Return the section with every case that failed or takes worst values."""
    rows = tuple(
        (case.name, ", ".join(case.worst), case.failure or "missing") for case in troubled_cases(results)
    )
    columns = (Column("case"), Column("worst values in"), Column("reason"))
    block: Block = (
        Table("failures", "Failed and missing cases", columns, rows)
        if rows
        else Text(("Every case was scored with the values that were submitted.",))
    )
    return Section("failures", "Failed cases", (block,))


def run_times_section(results: SubmissionResults) -> Section | None:
    """Return the section with the run times of the algorithm, None without any."""
    seconds = np.array([case.run_seconds for case in results.cases if case.run_seconds is not None])
    if not seconds.size:
        return None
    described = (
        f"Seconds that the algorithm took for each of {seconds.size} cases: median {np.median(seconds):.3g}, "
        f"longest {seconds.max():.3g}, in all {seconds.sum():.4g}."
    )
    chart = histogram_chart("run-times", "Run times", described, seconds, "seconds for a case")
    return Section("run-times", "Run times", (Figure(chart),))


def definitions_section(results: SubmissionResults) -> Section:
    """Return the section of definitions: of every metric, of missing values and of the intervals."""
    phase, published = results.phase, results.metrics.phase
    ranked = platform_metrics(phase.config, phase.challenge, phase.tasks)
    rows: list[tuple[Cell, ...]] = [
        (
            f"{task.name}.{metric.name}",
            metric.title,
            f"{metric.better} is better",
            _end(metric.best),
            _end(metric.worst),
            metric.unit or None,
            _method(results, task.name, metric.name),
            "yes" if f"{task.name}.{metric.name}" in ranked else None,
        )
        for task in results.tasks
        for metric in task.metrics
        if metric.name in results.metrics.aggregates.get(task.name, {})
    ]
    titles = ("name", "title", "direction", "best", "worst", "unit", "interval", "on the leaderboard")
    options: tuple[tuple[Cell, ...], ...] = tuple(
        (name, str(value)) for name, value in published.options.items()
    )
    blocks: list[Block] = [
        Table("definitions", "Metrics", tuple(map(Column, titles)), tuple(rows)),
        Text(
            (
                _MISSING[phase.missing],
                f"Intervals hold 95 %; a bootstrap draws {results.resampling.resamples} samples of the cases "
                f"with the seed {results.resampling.seed}.",
                f"Full seal of the phase: {published.manifest}",
            )
        ),
    ]
    if options:
        blocks.insert(
            1, Table("options", "Options of the challenge", (Column("option"), Column("value")), options)
        )
    return Section("definitions", "Definitions", tuple(blocks))


def _method(results: SubmissionResults, task: str, metric: str) -> str | None:
    interval = results.metrics.aggregates[task][metric].confidence_interval
    return interval.method if interval else None


def _end(value: float) -> Cell:
    return value if math.isfinite(value) else "none"
