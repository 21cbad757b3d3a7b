"""The section of pictures: the hardest cases in the reference and by the best teams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluation.core.challenge import Task
from evaluation.core.fault import PhaseError
from evaluation.phase.phase import Phase
from evaluation.report.board.metrics_section import complete_values
from evaluation.report.board.reported_phase import ReportedPhase
from evaluation.report.case_pictures import CaseImage, is_shown
from evaluation.report.page import Block, Gallery, Picture, Section
from evaluation.report.papers import followed
from evaluation.report.pictures import LEGENDS

MOST_TEAMS = 3
_CASES_OF_A_TASK = 3
_MOST_TASKS = 4
REFERENCE = "Reference"
_EXTENSIONS = ("", ".zip", ".csv")


@dataclass(frozen=True)
class Shown:
    """Pictures of the reference or of a team's submission, by case and task."""

    name: str
    pictures: Mapping[str, Mapping[str, CaseImage]]


@dataclass(frozen=True)
class PhasePictures:
    """The pictures of a phase; ``shown`` has the reference first, then the teams from the best one on."""

    tasks: tuple[Task, ...]
    hardest: Mapping[str, tuple[str, ...]]
    shown: tuple[Shown, ...]


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
            teams, cases, values = complete_values(reported, name)
            if name.startswith(f"{task.name}.") and teams and cases:
                sign = 1 if reported.board.metrics[name].better == "higher" else -1
                order = np.argsort(sign * values.mean(axis=0), kind="stable")
                found[task.name] = tuple(cases[i] for i in order[:_CASES_OF_A_TASK].tolist())
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
    if missing:
        raise PhaseError(*missing)
    return found


def phase_of(reported: Sequence[ReportedPhase], phases: Sequence[Phase]) -> tuple[ReportedPhase, Phase]:
    """Return the first phase of a leaderboard that is among the sealed phases. Raises `PhaseError`."""
    for one in reported:
        for phase in phases:
            if phase.manifest.digest == one.board.manifest:
                return one, phase
    expected = ", ".join(f"{one.board.phase} ({one.board.manifest[:12]}…)" for one in reported)
    raise PhaseError(f"--ground-truth: expected a phase of the leaderboard, {expected}, for the pictures")


def pictures_section(reported: ReportedPhase, pictures: PhasePictures | None) -> Section | None:
    """Return the section; None without any picture."""
    if pictures is None:
        return None
    return reported.section("pictures", "Pictures of the hardest cases", _galleries(reported, pictures))


def _galleries(reported: ReportedPhase, pictures: PhasePictures) -> Iterator[Block]:
    titles = {task.name: task.title for task in pictures.tasks}
    for task, cases in pictures.hardest.items():
        source = followed(reported.board.challenge, f"pictures of {task}")
        for case in cases:
            found = {
                one.name: one.pictures[case][task]
                for one in pictures.shown
                if task in one.pictures.get(case, {})
            }
            if not found:
                continue
            kind = next(reversed(found.values())).kind
            images = tuple(_picture(case, titles[task], name, image) for name, image in found.items())
            follows = f"Follows {source}." if source else ""
            yield Gallery(f"{titles[task]}: {case}", images, LEGENDS[kind], follows)


def _picture(case: str, title: str, name: str, image: CaseImage) -> Picture:
    panels = f" From left to right: {', '.join(image.panels)}." if image.panels else ""
    return Picture(case, image.source, f"{name}.{panels}", f"{title}, case {case}, {name}.{panels}")
