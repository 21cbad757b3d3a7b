"""The sections of the report of one submission, for the organiser and for the public."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from evaluation.charts.metric_intervals import MetricInterval, metric_intervals_chart
from evaluation.core.case_table import CaseTable as Values
from evaluation.core.challenge import Task, metrics_of
from evaluation.organiser.charts.distributions import histogram_chart
from evaluation.organiser.labels import label_columns
from evaluation.organiser.report.case_images import CaseReading
from evaluation.organiser.report.classification import classification_section
from evaluation.organiser.report.detection import detection_section
from evaluation.organiser.report.page import (
    Block,
    Cell,
    Column,
    Figure,
    Page,
    Section,
    SortableCaseTable,
    Table,
    Text,
    shown,
)
from evaluation.organiser.report.pictures import pictures_section
from evaluation.organiser.report.results import CaseRecord, MetricRow, SubmissionResults, metric_rows
from evaluation.organiser.report.value_figures import (
    public_subgroups_section,
    sizes_section,
    subgroups_section,
    values_section,
)
from evaluation.phase.leaderboard import digits_of, platform_metrics

# --- The head of a report and the table of metrics, in the published digits ---


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


# --- The table of all cases: labels, values of every task, failures and run times ---

_DIGITS = 4


def cases_section(results: SubmissionResults) -> Section:
    """Return the section with the table of all cases."""
    tasks = [(task, _numbers(results.tables[task.name])) for task in results.tasks]
    cells = _shown_cells(results)
    timed = any(case.run_seconds is not None for case in results.cases)
    troubled = any(case.worst or case.failure for case in results.cases)
    columns = [Column("case"), *map(Column, cells)]
    for task, names in tasks:
        table = results.tables[task.name]
        columns += [
            Column(title, _digits(table, name))
            for title, name in zip(_titles(task, names), names, strict=True)
        ]
    columns += [Column("run time (s)", 2)] if timed else []
    columns += [Column("worst values in"), Column("failure")] if troubled else []
    positions = {
        task.name: {name: row for row, name in enumerate(results.tables[task.name].names)}
        for task, _ in tasks
    }
    rows = []
    for case in results.cases:
        row: list[Cell] = [case.name, *(case.cells.get(column) or None for column in cells)]
        for task, names in tasks:
            row += _values(results.tables[task.name], positions[task.name].get(case.name), names)
        row += [case.run_seconds] if timed else []
        row += [", ".join(case.worst) or None, case.failure] if troubled else []
        rows.append(tuple(row))
    note = (
        "A column's title sorts. A click on a case marks it in figures and pictures, one on a point of a "
        "figure chooses its case here. Escape clears the choice."
    )
    return Section("cases", "Cases", (SortableCaseTable("cases", "All cases", tuple(columns), rows, note),))


def troubled_cases(results: SubmissionResults) -> Iterator[CaseRecord]:
    """Yield the cases that failed or take worst values."""
    return (case for case in results.cases if case.worst or case.failure)


def _shown_cells(results: SubmissionResults) -> list[str]:
    """Return the columns of `cases.csv` that are shown: subgroups and labels."""
    config = results.phase.config
    wanted = dict.fromkeys([*(group.column for group in config.subgroups), *label_columns(results.phase)])
    known: Mapping[str, str] = results.cases[0].cells if results.cases else {}
    return [column for column in wanted if column in known]


def _numbers(table: Values) -> list[str]:
    """Return the columns that hold one number for each case."""
    found = dict.fromkeys(name for row in table.rows for name in row)
    return [
        name for name in found if all(isinstance(row.get(name), int | float | None) for row in table.rows)
    ]


def _digits(table: Values, column: str) -> int:
    """Return the number of decimals of a column, 0 for whole numbers."""
    values = (row.get(column) for row in table.rows)
    whole = all(value is None or not math.isfinite(value) or value == int(value) for value in values)
    return 0 if whole else _DIGITS


def _titles(task: Task, columns: list[str]) -> list[str]:
    titles = {
        metric.aggregate.spread_column or metric.aggregate.share_column: metric.title
        for metric in task.metrics
    }
    return [titles.get(column) or f"{task.name}: {column.replace('_', ' ')}" for column in columns]


def _values(table: Values, position: int | None, columns: list[str]) -> list[Cell]:
    if position is None:
        return [None] * len(columns)
    row = table.rows[position]
    return [_cell(row.get(column)) for column in columns]


def _cell(value: float | None) -> Cell:
    if value is None or math.isnan(value):
        return None
    return value if math.isfinite(value) else "missing"


# --- The sections on the run: failed and missing cases, run times, and all definitions ---

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


BANNER = "Holds labels: for the organisers of the challenge alone."


def organiser_page(
    results: SubmissionResults,
    values: Sequence[CaseReading] = (),
    chosen: Mapping[str, Mapping[str, str]] | None = None,
) -> Page:
    """Return the whole report, with labels and single cases.

    ``values``: read from the submission's files, if they are at hand; ``chosen``: their pictures, by task and
    case.
    """
    return _page(
        results,
        BANNER,
        metrics_section(results),
        cases_section(results),
        classification_section(results),
        values_section(results),
        sizes_section(results, values),
        detection_section(results),
        pictures_section(results, chosen or {}, values),
        subgroups_section(results),
        troubles_section(results),
        run_times_section(results),
        definitions_section(results),
    )


def public_page(results: SubmissionResults) -> Page:
    """Return the public report, made from `metrics.json` and the phase's rules alone.

    Curves, distributions, single cases and their run times are left out: they reveal more of the labels than
    the published figures, which `audit` counts.
    """
    return _page(
        results, "", metrics_section(results), public_subgroups_section(results), definitions_section(results)
    )


def _page(results: SubmissionResults, banner: str, *sections: Section | None) -> Page:
    name = results.metrics.phase.name
    return Page(
        title=results.phase.config.title or name,
        subtitle=f"Results of a submission to {name}",
        banner=banner,
        facts=tuple(facts(results)),
        sections=tuple(section for section in sections if section),
    )
