"""Reports from results and files, for the command and the library.

Submissions are read in a separate process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from evaluation.core.fault import PhaseError
from evaluation.isolated import run_isolated
from evaluation.organiser.describe import describe
from evaluation.phase.phase import Phase
from evaluation.platform import machine
from evaluation.ranking.leaderboard_file import Leaderboard, OrganiserPart
from evaluation.report.board.data_section import data_section
from evaluation.report.board.leaderboard import leaderboard_page, reported_phases
from evaluation.report.board.pictures_section import (
    REFERENCE,
    PhasePictures,
    Shown,
    hardest_cases,
    phase_of,
    submissions_of,
)
from evaluation.report.case_images import CaseValues, Request
from evaluation.report.page import Page
from evaluation.report.pictures import chosen_cases, classified_cases
from evaluation.report.results import SubmissionResults
from evaluation.report.submission import organiser_page


def submission_page(
    results: SubmissionResults, submission: Path | None, images: Path | None, workers: int | None
) -> Page:
    """Return the organiser's report; without the submission itself, nothing is read of its files.

    Raises `PhaseError` where the submission or an image cannot be read.
    """
    chosen = {**chosen_cases(results), **({} if images is None else classified_cases(results))}
    if submission is None or not chosen:
        return organiser_page(results)
    request = Request(
        str(results.phase.folder),
        str(submission),
        {task: tuple(cases) for task, cases in chosen.items()},
        None if images is None else str(images),
        machine.worker_count(workers),
    )
    return organiser_page(results, _read(request), chosen)


def board_page(
    board: Leaderboard,
    parts: Sequence[OrganiserPart],
    phases: Sequence[Phase] = (),
    submissions: Path | None = None,
    images: Path | None = None,
    workers: int | None = None,
) -> Page:
    """Return the report of a leaderboard, with a section on the data of ``phases``, if there are any.

    ``submissions``: the folder of the teams' submissions, ``images``: of the original images, for pictures of
    the hardest cases of the first phase of the leaderboard that is among ``phases``. Raises `PhaseError`.
    """
    data = data_section(describe(list(phases))) if phases else None
    pictures: Mapping[str, PhasePictures] = {}
    if submissions is not None or images is not None:
        if not phases:
            raise PhaseError("--submissions, --images: expected --ground-truth PHASE too, found none")
        reported, phase = phase_of(reported_phases(board, parts), phases)
        hardest = hardest_cases(reported, phase.tasks)
        of_teams = {} if submissions is None else submissions_of(reported, submissions)
        places = {REFERENCE: None, **of_teams}
        shown = []
        for name, place in places.items():
            request = Request(
                str(phase.folder),
                None if place is None else str(place),
                hardest,
                None if images is None else str(images),
                machine.worker_count(workers),
                only_pictures=True,
            )
            shown.append(Shown(name, {value.name: value.pictures for value in _read(request)}))
        pictures = {phase.manifest.digest: PhasePictures(phase.tasks, hardest, tuple(shown))}
    return leaderboard_page(board, parts, data, pictures)


def _read(request: Request) -> Sequence[CaseValues]:
    found: Sequence[CaseValues] = run_isolated(
        "evaluation.report.case_images:read_cases", {"request": request}
    )
    return found
