"""Leaderboards for the tests of their report, ranked from columns of known quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.leaderboard import (
    leaderboard_of,
    rank_phase,
    write_leaderboard,
    write_phase,
)
from evaluation.organiser.ranking.leaderboard_file import Leaderboard, OrganiserPart
from evaluation.organiser.ranking.results import PhaseResults, read_results
from evaluation.phase.places import scheme_of
from test.organiser.ranking.teams import labels, refuge_columns, write_team


@dataclass(frozen=True)
class RankedTeams:
    """The folder that `rank --output` writes, and its inputs."""

    folder: Path
    board: Leaderboard
    parts: tuple[OrganiserPart, ...]


def ranked_teams(folder: Path, teams: Sequence[str], cases: int, resamples: int = 100) -> RankedTeams:
    """Rank synthetic teams, the first one the best, in one phase with two readers and two subgroups."""
    rng = np.random.default_rng(7)
    glaucoma = labels(cases, max(12, cases // 10))
    truth = 0.5 + 0.1 * glaucoma + 0.1 * rng.normal(size=cases)
    for number, team in enumerate(teams):
        columns = refuge_columns(glaucoma, rng, 2.5 - 0.1 * number, 0.9 - 0.01 * number)
        columns["segmentation"] |= {
            "predicted_vertical_cup_to_disc_ratio": truth + 0.1 * rng.normal(size=cases),
            "reference_vertical_cup_to_disc_ratio": truth,
        }
        table = {"eye": ["left", "right"] * (cases // 2)}
        write_team(folder / "results" / team, columns, table=table, resamples=resamples)
    results = read_results(folder / "results")

    def readers(names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        rng = np.random.default_rng(8)  # the same answer each time
        right = {number: rng.random(len(names)) < 0.85 for number in (1, 2)}
        given = {f"reader {number}": np.where(of, glaucoma, 1 - glaucoma) for number, of in right.items()}
        scores = {f"scorer {number}": glaucoma + rng.normal(size=len(names)).round(1) for number in (1, 2)}
        return given | scores

    return _ranked(results, RankOptions(subgroups=("eye",), annotators=readers), folder / "board")


def ranked_results(results: Path, folder: Path) -> RankedTeams:
    """Rank the teams of a folder of results, and write the leaderboard into another folder."""
    return _ranked(read_results(results), RankOptions(), folder)


def _ranked(results: PhaseResults, options: RankOptions, folder: Path) -> RankedTeams:
    scheme = scheme_of(results.challenge, results.options)
    ranked = rank_phase(results, scheme, options)
    board = leaderboard_of({"": ranked}, {"": scheme})
    write_leaderboard(board, folder)
    write_phase(ranked, folder, "")
    return RankedTeams(folder, board, (ranked.organiser,))
