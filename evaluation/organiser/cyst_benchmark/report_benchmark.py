"""`report benchmark`: a cyst benchmark as one HTML file."""

import argparse

from evaluation.cli.common import Argument, command
from evaluation.organiser.cli.shared import FIGURES, Parts, add_report, write_report


def add_part(parts: Parts) -> None:
    """Declare the part of `report` with its arguments."""
    content = "what `fuse cysts` measured as one HTML file with figures and tables"
    add_report(parts, "benchmark", content, _benchmark)


@command(
    Argument.path("tables", "FOLDER", "the folder that `fuse cysts --report` wrote"),
    Argument.path("--output", "FILE.html", "where to write", required=True),
    FIGURES,
)
def _benchmark(arguments: argparse.Namespace) -> int:
    from evaluation.organiser.cyst_benchmark.benchmark_page import benchmark_page, read_tables
    from evaluation.organiser.report_library import Report

    tables = read_tables(arguments.tables)
    return write_report(Report(benchmark_page(arguments.tables.name, tables)), arguments)
