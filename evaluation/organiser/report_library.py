"""The reports as a library: pages of a submission and of a leaderboard, from any program.

Nothing is printed; submissions are read in a separate process.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from os import fspath
from pathlib import Path
from typing import Any
from urllib.parse import quote

from evaluation.charts.chart import complete
from evaluation.core.challenge import fields_of
from evaluation.core.fault import PhaseError
from evaluation.io.files import write_atomically
from evaluation.isolated import run_isolated
from evaluation.library import AnyPath, Evaluation, evaluate
from evaluation.organiser.describe import describe
from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.leaderboard import rank_paths, write_ranked
from evaluation.organiser.ranking.leaderboard_file import Leaderboard, OrganiserPart
from evaluation.organiser.report.board import cases
from evaluation.organiser.report.board.leaderboard import leaderboard_page, reported_phases
from evaluation.organiser.report.board.reading import LEADERBOARD_FILE, ReportedPhase, read_leaderboard
from evaluation.organiser.report.case_images import CaseReading, Request, is_read
from evaluation.organiser.report.data import data_section
from evaluation.organiser.report.page import WIDTH, Page, Section, render_page, write_figures
from evaluation.organiser.report.pictures import chosen_cases, classified_cases
from evaluation.organiser.report.results import SubmissionResults, read_submission_results, results_of
from evaluation.organiser.report.sentences import names_of
from evaluation.organiser.report.submission import organiser_page, public_page
from evaluation.phase.named import named_phase, phase_folder
from evaluation.phase.phase import Phase, load_phase
from evaluation.platform import machine

# --- Reports from results and files, for the command and the library ---


def submission_page(
    results: SubmissionResults, submission: Path | None, images: Path | None, workers: int | None
) -> Page:
    """Return the organiser's report; without the submission itself, nothing is read of its files.

    Raises `PhaseError` where the submission or an image cannot be read.
    """
    chosen = {**chosen_cases(results), **({} if images is None else classified_cases(results))}
    if submission is None or not (chosen or any(map(is_read, fields_of(results.tasks)))):
        return organiser_page(results)
    wanted = {task: tuple(cases) for task, cases in chosen.items()}
    number = machine.worker_count(workers)
    request = Request(results.phase.folder, submission, wanted, images, number)
    return organiser_page(results, _read(request), chosen)


def _pictures_of(
    reported: ReportedPhase,
    phase: Phase,
    submissions: Path | None,
    images: Path | None,
    workers: int | None,
) -> Section:
    """Return the section of the hardest cases of a phase, of the reference and by the best teams."""
    hardest = cases.hardest_cases(reported, phase.tasks)
    of_teams = {} if submissions is None else cases.submissions_of(reported, submissions)
    readings = {}
    for name, place in {cases.REFERENCE: None, **of_teams}.items():
        number = machine.worker_count(workers)
        request = Request(phase.folder, place, hardest, images, number, only_pictures=True)
        readings[name] = {one.name: one for one in _read(request)}
    return cases.pictures_section(reported, phase.tasks, hardest, readings)


def _read(request: Request) -> Sequence[CaseReading]:
    found: Sequence[CaseReading] = run_isolated(
        "evaluation.organiser.report.case_images:read_cases", {"request": request}
    )
    return found


# --- A leaderboard from its files, or from results that have not been ranked yet ---

_RESULTS = ("*/metrics.json", "*/*/metrics.json")


def leaderboard_in(folder: Path, phase: Path | None = None) -> tuple[Leaderboard, tuple[OrganiserPart, ...]]:
    """Return the leaderboard in a folder; if it has only results, they are ranked with `rank`'s defaults.

    The folder may be a file of evaluations that the platform exports. Raises `PhaseError` where there is
    neither.
    """
    is_ranked = (folder / LEADERBOARD_FILE).exists()
    if not folder.is_file() and (is_ranked or not any(found for of in _RESULTS for found in folder.glob(of))):
        return read_leaderboard(folder)
    ranked = rank_paths({"": [folder]}, "challenge", RankOptions(), phase)
    # Written and read, so that the page is the same as after `rank`.
    with tempfile.TemporaryDirectory() as written:
        write_ranked(ranked, Path(written))
        return read_leaderboard(Path(written))


@dataclass(frozen=True, repr=False)
class Report:
    """A report that was made: its page, with all figures and tables."""

    page: Page

    def __repr__(self) -> str:
        """Return the title and the number of figures."""
        return f"<Report: {self.page.title}, {len(self.charts())} figures>"

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, for notebooks."""
        return f'<iframe srcdoc="{escape(self.to_html())}" width="100%" height="800"></iframe>'

    def to_html(self) -> str:
        """Return the page as one HTML file without any outside reference."""
        return render_page(self.page)

    def charts(self) -> dict[str, dict[str, Any]]:
        """Return the figures by name, each a Vega-Lite v5 object with its data."""
        return {chart.name: complete(chart, width=WIDTH) for chart in self.page.charts()}

    def write(self, path: AnyPath) -> Path:
        """Write the HTML file and return its path. Raises `OSError`.

        The images of many cases are written into a folder beside it, named after it with "-images".
        """
        target = Path(path)
        folder = target.with_name(f"{target.stem}-images") if self.page.is_large else None
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
            for name, data in self.page.files().items():
                write_atomically(folder / name, data)
        write_atomically(target, render_page(self.page, quote(folder.name) if folder else None).encode())
        return target

    def write_tables(self, folder: AnyPath) -> list[Path]:
        """Write the further analyses of a submission as csv, and return the paths, none without any.

        Raises `OSError`.
        """
        files = self.page.tables
        for name, data in files.items():
            write_atomically(Path(folder) / name, data)
        return [Path(folder) / name for name in files]

    def write_figures(self, folder: AnyPath) -> list[Path]:
        """Write every figure as SVG, PDF, PNG, CSV and Vega-Lite, and return the paths. Raises `OSError`."""
        return write_figures(self.page.charts(), Path(folder))


def report_submission(
    phase: AnyPath,
    submission: AnyPath | None = None,
    *,
    results: Evaluation | AnyPath | None = None,
    images: AnyPath | None = None,
    public: bool = False,
    workers: int | None = None,
) -> Report:
    """Return the report of one submission.

    Parameters
    ----------
    phase
        As for `evaluate`.
    submission
        As for `evaluate`. None makes a report of ``results`` without pictures and sizes.
    results
        The results of `evaluate`, or a folder with `metrics.json` and `cases.json`. By default the submission
        is scored.
    images
        A folder of original images with the names of the cases, to be drawn below the pictures.
    public
        Leave out labels, everything that reveals them, and every single case.
    workers
        Number of worker processes, by default one per processor; 0 for none.

    Raises
    ------
    SubmissionRejected
        For a submission that is not scored, with all its faults.
    PhaseError
        Without submission and results, for a phase that cannot be used, and for results of another phase.
    """
    if submission is None and results is None:
        raise PhaseError("expected a submission or results, found none")
    folder = phase_folder(fspath(phase))
    loaded = load_phase(folder)
    if results is None and submission is not None:
        results = evaluate(folder, submission, workers=workers)
    if isinstance(results, Evaluation):
        found = results_of(loaded, results.to_dict(), results.records)
    else:
        assert results is not None
        found = read_submission_results(loaded, Path(results))
    if public:
        return Report(public_page(found))
    return Report(submission_page(found, _path(submission), _path(images), workers))


def report_leaderboard(
    results: AnyPath,
    *,
    ground_truth: Sequence[AnyPath] = (),
    submissions: AnyPath | None = None,
    images: AnyPath | None = None,
    workers: int | None = None,
) -> Report:
    """Return the report of a leaderboard.

    Parameters
    ----------
    results
        The folder that `rank --output` wrote, or the results of the teams, which are then ranked.
    ground_truth
        Sealed phases, as `evaluate` takes one: adds a section on their data.
    submissions
        A folder with a folder, zip archive or csv file for each team: adds pictures of the hardest cases by
        the three best teams, of the first phase of the leaderboard that is in ``ground_truth``.
    images
        A folder of original images with the names of the cases, to be drawn below these pictures.
    workers
        Number of worker processes that read submissions, by default one per processor; 0 for none.

    Raises
    ------
    PhaseError
        For files that are missing or not of this package, and pictures without their phase.
    """
    phases = [named_phase(fspath(name)) for name in ground_truth]
    board, parts = leaderboard_in(Path(results), phases[0].folder if phases else None)
    data = data_section(describe(phases), names_of(phases[0])) if phases else None
    pictures: Mapping[str, Section] = {}
    if submissions is not None or images is not None:
        if not phases:
            raise PhaseError("--submissions, --images: expected --ground-truth PHASE too, found none")
        reported, phase = cases.phase_of(reported_phases(board, parts), phases)
        found = _pictures_of(reported, phase, _path(submissions), _path(images), workers)
        pictures = {phase.manifest.digest: found}
    seals = {phase.manifest for phase in board.phases}
    titles = [phase.config.title for phase in phases if {phase.manifest.digest} == seals]
    return Report(leaderboard_page(board, parts, data, pictures, titles[0] if titles else None))


def _path(path: AnyPath | None) -> Path | None:
    return None if path is None else Path(path)
