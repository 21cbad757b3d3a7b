"""The sections of the report of one submission, for the organiser and for the public."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from evaluation.charts.chart import Chart
from evaluation.charts.intervals import ends_of, metric_intervals_chart
from evaluation.charts.published import MetricRow
from evaluation.core.case_table import CaseTable as Values
from evaluation.core.challenge import Task
from evaluation.organiser.audit import label_columns
from evaluation.organiser.leaves import found_leaf
from evaluation.organiser.report import value_figures
from evaluation.organiser.report.case_images import CaseReading
from evaluation.organiser.report.charts.values import Distribution, distribution_chart
from evaluation.organiser.report.classification import classification_charts, detection_charts
from evaluation.organiser.report.page import (
    Block,
    Cell,
    Column,
    CopyableText,
    Page,
    Section,
    SortableCaseTable,
    Table,
    Text,
    Title,
    figure_in_words,
)
from evaluation.organiser.report.pictures import fields_left_out, galleries, viewer_of
from evaluation.organiser.report.results import (
    CaseRecord,
    SubmissionResults,
)
from evaluation.organiser.report.sentences import (
    failure_sentence,
    names_of,
    place_sentence,
    task_sentences,
)
from evaluation.organiser.report.sources import NOTES
from evaluation.organiser.report.survival import survival_blocks
from evaluation.phase.leaderboard import digits_of, rounded_estimates

# --- The head of a report and the table of metrics, in the published digits ---


def _answer(results: SubmissionResults, public: bool) -> Iterator[str]:
    """Yield in words: each task's main figure, the score, the place among known teams, and failed cases."""
    yield from task_sentences(results, public)
    name = results.phase.board.ranked[0]
    if found := (results.metrics.ranking.composites or {}).get(name):
        digits = digits_of(results.phase.config, name)
        text = figure_in_words(found.value, ends_of(found.confidence_interval), digits)
        yield f"{results.phase.challenge.figures_of(results.tasks)[name].title}: {text}."
    yield from place_sentence(results)
    yield failure_sentence(results)


def metric_blocks(
    results: SubmissionResults, told: str = "", rows: Sequence[MetricRow] = ()
) -> Iterator[Block]:
    """Yield the figure and the tables of all published metrics, or ``rows``; ``told``: who may see them."""
    rows = rows or results.metric_rows
    intervals = [row.interval for row in rows if row.metric.ordered and not row.title.endswith(_NOTHING)]
    if chart := metric_intervals_chart("metric-intervals", "Metrics", intervals):
        yield chart
    yield _table(rows, told)
    yield from _composites(results)


_NOTHING = " (in no case: nothing to find)"


def _with_nothing_said(results: SubmissionResults) -> Iterator[MetricRow]:
    """Yield the rows of metrics; the title says where no case has what a metric wants to be found."""
    for row in results.metric_rows:
        decision, table = row.metric.estimator.decision, results.tables[row.task.name]
        absent = decision is not None and not (table[decision.present] > 0).any()
        yield replace(row, title=row.title + _NOTHING) if absent else row


_ARROWS = {"higher": "↑", "lower": "↓"}
_UNSEEN = "at worst", "at best"


def _table(rows: Sequence[MetricRow], told: str) -> Table:
    cells: list[list[Cell]] = []
    for row in rows:
        found, better = row.estimate, _ARROWS[row.metric.better] if row.metric.ordered else None
        unseen = ends_of(found.with_unseen_failures)
        unseen = unseen if row.metric.better == "higher" else unseen[::-1]
        ends = *ends_of(found.confidence_interval), *unseen
        values = found.value, *ends, found.standard_deviation, found.median
        cells.append([row.title, *values, better, row.metric.unit or None, row.task.title])
    digits = max((row.digits.value for row in rows), default=None)
    spread_digits = max((row.digits.spread for row in rows), default=None)
    further = (*_UNSEEN, "standard deviation", "median")
    spread = (Column(title, spread_digits) for title in ("lower", "upper", *further))
    intervals = any(row.estimate.confidence_interval for row in rows)
    note = "Lower and upper are the ends of the 95 % interval. " if intervals else ""
    if any(row.estimate.with_unseen_failures for row in rows):
        note += "At worst and at best: bounds that allow for one more case, which fails or is perfect. "
    note += "↑: higher is better, ↓: lower."
    titles: list[Title] = ["metric", Column("value", digits), *spread, "better", "unit", "task"]
    if len({row.task.name for row in rows}) <= 1:
        titles, cells = titles[:-1], [row[:-1] for row in cells]
    table = Table.of("metrics", "All metrics", titles, cells, f"{note} {told}" if told else note)
    table = replace(table, reasons=tuple(row.estimate.interval for row in rows))
    return table.without_empty(*further, "unit")


def _composites(results: SubmissionResults) -> Iterator[Table]:
    composites = {composite.name: composite for composite in results.phase.challenge.composites}
    if found := results.metrics.ranking.composites or {}:
        digits = [digits_of(results.phase.config, name) for name in found]
        spread = max(of.spread for of in digits)
        columns = "figure", ("value", max(of.value for of in digits)), ("lower", spread), ("upper", spread)
        rows = [
            (
                composites[name].title,
                one.value,
                *ends_of(one.confidence_interval),
                _ARROWS[composites[name].better],
            )
            for name, one in found.items()
        ]
        table = Table.of("composites", "Figures of several metrics", (*columns, "better"), rows)
        yield replace(table, reasons=tuple(one.interval for one in found.values()))


# --- The table of all cases: labels, values of every task, failures and run times ---

_DIGITS = 4


def case_table(results: SubmissionResults) -> SortableCaseTable:
    """Return the table of all cases."""
    tasks = [(task, _numbers(results.tables[task.name])) for task in results.tasks]
    main = _main_columns(results, tasks)
    columns: list[tuple[Column, Mapping[str, Cell]]] = []
    for name in _shown_cells(results):
        cells = {case.name: case.cells.get(name) or None for case in results.cases}
        columns.append((Column(names_of(results.phase).of(name), None, "labels", name in main), cells))
    for task, names in tasks:
        table = results.tables[task.name]
        for title, name in zip(_titles(results, task, names), names, strict=True):
            known = {
                case: value
                for case, row in zip(table.names, table.rows, strict=True)
                if (value := row.get(name)) is not None and not math.isnan(value)
            }
            whole = all(not math.isfinite(value) or value == int(value) for value in known.values())
            column = Column(title, 0 if whole else _DIGITS, task.title, f"{task.name}.{name}" in main)
            cells = {case: value if math.isfinite(value) else "missing" for case, value in known.items()}
            columns.append((column, cells))
    if any(case.run_seconds is not None for case in results.cases):
        columns.append((Column("run time (s)", 2), {case.name: case.run_seconds for case in results.cases}))
    if any(_troubled_cases(results)):
        worst = {case.name: ", ".join(case.worst) or None for case in results.cases}
        failures = {case.name: case.failure for case in results.cases}
        columns += [(Column("worst values in"), worst), (Column("failure"), failures)]
    titles: list[Title] = ["case", *(column for column, _ in columns)]
    rows = ((case.name, *(of.get(case.name) for _, of in columns)) for case in results.cases)
    return SortableCaseTable.of("cases", "All cases", titles, rows, NOTES["cases"])


_MOST_MAIN = 8
"""How many columns of labels and how many of values fit a page beside each other, at most half of each."""


def _main_columns(results: SubmissionResults, tasks: Sequence[tuple[Task, list[str]]]) -> set[str]:
    """Return the columns that are shown at first: a few of subgroups and labels, and of averaged metrics.

    Metrics of the leaderboard come first, then the first ones of each task; without any, all columns.
    """
    ranked = results.phase.board.ranked
    found = [
        (name not in ranked, position, f"{task.name}.{column}")
        for task, names in tasks
        for position, metric in enumerate(task.metrics)
        for name in [f"{task.name}.{metric.name}"]
        if (column := metric.estimator.case_column) in names
    ]
    values = list(dict.fromkeys(column for *_, column in sorted(found)))
    values += [f"{task.name}.{name}" for task, names in tasks for name in names]
    cells = _shown_cells(results)[: _MOST_MAIN // 2]
    return {*cells, *list(dict.fromkeys(values))[: _MOST_MAIN - len(cells)]}


def _troubled_cases(results: SubmissionResults) -> Iterator[CaseRecord]:
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


def _titles(results: SubmissionResults, task: Task, columns: list[str]) -> list[str]:
    units = [f" ({one.unit})" if one.unit and " in " not in one.title else "" for one in task.metrics]
    shown = [(one.estimator, one.title + unit) for one, unit in zip(task.metrics, units, strict=True)]
    titles = {estimator.case_column: title for estimator, title in shown}
    names = names_of(results.phase)
    return [titles.get(column) or f"{names.of(task.name)}: {names.of(column)}" for column in columns]


# --- The sections on the run: failed and missing cases, run times, and all definitions ---

_MISSING = {
    "reject": "A submission that lacks a value is rejected, so that no value is missing.",
    "worst": "A missing value takes the worst value of each metric.",
}


def failures(results: SubmissionResults) -> Iterator[Table]:
    """Yield the table of every case that failed or takes worst values, if there are any."""
    rows = [(one.name, ", ".join(one.worst), one.failure or "missing") for one in _troubled_cases(results)]
    if rows:
        yield Table.declared("failures", rows)


def run_times(results: SubmissionResults) -> Iterator[Chart]:
    """Yield the run times of the algorithm, if they are known."""
    known = {case.name: case.run_seconds for case in results.cases if case.run_seconds is not None}
    if known:
        seconds = np.array(list(known.values()))
        title = f"Run times: median {np.median(seconds):.3g} s, in all {seconds.sum():.4g} s"
        of_cases = Distribution("all cases", seconds, tuple(known))
        drawn = distribution_chart("run-times", title, [of_cases], "seconds for a case")
        yield drawn.measured_in("seconds")


def definitions(results: SubmissionResults) -> Iterator[Block]:
    """Yield the definitions of every metric, of missing values and of the intervals."""
    phase, published = results.phase, results.metrics.phase
    ranked = phase.board.ranked
    rows = []
    for row in results.metric_rows:
        metric, interval = row.metric, row.estimate.confidence_interval
        direction = f"{metric.better} is better" if metric.ordered else "neither is better"
        method = interval.method if interval else row.estimate.interval
        ends = (value if math.isfinite(value) else "none" for value in (metric.best, metric.worst))
        name = f"{row.task.name}.{metric.name}"
        shown_on_board = "yes" if name in ranked else None
        rows.append((metric.title, direction, *ends, metric.unit or None, method, shown_on_board, name))
    yield Table.declared("definitions", rows).without_empty("unit")
    if published.options:
        # A declaration is published as JSON in a text.
        known = {
            name: json.loads(value) if isinstance(value, str) and value.startswith("{") else value
            for name, value in published.options.items()
        }
        text = json.dumps(known, indent=1, ensure_ascii=False, default=str)
        yield CopyableText("Options of the challenge", text)
    told = "Intervals hold 95 %; the table names the method of each."
    used = (row.estimate.confidence_interval for row in results.metric_rows)
    if any(one and one.method in ("Wilson-bootstrap", "percentile") for one in used):
        drawn = results.resampling
        told += f" A bootstrap draws {drawn.resamples} samples of the cases with the seed {drawn.seed}."
    yield Text((_MISSING[phase.missing], told, f"Full seal of the phase: {published.manifest}"))


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
    # All figures of the organiser's file, with the digits of published ones.
    aggregates = rounded_estimates(results.estimates, results.phase.config)
    told = "Values as in metrics.json."
    if aggregates != results.metrics.aggregates:
        told = "metrics.json shows participants less: here are all figures, rounded as there."
    results = replace(results, metrics=replace(results.metrics, aggregates=aggregates))
    analyses, tables = (), dict[str, bytes]()
    if leaf := found_leaf("analyses.section"):
        rows = [row for value in values for row in value.measured]
        analyses, tables = leaf.blocks_and_files(results.phase, rows, results.resampling)
    page = _page(
        results,
        BANNER,
        Section("metrics", "Metrics", tuple(metric_blocks(results, told, list(_with_nothing_said(results))))),
        Section("cases", "Cases", (case_table(results),), 0),
        Section("classification", "Classification", tuple(classification_charts(results)), 1),
        Section("survival", "Survival", tuple(survival_blocks(results)), 1),
        Section("values", "Values of the cases", tuple(value_figures.value_charts(results)), 0),
        Section(
            "sizes", "Numbers, sizes and positions", tuple(value_figures.size_charts(results, values)), 0
        ),
        Section("analyses", "Further analyses", analyses, 0),
        Section("detection", "Detection", tuple(detection_charts(results)), 1),
        Section("viewer", "All cases", tuple(viewer_of(results, values)), 0),
        Section("pictures", "Pictures", tuple(galleries(results, chosen or {}, values)), 1),
        Section("left-out", "Left out", tuple(fields_left_out(results.tasks)), 0),
        Section("subgroups", "Subgroups", tuple(value_figures.subgroup_blocks(results)), 1),
        Section("failures", "Failed cases", tuple(failures(results))),
        Section("run-times", "Run times", tuple(run_times(results)), 0),
        Section("definitions", "Definitions", tuple(definitions(results)), 0),
    )
    return replace(page, tables=tables)


def public_page(results: SubmissionResults) -> Page:
    """Return the public report, made from `metrics.json` and the phase's rules alone.

    Curves, distributions, single cases and their run times are left out: they reveal more of the labels than
    the published figures, which `audit` counts.
    """
    return _page(
        results,
        "",
        Section("metrics", "Metrics", tuple(metric_blocks(results))),
        Section("subgroups", "Subgroups", tuple(value_figures.subgroup_blocks(results, public=True)), 1),
        Section("definitions", "Definitions", tuple(definitions(results)), 0),
    )


def _page(results: SubmissionResults, banner: str, *sections: Section) -> Page:
    published, challenge = results.metrics.phase, results.phase.challenge.title
    return Page(
        title=results.phase.config.title or published.name,
        subtitle=f"Results of a submission to {published.name}, version {published.version} ({challenge})",
        banner=banner,
        answer=tuple(_answer(results, public=not banner)),
        sections=sections,
    )
