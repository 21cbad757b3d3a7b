"""The section of the metrics: values by team with intervals, box plots, podiums and ranking heat maps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import Chart
from evaluation.charts.distribution import Distribution, distribution_chart
from evaluation.charts.heatmap import Axes, Cell, heatmap_chart
from evaluation.charts.podium import MOST_POINTS, podium_chart, ranks_by_case
from evaluation.charts.team_values import TeamValue, team_values_chart
from evaluation.report.board.reported_phase import ReportedPhase
from evaluation.report.board.sources import wiesenfarth
from evaluation.report.page import Block, Column, Figure, Section, Table
from evaluation.report.page import Cell as TableCell
from evaluation.report.papers import followed


def metrics_section(phase: ReportedPhase) -> Section | None:
    """Return the section of all metrics."""
    blocks: list[Block] = [metrics_table(phase)]
    for name in phase.board.metrics:
        blocks += (Figure(chart) for chart in _charts(phase, name))
    return phase.section("metrics", "Metrics", blocks)


def metrics_table(phase: ReportedPhase) -> Table:
    """Return every metric of every team with its interval and rank."""
    rows: list[tuple[TableCell, ...]] = []
    for name, metric in phase.board.metrics.items():
        for team in phase.by_value(name):
            value = team.metrics[name]
            simultaneous = "–".join(map(str, value.rank_set)) if value.rank_set else None
            rows.append(
                (
                    phase.title_of(name),
                    "↑" if metric.better == "higher" else "↓",
                    team.team,
                    value.value,
                    value.lower,
                    value.upper,
                    value.rank,
                    simultaneous,
                )
            )
    columns = (
        Column("metric"),
        Column("better"),
        Column("team"),
        *(Column(title, 4) for title in ("value", "lower", "upper")),
        Column("rank"),
        Column("ranks with 95 % confidence"),
    )
    note = "Lower and upper are the ends of the 95 % interval. ↑: higher is better, ↓: lower."
    return Table(phase.identifier("metrics"), "All metrics by team", columns, tuple(rows), note)


def complete_values(phase: ReportedPhase, metric: str) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """Return teams in the order of the leaderboard, cases, and values of shape (teams, cases).

    Cases in which any team has no value are left out.
    """
    given = phase.organiser.values.get(metric)
    if given is None:
        return [], [], np.empty((0, 0))
    teams = [team for team in phase.teams if team in given.teams]
    values = np.array([given.teams[team] for team in teams], dtype=np.float64)
    defined = np.flatnonzero(np.isfinite(values).all(axis=0))
    return teams, [given.cases[position] for position in defined.tolist()], values[:, defined]


def _charts(phase: ReportedPhase, name: str) -> Iterator[Chart]:
    metric, title, axis = phase.board.metrics[name], phase.title_of(name), phase.axis_of(name)
    arrow = "higher is better" if metric.better == "higher" else "lower is better"
    values = [
        TeamValue(team.team, value.value, value.lower, value.upper)
        for team in phase.by_value(name)
        if (value := team.metrics[name])
    ]
    if values:
        described = f"The metric by team, the best one first; {arrow}."
        if any(value.lower is not None for value in values):
            described += " Lines are 95 % intervals."
        yield team_values_chart(
            phase.identifier(name, "by-team"),
            title,
            described,
            values,
            phase.marks,
            axis,
            followed(phase.board.challenge, f"team values of {name}"),
        )
    if name not in phase.ranked_metrics:
        return
    if (given := phase.organiser.values.get(name)) is not None:
        yield _boxes(phase, name, title, axis, len(given.cases) * len(given.teams))
    teams, cases, matrix = complete_values(phase, name)
    if len(teams) > 1 and cases:
        yield podium_chart(
            phase.identifier(name, "podium"),
            f"Podium: {title}",
            matrix,
            teams,
            cases,
            metric.better,
            phase.marks,
            axis,
            wiesenfarth("podium plot"),
        )
        yield _rank_heatmap(phase, name, title, teams, ranks_by_case(matrix, metric.better))


def _boxes(phase: ReportedPhase, name: str, title: str, axis: str, points: int) -> Chart:
    given = phase.organiser.values[name]
    ordered = [team.team for team in phase.by_value(name) if team.team in given.teams]
    return distribution_chart(
        phase.identifier(name, "boxes"),
        f"Cases by team: {title}",
        [Distribution(team, np.array(given.teams[team], dtype=np.float64), given.cases) for team in ordered],
        axis,
        follows=followed(
            phase.board.challenge, f"values of {name.partition('.')[0]}", wiesenfarth("dot- and boxplot")
        ),
        marks=phase.marks,
        most_points=MOST_POINTS if points <= MOST_POINTS else 0,
    )


def _rank_heatmap(
    phase: ReportedPhase, name: str, title: str, teams: list[str], ranks: NDArray[np.int64]
) -> Chart:
    cells = []
    for team, of_team in zip(teams, ranks, strict=True):
        counts = np.bincount(of_team, minlength=len(teams) + 1)[1:]
        cells += [
            Cell(team, str(rank), int(count), str(count) if count else "")
            for rank, count in enumerate(counts.tolist(), start=1)
        ]
    most = max(cell.value for cell in cells)
    return heatmap_chart(
        phase.identifier(name, "rank-counts"),
        f"Ranks in single cases: {title}",
        "In how many cases a team takes a rank; equal values share the lowest rank.",
        cells,
        Axes("rank in the case", "cases", (0, most), digits=0),
        wiesenfarth("ranking heatmap"),
    )
