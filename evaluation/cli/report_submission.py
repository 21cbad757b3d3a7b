"""`report submission`: one HTML file about one submission."""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.cli.arguments import PHASE_HELP, add_workers
from evaluation.cli.report_output import add_output, write_report
from evaluation.core.fault import PhaseError

SUMMARY = "Write the results of one submission as one HTML file, for the organiser."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--ground-truth", metavar="PHASE", required=True, help=f"{PHASE_HELP}; it must be sealed"
    )
    parser.add_argument(
        "--input", type=Path, metavar="SUBMISSION", help="a folder, a zip archive or a csv file"
    )
    add_output(parser)
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
        "--public", action="store_true", help="leave out labels, what tells of them, and every single case"
    )
    add_workers(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the report and return 0. Raises `PhaseError`, `OSError`."""
    from evaluation.report.reports.library import report_submission
    from evaluation.results import SubmissionRejected

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
    return write_report(report, arguments)
