"""The first teams of one phase are ranked in the others, as REFUGE's twelve."""

import numpy as np
import pytest

from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.leaderboard import Selection, leaderboard_of, rank_all
from evaluation.organiser.ranking.results import RankingError, read_results
from evaluation.phase.places import scheme_of
from test.faults import faulted
from test.organiser.ranking.teams import labels, refuge_columns, write_team

OPTIONS = RankOptions(resamples=0, tests=False, influence=False)
ROLES = ("offline", "onsite")


def write(folder, qualities):
    """Write teams of both phases; ``qualities`` by team: the separation and the Dice in each phase."""
    glaucoma = labels(30, 12)
    for team, (offline, onsite) in qualities.items():
        for role, quality in zip(ROLES, (offline, onsite), strict=True):
            if quality is None:
                continue
            rng = np.random.default_rng(5)  # the same noise for all teams
            columns = refuge_columns(glaucoma, rng, 3 * quality, quality)
            write_team(folder / role / team, columns, phase=f"refuge-{role}", with_cases=False)


def ranked(folder, selection=None):
    results = {role: read_results(folder / role) for role in ROLES}
    schemes = {role: scheme_of(one.challenge, one.options) for role, one in results.items()}
    phases = rank_all(results, schemes, dict.fromkeys(ROLES, OPTIONS), selection)
    return leaderboard_of(phases, schemes)


def places(board):
    return {row.team: row.place for row in board.final}


def test_only_the_first_have_a_place_on_site(tmp_path):
    """Off-line a, b, c, d; on-site d, c, b, a. Without a selection d has 0.3·4 + 0.7·1."""
    qualities = {"a": (0.9, 0.6), "b": (0.8, 0.7), "c": (0.7, 0.8), "d": (0.6, 0.9)}
    write(tmp_path, qualities)
    assert places(ranked(tmp_path)) == {"d": 1, "c": 2, "b": 3, "a": 4}
    board = ranked(tmp_path, Selection("offline", 2))
    # Of two on-site, b is first: 0.3·2 + 0.7·1 = 1.3 against 0.3·1 + 0.7·2 = 1.7.
    assert places(board) == {"b": 1, "a": 2, "c": None, "d": None}
    onsite = {team.team: team for team in board.phases[1].teams}
    assert [onsite[team].boards["overall"].place for team in "abcd"] == [2, 1, None, None]
    assert onsite["d"].boards["overall"].would_be_place == 1
    assert "offline: the first 2 teams are ranked in the other phases: a, b" in board.notices


def test_teams_that_share_the_last_place_are_all_in(tmp_path):
    write(tmp_path, {"a": (0.9, 0.6), "b": (0.8, 0.7), "c": (0.8, 0.8), "d": (0.6, None)})
    board = ranked(tmp_path, Selection("offline", 2))
    # Off-line 1, 2, 2; on-site 3, 2, 1: 0.3 + 2.1, 0.6 + 1.4 and 0.6 + 0.7.
    assert places(board) == {"c": 1, "b": 2, "a": 3, "d": None}
    assert any("the first 2 teams (3, since places are shared)" in notice for notice in board.notices)


@pytest.mark.parametrize("role", ["on-line", ""])
def test_a_selection_by_no_phase(tmp_path, role):
    write(tmp_path, {"a": (0.9, 0.6)})
    with faulted(RankingError, f"finalists of {role}"):
        ranked(tmp_path, Selection(role, 2))
