"""`report changes`: one HTML file about what has changed since earlier results."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

SUMMARY = "Write what has changed since earlier results as one HTML file, for the organiser."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "changes",
        type=Path,
        metavar="CHANGES",
        help="the changes.json that `evaluate --each --since` wrote, or the folder that holds it",
    )
    parser.add_argument("--output", type=Path, required=True, metavar="FILE.html", help="where to write")
    parser.add_argument(
        "--figures",
        type=Path,
        metavar="FOLDER",
        help="also write every figure there as SVG, PDF, PNG, CSV and Vega-Lite",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the report and return 0. Raises `PhaseError`, `OSError`."""
    from evaluation.platform.result_file import write_atomically
    from evaluation.report.board.changes_page import changes_page
    from evaluation.report.board.changes_reading import read_changes
    from evaluation.report.figure_files import write_figures
    from evaluation.report.render import render_page

    page = changes_page(read_changes(arguments.changes))
    write_atomically(arguments.output, render_page(page).encode())
    if arguments.figures is not None:
        write_figures(page.charts(), arguments.figures)
    sys.stdout.write(f"{arguments.output}\n")
    return 0
