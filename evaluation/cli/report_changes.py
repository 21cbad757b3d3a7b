"""`report changes`: one HTML file about the changes since earlier results."""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.cli.report_output import add_output, write_page

SUMMARY = "Write what has changed since earlier results as one HTML file, for the organiser."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "changes",
        type=Path,
        metavar="CHANGES",
        help="the changes.json that `evaluate --each --since` wrote, or the folder that holds it",
    )
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the report and return 0. Raises `PhaseError`, `OSError`."""
    from evaluation.report.board.changes_page import changes_page
    from evaluation.report.board.changes_reading import read_changes

    page = changes_page(read_changes(arguments.changes))
    return write_page(page, arguments)
