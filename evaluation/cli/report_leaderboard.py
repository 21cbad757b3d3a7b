"""`report leaderboard`: one HTML file about the teams of a challenge."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluation.ranking.leaderboard_file import Leaderboard, OrganiserPart

SUMMARY = "Write a leaderboard as one HTML file with figures, tables and methods, for the organiser."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "results",
        type=Path,
        metavar="RESULTS",
        help="the folder that `rank --output` wrote: leaderboard.json and the organiser's files beside it; "
        "or the results of `evaluate --each`, which are then ranked as the challenge does",
    )
    parser.add_argument("--output", type=Path, required=True, metavar="FILE.html", help="where to write")
    parser.add_argument(
        "--ground-truth",
        action="append",
        default=[],
        metavar="PHASE",
        help="add a section on the data of a phase, as `describe` prints it; repeatable, to compare phases",
    )
    parser.add_argument(
        "--figures",
        type=Path,
        metavar="FOLDER",
        help="also write every figure there as SVG, PDF, PNG, CSV and Vega-Lite",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the report and return 0. Raises `PhaseError`, `OSError`."""
    from evaluation.platform.result_file import write_atomically
    from evaluation.report.board.leaderboard import leaderboard_page
    from evaluation.report.figure_files import write_figures
    from evaluation.report.render import render_page

    data = None
    if arguments.ground_truth:
        from evaluation.organiser.describe import describe
        from evaluation.phase.named import named_phase
        from evaluation.report.board.data_section import data_section

        data = data_section(describe([named_phase(name) for name in arguments.ground_truth]))
    page = leaderboard_page(*_leaderboard(arguments.results), data)
    write_atomically(arguments.output, render_page(page).encode())
    if arguments.figures is not None:
        write_figures(page.charts(), arguments.figures)
    sys.stdout.write(f"{arguments.output}\n")
    return 0


def _leaderboard(folder: Path) -> tuple[Leaderboard, tuple[OrganiserPart, ...]]:
    """Return a leaderboard that was written, or that of results which have not been ranked yet."""
    from evaluation.report.board.reading import FILE_NAME, read_leaderboard

    if (folder / FILE_NAME).exists() or not any(
        found for pattern in ("*/metrics.json", "*/*/metrics.json") for found in folder.glob(pattern)
    ):
        return read_leaderboard(folder)
    from evaluation.ranking.analysis import RankOptions
    from evaluation.ranking.final import leaderboard_of
    from evaluation.ranking.leaderboard import rank_phase
    from evaluation.ranking.leaderboard_writing import write_leaderboard, write_organiser_part
    from evaluation.ranking.results_folder import read_results
    from evaluation.ranking.schemes import scheme_of

    results = read_results(folder)
    scheme = scheme_of(results.challenge, results.options)
    ranked = rank_phase(results, scheme, RankOptions())
    with (
        tempfile.TemporaryDirectory() as temporary
    ):  # as written, so that the page is the same as after `rank`
        write_leaderboard(leaderboard_of({"": ranked}, {"": scheme}), Path(temporary))
        write_organiser_part(ranked.organiser, Path(temporary), "")
        return read_leaderboard(Path(temporary))
