"""`report leaderboard`: one HTML file about the teams of a challenge."""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.cli.arguments import add_workers
from evaluation.cli.report_output import add_output, write_report

SUMMARY = "Write a leaderboard as one HTML file with figures, tables and methods, for the organiser."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "results",
        type=Path,
        metavar="RESULTS",
        help="the folder that `rank --output` wrote: leaderboard.json and the organiser's files beside it; "
        "or the results of `evaluate --each`, which are then ranked as the challenge does",
    )
    add_output(parser)
    parser.add_argument(
        "--ground-truth",
        action="append",
        default=[],
        metavar="PHASE",
        help="add a section on the data of a phase, as `describe` prints it; repeatable, to compare phases",
    )
    parser.add_argument(
        "--submissions",
        type=Path,
        metavar="FOLDER",
        help="a folder, zip archive or csv file for each team: adds pictures of the hardest cases of a phase "
        "of --ground-truth by the three best teams",
    )
    parser.add_argument(
        "--images",
        type=Path,
        metavar="FOLDER",
        help="original images, named as the cases, to be drawn below the pictures of the hardest cases",
    )
    add_workers(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the report and return 0. Raises `PhaseError`, `OSError`."""
    from evaluation.report.reports.library import report_leaderboard

    report = report_leaderboard(
        arguments.results,
        ground_truth=arguments.ground_truth,
        submissions=arguments.submissions,
        images=arguments.images,
        workers=arguments.workers,
    )
    return write_report(report, arguments)
