"""Sections of rankings: places, agreement across phases, stability, significance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evaluation.charts.chart import Chart
from evaluation.organiser.charts.distributions import ViolinValues, violin_chart
from evaluation.organiser.charts.matrices import (
    Axes,
    HeatmapCell,
    TestedPair,
    Verdict,
    heatmap_chart,
    significance_chart,
)
from evaluation.organiser.charts.stability import Join, TeamPlaces, blob_chart, dendrogram_chart
from evaluation.organiser.charts.teams import TeamMarks, TeamValue, place_lines_chart, team_values_chart
from evaluation.organiser.ranking.across import AcrossRankings
from evaluation.organiser.ranking.comparisons import Comparison
from evaluation.organiser.ranking.leaderboard_file import BoardOfTeam, FinalTeam, Leaderboard
from evaluation.organiser.ranking.robustness import Variation
from evaluation.organiser.ranking.stability import PlaceDistribution
from evaluation.organiser.report.board.reading import ReportedPhase, identifier, words_of
from evaluation.organiser.report.page import Block, Cell, Column, Figure, Section, Table, columns_of, listed
from evaluation.organiser.report.sources import wiesenfarth

# --- The sections of the final ranking and of each phase: places with intervals, and tiers ---


def final_section(board: Leaderboard, marks: TeamMarks) -> Section | None:
    """Return the section of the places over all phases; None without any."""
    if not board.final:
        return None
    roles = tuple(board.final[0].phases)
    rows = tuple(_final_row(team, roles) for team in board.final)
    places = (f"place {role}" for role in roles)
    columns = columns_of("place", "team", "95 % interval", ("score", 3), *places)
    note = "Phases are weighed as the scheme says; a lower score is better."
    blocks: list[Block] = [Table("final", "All phases", columns, rows, note)]
    given = [_places(team.team, team.distribution) for team in board.final if team.distribution]
    if given:
        title = "Places in resamples: all phases"
        blocks.append(Figure(blob_chart("final-blobs", title, given, marks, wiesenfarth("blob plot"))))
    return Section("final", "Final ranking", tuple(blocks))


def _places(team: str, given: PlaceDistribution) -> TeamPlaces:
    return TeamPlaces(team, given.probabilities, given.lower, given.median, given.upper)


def ranking_section(phase: ReportedPhase) -> Section | None:
    """Return the section of one phase's ranking."""
    blocks: list[Block] = [_ranking_table(phase), *map(Figure, _charts(phase)), *_tiers(phase)]
    return phase.section("ranking", "Ranking", blocks)


def _ranking_table(phase: ReportedPhase) -> Table:
    """Return places, intervals and scores in all boards, by team."""
    columns = [Column("team")]
    for name in phase.boards:
        word = words_of(name)
        columns += columns_of(f"{word}: place", "95 % interval", (f"{word}: score", 3))
    rows: list[tuple[Cell, ...]] = []
    for team in phase.board.teams:
        cells: list[Cell] = [team.team]
        for name in phase.boards:
            board = team.boards.get(name, BoardOfTeam())
            cells += [_place(board), _interval_of(board.distribution), board.score]
        rows.append(tuple(cells))
    note = (
        "The interval holds the places over resampled cases. A lower score is better. (n): not ranked, "
        "would take place n."
    )
    return Table(phase.identifier("ranking"), "Places and scores", tuple(columns), tuple(rows), note)


def _interval_of(distribution: PlaceDistribution | None) -> str | None:
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
    return (team.place, team.team, _interval_of(team.distribution), team.score, *places)


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
                places=len(phase.teams),
            )


def _tiers(phase: ReportedPhase) -> Iterator[Table]:
    rows: list[tuple[Cell, ...]] = [
        (phase.title_of(name), number, ", ".join(teams))
        for name, metric in phase.ranked_metrics.items()
        if metric.comparisons and metric.comparisons.tiers
        for number, teams in enumerate(metric.comparisons.tiers, start=1)
    ]
    if rows:
        note = "A tier ends before a team that is significantly worse than the first one of the tier."
        columns = columns_of("metric", "tier", "teams")
        yield Table(phase.identifier("tiers"), "Tiers by metric", columns, tuple(rows), note)


# --- The section across tasks or phases: consensus, agreement of the rankings, and a dendrogram ---


def across_section(across: AcrossRankings | None, what: str, role: str | None = None) -> Section | None:
    """Return the section that compares rankings; ``what`` names their subject: tasks or phases."""
    if across is None:
        return None
    names = [words_of(name) for name in across.rankings]
    columns = columns_of("place", "team", "best place", "worst place")
    rows = tuple((team.place, team.team, team.best, team.worst) for team in across.teams)
    table = Table(
        identifier(role or "", "consensus", what),
        f"Consensus of the {what} ({across.method})",
        columns,
        rows,
        f"Number of equally good orders: {across.orders}; best and worst are the places over all of them. "
        f"Pairs of teams in which the order contradicts a ranking, summed over the rankings: "
        f"{across.disagreements}.",
    )
    dendrogram = dendrogram_chart(
        identifier(role or "", "dendrogram", what),
        f"Similarity of the {what}",
        "Average linkage of the rankings by the distance 1 − Kendall's τ-b.",
        [
            Join(tuple(map(words_of, step.first)), tuple(map(words_of, step.second)), step.distance)
            for step in across.dendrogram
        ],
        "1 − τ-b",
        wiesenfarth("dendrogram"),
    )
    agreement = heatmap_chart(
        identifier(role or "", "agreement", what),
        f"Agreement of the {what}",
        "Kendall's τ-b of every two rankings, over the teams that have a place in all.",
        [
            HeatmapCell(row, column, tau, f"{tau:.2f}")
            for row, taus in zip(names, across.tau_b, strict=True)
            for column, tau in zip(names, taus, strict=True)
            if tau is not None
        ],
        Axes("", "Kendall's τ-b", (-1, 1)),
    )
    title = f"Across {what}"
    return Section(
        identifier(role or "", "across", what),
        f"{title} ({role})" if role else title,
        (table, Figure(dendrogram), Figure(agreement)),
    )


# --- The section of generalisation: changes from phase to phase, and gaps by earlier evaluations ---


def generalisation_section(board: Leaderboard, phases: Sequence[ReportedPhase]) -> Section | None:
    """Return the section of the changes between phases; None without any."""
    if (found := board.generalisation) is None:
        return None
    titles = {name: phase.title_of(name) for phase in phases for name in phase.board.metrics}
    changes: dict[tuple[str, str, str], list[TeamValue]] = {}
    for one in found.changes:
        change = TeamValue(one.team, one.change, one.lower, one.upper)
        changes.setdefault((one.first, one.second, one.metric), []).append(change)
    blocks: list[Block] = []
    for (first, second, name), values in changes.items():
        title = f"Change from {first} to {second}: {titles[name]}"
        told = "The later minus the earlier value; lines are 95 % intervals, for independent cases."
        of = identifier("change", first, second, name)
        blocks.append(Figure(team_values_chart(of, title, told, values, phases[0].marks, "change")))
    columns = columns_of("metric", "team", "from", "to", *((title, 4) for title in _CHANGE))
    rows = tuple((titles[one.metric], *list(vars(one).values())[1:]) for one in found.changes)
    note = "Intervals by MOVER (Zou and Donner 2008), p corrected by Holm for the teams of a metric."
    blocks.append(Table("generalisation", "Changes from phase to phase", columns, rows, note))
    if found.trends:
        columns = columns_of("metric", "from", "to", "team", "points", *((title, 4) for title in _TREND))
        rows = tuple((titles[one.metric], *list(vars(one).values())[1:]) for one in found.trends)
        note = (
            "Spearman's correlation of the gap, how much better a submission is in the earlier phase, with "
            "the number of evaluations there; without a team: over all teams. Positive: overfitting."
        )
        blocks.append(Table("gap-trends", "Gaps by earlier evaluations", columns, rows, note))
    return Section("generalisation", "Generalisation", tuple(blocks))


_CHANGE = ("earlier value", "later value", "change", "lower", "upper", "p", "p after Holm")
_TREND = ("Spearman's ρ", "lower", "upper", "p")


# --- The section of stability: resampled places, Kendall's τ, superiority, and other ranking schemes ---

IN_FORCE = "scheme in force"
_KINDS = {
    "method": "other methods",
    "without metric": "without a metric",
    "weight": "other weights",
    "subgroup": "subgroups of cases",
}


def stability_section(phase: ReportedPhase) -> Section | None:
    """Return the section of stability; None where nothing was resampled or varied."""
    blocks: list[Block] = [Figure(chart) for chart in _resampled(phase)]
    blocks += (Figure(chart, wide=True) for chart in _variations(phase))
    if phase.board.robustness:
        blocks.append(_table(phase))
    return phase.section("stability", "Stability", blocks)


def _resampled(phase: ReportedPhase) -> Iterator[Chart]:
    for name in phase.boards:
        placed = phase.in_order_of(name)
        places = [_places(team.team, one.distribution) for team, one in placed if one.distribution]
        if places:
            yield blob_chart(
                phase.identifier(name, "blobs"),
                f"Places in resamples: {words_of(name)}",
                places,
                phase.marks,
                wiesenfarth("blob plot"),
            )
    samples = [
        ViolinValues(words_of(name), np.array(found.taus))
        for name in phase.boards
        if (found := phase.board.agreement.get(name)) and found.taus
    ]
    if samples:
        yield violin_chart(
            phase.identifier("kendall-tau"),
            "Agreement of resampled rankings",
            "Kendall's τ-b between the ranking and that of each resample. The dot is the median, the bar the "
            "middle half.",
            samples,
            "Kendall's τ-b",
            wiesenfarth("violin plot"),
        )
    for name in phase.boards:
        if (superiority := phase.board.superiority.get(name)) is not None:
            chances = zip(superiority.teams, superiority.probabilities, strict=True)
            by_pair = {
                (row, column): value
                for row, values in chances
                for column, value in zip(superiority.teams, values, strict=True)
            }
            ordered = [team.team for team, _ in phase.in_order_of(name) if team.team in superiority.teams]
            yield heatmap_chart(
                phase.identifier(name, "superiority"),
                f"Who is ahead in resamples: {words_of(name)}",
                "The share of the resamples in which the team of the row is ahead of that of the column; "
                "ties count half.",
                [
                    HeatmapCell(row, column, by_pair[row, column], f"{by_pair[row, column]:.2f}")
                    for row in ordered
                    for column in ordered
                    if row != column
                ],
                Axes("behind", "share of the resamples", (0, 1)),
                columns=ordered,
            )


def _variations(phase: ReportedPhase) -> Iterator[Chart]:
    for name in phase.boards:
        inforce = {team.team: board.place for team, board in phase.in_order_of(name) if board.place}
        for kind, title in _KINDS.items():
            found = {
                _change(phase, one): one.places
                for one in phase.board.robustness
                if one.board == name and one.kind == kind and one.places
            }
            if found and inforce:
                yield place_lines_chart(
                    phase.identifier(name, kind, "places"),
                    f"Robustness, {title}: {words_of(name)}",
                    "The places of the teams by the scheme in force, on the left, and by others.",
                    {IN_FORCE: inforce, **found},
                    phase.marks,
                    wiesenfarth("line plot") if kind == "method" else "",
                )


def _table(phase: ReportedPhase) -> Table:
    rows = tuple(
        (words_of(one.board), _KINDS[one.kind], _change(phase, one), one.tau_b)
        for one in phase.board.robustness
    )
    columns = columns_of("leaderboard", "kind", "change", ("Kendall's τ-b", 3))
    note = "Agreement of the places with those of the scheme in force."
    return Table(phase.identifier("robustness"), "Other schemes", columns, rows, note)


def _change(phase: ReportedPhase, variation: Variation) -> str:
    """Return the description of a change, with the titles of metrics in place of their names."""
    text = variation.change
    for name in sorted(phase.board.metrics, key=len, reverse=True):
        text = text.replace(name, phase.title_of(name))
    return text


# --- The section of significance: maps of the tests between all pairs of teams ---


def significance_section(phase: ReportedPhase) -> Section | None:
    """Return the section of the tests; None without any."""
    blocks: list[Block] = [Figure(chart) for chart in _significance_maps(phase)]
    return phase.section("significance", "Significance", [*blocks, *_unranked(phase)])


def methods_of(pairs: tuple[Comparison, ...]) -> str:
    """Return the names of the tests of pairs as text."""
    return listed(sorted({pair.method for pair in pairs}))


def _significance_maps(phase: ReportedPhase) -> Iterator[Chart]:
    for name, metric in phase.ranked_metrics.items():
        if not metric.comparisons or not metric.comparisons.pairs:
            continue
        pairs = metric.comparisons.pairs
        named = {team for pair in pairs for team in (pair.first, pair.second)}
        yield significance_chart(
            phase.identifier(name, "significance"),
            f"Significance: {phase.title_of(name)}",
            f"Test: {methods_of(pairs)}, two-sided, 5 % after Holm's correction for all pairs of the metric.",
            [TestedPair(one.first, one.second, _verdict(one), one.difference, one.p_holm) for one in pairs],
            [team.team for team in phase.by_value(name) if team.team in named],
            wiesenfarth("significance map"),
        )


def _unranked(phase: ReportedPhase) -> Iterator[Table]:
    """Yield the table of the tests of teams without a place, if there are any."""
    rows = tuple(
        (phase.title_of(name), one.first, one.second, one.difference, one.method, one.p_value, one.p_holm)
        for name, metric in phase.board.metrics.items()
        for one in metric.unranked
    )
    if rows:
        tested = (("difference", 4), "test", ("p", 4), ("p after Holm", 4))
        columns = columns_of("metric", "better", "worse", *tested)
        note = "Corrected for the tests of the same team without a place; other tests are not affected."
        yield Table(phase.identifier("unranked"), "Tests of teams without a place", columns, rows, note)


def _verdict(pair: Comparison) -> Verdict:
    if pair.significant is None:
        return "not tested"
    if not pair.significant or pair.favours is None:
        return "no significant difference"
    return "row is better" if pair.favours == pair.first else "column is better"
