"""Output of reports: the common arguments of all kinds of reports."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluation.report.page import Page
    from evaluation.report.reports.library import Report


def add_output(parser: argparse.ArgumentParser) -> None:
    """Declare the file of a report and the folder of its figures."""
    parser.add_argument("--output", type=Path, required=True, metavar="FILE.html", help="where to write")
    parser.add_argument(
        "--figures",
        type=Path,
        metavar="FOLDER",
        help="also write every figure there as SVG, PDF, PNG, CSV and Vega-Lite",
    )


def write_page(page: Page, arguments: argparse.Namespace) -> int:
    """Write a page and, if asked for, its figures; return 0. Raises `OSError`."""
    from evaluation.report.reports.library import Report

    return write_report(Report(page), arguments)


def write_report(report: Report, arguments: argparse.Namespace) -> int:
    """Write a report and, if asked for, its figures; return 0. Raises `OSError`."""
    report.write(arguments.output)
    if arguments.figures is not None:
        report.write_figures(arguments.figures)
    sys.stdout.write(f"{arguments.output}\n")
    return 0
