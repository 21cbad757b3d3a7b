"""`report`: self-contained HTML pages of submissions and leaderboards."""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.cli.common import add_workers, tell
from evaluation.core.fault import PhaseError
from evaluation.organiser.cli.shared import Parts, add_figures, add_report, write_report
from evaluation.organiser.leaves import found_leaf


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the kinds of reports and their arguments."""
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    _add_submission(kinds)
    _add_leaderboard(kinds)
    if module := found_leaf("cyst_benchmark.report_benchmark"):
        module.add_part(kinds)


def run(arguments: argparse.Namespace) -> int:
    """Write the report. Raises `PhaseError`, and `ModuleNotFoundError` without the extra."""
    status: int = arguments.write(arguments)
    return status


def _add_submission(kinds: Parts) -> None:
    parser = add_report(kinds, "submission", "the results of one submission as one HTML file")
    parser.set_defaults(write=_submission)
    add = parser.add_argument
    add(
        "--ground-truth",
        required=True,
        metavar="PHASE",
        help="a phase folder, or the name of one below ground-truth/; it must be sealed",
    )
    add("--input", type=Path, metavar="SUBMISSION", help="a folder, a zip archive or a csv file")
    add("--output", type=Path, required=True, metavar="FILE.html", help="where to write")
    add_figures(parser)
    add(
        "--results",
        type=Path,
        metavar="FOLDER",
        help="metrics.json and cases.json of an earlier evaluation, which is then not repeated",
    )
    add(
        "--images",
        type=Path,
        metavar="FOLDER",
        help="original images, named as the cases, to be drawn below the overlays",
    )
    add(
        "--tables",
        type=Path,
        metavar="FOLDER",
        help="also write the challenge's further analyses there as csv; they hold labels",
    )
    add("--public", action="store_true", help="leave out labels, what tells of them, and every single case")
    add_workers(parser)


def _submission(arguments: argparse.Namespace) -> int:
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
    if arguments.tables is not None and not report.write_tables(arguments.tables):
        tell(["--tables: nothing is written: the report has no further analyses"])
    return write_report(report, arguments)


def _add_leaderboard(kinds: Parts) -> None:
    parser = add_report(
        kinds, "leaderboard", "a leaderboard as one HTML file with figures, tables and methods"
    )
    parser.set_defaults(write=_leaderboard)
    add = parser.add_argument
    add(
        "results",
        type=Path,
        metavar="RESULTS",
        help="the folder that `rank --output` wrote: leaderboard.json and the organiser's files "
        "beside it; or the results of `evaluate --each`, or the evaluations that grand-challenge.org "
        "exports, which are then ranked as the challenge does",
    )
    add("--output", type=Path, required=True, metavar="FILE.html", help="where to write")
    add_figures(parser)
    add(
        "--ground-truth",
        action="append",
        default=[],
        metavar="PHASE",
        help="add a section on the data of a phase, as `describe` prints it; repeatable, to compare phases",
    )
    add(
        "--submissions",
        type=Path,
        metavar="FOLDER",
        help="a folder, zip archive or csv file for each team: adds pictures of the hardest cases "
        "of a phase of --ground-truth by the three best teams",
    )
    add(
        "--images",
        type=Path,
        metavar="FOLDER",
        help="original images, named as the cases, to be drawn below the pictures of the hardest cases",
    )
    add_workers(parser)


def _leaderboard(arguments: argparse.Namespace) -> int:
    from evaluation.organiser.report_library import report_leaderboard

    report = report_leaderboard(
        arguments.results,
        ground_truth=arguments.ground_truth,
        submissions=arguments.submissions,
        images=arguments.images,
        workers=arguments.workers,
    )
    return write_report(report, arguments)
