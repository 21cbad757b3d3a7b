"""`report benchmark`: one HTML file about the annotators of a cyst benchmark."""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluation.cli.report_output import add_output, write_page

SUMMARY = "Write what `fuse cysts` measured as one HTML file with figures and tables, for the organiser."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "tables", type=Path, metavar="FOLDER", help="the folder that `fuse cysts --report` wrote"
    )
    parser.add_argument(
        "--annotations",
        type=Path,
        metavar="FOLDER",
        help="the input of `fuse cysts`: also show B-scans with their annotations, one of every vendor",
    )
    parser.add_argument(
        "--phase",
        type=Path,
        metavar="FOLDER",
        help="with --annotations: the phase that `fuse cysts` built, of which B-scans are shown too",
    )
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the report and return 0. Raises `PhaseError`, `OSError`."""
    from evaluation.core.fault import PhaseError
    from evaluation.report.benchmark.b_scan_pictures import b_scan_gallery, chosen_b_scans, run_gallery
    from evaluation.report.benchmark.benchmark_page import Pictures, benchmark_page
    from evaluation.report.benchmark.part_pictures import part_gallery
    from evaluation.report.benchmark.reading import read_tables

    tables = read_tables(arguments.tables)
    annotations, phase = arguments.annotations, arguments.phase
    pictures = Pictures()
    if annotations is not None:
        shown = chosen_b_scans(annotations, arguments.tables)
        parts = None if phase is None else part_gallery(annotations, arguments.tables, phase)
        pictures = Pictures(run_gallery(shown), b_scan_gallery(shown, arguments.tables), parts)
    elif phase is not None:
        raise PhaseError("--phase: expected only together with --annotations")
    page = benchmark_page(tables, pictures)
    return write_page(page, arguments)
