"""`report`: self-contained HTML pages of submissions, leaderboards, changes and cyst benchmarks."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from evaluation.cli.common import declare
from evaluation.core.fault import PhaseError

if TYPE_CHECKING:
    from evaluation.organiser.report_library import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the kinds of reports and their arguments."""
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    for name, write, content in (
        ("submission", _submission, "the results of one submission as one HTML file"),
        ("leaderboard", _leaderboard, "a leaderboard as one HTML file with figures, tables and methods"),
        ("changes", _changes, "what has changed since earlier results as one HTML file"),
        ("benchmark", _benchmark, "what `fuse cysts` measured as one HTML file with figures and tables"),
    ):
        summary = f"Write {content}, for the organiser."
        added = kinds.add_parser(name, help=summary, description=summary)
        declare(added, __package__, f"report-{name}")
        added.set_defaults(write=write)


def run(arguments: argparse.Namespace) -> int:
    """Write the report. Raises `PhaseError`, and `ModuleNotFoundError` without the extra."""
    status: int = arguments.write(arguments)
    return status


def _write_report(report: Report, arguments: argparse.Namespace) -> int:
    report.write(arguments.output)
    if arguments.figures is not None:
        report.write_figures(arguments.figures)
    sys.stdout.write(f"{arguments.output}\n")
    return 0


def _submission(arguments: argparse.Namespace) -> int:
    from evaluation.library import SubmissionRejected
    from evaluation.organiser.report_library import report_submission

    if arguments.input is None and arguments.results is None:
        raise PhaseError("--input or --results: one of them is required")
    try:
        report = report_submission(
            arguments.ground_truth,
            arguments.input,
            results=arguments.results,
            images=arguments.images,
            public=arguments.public,
            workers=arguments.workers,
        )
    except SubmissionRejected as rejected:
        raise PhaseError(*(str(fault) for fault in rejected.faults)) from None
    if arguments.tables is not None:
        report.write_tables(arguments.tables)
    return _write_report(report, arguments)


def _leaderboard(arguments: argparse.Namespace) -> int:
    from evaluation.organiser.report_library import report_leaderboard

    report = report_leaderboard(
        arguments.results,
        ground_truth=arguments.ground_truth,
        submissions=arguments.submissions,
        images=arguments.images,
        workers=arguments.workers,
        features=arguments.features,
    )
    return _write_report(report, arguments)


def _changes(arguments: argparse.Namespace) -> int:
    from evaluation.organiser.report.board.changes_page import changes_page
    from evaluation.organiser.report.board.reading import read_changes
    from evaluation.organiser.report_library import Report

    return _write_report(Report(changes_page(read_changes(arguments.changes))), arguments)


def _benchmark(arguments: argparse.Namespace) -> int:
    from evaluation.organiser.report import benchmark_pictures
    from evaluation.organiser.report.benchmark_page import benchmark_page, read_tables
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
    return _write_report(Report(benchmark_page(arguments.tables.name, tables, pictures)), arguments)
