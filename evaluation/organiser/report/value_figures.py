"""Sections of values: distributions, sizes and their agreement, and subgroups."""

import math
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import Chart, Estimated
from evaluation.charts.intervals import forest_chart
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task, fields_of, metrics_of
from evaluation.core.intervals import intervals
from evaluation.core.metric import Metric
from evaluation.organiser.report.case_images import CaseReading
from evaluation.organiser.report.charts import values as case_charts
from evaluation.organiser.report.charts.values import Distribution, distribution_chart
from evaluation.organiser.report.overlays import StructureSize
from evaluation.organiser.report.page import Block, Table, identifier, listed, shown
from evaluation.organiser.report.results import SubmissionResults, ends_of
from evaluation.organiser.report.sentences import Names, names_of
from evaluation.phase.cases import key_of, subgroup_masks
from evaluation.phase.config import Subgroup
from evaluation.phase.leaderboard import digits_of, platform_metrics
from evaluation.summary import Subgroups

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
    """Yield the figures of numbers, sizes and positions."""
    yield from _agreement(names_of(results.phase), values)
    yield from _overlap_by_size(results, values)
    yield from _clouds(results, values)


def _agreement(names: Names, values: Sequence[CaseReading]) -> Iterator[Chart]:
    """Yield Bland–Altman plots of the sizes of each structure in the reference, and of other measurements."""
    for (structure, unit), found in list(_by_structure(values).items())[:_MOST_STRUCTURES]:
        pairs = [
            case_charts.Pair(case, size.predicted, size.reference) for case, size in found if size.reference
        ]
        if len(pairs) >= _FEWEST:
            named = f"size of {names.of(structure)}"
            title = _agreement_in_words(named, pairs, unit)
            yield case_charts.bland_altman_chart(identifier(f"{structure}-agreement"), title, pairs, unit)
    measured: dict[tuple[str, str], list[case_charts.Pair]] = {}
    for value in values:
        for one in value.measurements:
            pair = case_charts.Pair(value.name, one.predicted, one.reference)
            measured.setdefault((one.title, one.unit), []).append(pair)
    for (title, unit), pairs in measured.items():
        if len(pairs) >= _FEWEST:
            agreement = _agreement_in_words(title, pairs, unit)
            yield case_charts.bland_altman_chart(identifier(f"{title}-agreement"), agreement, pairs, unit)


_CLEARLY = 3.0
"""Standard errors from 0 from which on a mean difference is called one in a title."""


def _agreement_in_words(what: str, pairs: Sequence[case_charts.Pair], unit: str) -> str:
    """Return the title of a Bland–Altman plot: a mean difference, if clearly not 0, else what it shows."""
    differences = np.array([pair.predicted - pair.reference for pair in pairs])
    mean, error = float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(len(pairs))
    start = what[:1].upper() + what[1:]
    if len(pairs) < _FEWEST_TO_TELL or abs(mean) <= _CLEARLY * error:
        return f"{start}: prediction minus reference"
    more = "too large" if mean > 0 else "too small"
    return f"{start}: {more} by {shown(float(f'{abs(mean):.2g}'))}{f' {unit}' if unit else ''} on average"


def _overlap_by_size(results: SubmissionResults, values: Sequence[CaseReading]) -> Iterator[Chart]:
    """Yield one plot for each unit: the scored overlap of each structure against its size in the reference.

    It is the column of the first metric from 0 to 1 that measures the structure.
    """
    true: dict[tuple[str, str], dict[str, tuple[float, str]]] = {}
    for value in values:
        for size in value.sizes:
            true.setdefault((size.field, size.structure), {})[value.name] = size.reference, size.unit
    points: dict[str, list[case_charts.CasePoint]] = {}
    fields = {field.name: field for field in fields_of(results.tasks)}
    drawn: set[tuple[str, tuple[str, ...]]] = set()
    for task in results.tasks:
        table = results.tables[task.name]
        for metric, column in averaged_metrics(results, task):
            measured = metric.field, metric.structures
            if not metric.structures or (metric.best, metric.worst) != (1, 0) or measured in drawn:
                continue
            drawn.add(measured)
            titled = (name or fields[metric.field].title for name in metric.structures)
            parts = [true.get((metric.field, name), {}) for name in titled]
            for case, overlap in zip(table.names, table[column].tolist(), strict=True):
                found = [part[case] for part in parts if case in part]
                extent = sum(size for size, _ in found)
                if extent and not math.isnan(overlap):
                    point = case_charts.CasePoint(case, extent, overlap, metric.title)
                    points.setdefault(found[0][1], []).append(point)
    for unit, of_unit in points.items():
        if len(of_unit) >= _FEWEST:
            yield case_charts.scatter_chart(
                identifier(f"overlap-by-size-{unit}"),
                "Overlap against size",
                "Scored overlap of each structure in each case against its size in the reference.",
                of_unit,
                case_charts.Axis(f"size in the reference, {unit}", logarithmic=True),
                case_charts.Axis("overlap", (0, 1)),
            ).measured_in("", f"size in {unit}")


def _clouds(results: SubmissionResults, values: Sequence[CaseReading]) -> Iterator[Chart]:
    titles = {field.name: field.title for field in fields_of(results.tasks)}
    for name in dict.fromkeys(name for value in values for name in value.locations):
        errors = []
        for value in values:
            if at := value.locations.get(name):
                x, y = (at.predicted[axis] - at.reference[axis] for axis in (0, 1))
                errors.append(case_charts.CasePoint(value.name, x, y))
        if len(errors) >= _FEWEST:
            title = f"{titles[name]}: predicted minus true position"
            yield case_charts.error_cloud_chart(f"{identifier(name)}-errors", title, errors)


def _by_structure(values: Sequence[CaseReading]) -> dict[tuple[str, str], list[tuple[str, StructureSize]]]:
    """Return the sizes of each structure with the names of their cases."""
    found: dict[tuple[str, str], list[tuple[str, StructureSize]]] = {}
    for value in values:
        for size in value.sizes:
            found.setdefault((size.structure, size.unit), []).append((value.name, size))
    return found


# --- The section of subgroups: forest plots and the table of all their figures ---

_MOST_FORESTS = 6


def subgroup_blocks(results: SubmissionResults) -> Iterator[Block]:
    """Yield all subgroups, intervals and numbers of cases included."""
    if results.subgroups:
        for name in _main_metrics(results)[:_MOST_FORESTS]:
            yield from _forest(results, name)
        yield _subgroup_table(results, results.subgroups, counted=True)


def public_subgroup_blocks(results: SubmissionResults) -> Iterator[Block]:
    """Yield the published figures of the public subgroups alone."""
    if not (published := results.metrics.subgroups):
        return
    phase_groups, names = results.phase.config.subgroups, names_of(results.phase)
    for name in _main_metrics(results)[:_MOST_FORESTS]:
        task, metric = name.split(".")
        against = {key_of(one.column) for one in phase_groups if one.compare == "positives"}
        found = [
            Estimated(
                names.of_group(column, group) + (" against all negatives" if column in against else ""),
                tasks[task][metric],
            )
            for column, groups in published.items()
            for group, tasks in groups.items()
            if metric in tasks.get(task, {})
        ]
        whole = results.metrics.aggregates.get(task, {}).get(metric)
        if found and whole:
            overall = Estimated("all cases", whole.value)
            title = metrics_of(results.tasks)[name].title
            figure = identifier(f"{name}-forest")
            drawn = forest_chart(figure, f"{title} by group of cases", title, overall, found)
            yield drawn.measured_in(metrics_of(results.tasks)[name].unit)
    yield _subgroup_table(results, published, counted=False)


def _main_metrics(results: SubmissionResults) -> tuple[str, ...]:
    """Return the metrics ("task.metric") of the platform's leaderboard that this submission has."""
    phase = results.phase
    ranked = platform_metrics(phase.config, phase.challenge, phase.tasks)
    return tuple(name for name in ranked if name in metrics_of(results.tasks))


def _subgroup_table(results: SubmissionResults, subgroups: Subgroups, counted: bool) -> Table:
    """Return the table of all figures, with the numbers of cases unless these are not to be told."""
    phase, metrics, names = results.phase, metrics_of(results.tasks), names_of(results.phase)
    known = {key_of(subgroup.column): subgroup for subgroup in phase.config.subgroups}

    @cache
    def masks(column: str, task: str) -> dict[str, NDArray[np.bool_]]:
        return subgroup_masks(known[column], phase.cases, results.tables[task].names)

    def cases(column: str, group: str, task: str, name: str) -> str:
        metric, members = metrics[f"{task}.{name}"], masks(column, task)[group]
        found, negatives = _counts(known[column], metric, results.tables[task], members)
        return str(found) if negatives is None else f"{found} and all {negatives} negative"

    rows = [
        (
            names.of(column),
            names.of_value(column, group),
            cases(column, group, task, name) if counted else None,
            metrics[f"{task}.{name}"].title,
            round(value, 6),
        )
        for column, groups in subgroups.items()
        for group, tasks in groups.items()
        for task, values in tasks.items()
        for name, value in values.items()
    ]
    digits = max((digits_of(phase.config, name).value for name in metrics), default=4)
    columns = "column", "subgroup", "cases", "metric", ("value", digits)
    return Table.of("subgroups", "All figures of subgroups", columns, rows).without_empty("cases")


def _counts(
    subgroup: Subgroup, metric: Metric, table: CaseTable, members: NDArray[np.bool_]
) -> tuple[int, int | None]:
    """Return the cases of a subgroup and, of one of positives alone, the negative cases it is against."""
    if subgroup.compare == "cases":
        return int(members.sum()), None
    strata = metric.estimator.strata(table)
    return int((members & (strata == 1)).sum()), int((strata == 0).sum())


def _forest(results: SubmissionResults, name: str) -> Iterator[Chart]:
    """Yield the forest plot of a metric that has a value in all cases and in a subgroup."""
    task = next(task for task in results.tasks if task.name == name.split(".")[0])
    metric = metrics_of(results.tasks)[name]
    found = list(_with_intervals(results, task, metric))
    estimate = results.estimates[task.name].get(metric.name)
    if found and estimate:
        cases = len(results.tables[task.name])
        overall = Estimated(_with_number("all cases", cases), estimate.value, *ends_of(estimate))
        title = f"{metric.title} by group of cases"
        drawn = forest_chart(identifier(f"{name}-forest"), title, metric.title, overall, found)
        yield drawn.measured_in(metric.unit)


def _with_number(group: str, cases: int, negatives: int | None = None) -> str:
    """Return a group with its number of cases; of positives alone, with that of all negatives."""
    if negatives is not None:
        return f"{group} ({cases} positive against all {negatives} negative)"
    return f"{group} (n\u00a0=\u00a0{cases})"


def _with_intervals(results: SubmissionResults, task: Task, metric: Metric) -> Iterator[Estimated]:
    """Yield the subgroups of a metric; subgroups of cases have the phase's intervals."""
    phase, table = results.phase, results.tables[task.name]
    names = names_of(phase)
    for subgroup in phase.config.subgroups:
        groups = results.subgroups.get(key_of(subgroup.column), {})
        for group, members in subgroup_masks(subgroup, phase.cases, table.names).items():
            value = groups.get(group, {}).get(task.name, {}).get(metric.name)
            if value is None:
                continue
            lower = upper = None
            if subgroup.compare == "cases" and metric.no_interval is None:
                part = table.take(np.flatnonzero(members))
                name = f"{task.name}.{metric.name}"
                if found := intervals({name: metric}, [part], results.resampling).found.get(name):
                    lower, upper = found[0].lower, found[0].upper
            cases, negatives = _counts(subgroup, metric, table, members)
            words = names.of_group(subgroup.column, group)
            yield Estimated(_with_number(words, cases, negatives), value, lower, upper)
