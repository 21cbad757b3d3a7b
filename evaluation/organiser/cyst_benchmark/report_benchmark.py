"""`report benchmark`: a cyst benchmark as one HTML file."""

import argparse
from pathlib import Path

from evaluation.organiser.cli.shared import Parts, add_figures, add_report, write_report


def add_part(parts: Parts) -> None:
    """Declare the part of `report` with its arguments."""
    parser = add_report(
        parts, "benchmark", "what `fuse cysts` measured as one HTML file with figures and tables"
    )
    parser.set_defaults(write=_benchmark)
    add = parser.add_argument
    add("tables", type=Path, metavar="FOLDER", help="the folder that `fuse cysts --report` wrote")
    add("--output", type=Path, required=True, metavar="FILE.html", help="where to write")
    add_figures(parser)


def _benchmark(arguments: argparse.Namespace) -> int:
    from evaluation.organiser.cyst_benchmark.benchmark_page import benchmark_page, read_tables
    from evaluation.organiser.report_library import Report

    tables = read_tables(arguments.tables)
    return write_report(Report(benchmark_page(arguments.tables.name, tables)), arguments)
