"""Sections of metrics: values by team, curves of all teams, subgroups."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import GREY, Chart, MarkStyle, NamedCurve
from evaluation.organiser.ranking.classifiers import CurvePoints
from evaluation.organiser.ranking.difficulty import SubgroupTest
from evaluation.organiser.report.board.reading import ReportedPhase
from evaluation.organiser.report.charts import teams as team_charts
from evaluation.organiser.report.charts.curves import MarkedPoint, froc_chart, roc_chart, thinned_curve
from evaluation.organiser.report.charts.matrices import rank_counts_chart
from evaluation.organiser.report.charts.values import Distribution, distribution_chart
from evaluation.organiser.report.page import Block, Section, Table, listed

# --- The section of the metrics: values by team with intervals, box plots, podiums and ranking heat maps ---


def metrics_section(phase: ReportedPhase) -> Section:
    """Return the section of all metrics."""
    of_metrics = {name: list(_charts(phase, name)) for name in phase.board.metrics}
    # The first metric of each task is shown at once: those of the ranking before others.
    ordered = sorted(phase.board.metrics, key=lambda name: name not in phase.ranked_metrics)
    tasks = {name.rpartition(".")[0]: name for name in reversed(ordered) if of_metrics[name]}
    leading = [name for name in phase.board.metrics if name in tasks.values()][:_MOST_LEADING]
    first = [of_metrics[name].pop(0) for name in leading]
    others = (chart for charts in of_metrics.values() for chart in charts)
    blocks: list[Block] = [*first, *_metrics_table(phase), *others]
    return phase.section("metrics", "Metrics", blocks, len(first))


_MOST_LEADING = 6


def _metrics_table(phase: ReportedPhase) -> Iterator[Table]:
    rows, reasons = [], list[str | None]()
    for name, metric in phase.board.metrics.items():
        for team in phase.by_value(name):
            value = team.metrics[name]
            simultaneous = "–".join(map(str, value.rank_set)) if value.rank_set else None
            named = (phase.title_of(name), "↑" if metric.better == "higher" else "↓", team.team)
            rows.append(
                (*named, value.value, value.figure.lower, value.figure.upper, value.rank, simultaneous)
            )
            several = None if "." in name else "figures of several metrics have none"
            reasons.append(metric.no_intervals or several)
    for table in phase.tables("metrics", rows, phase.chosen_here):
        yield replace(table, reasons=tuple(reasons)).without_empty("ranks with 95 % confidence")


def _charts(phase: ReportedPhase, name: str) -> Iterator[Chart]:
    metric, title, axis = phase.board.metrics[name], phase.title_of(name), phase.axis_of(name)
    arrow = "higher is better" if metric.better == "higher" else "lower is better"
    values = phase.values(name)
    if values:
        described = "The metric by team, the best one first."
        if any(value.lower is not None for value in values):
            described += " Lines are 95 % intervals."
        described += phase.chosen_here
        best = [value.name for value in values if value.value == values[0].value]
        told = f"{title}: {best[0]} has the best value" if len(best) == 1 < len(values) else title
        figure = phase.identifier(name, "by-team")
        chart = team_charts.team_values_chart(figure, told, described, values, phase.marks, axis)
        yield chart.measured_in(metric.unit, arrow)
    if name not in phase.ranked_metrics:
        return
    if (given := phase.organiser.values.get(name)) is not None:
        boxes = _boxes(phase, name, title, axis, len(given.cases) * len(given.teams))
        yield boxes.measured_in(metric.unit, arrow)
    teams, cases, matrix = phase.complete_values(name)
    if len(teams) > 1 and cases:
        if matrix.size <= team_charts.MOST_VALUES:
            figure, values_of_cases = phase.identifier(name, "podium"), (matrix, teams, cases, metric.better)
            told = f"Who is best in which case: {title}"
            podium = team_charts.podium_chart(figure, told, *values_of_cases, phase.marks, axis)
            yield podium.measured_in(metric.unit, arrow)
        yield _rank_counts(phase, name, title, teams, team_charts.ranks_by_case(matrix, metric.better))


def time_charts(phase: ReportedPhase) -> Iterator[Chart]:
    """Yield accuracy against time (EDD2020, section V) for metrics with the times of two teams."""
    units = f" over {phase.board.clusters} clusters of cases" if phase.board.clusters else ""
    for name in (name for name in phase.ranked_metrics if len(phase.timed(name)) > 1):
        seconds = {team.team: team.seconds_per_case or 0.0 for team in phase.timed(name)}
        values = [one for one in phase.values(name) if one.name in seconds]
        lines = any(one.lower is not None for one in values)
        described = (
            f"The front, dashed: {listed(phase.front(name))}; no other ranked team is as good and as fast. "
            f"{f'Lines are 95 % intervals{units}. ' * lines}Times are declared or the platform's."
            f"{phase.chosen_here}"
        )
        figure, title = phase.identifier(name, "times"), f"{phase.title_of(name)} and time"
        drawn = values, seconds, phase.front(name), phase.marks, phase.axis_of(name)
        chart = team_charts.times_chart(figure, title, described, *drawn)
        yield chart.measured_in(phase.board.metrics[name].unit, "time in seconds per case")


_MOST_POINTS = 1_200
"""Above so many values of all teams, bins replace the points beside the boxes."""


def _boxes(phase: ReportedPhase, name: str, title: str, axis: str, points: int) -> Chart:
    given = phase.organiser.values[name]
    ordered = [team.team for team in phase.by_value(name) if team.team in given.teams]
    return distribution_chart(
        phase.identifier(name, "boxes"),
        f"{title} in single cases, by team",
        [Distribution(team, np.array(given.teams[team], dtype=np.float64), given.cases) for team in ordered],
        axis,
        marks=phase.marks,
        most_points=_MOST_POINTS if points <= _MOST_POINTS else 0,
    )


def _rank_counts(
    phase: ReportedPhase, name: str, title: str, teams: list[str], ranks: NDArray[np.int64]
) -> Chart:
    counts = {team: Counter(of_team) for team, of_team in zip(teams, ranks.tolist(), strict=True)}
    told = f"How often a team takes which rank in a case: {title}"
    return rank_counts_chart(phase.identifier(name, "rank-counts"), told, counts)


# --- The section of curves: ROC and free-response curves of all teams in one figure, with annotators ---

_STEPS = 150
"""Positions along each axis of a curve that is drawn among many others."""


def curve_blocks(phase: ReportedPhase) -> Iterator[Block]:
    """Yield the curves of all teams, and the tables of annotators and further classifiers."""
    yield from _curve_charts(phase)
    yield from _free_response(phase)
    yield from _annotators(phase)
    yield from phase.tables("readers", phase.organiser.readers)
    yield from phase.tables("annotator-points", phase.organiser.annotator_points)
    yield from _classifiers(phase)


def _curve_charts(phase: ReportedPhase) -> Iterator[Chart]:
    annotators = phase.board.annotators
    points = [
        MarkedPoint(name, 1 - point.specificity, point.sensitivity)
        for name, point in (annotators.points if annotators else {}).items()
        if point.specificity is not None and point.sensitivity is not None
    ]
    for number, (name, of_teams) in enumerate(phase.organiser.curves.items()):
        curves = [_roc(team, of_teams[team]) for team in phase.teams if team in of_teams]
        marks = {team: mark for team, mark in phase.marks.items() if team in of_teams}
        if number == 0:
            readers = [_roc(reader, points) for reader, points in phase.organiser.reader_curves.items()]
            shared = [*readers, *_shared_curves(phase)]
            curves += shared
            marks |= {one.name: MarkStyle(GREY, "circle", (4, 2, 1, 2)) for one in shared}
        if curves:
            yield roc_chart(
                phase.identifier(name, "roc"),
                f"ROC curves of all teams ({phase.title_of(name)})",
                curves,
                points=points,
                marks=marks,
            )


def _shared_curves(phase: ReportedPhase) -> list[NamedCurve]:
    """Return the curves of classifiers that are the same for all teams, such as a ratio of the reference."""
    found = []
    for classifier, of_teams in phase.organiser.classifiers.curves.items():
        curves = [_roc(_named(phase, classifier), one) for one in of_teams.values()]
        if len(curves) > 1 and len({(tuple(one.x), tuple(one.y)) for one in curves}) == 1:
            found.append(curves[0])
    return found


def _named(phase: ReportedPhase, column: str) -> str:
    """Return a classifier in words: the column of its task."""
    return phase.words(column.rpartition(".")[2])


def _free_response(phase: ReportedPhase) -> Iterator[Chart]:
    for name, of_teams in phase.organiser.free_response.items():
        lines = [
            thinned_curve(team, np.array(one.false_positives_per_case), np.array(one.sensitivity), _STEPS)
            for team in phase.teams
            if (one := of_teams.get(team))
        ]
        if lines:
            yield froc_chart(
                phase.identifier(name, "froc"),
                f"Found at each rate of false positives, all teams ({phase.title_of(name)})",
                lines,
                "Hits are those of the metric, of all classes together.",
                marks={team: mark for team, mark in phase.marks.items() if team in of_teams},
            )


def _roc(name: str, given: CurvePoints) -> NamedCurve:
    return thinned_curve(name, np.array(given.false_positive_rate), np.array(given.sensitivity), _STEPS)


def _classifiers(phase: ReportedPhase) -> Iterator[Table]:
    """Yield the tables of further classifiers of each team: areas, operating points and tests."""
    found = phase.organiser.classifiers
    values = (replace(one, classifier=_named(phase, one.classifier)) for one in found.values)
    yield from phase.tables("classifiers", values)
    tests = (
        replace(one, first=_named(phase, one.first), second=_named(phase, one.second)) for one in found.tests
    )
    yield from phase.tables("classifier-tests", tests)


def _annotators(phase: ReportedPhase) -> Iterator[Table]:
    if section := phase.board.annotators:
        points = (
            (name, one.sensitivity, one.specificity, one.accuracy) for name, one in section.points.items()
        )
        yield from phase.tables("annotators", points)
        yield from phase.tables("agreement", section.agreement)


# --- The section of subgroups of cases: means by team with tests ---


def subgroup_blocks(phase: ReportedPhase) -> Iterator[Block]:
    """Yield the means of each two subgroups by team, and their tests."""
    grouped: dict[tuple[str, str, str, str], list[SubgroupTest]] = {}
    for one in phase.board.subgroup_tests:
        if one.metric in phase.ranked_metrics:
            grouped.setdefault((one.metric, one.column, one.first, one.second), []).append(one)
    for (metric, column, first, second), tests in grouped.items():
        by_team = {one.team: one for one in tests}
        in_order = [by_team[team] for team in phase.teams if team in by_team]
        figure = phase.identifier(metric, column, first, second)
        title, axis = f"{phase.title_of(metric)} by {phase.words(column)}", phase.axis_of(metric)
        groups = phase.names.of_value(column, first), phase.names.of_value(column, second)
        chart = team_charts.subgroup_means_chart(figure, title, groups, in_order, axis)
        yield chart.measured_in(phase.board.metrics[metric].unit)
    yield from phase.tables("subgroup-tests", phase.board.subgroup_tests)
