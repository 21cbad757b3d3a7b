"""`report benchmark`: a cyst benchmark as one HTML file."""

import argparse
from pathlib import Path

from evaluation.core.fault import PhaseError
from evaluation.organiser.cli.shared import Parts, add_figures, add_report, write_report


def add_part(parts: Parts) -> None:
    """Declare the part of `report` with its arguments."""
    parser = add_report(
        parts, "benchmark", "what `fuse cysts` measured as one HTML file with figures and tables"
    )
    parser.set_defaults(write=_benchmark)
    add = parser.add_argument
    add("tables", type=Path, metavar="FOLDER", help="the folder that `fuse cysts --report` wrote")
    add(
        "--annotations",
        type=Path,
        metavar="FOLDER",
        help="the input of `fuse cysts`: also show B-scans with their annotations, one of every vendor",
    )
    add(
        "--phase",
        type=Path,
        metavar="FOLDER",
        help="with --annotations: the phase that `fuse cysts` built, of which B-scans are shown too",
    )
    add("--output", type=Path, required=True, metavar="FILE.html", help="where to write")
    add_figures(parser)


def _benchmark(arguments: argparse.Namespace) -> int:
    from evaluation.organiser.cyst_benchmark import benchmark_pictures
    from evaluation.organiser.cyst_benchmark.benchmark_page import benchmark_page, read_tables
    from evaluation.organiser.report_library import Report

    tables = read_tables(arguments.tables)
    annotations, phase = arguments.annotations, arguments.phase
    pictures = {}
    if annotations is not None:
        shown = benchmark_pictures.chosen_b_scans(annotations, arguments.tables)
        pictures["accuracy"] = benchmark_pictures.run_gallery(shown)
        pictures["combinations"] = benchmark_pictures.b_scan_gallery(shown, arguments.tables)
        if phase is not None:
            pictures["work"] = benchmark_pictures.part_gallery(annotations, arguments.tables, phase)
    elif phase is not None:
        raise PhaseError("--phase: expected only together with --annotations")
    return write_report(Report(benchmark_page(arguments.tables.name, tables, pictures)), arguments)
