"""`report`: self-contained HTML pages of submissions, leaderboards, changes and cyst benchmarks."""

from __future__ import annotations

import argparse

from evaluation.cli import report_benchmark, report_changes, report_leaderboard, report_submission


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the kinds of reports and their arguments."""
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    modules = {
        "submission": report_submission,
        "leaderboard": report_leaderboard,
        "changes": report_changes,
        "benchmark": report_benchmark,
    }
    for name, module in modules.items():
        kind = kinds.add_parser(name, help=module.SUMMARY, description=module.SUMMARY)
        module.add_arguments(kind)
        kind.set_defaults(run=module.run)


def run(arguments: argparse.Namespace) -> int:
    """Write the report. Raises `PhaseError`, and `ModuleNotFoundError` without the extra."""
    status: int = arguments.run(arguments)
    return status
