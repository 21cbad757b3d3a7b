"""Teams without a place: tested against chosen teams without a change of any other test."""

import numpy as np
import pytest
from scipy.stats import wilcoxon

from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.leaderboard import CHOSEN_HERE, against_first_place, rank_phase
from evaluation.organiser.ranking.results import RankingError, read_results
from evaluation.phase.places import scheme_of
from test.faults import faulted
from test.organiser.ranking.teams import CUP, labels, refuge_columns, write_team

TEAMS = ("a", "b", "c", "ensemble", "grader")
OPTIONS = RankOptions(resamples=0, permutations=99, means="signed-rank", influence=False)


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(8)
    glaucoma = labels(60, 20)
    for number, team in enumerate(TEAMS):
        write_team(tmp_path / team, refuge_columns(glaucoma, rng, 1.0 + 0.3 * number, 0.7 + 0.01 * number))
    return tmp_path


def ranked(folder, teams_csv, **options):
    (folder / "teams.csv").write_text(teams_csv, encoding="utf-8")
    results = read_results(folder)
    scheme = scheme_of(results.challenge, results.options)
    choices = RankOptions(**{**vars(OPTIONS), **options})
    return results, rank_phase(results, scheme, choices).board


def by_pair(comparisons):
    return {frozenset((pair.first, pair.second)): pair for pair in comparisons}


def test_an_ensemble_is_tested_against_its_members_alone(folder):
    results, board = ranked(folder, "team,eligible,compare_with\nensemble,no,a; b\ngrader,no,\n")
    name = f"segmentation.{CUP}"
    found = by_pair(board.metrics[name].unranked)
    assert found.keys() == {frozenset(("ensemble", "a")), frozenset(("ensemble", "b"))}
    column = {one.team: one.tables["segmentation"][CUP] for one in results.submissions}
    p_values = {team: wilcoxon(column["ensemble"], column[team]).pvalue for team in "ab"}
    first, second = sorted(p_values, key=p_values.get)
    # Holm for two tests: twice the smaller p; the larger one is at least as large.
    holm = {first: min(1, 2 * p_values[first])}
    holm[second] = max(holm[first], p_values[second])
    for team in "ab":
        pair = found[frozenset(("ensemble", team))]
        assert pair.p_value == pytest.approx(p_values[team], rel=1e-9)
        assert pair.p_holm == pytest.approx(holm[team], rel=1e-9)
        better = "ensemble" if column["ensemble"].mean() > column[team].mean() else team
        assert pair.first == better


def test_an_ensemble_chosen_on_the_cases_of_the_phase_is_marked(folder):
    results, board = ranked(
        folder, "team,eligible,variant_of,chosen_on\nensemble,no,a,other; refuge-test\nb,,,other\n"
    )
    assert results.phase == "refuge-test"
    marked = {team.team: (team.chosen_here, team.note) for team in board.teams}
    assert marked.pop("ensemble") == (True, f"variant of a; {CHOSEN_HERE}")
    assert set(marked.values()) == {(False, None)}
    first = against_first_place(
        board,
        scheme_of(results.challenge, results.options),
        {f"segmentation.{CUP}": "higher"} | dict.fromkeys(results.figures, "higher"),
    )
    assert {row.note for row in first if row.team == "ensemble"} == {f"variant of a; {CHOSEN_HERE}"}


def test_the_tests_of_ranked_teams_stay_the_same(folder):
    roles = "team,eligible\nensemble,no\ngrader,no\n"
    _, without = ranked(folder, roles)
    _, with_tests = ranked(folder, roles, compare_with={"ensemble": ("*",), "grader": ("ensemble", "a")})
    for name, metric in without.metrics.items():
        assert metric.comparisons == with_tests.metrics[name].comparisons
        assert metric.unranked == ()
    found = with_tests.metrics["classification.auc"].unranked
    assert len(found) == 5
    assert {frozenset((pair.first, pair.second)) for pair in found} == {
        *(frozenset(("ensemble", team)) for team in "abc"),
        frozenset(("grader", "ensemble")),
        frozenset(("grader", "a")),
    }
    assert [team.boards["overall"].place for team in with_tests.teams if not team.eligible] == [None, None]


@pytest.mark.parametrize(
    ("compared", "told"),
    [
        ({"a": ("b",)}, ("a",)),
        ({"d": ("b",)}, ("d",)),
        ({"ensemble": ("d",)}, ("ensemble", "d")),
        ({"ensemble": ("ensemble",)}, ("ensemble",)),
    ],
)
def test_comparisons_that_cannot_be(folder, compared, told):
    with faulted(RankingError, *told):
        ranked(folder, "team,eligible\nensemble,no\n", compare_with=compared)


def test_a_team_that_is_not_listed_is_nowhere(folder):
    """JustRAIGS, Participation c: members of the organisers' institutes are not listed in the leaderboard."""
    with_team, _ = ranked(folder, "team,eligible\ngrader,no\n")
    results, board = ranked(folder, "team,eligible,listed,compare_with\ngrader,no,no,a\nensemble,no,yes,\n")
    assert "grader" in {submission.team for submission in with_team.submissions}
    assert [team.team for team in board.teams if team.team == "grader"] == []
    assert (results.ineligible, results.compare_with) == (frozenset({"ensemble"}), {})
    with faulted(RankingError, "grader"):
        ranked(folder, "team,eligible,listed\ngrader,no,no\n", compare_with={"grader": ("a",)})
