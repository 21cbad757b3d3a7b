"""The sections of the page of a leaderboard."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count

from evaluation.charts.chart import Chart, marks_of
from evaluation.organiser.annotators.ensemble import EnsembleGain
from evaluation.organiser.ranking.certainty import Superiority
from evaluation.organiser.ranking.leaderboard_file import Leaderboard, OrganiserPart
from evaluation.organiser.report.board import metrics, rankings
from evaluation.organiser.report.board.cases import PhasePictures, cases_section, pictures_section
from evaluation.organiser.report.board.methods import methods_paragraphs
from evaluation.organiser.report.board.reading import ReportedPhase
from evaluation.organiser.report.page import Page, Section, Table, Text, listed, percent

BANNER = "Holds figures of single cases, which reveal labels: for the organisers of the challenge alone."


def reported_phases(board: Leaderboard, parts: Sequence[OrganiserPart]) -> list[ReportedPhase]:
    """Return the phases of a leaderboard with the organiser's files of each, in their order."""
    marks = marks_of(team.team for phase in board.phases for team in phase.teams)
    return [ReportedPhase(phase, part, marks) for phase, part in zip(board.phases, parts, strict=True)]


def leaderboard_page(
    board: Leaderboard,
    parts: Sequence[OrganiserPart],
    data: Section | None = None,
    pictures: Mapping[str, PhasePictures] | None = None,
    gains: Mapping[str, EnsembleGain] | None = None,
    title: str | None = None,
) -> Page:
    """Return the report of a leaderboard.

    ``parts``: the organiser's results of each phase, in their order; ``data``: a section on their data;
    ``pictures``: drawn from submissions, by the digest of their phase; ``gains``: of ensembles, by name;
    ``title``: of the phase, by default that of the challenge.
    """
    phases = reported_phases(board, parts)
    marks = phases[0].marks if phases else {}
    sections: list[Section | None] = [
        rankings.final_section(board, marks),
        rankings.across_section(board.across, "phases"),
    ]
    sections.append(rankings.generalisation_section(board, phases))
    for phase in phases:
        sections += (
            rankings.ranking_section(phase),
            metrics.metrics_section(phase),
            metrics.times_section(phase),
            rankings.stability_section(phase),
            rankings.significance_section(phase),
            metrics.curves_section(phase),
            cases_section(phase),
            pictures_section(phase, (pictures or {}).get(phase.board.manifest)),
            metrics.subgroups_section(phase),
            rankings.across_section(phase.board.across, "tasks", phase.board.role),
            phase.section("methods", "Methods", [Text(methods_paragraphs(phase))]),
        )
    sections += [metrics.ensembles_section(phases, gains) if gains else None, data]
    found = [section for section in sections if section]
    if board.notices:
        found.append(Section("notices", "Notices", (Text(board.notices),)))
    secret = data is not None or bool(pictures or gains) or any(part != OrganiserPart() for part in parts)
    challenges = {phase.challenge or phase.board.phase for phase in phases}
    return Page(
        title=f"Leaderboard of {title or listed(sorted(challenges))}",
        subtitle=listed([phase.phase for phase in board.phases]),
        banner=BANNER if secret else "",
        facts=tuple(_facts(phases)),
        answer=tuple(_answer(board, phases)),
        sections=tuple(_with_unique_names(found)),
    )


def _answer(board: Leaderboard, phases: Sequence[ReportedPhase]) -> Iterator[str]:
    """Yield who is first and who cannot be told from the first, of the final ranking and of each phase."""
    if first := [team.team for team in board.final or () if team.place == 1]:
        yield f"Over all phases, {listed(first)} {_is_first(first)}."
    for phase in phases:
        name = phase.boards[0]
        placed = phase.in_order_of(name)
        first = [team.team for team, one in placed if one.place == 1]
        if not first:
            continue
        prefix = f"{phase.board.role}: " if phase.board.role and len(phases) > 1 else ""
        shares = [
            one.distribution.probabilities.get(1, 0.0)
            for _, one in placed
            if one.place == 1
            if one.distribution
        ]
        if len(placed) == 1:
            yield f"{prefix}{first[0]} is the only team with a place."
            continue
        often = f" in {percent(shares[0])} of the resamples" if len(first) == len(shares) == 1 else ""
        yield f"{prefix}{listed(first)} {_is_first(first)}{often}, of {len(placed)} teams."
        if len(first) == 1 and (found := phase.board.superiority.get(name)):
            yield from _told_apart(first[0], [team.team for team, _ in placed], found)


def _is_first(teams: Sequence[str]) -> str:
    return "is first" if len(teams) == 1 else "share the first place"


_CLEARLY = 0.975
"""The share of resamples from which a team is called worse: both ends outside leave 95 %."""


def _told_apart(first: str, ordered: Sequence[str], found: Superiority) -> Iterator[str]:
    ahead = dict(zip(found.teams, found.probabilities[found.teams.index(first)], strict=True))
    near = [team for team in ordered if team != first and ahead.get(team, 1.0) < _CLEARLY]
    behind = [team for team in ordered if team != first and ahead.get(team, 0.0) >= _CLEARLY]
    if near:
        yield f"{listed([first, *near])} cannot be told apart by these cases."
    if behind:
        others = listed(behind) if len(behind) <= 6 else f"The other {len(behind)} teams"
        verb = "is" if len(behind) == 1 else "are"
        yield f"{others} {verb} worse than {first} in at least {percent(_CLEARLY, 1)} of the resamples."


def _facts(phases: Sequence[ReportedPhase]) -> Iterator[tuple[str, str]]:
    for phase in phases:
        board = phase.board
        label = f"Phase {board.role}" if board.role else "Phase"
        cases = "" if board.cases is None else f", {board.cases} cases"
        yield label, f"{board.phase}: {len(board.teams)} teams{cases}"


def _with_unique_names(sections: Iterable[Section]) -> Iterator[Section]:
    """Yield sections with unique names of figures, tables and sections; repeated names get a number."""
    used = set[tuple[type, str]]()

    def free(kind: type, name: str) -> str:
        names = (name if number == 1 else f"{name}-{number}" for number in count(1))
        found = next(one for one in names if (kind, one) not in used)
        used.add((kind, found))
        return found

    for section in sections:
        blocks = [
            replace(block, name=free(Chart if isinstance(block, Chart) else Table, block.name))
            if isinstance(block, Chart | Table)
            else block
            for block in section.blocks
        ]
        yield replace(section, name=free(Section, section.name), blocks=tuple(blocks))
