"""A leaderboard from its files, or from results that have not been ranked yet."""

from __future__ import annotations

import tempfile
from pathlib import Path

from evaluation.ranking.final import leaderboard_of
from evaluation.ranking.leaderboard import rank_phase
from evaluation.ranking.leaderboard_file import Leaderboard, OrganiserPart
from evaluation.ranking.leaderboard_writing import write_leaderboard, write_organiser_part
from evaluation.ranking.rank_options import RankOptions
from evaluation.ranking.results_folder import read_results
from evaluation.ranking.schemes import scheme_of
from evaluation.report.board.reading import FILE_NAME, read_leaderboard

_RESULTS = ("*/metrics.json", "*/*/metrics.json")


def leaderboard_in(folder: Path) -> tuple[Leaderboard, tuple[OrganiserPart, ...]]:
    """Return the leaderboard in a folder; if it has only results, they are ranked with `rank`'s defaults.

    Raises `PhaseError` where there is neither.
    """
    if (folder / FILE_NAME).exists() or not any(found for of in _RESULTS for found in folder.glob(of)):
        return read_leaderboard(folder)
    results = read_results(folder)
    scheme = scheme_of(results.challenge, results.options)
    ranked = rank_phase(results, scheme, RankOptions())
    # Written and read, so that the page is the same as after `rank`.
    with tempfile.TemporaryDirectory() as written:
        write_leaderboard(leaderboard_of({"": ranked}, {"": scheme}), Path(written))
        write_organiser_part(ranked.organiser, Path(written), "")
        return read_leaderboard(Path(written))
