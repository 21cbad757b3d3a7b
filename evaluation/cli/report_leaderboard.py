"""`report leaderboard`: one HTML file about the teams of a challenge."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from evaluation.cli.arguments import add_workers

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
    parser.add_argument("--output", type=Path, required=True, metavar="FILE.html", help="where to write")
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
    parser.add_argument(
        "--figures",
        type=Path,
        metavar="FOLDER",
        help="also write every figure there as SVG, PDF, PNG, CSV and Vega-Lite",
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
    report.write(arguments.output)
    if arguments.figures is not None:
        report.write_figures(arguments.figures)
    sys.stdout.write(f"{arguments.output}\n")
    return 0
