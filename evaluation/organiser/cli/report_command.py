"""`report`: self-contained HTML pages of submissions, leaderboards, changes and cyst benchmarks."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.cli.common import PHASE_HELP, add_workers
from evaluation.core.fault import PhaseError
from evaluation.organiser.cli.describe_command import add_features

if TYPE_CHECKING:
    from evaluation.organiser.report_library import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the kinds of reports and their arguments."""
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    for name, add, write, content in (
        ("submission", _add_submission, _write_submission, "the results of one submission as one HTML file"),
        (
            *("leaderboard", _add_leaderboard, _write_leaderboard),
            "a leaderboard as one HTML file with figures, tables and methods",
        ),
        ("changes", _add_changes, _write_changes, "what has changed since earlier results as one HTML file"),
        (
            *("benchmark", _add_benchmark, _write_benchmark),
            "what `fuse cysts` measured as one HTML file with figures and tables",
        ),
    ):
        summary = f"Write {content}, for the organiser."
        added = kinds.add_parser(name, help=summary, description=summary)
        add(added)
        added.set_defaults(write=write)


def run(arguments: argparse.Namespace) -> int:
    """Write the report. Raises `PhaseError`, and `ModuleNotFoundError` without the extra."""
    status: int = arguments.write(arguments)
    return status


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", type=Path, required=True, metavar="FILE.html", help="where to write")
    parser.add_argument(
        "--figures",
        type=Path,
        metavar="FOLDER",
        help="also write every figure there as SVG, PDF, PNG, CSV and Vega-Lite",
    )


def _write_report(report: Report, arguments: argparse.Namespace) -> int:
    report.write(arguments.output)
    if arguments.figures is not None:
        report.write_figures(arguments.figures)
    sys.stdout.write(f"{arguments.output}\n")
    return 0


def _add_submission(parser: argparse.ArgumentParser) -> None:
    folder = partial(parser.add_argument, type=Path, metavar="FOLDER")
    parser.add_argument(
        "--ground-truth", metavar="PHASE", required=True, help=f"{PHASE_HELP}; it must be sealed"
    )
    parser.add_argument(
        "--input", type=Path, metavar="SUBMISSION", help="a folder, a zip archive or a csv file"
    )
    _add_output(parser)
    folder(
        "--results", help="metrics.json and cases.json of an earlier evaluation, which is then not repeated"
    )
    folder("--images", help="original images, named as the cases, to be drawn below the overlays")
    parser.add_argument(
        "--public", action="store_true", help="leave out labels, what tells of them, and every single case"
    )
    add_workers(parser)


def _write_submission(arguments: argparse.Namespace) -> int:
    from evaluation.library import SubmissionRejected
    from evaluation.organiser.report_library import report_submission

    if arguments.input is None and arguments.results is None:
        raise PhaseError("--input or --results: one of them is required")
    try:
        report = report_submission(
            arguments.ground_truth,
            arguments.input,
            results=arguments.results,
            images=arguments.images,
            public=arguments.public,
            workers=arguments.workers,
        )
    except SubmissionRejected as rejected:
        raise PhaseError(*(str(fault) for fault in rejected.faults)) from None
    return _write_report(report, arguments)


def _add_leaderboard(parser: argparse.ArgumentParser) -> None:
    folder = partial(parser.add_argument, type=Path, metavar="FOLDER")
    parser.add_argument(
        "results",
        type=Path,
        metavar="RESULTS",
        help="the folder that `rank --output` wrote: leaderboard.json and the organiser's files beside it; "
        "or the results of `evaluate --each`, which are then ranked as the challenge does",
    )
    _add_output(parser)
    parser.add_argument(
        "--ground-truth",
        action="append",
        default=[],
        metavar="PHASE",
        help="add a section on the data of a phase, as `describe` prints it; repeatable, to compare phases",
    )
    add_features(parser)
    folder(
        "--submissions",
        help="a folder, zip archive or csv file for each team: adds pictures of the hardest cases of a phase "
        "of --ground-truth by the three best teams",
    )
    folder(
        "--images",
        help="original images, named as the cases, to be drawn below the pictures of the hardest cases",
    )
    add_workers(parser)


def _write_leaderboard(arguments: argparse.Namespace) -> int:
    from evaluation.organiser.report_library import report_leaderboard

    report = report_leaderboard(
        arguments.results,
        ground_truth=arguments.ground_truth,
        submissions=arguments.submissions,
        images=arguments.images,
        workers=arguments.workers,
        features=arguments.features,
    )
    return _write_report(report, arguments)


def _add_changes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "changes",
        type=Path,
        metavar="CHANGES",
        help="the changes.json that `evaluate --each --since` wrote, or the folder that holds it",
    )
    _add_output(parser)


def _write_changes(arguments: argparse.Namespace) -> int:
    from evaluation.organiser.report.board.changes_page import changes_page
    from evaluation.organiser.report.board.reading import read_changes
    from evaluation.organiser.report_library import Report

    return _write_report(Report(changes_page(read_changes(arguments.changes))), arguments)


def _add_benchmark(parser: argparse.ArgumentParser) -> None:
    folder = partial(parser.add_argument, type=Path, metavar="FOLDER")
    folder("tables", help="the folder that `fuse cysts --report` wrote")
    folder(
        "--annotations",
        help="the input of `fuse cysts`: also show B-scans with their annotations, one of every vendor",
    )
    folder(
        "--phase",
        help="with --annotations: the phase that `fuse cysts` built, of which B-scans are shown too",
    )
    _add_output(parser)


def _write_benchmark(arguments: argparse.Namespace) -> int:
    from evaluation.organiser.report.benchmark_page import Pictures, benchmark_page, read_tables
    from evaluation.organiser.report.benchmark_pictures import (
        b_scan_gallery,
        chosen_b_scans,
        part_gallery,
        run_gallery,
    )
    from evaluation.organiser.report_library import Report

    tables = read_tables(arguments.tables)
    annotations, phase = arguments.annotations, arguments.phase
    pictures = Pictures()
    if annotations is not None:
        shown = chosen_b_scans(annotations, arguments.tables)
        parts = None if phase is None else part_gallery(annotations, arguments.tables, phase)
        pictures = Pictures(run_gallery(shown), b_scan_gallery(shown, arguments.tables), parts)
    elif phase is not None:
        raise PhaseError("--phase: expected only together with --annotations")
    return _write_report(Report(benchmark_page(tables, pictures)), arguments)
