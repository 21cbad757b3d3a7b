"""The head of a report and the table of metrics, in the published digits."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.charts.metric_intervals import MetricInterval, metric_intervals_chart
from evaluation.core.challenge import metrics_of
from evaluation.phase.leaderboard_metrics import platform_metrics
from evaluation.phase.public_digits import digits_of
from evaluation.report.metric_rows import MetricRow, metric_rows
from evaluation.report.page import Block, Cell, Column, Figure, Section, Table, shown
from evaluation.report.results import SubmissionResults


def facts(results: SubmissionResults) -> Iterator[tuple[str, str]]:
    """Yield the facts in the head: phase, seal, cases, score, and the place among known teams."""
    phase, published, cases = results.phase, results.metrics.phase, results.metrics.cases
    yield "Challenge", phase.challenge.title
    yield "Phase", f"{published.name}, version {published.version}"
    yield "Seal", f"{published.manifest[:12]}…"
    yield "Cases", f"{cases.scored} of {cases.expected} scored, {cases.worst} with worst values"
    yield from _score(results)
    for name, place in (results.metrics.ranking.places or {}).items():
        yield f"Place, {name.replace('_', ' ')}", f"{place.place} of {place.teams} teams"


def metrics_section(results: SubmissionResults) -> Section:
    """Return the section with all published metrics: their figure and their table."""
    rows = list(metric_rows(results))
    chart = metric_intervals_chart("metric-intervals", "Metrics with 95 % intervals", list(_intervals(rows)))
    blocks: list[Block] = [Figure(chart, wide=True)] if chart else []
    return Section("metrics", "Metrics", (*blocks, _table(rows), *_composites(results)))


def _score(results: SubmissionResults) -> Iterator[tuple[str, str]]:
    config = results.phase.config
    name = platform_metrics(config, results.phase.challenge, results.phase.tasks)[0]
    task, _, metric = name.partition(".")
    digits = digits_of(config, name)
    if estimate := results.metrics.aggregates.get(task, {}).get(metric):
        text = shown(estimate.value, digits.value)
        if interval := estimate.confidence_interval:
            text += f" ({shown(interval.lower, digits.spread)} to {shown(interval.upper, digits.spread)})"
        yield f"Score: {metrics_of(results.tasks)[name].title}", text
    elif (value := (results.metrics.ranking.composites or {}).get(name)) is not None:
        title = next(one.title for one in results.phase.challenge.composites if one.name == name)
        yield f"Score: {title}", shown(value, digits.value)


def _intervals(rows: list[MetricRow]) -> Iterator[MetricInterval]:
    titles = [row.metric.title for row in rows]
    for row in rows:
        interval = row.estimate.confidence_interval
        title = row.metric.title
        yield MetricInterval(
            title if titles.count(title) == 1 else f"{title} ({row.task})",
            row.estimate.value,
            interval.lower if interval else None,
            interval.upper if interval else None,
            row.metric.best,
            row.metric.worst,
        )


def _table(rows: list[MetricRow]) -> Table:
    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        interval = row.estimate.confidence_interval
        cells.append(
            (
                row.task_title,
                row.metric.title,
                row.estimate.value,
                interval.lower if interval else None,
                interval.upper if interval else None,
                row.estimate.standard_deviation,
                row.estimate.median,
                "↑" if row.metric.better == "higher" else "↓",
                row.metric.unit or None,
            )
        )
    digits = max((row.digits for row in rows), default=None)
    spread_digits = max((row.spread_digits for row in rows), default=None)
    columns = (
        Column("task"),
        Column("metric"),
        Column("value", digits),
        *(Column(title, spread_digits) for title in ("lower", "upper", "standard deviation", "median")),
        Column("better"),
        Column("unit"),
    )
    note = "As published; lower and upper are the ends of the 95 % interval. ↑: higher is better, ↓: lower."
    return Table("metrics", "All metrics", columns, tuple(cells), note)


def _composites(results: SubmissionResults) -> Iterator[Table]:
    titles = {composite.name: composite for composite in results.phase.challenge.composites}
    values = results.metrics.ranking.composites or {}
    if values:
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (titles[name].title, value, "↑" if titles[name].better == "higher" else "↓")
            for name, value in values.items()
        )
        digits = max(digits_of(results.phase.config, name).value for name in values)
        columns = (Column("figure"), Column("value", digits), Column("better"))
        yield Table("composites", "Figures of several metrics", columns, rows)
