"""The section of subgroups of cases: means by team with tests, and difficulty."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.charts.chart import Chart
from evaluation.charts.subgroup_means import SubgroupMeans, subgroup_means_chart
from evaluation.ranking.difficulty import SubgroupTest
from evaluation.report.board.reported_phase import ReportedPhase, words_of
from evaluation.report.page import Block, Column, Figure, Section, Table
from evaluation.report.papers import followed


def subgroups_section(phase: ReportedPhase) -> Section | None:
    """Return the section of subgroups; None where none were requested."""
    blocks: list[Block] = [Figure(chart) for chart in _charts(phase)]
    if tests := phase.board.subgroup_tests:
        blocks.append(_tests(phase, tests))
    if groups := phase.organiser.groups:
        columns = (
            *(Column(title) for title in ("metric", "measure", "column", "subgroup", "cases")),
            Column("mean", 4),
        )
        rows = tuple(
            (phase.title_of(one.metric), one.measure, one.column, one.value, one.cases, one.mean)
            for one in groups
        )
        blocks.append(Table(phase.identifier("difficulty"), "Difficulty by subgroup", columns, rows))
    return phase.section("subgroups", "Subgroups", blocks)


def _charts(phase: ReportedPhase) -> Iterator[Chart]:
    grouped: dict[tuple[str, str, str, str], list[SubgroupTest]] = {}
    for one in phase.board.subgroup_tests:
        if one.metric in phase.ranked_metrics:
            grouped.setdefault((one.metric, one.column, one.first, one.second), []).append(one)
    for (metric, column, first, second), tests in grouped.items():
        by_team = {one.team: one for one in tests}
        yield subgroup_means_chart(
            phase.identifier(metric, column, first, second),
            f"{phase.title_of(metric)} by {words_of(column)}",
            (first, second),
            [
                SubgroupMeans(
                    team, by_team[team].first_mean, by_team[team].second_mean, by_team[team].p_value
                )
                for team in phase.teams
                if team in by_team
            ],
            phase.axis_of(metric),
            followed(phase.board.challenge, f"subgroups by {column}"),
        )


def _tests(phase: ReportedPhase, tests: tuple[SubgroupTest, ...]) -> Table:
    columns = (
        *(Column(title) for title in ("metric", "team", "column", "first", "second")),
        Column("mean of the first", 4),
        Column("mean of the second", 4),
        Column("p", 4),
    )
    rows = tuple(
        (
            phase.title_of(one.metric),
            one.team,
            one.column,
            one.first,
            one.second,
            one.first_mean,
            one.second_mean,
            one.p_value,
        )
        for one in tests
    )
    note = "Rank-sum tests within each team, not corrected for their number."
    return Table(phase.identifier("subgroup-tests"), "Tests between subgroups", columns, rows, note)
