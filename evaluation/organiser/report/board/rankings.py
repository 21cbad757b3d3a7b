"""Sections of rankings: places, consensus across phases, stability, significance."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from evaluation.charts.chart import Chart
from evaluation.organiser.ranking.comparisons import Comparison
from evaluation.organiser.ranking.leaderboard_file import BoardOfTeam, Leaderboard
from evaluation.organiser.ranking.robustness import Variation
from evaluation.organiser.ranking.stability import AcrossRankings, PlaceDistribution
from evaluation.organiser.report.board.reading import ReportedPhase
from evaluation.organiser.report.charts import matrices
from evaluation.organiser.report.charts import teams as team_charts
from evaluation.organiser.report.page import Block, Cell, Table, Title, identifier, listed
from evaluation.organiser.report.sentences import change_in_words
from evaluation.organiser.report.sources import NOTES

# --- The sections of the final ranking and of each phase: places with intervals, and tiers ---


def final_blocks(board: Leaderboard, marks: team_charts.TeamMarks) -> Iterator[Block]:
    """Yield the places over all phases, and how sure they are."""
    if not board.final:
        return
    roles = tuple(board.final[0].phases)
    rows = (
        (team.place, team.team, _interval_of(team.distribution), team.score, *map(team.phases.get, roles))
        for team in board.final
    )
    places = (f"place {role}" for role in roles)
    columns: list[Title] = ["place", "team", "95 % interval", ("score", 3), *places]
    note = "Phases are weighed as the scheme says; a lower score is better."
    yield Table.of("final", "All phases", columns, rows, note)
    if given := {team.team: team.distribution for team in board.final if team.distribution}:
        yield team_charts.blob_chart("final-blobs", "How sure the places are: all phases", given, marks)


def ranking_blocks(phase: ReportedPhase) -> Iterator[Block]:
    """Yield the tables of one phase's ranking."""
    tiers = (
        (phase.title_of(name), number, ", ".join(teams))
        for name, metric in phase.ranked_metrics.items()
        if metric.comparisons
        for number, teams in enumerate(metric.comparisons.tiers or (), start=1)
    )
    yield _ranking_table(phase)
    yield from _board_tables(phase)
    yield from phase.tables("tiers", tiers)


_INTERVAL = "95 % interval"


def _noted(table: Table, phase: ReportedPhase) -> Table:
    """Return a table of places with its note, and without the column of intervals where there is none."""
    found = table.without_empty(_INTERVAL)
    note = NOTES["resampled places" if len(found.columns) == len(table.columns) else "places"]
    return replace(found, note=note + phase.chosen_here)


def _ranking_table(phase: ReportedPhase) -> Table:
    """Return place, interval and score in the first board, and the places in the others, by team."""
    first, *others = phase.boards
    place, places = f"{phase.heading(first)}: place", map(phase.heading, others)
    columns: list[Title] = ["team", place, _INTERVAL, ("score", 3), *places]
    rows = []
    for team in phase.board.teams:
        board, *further = (team.boards.get(name, BoardOfTeam()) for name in phase.boards)
        rows.append((team.team, *_placed(board), *map(_place, further)))
    return _noted(Table.of(phase.identifier("ranking"), "Places and scores", columns, rows), phase)


def _board_tables(phase: ReportedPhase) -> Iterator[Table]:
    """Yield the table of places, intervals and scores in the boards after the first one."""
    rows = (
        (phase.heading(name), team.team, *_placed(board))
        for name in phase.boards[1:]
        for team in phase.board.teams
        if (board := team.boards.get(name))
    )
    return (_noted(table, phase) for table in phase.tables("boards", rows))


def _placed(board: BoardOfTeam) -> tuple[Cell, Cell, Cell]:
    return _place(board), _interval_of(board.distribution), board.score


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


# --- The section across tasks or phases: the consensus of the rankings ---


def across_blocks(across: AcrossRankings | None, what: str, role: str | None = None) -> Iterator[Block]:
    """Yield the consensus of several rankings; ``what`` names their subject: tasks or phases."""
    if across is not None:
        columns = "place", "team", "mean place"
        rows = ((team.place, team.team, team.mean_place) for team in across.teams)
        note = f"The teams with a place in all {what}, by their mean place."
        of = identifier(role or "", "consensus", what)
        yield Table.of(of, f"Consensus of the {what}", columns, rows, note)


# --- The section of generalisation: changes from phase to phase ---


def generalisation_blocks(board: Leaderboard, phases: Sequence[ReportedPhase]) -> Iterator[Block]:
    """Yield the changes between phases."""
    titles = {name: phase.title_of(name) for phase in phases for name in phase.board.metrics}
    if rows := [replace(one, metric=titles[one.metric]) for one in board.generalisation]:
        yield Table.declared("generalisation", rows)


# --- The section of stability: resampled places, Kendall's τ, and other ranking schemes ---

IN_FORCE = "scheme in force"
_KINDS = {
    "method": "other methods",
    "without metric": "without a metric",
    "subgroup": "subgroups of cases",
}


def stability_blocks(phase: ReportedPhase) -> Iterator[Block]:
    """Yield the places of resamples and under variations of the scheme."""
    rows = (
        (phase.heading(one.board), _KINDS[one.kind], _change(phase, one), one.tau_b)
        for one in phase.board.robustness
    )
    yield from _resampled(phase)
    yield from _variations(phase)
    yield from phase.tables("robustness", rows)


def _resampled(phase: ReportedPhase) -> Iterator[Block]:
    for name in phase.boards:
        placed = phase.in_order_of(name)
        places = {team.team: one.distribution for team, one in placed if one.distribution}
        if places:
            title = f"How sure the places are: {phase.heading(name)}"
            yield team_charts.blob_chart(phase.identifier(name, "blobs"), title, places, phase.marks)
    agreement = (
        (phase.heading(name), len(one.taus), one.median, one.lower, one.upper)
        for name in phase.boards
        if (one := phase.board.agreement.get(name)) and one.taus
    )
    yield from phase.tables("agreement-resamples", agreement)


def _variations(phase: ReportedPhase) -> Iterator[Chart]:
    """Yield the places of each board under other methods."""
    for name in phase.boards:
        inforce = {team.team: board.place for team, board in phase.in_order_of(name) if board.place}
        methods = (one for one in phase.board.robustness if (one.board, one.kind) == (name, "method"))
        given = [one for one in methods if one.places]
        taus = [-2.0 if one.tau_b is None else one.tau_b for one in given]
        agreeing = sorted(range(len(given)), key=taus.__getitem__)
        found = {_change(phase, given[at]): given[at].places for at in sorted(agreeing[:_MOST_SCHEMES])}
        few = f" Of {len(given)}, those that change most." if len(given) > _MOST_SCHEMES else ""
        if found and inforce:
            yield team_charts.place_lines_chart(
                phase.identifier(name, "method", "places"),
                f"{_who_stays_first(phase, name, given)} under other methods",
                f"The places of the teams by the scheme in force, on the left, and by others.{few}",
                {IN_FORCE: inforce, **found},
                phase.marks,
            )


def _who_stays_first(phase: ReportedPhase, board: str, given: Sequence[Variation]) -> str:
    """Return for a title whether the first of a board is first in all variations."""
    first = {team.team for team, one in phase.in_order_of(board) if one.place == 1}
    kept = sum(first == {team for team, place in one.places.items() if place == 1} for one in given)
    told = listed(sorted(first)) if len(first) <= _MOST_NAMED else f"{len(first)} teams"
    of_part = "" if board == phase.boards[0] else f" in {phase.words(board)}"
    stays = f"{told} {'stay' if len(first) > 1 else 'stays'} first{of_part}"
    return stays if kept == len(given) else f"{stays} in {kept} of {len(given)} rankings"


_MOST_NAMED = 3


_MOST_SCHEMES = 9
"""How many schemes beside the one in force fit the width of a page; the table has all."""


def _change(phase: ReportedPhase, variation: Variation) -> str:
    return change_in_words(
        variation, phase.names, {name: phase.title_of(name) for name in phase.board.metrics}
    )


# --- The section of significance: maps of the tests between all pairs of teams ---


def methods_of(pairs: tuple[Comparison, ...]) -> str:
    """Return the names of the tests of pairs as text."""
    return listed(sorted({pair.difference.method for pair in pairs}))


def significance_blocks(phase: ReportedPhase) -> Iterator[Block]:
    """Yield a map of the tests of each ranked metric, and the tests of teams without a place."""
    for name, metric in phase.ranked_metrics.items():
        if not metric.comparisons or not metric.comparisons.pairs:
            continue
        pairs = metric.comparisons.pairs
        named = {team for pair in pairs for team in (pair.first, pair.second)}
        teams = [team.team for team in phase.by_value(name) if team.team in named]
        decided = [pair.significant for pair in pairs if pair.significant is not None]
        told = f"{sum(decided)} of {len(decided)} pairs of teams differ beyond chance"
        title = f"{phase.title_of(name)}: {told if decided else 'no pair of teams was tested'}"
        figure = phase.identifier(name, "significance")
        test = f"Test: {methods_of(pairs)}, two-sided"
        told = f"{test}, 5 % after Holm's correction for all pairs of the metric."
        yield matrices.significance_chart(figure, title, told, pairs, teams)
    rows = (
        (phase.title_of(name), one.first, one.second, of.value, of.method, of.p_value, one.p_holm)
        for name, metric in phase.board.metrics.items()
        for one in metric.unranked
        for of in [one.difference]
    )
    yield from phase.tables("unranked", rows, phase.chosen_here)
