"""The reports as a library: pages of a submission and of a leaderboard, from any program.

Nothing is printed; submissions are read in a separate process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import fspath
from pathlib import Path
from typing import Any

from evaluation.charts.chart import complete
from evaluation.core.fault import PhaseError
from evaluation.io.atomic_file import write_atomically
from evaluation.library import AnyPath, evaluate
from evaluation.phase.named import named_phase, phase_folder
from evaluation.phase.phase import load_phase
from evaluation.report.figure_files import WIDTH, write_figures
from evaluation.report.page import Page
from evaluation.report.render import render_page
from evaluation.report.reports.making import board_page, submission_page
from evaluation.report.reports.ranked import leaderboard_in
from evaluation.report.results import read_results, results_of
from evaluation.report.submission import public_page
from evaluation.results import Evaluation


@dataclass(frozen=True)
class Report:
    """A report that was made: its page, with all figures and tables."""

    page: Page

    def to_html(self) -> str:
        """Return the page as one HTML file without any outside reference."""
        return render_page(self.page)

    def charts(self) -> dict[str, dict[str, Any]]:
        """Return the figures by name, each a Vega-Lite v5 object with its data."""
        return {chart.name: complete(chart, width=WIDTH) for chart in self.page.charts()}

    def write(self, path: AnyPath) -> Path:
        """Write the HTML file and return its path. Raises `OSError`."""
        target = Path(path)
        write_atomically(target, self.to_html().encode())
        return target

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
        found = read_results(loaded, Path(results))
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
    board, parts = leaderboard_in(Path(results))
    phases = [named_phase(fspath(name)) for name in ground_truth]
    return Report(board_page(board, parts, phases, _path(submissions), _path(images), workers))


def _path(path: AnyPath | None) -> Path | None:
    return None if path is None else Path(path)
