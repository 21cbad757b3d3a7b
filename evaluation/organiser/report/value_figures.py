"""Sections of values: distributions, sizes and their agreement, and subgroups."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import Chart, Estimated
from evaluation.charts.intervals import ends_of, forest_chart
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task, fields_of, metrics_of
from evaluation.core.intervals import intervals
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.organiser.report.case_images import CaseReading
from evaluation.organiser.report.charts.values import (
    CasePoint,
    Distribution,
    Pair,
    bland_altman_chart,
    distribution_chart,
    error_cloud_chart,
)
from evaluation.organiser.report.page import Block, Table, identifier, listed, shown
from evaluation.organiser.report.results import SubmissionResults
from evaluation.organiser.report.sentences import Names, names_of
from evaluation.phase.cases import key_of, subgroup_masks
from evaluation.phase.config import Subgroup
from evaluation.phase.leaderboard import digits_of

# --- The section of values by case: distributions ---


def averaged_metrics(results: SubmissionResults, task: Task) -> list[tuple[Metric, str]]:
    """Return the metrics of a task that exist and are means of a column, with the column."""
    return [
        (metric, metric.estimator.mean_column)
        for metric in task.metrics
        if metric.estimator.mean_column and metric.name in results.estimates[task.name]
    ]


def value_charts(results: SubmissionResults) -> Iterator[Chart]:
    """Yield the figures of all metrics that are means over cases."""
    for task in results.tasks:
        table = results.tables[task.name]
        scales: dict[tuple[str, float, float], list[tuple[Metric, str]]] = {}
        for metric, column in averaged_metrics(results, task):
            scales.setdefault((metric.unit, metric.best, metric.worst), []).append((metric, column))
        for number, ((unit, *_), members) in enumerate(scales.items(), start=1):
            yield distribution_chart(
                identifier(f"{task.name}-distribution-{number}"),
                f"{listed([metric.title for metric, _ in members[:3]])} in single cases"
                + (f", and {len(members) - 3} more" if len(members) > 3 else ""),
                [Distribution(metric.title, table[column], table.names) for metric, column in members],
                unit or "value",
            ).measured_in(unit)


# --- Figures from masks and points: sizes, their agreement, and errors of landmarks ---

_MOST_STRUCTURES = 6
_FEWEST = 3
_FEWEST_TO_TELL = 10


def size_charts(results: SubmissionResults, values: Sequence[CaseReading]) -> Iterator[Chart]:
    """Yield Bland–Altman plots of the sizes of structures and of other numbers, and errors of positions."""
    names = names_of(results.phase)
    sized: dict[tuple[str, str, str], list[Pair]] = {}
    measured: dict[tuple[str, str, str], list[Pair]] = {}
    for value in values:
        for one in value.sizes:
            pairs = sized.setdefault((one.title, f"size of {names.of(one.title)}", one.unit), [])
            if one.reference:
                pairs.append(Pair(value.name, one.predicted, one.reference))
        for one in value.measurements:
            pair = Pair(value.name, one.predicted, one.reference)
            measured.setdefault((one.title, one.title, one.unit), []).append(pair)
    for (name, what, unit), pairs in [*list(sized.items())[:_MOST_STRUCTURES], *measured.items()]:
        if len(pairs) >= _FEWEST:
            title = _agreement_in_words(what, pairs, unit)
            yield bland_altman_chart(identifier(f"{name}-agreement"), title, pairs, unit)
    yield from _clouds(results, values)


_CLEARLY = 3.0
"""Standard errors from 0 from which on a mean difference is called one in a title."""


def _agreement_in_words(what: str, pairs: Sequence[Pair], unit: str) -> str:
    """Return the title of a Bland–Altman plot: a mean difference, if clearly not 0, else what it shows."""
    differences = np.array([pair.predicted - pair.reference for pair in pairs])
    mean, error = float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(len(pairs))
    start = what[:1].upper() + what[1:]
    if len(pairs) < _FEWEST_TO_TELL or abs(mean) <= _CLEARLY * error:
        return f"{start}: prediction minus reference"
    more = "too large" if mean > 0 else "too small"
    return f"{start}: {more} by {shown(float(f'{abs(mean):.2g}'))}{f' {unit}' if unit else ''} on average"


def _clouds(results: SubmissionResults, values: Sequence[CaseReading]) -> Iterator[Chart]:
    titles = {field.name: field.title for field in fields_of(results.tasks)}
    for name in dict.fromkeys(name for value in values for name in value.locations):
        errors = []
        for value in values:
            if at := value.locations.get(name):
                x, y = (at.predicted[axis] - at.reference[axis] for axis in (0, 1))
                errors.append(CasePoint(value.name, x, y))
        if len(errors) >= _FEWEST:
            title = f"{titles[name]}: predicted minus true position"
            yield error_cloud_chart(f"{identifier(name)}-errors", title, errors)


# --- The section of subgroups: forest plots and the table of all their figures ---

_MOST_FORESTS = 6


@dataclass(frozen=True, kw_only=True)
class _SubgroupFigure(Estimated):
    """A metric ("task.metric") of a subgroup, whose column and ``group`` are keys of the files.

    ``cases``: its number of cases, None where it is not to be told; ``negatives``: of a subgroup of positives
    alone, the number of negative cases that it is against.
    """

    subgroup: Subgroup
    group: str
    cases: int | None = None
    negatives: int | None = None


def subgroup_blocks(results: SubmissionResults, public: bool = False) -> Iterator[Block]:
    """Yield all subgroups with intervals and numbers of cases; ``public``: the published figures alone."""
    phase, metrics, names = results.phase, metrics_of(results.tasks), names_of(results.phase)
    ranked = phase.board.ranked
    main = [name for name in ranked if name in metrics][:_MOST_FORESTS]
    figures = list(_subgroup_figures(results, main, public))
    if not figures:
        return
    for name in main:
        task = name.split(".")[0]
        aggregates = results.metrics.aggregates if public else results.estimates
        whole = aggregates.get(task, {}).get(metrics[name].name)
        groups = [replace(one, name=_in_words(names, one)) for one in figures if one.name == name]
        if whole and groups:
            told = "all cases" if public else f"all cases (n\u00a0=\u00a0{len(results.tables[task])})"
            ends = ends_of(None if public else whole.confidence_interval)
            overall = Estimated(told, whole.value, *ends)
            title = metrics[name].title
            figure = identifier(f"{name}-forest")
            drawn = forest_chart(figure, f"{title} by group of cases", title, overall, groups)
            yield drawn.measured_in(metrics[name].unit)
    rows = []
    for one in figures:
        column = key_of(one.subgroup.column)
        cases = str(one.cases) if one.negatives is None else f"{one.cases} and all {one.negatives} negative"
        named = names.of(column), names.of_value(column, one.group), None if public else cases
        rows.append((*named, metrics[one.name].title, round(one.value, 6)))
    digits = max((digits_of(phase.config, name).value for name in metrics), default=4)
    columns = "column", "subgroup", "cases", "metric", ("value", digits)
    yield Table.of("subgroups", "All figures of subgroups", columns, rows).without_empty("cases")


def _subgroup_figures(
    results: SubmissionResults, main: Sequence[str], public: bool
) -> Iterator[_SubgroupFigure]:
    """Yield every figure of every subgroup; the main metrics of subgroups of cases have intervals."""
    phase, metrics = results.phase, metrics_of(results.tasks)
    known = {key_of(subgroup.column): subgroup for subgroup in phase.config.subgroups}
    for column, groups in ((results.metrics.subgroups if public else results.subgroups) or {}).items():
        subgroup, tables = known[column], {} if public else results.tables
        masks = {name: subgroup_masks(subgroup, phase.cases, of.names) for name, of in tables.items()}
        for group, tasks in groups.items():
            for task, values in tasks.items():
                for name, value in ((f"{task}.{metric}", value) for metric, value in values.items()):
                    figure = _SubgroupFigure(name, value, subgroup=subgroup, group=group)
                    if public:
                        yield figure
                    else:
                        members = masks[task][group]
                        resampling = results.resampling if name in main else None
                        yield _counted(figure, metrics[name], tables[task], members, resampling)


def _counted(
    figure: _SubgroupFigure,
    metric: Metric,
    table: CaseTable,
    members: NDArray[np.bool_],
    resampling: Resampling | None,
) -> _SubgroupFigure:
    """Return a figure with its numbers of cases and, if wanted and defined, its interval."""
    if figure.subgroup.compare == "positives":
        strata = metric.estimator.strata(table)
        positives = int((members & (strata == 1)).sum())
        return replace(figure, cases=positives, negatives=int((strata == 0).sum()))
    counted = replace(figure, cases=int(members.sum()))
    if resampling and metric.no_interval is None:
        part = table.take(np.flatnonzero(members))
        if found := intervals({figure.name: metric}, [part], resampling).found.get(figure.name):
            return replace(counted, lower=found[0].lower, upper=found[0].upper)
    return counted


def _in_words(names: Names, figure: _SubgroupFigure) -> str:
    """Return a subgroup with its numbers of cases, where these are known."""
    words = names.of_group(figure.subgroup.column, figure.group)
    if figure.cases is None:
        return f"{words} against all negatives" if figure.subgroup.compare == "positives" else words
    if figure.negatives is None:
        return f"{words} (n\u00a0=\u00a0{figure.cases})"
    return f"{words} ({figure.cases} positive against all {figure.negatives} negative)"
