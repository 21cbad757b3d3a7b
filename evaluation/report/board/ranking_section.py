"""The sections of the final ranking and of each phase: places with intervals, and tiers."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.charts.blob import Places, blob_chart
from evaluation.charts.chart import Chart
from evaluation.charts.team_values import TeamValue, team_values_chart
from evaluation.charts.teams import TeamMarks
from evaluation.ranking.leaderboard_file import BoardOfTeam, FinalTeam, Leaderboard
from evaluation.ranking.stability import PlaceDistribution
from evaluation.report.board.reported_phase import ReportedPhase, words_of
from evaluation.report.board.sources import wiesenfarth
from evaluation.report.page import Block, Cell, Column, Figure, Section, Table


def final_section(board: Leaderboard, marks: TeamMarks) -> Section | None:
    """Return the section of the places over all phases; None without any."""
    if not board.final:
        return None
    roles = tuple(board.final[0].phases)
    rows = tuple(_final_row(team, roles) for team in board.final)
    columns = (
        Column("place"),
        Column("team"),
        Column("95 % interval"),
        Column("score", 3),
        *(Column(f"place {role}") for role in roles),
    )
    note = "Phases are weighed as the scheme says; a lower score is better."
    blocks: list[Block] = [Table("final", "All phases", columns, rows, note)]
    places = [
        Places(team.team, given.probabilities, given.lower, given.median, given.upper)
        for team in board.final
        if (given := team.distribution)
    ]
    if places:
        title = "Places in resamples: all phases"
        blocks.append(Figure(blob_chart("final-blobs", title, places, marks, wiesenfarth("blob plot"))))
    return Section("final", "Final ranking", tuple(blocks))


def ranking_section(phase: ReportedPhase) -> Section | None:
    """Return the section of one phase's ranking."""
    blocks: list[Block] = [ranking_table(phase), *map(Figure, _charts(phase))]
    if tiers := _tiers(phase):
        blocks.append(tiers)
    return phase.section("ranking", "Ranking", blocks)


def ranking_table(phase: ReportedPhase) -> Table:
    """Return places, intervals and scores in all boards, by team."""
    columns = [Column("team")]
    for name in phase.boards:
        word = words_of(name)
        columns += [Column(f"{word}: place"), Column("95 % interval"), Column(f"{word}: score", 3)]
    rows: list[tuple[Cell, ...]] = []
    for team in phase.board.teams:
        cells: list[Cell] = [team.team]
        for name in phase.boards:
            board = team.boards.get(name, BoardOfTeam())
            cells += [_place(board), interval_of(board.distribution), board.score]
        rows.append(tuple(cells))
    note = (
        "The interval holds the places over resampled cases. A lower score is better. (n): not ranked, "
        "would take place n."
    )
    return Table(phase.identifier("ranking"), "Places and scores", tuple(columns), tuple(rows), note)


def interval_of(distribution: PlaceDistribution | None) -> str | None:
    """Return the 95 % interval of a place as text."""
    if distribution is None:
        return None
    lower, upper = distribution.lower, distribution.upper
    return str(lower) if lower == upper else f"{lower}–{upper}"


def _place(board: BoardOfTeam) -> Cell:
    if board.place is not None:
        return board.place
    return None if board.would_be_place is None else f"({board.would_be_place})"


def _final_row(team: FinalTeam, roles: tuple[str, ...]) -> tuple[Cell, ...]:
    places = (team.phases.get(role) for role in roles)
    return (team.place, team.team, interval_of(team.distribution), team.score, *places)


def _charts(phase: ReportedPhase) -> Iterator[Chart]:
    for name in phase.boards:
        values = [
            TeamValue(
                team.team,
                board.place or 0,
                board.distribution.lower if board.distribution else None,
                board.distribution.upper if board.distribution else None,
            )
            for team, board in phase.in_order_of(name)
        ]
        if values:
            yield team_values_chart(
                phase.identifier(name, "places"),
                f"Places: {words_of(name)}",
                "The place of every team; lines hold 95 % of its places when cases are resampled.",
                values,
                phase.marks,
                "place",
                domain=(0.5, len(phase.teams) + 0.5),
            )


def _tiers(phase: ReportedPhase) -> Table | None:
    rows: list[tuple[Cell, ...]] = [
        (phase.title_of(name), number, ", ".join(teams))
        for name, metric in phase.ranked_metrics.items()
        if metric.comparisons and metric.comparisons.tiers
        for number, teams in enumerate(metric.comparisons.tiers, start=1)
    ]
    if not rows:
        return None
    note = "A tier ends before a team that is significantly worse than the first one of the tier."
    columns = (Column("metric"), Column("tier"), Column("teams"))
    return Table(phase.identifier("tiers"), "Tiers by metric", columns, tuple(rows), note)
