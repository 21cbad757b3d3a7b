"""Sections of single cases: how hard each is, and pictures of the hardest ones."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from evaluation.core.challenge import Task
from evaluation.core.fault import PhaseError
from evaluation.organiser.report import page
from evaluation.organiser.report.board.reading import ReportedPhase
from evaluation.organiser.report.case_images import CaseReading, is_shown
from evaluation.organiser.report.case_views import ViewedCase, Viewer
from evaluation.organiser.report.pictures import LEGENDS, fields_left_out, known_or_none
from evaluation.phase.phase import Phase

# --- The section of single cases: a table of how hard each is ---

_MOST_MAIN = 6


def case_tables(phase: ReportedPhase) -> Iterator[page.SortableCaseTable]:
    """Yield the table of single cases."""
    difficulties: dict[str, dict[str, float]] = {}
    for one in phase.organiser.difficulties:
        title = f"{phase.title_of(one.metric)}: {one.measure}"
        difficulties.setdefault(title, {})[one.case] = one.value
    cases = sorted({case for of_cases in difficulties.values() for case in of_cases})
    if not cases:
        return
    measures = difficulties.values()
    rows = ((case, *(one.get(case) for one in measures)) for case in cases)
    measured = (page.Column(title, 4, is_main=place < _MOST_MAIN) for place, title in enumerate(difficulties))
    columns: list[page.Title] = ["case", *measured]
    note = "Difficulty is the mean over the ranked teams."
    yield page.SortableCaseTable.of(phase.identifier("cases"), "All cases", columns, rows, note)


# --- The section of pictures: the hardest cases in the reference and by the best teams ---

MOST_TEAMS = 3
_CASES_OF_A_TASK = 3
_MOST_TASKS = 4
REFERENCE = "Reference"
_EXTENSIONS = ("", ".zip", ".csv")
Readings = Mapping[str, Mapping[str, CaseReading]]
"""By submission and case: of the reference first, then of the teams from the best one on."""


def hardest_cases(reported: ReportedPhase, tasks: Sequence[Task]) -> dict[str, tuple[str, ...]]:
    """Return the cases with the worst mean over the teams of each task, at most three of four tasks.

    By the first metric with a value for each case, preferably one in the ranking; a task without any is left
    out.
    """
    found: dict[str, tuple[str, ...]] = {}
    for task in tasks:
        if len(found) == _MOST_TASKS or not any(is_shown(field) for field in task.fields):
            continue
        for name in dict.fromkeys((*reported.ranked_metrics, *reported.board.metrics)):
            if name.startswith(f"{task.name}.") and (cases := reported.hardest(name, _CASES_OF_A_TASK)):
                found[task.name] = tuple(cases)
                break
    return found


def submissions_of(reported: ReportedPhase, folder: Path) -> dict[str, Path]:
    """Return the submissions of the best teams by team, the best one first.

    A submission is a folder, a zip archive or a csv file with the name of the team; several submissions of a
    team lie in a folder with its name. Raises `PhaseError` where a file is missing.
    """
    found, missing = {}, []
    for team, _ in reported.in_order_of(reported.boards[0])[:MOST_TEAMS]:
        base = folder / team.team / team.submission if team.submission else folder / team.team
        places = [base.with_name(f"{base.name}{extension}") for extension in _EXTENSIONS]
        if path := next((place for place in places if place.exists()), None):
            found[team.team] = path
        else:
            missing.append(f"{base}: expected the submission of team {team.team}, found none")
    PhaseError.raise_all(missing)
    return found


def phase_of(reported: Sequence[ReportedPhase], phases: Sequence[Phase]) -> tuple[ReportedPhase, Phase]:
    """Return the first phase of a leaderboard that is among the sealed phases. Raises `PhaseError`."""
    for one in reported:
        for phase in phases:
            if phase.manifest.digest == one.board.manifest:
                return one, phase
    expected = ", ".join(f"{one.board.phase} ({one.board.manifest[:12]}…)" for one in reported)
    raise PhaseError(f"--ground-truth: expected a phase of the leaderboard, {expected}, for the pictures")


def pictures_section(
    reported: ReportedPhase, tasks: Sequence[Task], hardest: Mapping[str, tuple[str, ...]], readings: Readings
) -> page.Section:
    """Return the section, with the fields that no picture shows.

    ``hardest``: the cases that are shown, by task.
    """
    shown = (*_galleries(reported, tasks, hardest, readings), *_viewer(reported, tasks, readings))
    blocks = [*shown, *fields_left_out(tasks)]
    return reported.section("pictures", "Pictures of the hardest cases", blocks)


def _viewer(reported: ReportedPhase, tasks: Sequence[Task], readings: Readings) -> Iterator[Viewer]:
    """Yield the viewer of all cases, the best teams side by side."""
    teams = {name: of_cases for name, of_cases in readings.items() if name != REFERENCE}
    cases = []
    for task in tasks:
        of_task = [name for name in reported.ranked_metrics if name.startswith(f"{task.name}.")]
        given = {reported.title_of(name): reported.organiser.values.get(name) for name in of_task}
        columns = {
            title: {team: dict(zip(of.cases, values, strict=True)) for team, values in of.teams.items()}
            for title, of in given.items()
            if of
        }
        for case in dict.fromkeys(chain(*teams.values())):
            of_teams = (of_cases.get(case) for of_cases in teams.values())
            views = tuple(one.views.get(task.name) if one else None for one in of_teams)
            if any(views):
                values = {
                    title: tuple(known_or_none(of.get(team, {}).get(case)) for team in teams)
                    for title, of in columns.items()
                }
                cases.append(ViewedCase(case, task.title, views, values))
    if cases:
        yield Viewer(tuple(teams), tuple(cases))


def _galleries(
    reported: ReportedPhase, tasks: Sequence[Task], hardest: Mapping[str, tuple[str, ...]], readings: Readings
) -> Iterator[page.Block]:
    titles = {task.name: task.title for task in tasks}
    for task, cases in hardest.items():
        for case in cases:
            found = {
                name: one.pictures[task]
                for name, of_cases in readings.items()
                if (one := of_cases.get(case)) and task in one.pictures
            }
            if not found:
                continue
            told = {name: f"{name}.{image.shows(reported.words)}" for name, image in found.items()}
            images = tuple(
                page.Picture(case, image.source, told[name], f"{titles[task]}, case {case}, {told[name]}")
                for name, image in found.items()
            )
            kind = next(reversed(found.values())).kind
            yield page.Gallery(f"{titles[task]}: {case}", images, LEGENDS[kind])
