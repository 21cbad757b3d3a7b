"""`report`: self-contained HTML pages of submissions and leaderboards."""

from __future__ import annotations

import argparse

from evaluation.cli.common import WORKERS, Argument, command, tell
from evaluation.core.fault import PhaseError
from evaluation.organiser.cli.shared import FIGURES, add_report, write_report
from evaluation.organiser.leaves import found_leaf


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the kinds of reports and their arguments."""
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    add_report(kinds, "submission", "the results of one submission as one HTML file", _submission)
    content = "a leaderboard as one HTML file with figures, tables and methods"
    add_report(kinds, "leaderboard", content, _leaderboard)
    if module := found_leaf("cyst_benchmark.report_benchmark"):
        module.add_part(kinds)


def run(arguments: argparse.Namespace) -> int:
    """Write the report. Raises `PhaseError`, and `ModuleNotFoundError` without the extra."""
    status: int = arguments.write(arguments)
    return status


@command(
    Argument(
        "--ground-truth",
        "a phase folder, or the name of one below ground-truth/; it must be sealed",
        required=True,
        metavar="PHASE",
    ),
    Argument.path("--input", "SUBMISSION", "a folder, a zip archive or a csv file"),
    Argument.path("--output", "FILE.html", "where to write", required=True),
    FIGURES,
    Argument.path(
        "--results",
        "FOLDER",
        "metrics.json and cases.json of an earlier evaluation, which is then not repeated",
    ),
    Argument.path(
        "--images", "FOLDER", "original images, named as the cases, to be drawn below the overlays"
    ),
    Argument.path(
        "--tables", "FOLDER", "also write the challenge's further analyses there as csv; they hold labels"
    ),
    Argument.flag("--public", "leave out labels, what tells of them, and every single case"),
    WORKERS,
)
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


@command(
    Argument.path(
        "results",
        "RESULTS",
        "the folder that `rank --output` wrote: leaderboard.json and the organiser's files "
        "beside it; or the results of `evaluate --each`, or the evaluations that grand-challenge.org "
        "exports, which are then ranked as the challenge does",
    ),
    Argument.path("--output", "FILE.html", "where to write", required=True),
    FIGURES,
    Argument(
        "--ground-truth",
        "add a section on the data of a phase, as `describe` prints it; repeatable, to compare phases",
        action="append",
        default=[],
        metavar="PHASE",
    ),
    Argument.path(
        "--submissions",
        "FOLDER",
        "a folder, zip archive or csv file for each team: adds pictures of the hardest cases "
        "of a phase of --ground-truth by the three best teams",
    ),
    Argument.path(
        "--images",
        "FOLDER",
        "original images, named as the cases, to be drawn below the pictures of the hardest cases",
    ),
    WORKERS,
)
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
