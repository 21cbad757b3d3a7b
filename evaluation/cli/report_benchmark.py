"""`report benchmark`: one HTML file about the annotators of a cyst benchmark."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

SUMMARY = "Write what `fuse cysts` measured as one HTML file with figures and tables, for the organiser."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "tables", type=Path, metavar="FOLDER", help="the folder that `fuse cysts --report` wrote"
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
    from evaluation.report.benchmark.benchmark_page import benchmark_page
    from evaluation.report.benchmark.reading import read_tables
    from evaluation.report.figure_files import write_figures
    from evaluation.report.render import render_page

    page = benchmark_page(read_tables(arguments.tables))
    write_atomically(arguments.output, render_page(page).encode())
    if arguments.figures is not None:
        write_figures(page.charts(), arguments.figures)
    sys.stdout.write(f"{arguments.output}\n")
    return 0
