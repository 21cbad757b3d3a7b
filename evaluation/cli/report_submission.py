"""`report submission`: one HTML file about one submission."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.cli.arguments import PHASE_HELP, add_workers
from evaluation.core.fault import PhaseError

if TYPE_CHECKING:
    from evaluation.report.page import Page
    from evaluation.report.results import SubmissionResults

SUMMARY = "Write the results of one submission as one HTML file, for the organiser."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--ground-truth", metavar="PHASE", required=True, help=f"{PHASE_HELP}; it must be sealed"
    )
    parser.add_argument(
        "--input", type=Path, metavar="SUBMISSION", help="a folder, a zip archive or a csv file"
    )
    parser.add_argument("--output", type=Path, required=True, metavar="FILE.html", help="where to write")
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FOLDER",
        help="metrics.json and cases.json of an earlier evaluation, which is then not repeated",
    )
    parser.add_argument(
        "--images",
        type=Path,
        metavar="FOLDER",
        help="original images, named as the cases, to be drawn below the overlays",
    )
    parser.add_argument(
        "--figures",
        type=Path,
        metavar="FOLDER",
        help="also write every figure there as SVG, PDF, PNG, CSV and Vega-Lite",
    )
    parser.add_argument(
        "--public", action="store_true", help="leave out labels, what tells of them, and every single case"
    )
    add_workers(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the report and return 0. Raises `PhaseError`, `OSError`."""
    from evaluation.library import evaluate
    from evaluation.phase.named import phase_folder
    from evaluation.phase.phase import load_phase
    from evaluation.platform.result_file import write_atomically
    from evaluation.report.figure_files import write_figures
    from evaluation.report.render import render_page
    from evaluation.report.results import read_results, results_of
    from evaluation.report.submission import public_page
    from evaluation.results import SubmissionRejected

    if arguments.input is None and arguments.results is None:
        raise PhaseError("--input or --results: one of them is required")
    folder = phase_folder(arguments.ground_truth)
    phase = load_phase(folder)
    if arguments.results is not None:
        results = read_results(phase, arguments.results)
    else:
        try:
            evaluated = evaluate(folder, arguments.input, workers=arguments.workers)
        except SubmissionRejected as rejected:
            raise PhaseError(*(str(fault) for fault in rejected.faults)) from None
        results = results_of(phase, evaluated.to_dict(), evaluated.records)
    page = public_page(results) if arguments.public else _organiser_page(results, arguments)
    write_atomically(arguments.output, render_page(page).encode())
    if arguments.figures is not None:
        write_figures(page.charts(), arguments.figures)
    sys.stdout.write(f"{arguments.output}\n")
    return 0


def _organiser_page(results: SubmissionResults, arguments: argparse.Namespace) -> Page:
    from evaluation.isolated import run_isolated
    from evaluation.platform import machine
    from evaluation.report.case_images import Request
    from evaluation.report.pictures import chosen_cases
    from evaluation.report.submission import organiser_page

    chosen = chosen_cases(results)
    if arguments.input is None or not chosen:
        return organiser_page(results)
    request = Request(
        str(results.phase.folder),
        str(arguments.input),
        {task: tuple(cases) for task, cases in chosen.items()},
        None if arguments.images is None else str(arguments.images),
        machine.worker_count(arguments.workers),
    )
    values = run_isolated("evaluation.report.case_images:read_cases", {"request": request})
    return organiser_page(results, values, chosen)
