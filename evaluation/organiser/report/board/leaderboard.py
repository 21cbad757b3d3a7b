"""The sections of the page of a leaderboard."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from evaluation.charts.chart import marks_of
from evaluation.core.fault import counted
from evaluation.organiser.output import p_text
from evaluation.organiser.ranking.leaderboard_file import (
    BoardOfTeam,
    Leaderboard,
    MetricOfPhase,
    OrganiserPart,
    Team,
)
from evaluation.organiser.ranking.stability import PlaceDistribution
from evaluation.organiser.report.board import metrics, rankings
from evaluation.organiser.report.board.cases import case_tables
from evaluation.organiser.report.board.methods import methods_paragraphs
from evaluation.organiser.report.board.reading import ReportedPhase, are_first, size_in_words
from evaluation.organiser.report.page import Page, Section, Text, figure_in_words, listed

BANNER = "Holds figures of single cases, which reveal labels: for the organisers of the challenge alone."


def reported_phases(board: Leaderboard, parts: Sequence[OrganiserPart]) -> list[ReportedPhase]:
    """Return the phases of a leaderboard with the organiser's files of each, in their order."""
    marks = marks_of(team.team for phase in board.phases for team in phase.teams)
    return [ReportedPhase(phase, part, marks) for phase, part in zip(board.phases, parts, strict=True)]


def leaderboard_page(
    board: Leaderboard,
    parts: Sequence[OrganiserPart],
    data: Section | None = None,
    pictures: Mapping[str, Section] = MappingProxyType({}),
    title: str | None = None,
) -> Page:
    """Return the report of a leaderboard.

    ``parts``: the organiser's results of each phase, in their order; ``data``: a section on their data;
    ``pictures``: the section of pictures, by the digest of its phase; ``title``: of the phase, by default
    that of the challenge.
    """
    phases = reported_phases(board, parts)
    marks = phases[0].marks if phases else {}
    across = tuple(rankings.across_blocks(board.across, "phases"))
    changes = tuple(rankings.generalisation_blocks(board, phases))
    sections = [
        Section("final", "Final ranking", tuple(rankings.final_blocks(board, marks))),
        Section("across-phases", "Across phases", across, 0),
        Section("generalisation", "Generalisation", changes, 0),
    ]
    for phase in phases:
        consensus = rankings.across_blocks(phase.board.across, "tasks", phase.board.role)
        sections += (
            phase.section("ranking", "Ranking", rankings.ranking_blocks(phase), 1),
            metrics.metrics_section(phase),
            phase.section("times", "Accuracy and time", metrics.time_charts(phase), 1),
            phase.section("stability", "Stability", rankings.stability_blocks(phase)),
            phase.section("significance", "Significance", rankings.significance_blocks(phase)),
            phase.section("curves", "Curves", metrics.curve_blocks(phase), 1),
            phase.section("cases", "Cases", case_tables(phase)),
            *(section for digest, section in pictures.items() if digest == phase.board.manifest),
            phase.section("subgroups", "Subgroups", metrics.subgroup_blocks(phase)),
            phase.section("across-tasks", "Across tasks", consensus),
            phase.section("methods", "Methods", [Text(methods_paragraphs(phase))]),
        )
    sections += [] if data is None else [data]
    sections += [Section("notices", "Notices", (Text(board.notices),), 0)] if board.notices else []
    secret = data is not None or bool(pictures) or any(part != OrganiserPart() for part in parts)
    challenges = {phase.challenge or phase.board.phase for phase in phases}
    return Page(
        title=f"Leaderboard of {title or listed(sorted(challenges))}",
        subtitle="; ".join(map(_in_words, phases)),
        banner=BANNER if secret else "",
        answer=tuple(_answer(board, phases)),
        sections=tuple(sections),
    )


def _answer(board: Leaderboard, phases: Sequence[ReportedPhase]) -> Iterator[str]:
    """Yield who is first and who cannot be told from the first, of the final ranking and of each phase.

    Where the places of a phase were not resampled: why.
    """
    if first := [team.team for team in board.final or () if team.place == 1]:
        yield f"Over all phases, {listed(first)} {are_first(first)}."
    for phase in phases:
        prefix = f"{phase.board.role}: " if phase.board.role and len(phases) > 1 else ""
        yield from _of_board(phase, phase.boards[0], prefix)
        yield from _not_resampled(phase, prefix)


def _of_board(phase: ReportedPhase, name: str, prefix: str) -> Iterator[str]:
    """Yield a sentence on who is first in a board, and who cannot be told apart from it."""
    placed = phase.in_order_of(name)
    first = [team.team for team, one in placed if one.place == 1]
    if not first:
        return
    if len(placed) == 1:
        yield f"{prefix}{first[0]} is the only team with a place."
        return
    told = f"{prefix}{listed(first)} {are_first(first)} of {len(placed)} teams"
    distribution = placed[0][1].distribution
    if len(first) == 1 and distribution:
        told += f"; it is first in {_often(distribution)} of these cases"
    yield f"{told}."
    yield from _by_how_much(phase, name, placed[0][0], placed[1][0])
    if len(first) == 1:
        yield from _not_told_apart(phase, placed)


def _by_how_much(phase: ReportedPhase, board: str, first: Team, second: Team) -> Iterator[str]:
    """Yield the first metric of a board by the two best teams, their difference, and its p-value."""
    terms: dict[str, Any] = {one["name"]: one["terms"][0] for one in phase.board.scheme["boards"]}
    while (name := terms[board].get("rank")) is None:
        board = terms[board].get("place") or terms[board]["score"]
    if name not in first.metrics.keys() & second.metrics.keys():
        return
    metric, values = phase.board.metrics[name], [team.metrics[name] for team in (first, second)]
    told = (
        f"{team.team} has {figure_in_words(one.value, (one.figure.lower, one.figure.upper))}"
        for team, one in zip((first, second), values, strict=True)
    )
    yield f"In {phase.title_of(name)}, {listed(list(told))}{_tested(metric, first.team, second.team)}."


def _tested(metric: MetricOfPhase, first: str, second: str) -> str:
    """Return the difference of two teams with interval and corrected p, empty where they were not tested."""
    for pair in metric.comparisons.pairs if metric.comparisons else ():
        if {pair.first, pair.second} == {first, second} and pair.p_holm is not None:
            return f"; they differ by {size_in_words(pair)}, p {p_text(pair.p_holm)}, corrected"
    return ""


def _often(distribution: PlaceDistribution) -> str:
    share = distribution.probabilities.get(1, 0.0)
    return "nearly all resamples" if share > 0.995 else f"{100 * share:.0f} of 100 resamples"


_AT_TIMES = 0.025
"""The share of resamples in which a team is first, from which it cannot be told apart from the first."""


def _not_told_apart(phase: ReportedPhase, placed: Sequence[tuple[Team, BoardOfTeam]]) -> Iterator[str]:
    """Yield which teams are first at times, too."""
    (first, _), *others = placed
    near = [
        team.team
        for team, one in others
        if one.distribution and one.distribution.probabilities.get(1, 0.0) >= _AT_TIMES
    ]
    cases = "these cases" if phase.board.cases is None else f"these {phase.names.cases(phase.board.cases)}"
    if near:
        yield f"{_counted(near)} cannot be told apart from {first.team} by {cases}."


def _not_resampled(phase: ReportedPhase, prefix: str) -> Iterator[str]:
    """Yield why it is not known how sure the places of several teams are, if a metric gives a reason."""
    placed = phase.in_order_of(phase.boards[0])
    reasons = {name: one.no_intervals for name, one in phase.ranked_metrics.items() if one.no_intervals}
    if len(placed) < 2 or any(one.distribution for _, one in placed) or not reasons:
        return
    # A reason that most of them share stands for all.
    reason = max(reasons.values(), key=list(reasons.values()).count)
    example = next(name for name, one in reasons.items() if one == reason)
    yield (
        f"{prefix}How sure these places are cannot be told: {len(reasons)} of the "
        f"{len(phase.ranked_metrics)} metrics behind them rest on too little, such as "
        f"“{phase.title_of(example)}” ({reason})."
    )


def _counted(teams: Sequence[str]) -> str:
    return listed(teams) if len(teams) <= 6 else f"{listed(teams[:3])} and {len(teams) - 3} more"


def _in_words(phase: ReportedPhase) -> str:
    board = phase.board
    role = f" ({board.role})" if board.role else ""
    cases = "" if board.cases is None else f", {phase.names.cases(board.cases)}"
    return f"{board.phase}{role}: {counted(len(board.teams), 'team')}{cases}"
