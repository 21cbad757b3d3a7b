"""Teams beside others: other schemes, and teams without a place."""

from decimal import Decimal

import numpy as np
import pytest
from scipy.stats import kendalltau, wilcoxon

from evaluation.core.fault import PhaseError
from evaluation.core.scheme import Board, Scheme, Term
from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.leaderboard import (
    CHOSEN_HERE,
    rank_phase,
)
from evaluation.organiser.ranking.result_tables import MetricDefinition
from evaluation.organiser.ranking.results import read_results
from evaluation.organiser.ranking.robustness import left_out_metrics
from evaluation.phase.places import scheme_of
from test.faults import faulted
from test.organiser.ranking.teams import CUP, labels, ranked_table, refuge_columns, write_team

HIGHER, LOWER = (MetricDefinition(better=better) for better in ("higher", "lower"))


# a leads on the mean but fails once; b is best in most cases; all differ by site.
DICE = {
    "a": [0.90, 0.90, 0.90, 0.90, 0.90, 0.90],
    "b": [0.95, 0.95, 0.95, 0.95, 0.95, 0.20],
    "c": [0.80, 0.80, 0.80, 0.80, 0.80, 0.95],
}
DISTANCE = {"a": 3, "b": 2, "c": 1}
SITE = ["north"] * 5 + ["south"]


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    lines = [
        f"{team},C{case},{site},{value},{DISTANCE[team]}\n"
        for team, values in DICE.items()
        for case, (value, site) in enumerate(zip(values, SITE, strict=True))
    ]
    text = "team,case,site,dice,distance\n" + "".join(lines)
    metrics = {
        "dice": MetricDefinition(better="higher", weight="0.7"),
        "distance": MetricDefinition(better="lower", weight="0.3"),
    }
    return ranked_table(tmp_path_factory.mktemp("table"), text, metrics, subgroups=("site",)).board


def variation(board, kind, change):
    return next(v for v in board.robustness if (v.kind, v.change) == (kind, change))


def test_the_scheme_in_force(board):
    # Mean Dice 0.900, 0.825, 0.825: ranks 1, 2, 2; distances 3, 2, 1. 0.7 + 0.9, 1.4 + 0.6, 1.4 + 0.3.
    found = [(team.team, team.boards["overall"].exact_score) for team in board.teams]
    assert found == [("a", "1.6"), ("c", "1.7"), ("b", "2")]
    assert [v.change for v in board.robustness if v.kind == "subgroup"] == ["site = north"]


@pytest.mark.parametrize(
    ("kind", "change", "places"),
    [
        # Medians 0.90, 0.95, 0.80: 0.7·(2, 1, 3) + 0.3·(3, 2, 1).
        ("method", "median-then-rank", {"a": 2, "b": 1, "c": 3}),
        # Mean ranks by case (2·6, 1·5 + 3, 3·5 + 1) and the same distances in every case.
        ("method", "rank-then-mean", {"a": 2, "b": 1, "c": 3}),
        ("without metric", "results.distance", {"a": 1, "b": 2, "c": 2}),
        ("without metric", "results.dice", {"a": 3, "b": 2, "c": 1}),
        # Northern Dice 0.90, 0.95, 0.80: ranks 2, 1, 3.
        ("subgroup", "site = north", {"a": 2, "b": 1, "c": 3}),
    ],
)
def test_places_by_hand(board, kind, change, places):
    found = variation(board, kind, change)
    assert (found.board, found.places) == ("overall", places)
    expected = kendalltau([1, 3, 2], [places[team] for team in "abc"]).statistic
    assert found.tau_b == pytest.approx(expected)


SCHEME = Scheme(
    (
        Board(
            "disc",
            (Term(rank="disc.f1", weight=Decimal("0.4")), Term(rank="disc.dice", weight=Decimal("0.6"))),
        ),
        Board("fovea", (Term(rank="fovea.distance"),)),
        Board(
            "overall",
            (Term(place="disc"), Term(place="fovea", weight=Decimal(0))),
            ties=(Term(rank="fovea.distance"),),
        ),
    ),
    overall="overall",
)


def test_a_scheme_without_a_metric():
    without = dict(left_out_metrics(SCHEME))["fovea.distance"]
    assert [board.name for board in without.boards] == ["disc", "overall"]
    assert (without.boards[1].terms, without.boards[1].ties) == ((Term(place="disc"),), ())


FIVE = ("a", "b", "c", "ensemble", "grader")
OPTIONS = RankOptions(resamples=0, means="signed-rank")


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(8)
    glaucoma = labels(60, 20)
    for number, team in enumerate(FIVE):
        write_team(tmp_path / team, refuge_columns(glaucoma, rng, 1.0 + 0.3 * number, 0.7 + 0.01 * number))
    return tmp_path


def ranked(folder, teams_csv):
    (folder / "teams.csv").write_text(teams_csv, encoding="utf-8")
    results = read_results(folder)
    scheme = scheme_of(results.challenge, results.options)
    return results, rank_phase(results, scheme, OPTIONS).board


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
        assert pair.difference.p_value == pytest.approx(p_values[team], rel=1e-9)
        assert pair.p_holm == pytest.approx(holm[team], rel=1e-9)
        better = "ensemble" if column["ensemble"].mean() > column[team].mean() else team
        assert pair.first == better


def test_an_ensemble_chosen_on_the_cases_of_the_phase_is_marked(folder):
    results, board = ranked(folder, "team,eligible,chosen_on\nensemble,no,other; refuge-test\nb,,other\n")
    assert results.phase == "refuge-test"
    marked = {team.team: (team.chosen_here, team.note) for team in board.teams}
    assert marked.pop("ensemble") == (True, CHOSEN_HERE)
    assert set(marked.values()) == {(False, None)}


def test_the_tests_of_ranked_teams_stay_the_same(folder):
    _, without = ranked(folder, "team,eligible\nensemble,no\ngrader,no\n")
    _, with_tests = ranked(folder, "team,eligible,compare_with\nensemble,no,*\ngrader,no,ensemble; a\n")
    for name, metric in without.metrics.items():
        assert metric.comparisons == with_tests.metrics[name].comparisons
        assert metric.unranked == ()
    found = with_tests.metrics["classification.auc"].unranked
    pairs = [*(("ensemble", team) for team in "abc"), ("grader", "ensemble"), ("grader", "a")]
    assert len(found) == len(pairs)
    assert by_pair(found).keys() == set(map(frozenset, pairs))
    assert [team.boards["overall"].place for team in with_tests.teams if not team.eligible] == [None, None]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("a,,b", ("a",)),
        ("ensemble,no,d", ("ensemble", "d")),
        ("ensemble,no,ensemble", ("ensemble",)),
    ],
)
def test_comparisons_that_cannot_be(folder, row, told):
    with faulted(PhaseError, *told):
        ranked(folder, f"team,eligible,compare_with\n{row}\n")


def test_a_team_that_is_not_listed_is_nowhere(folder):
    """JustRAIGS, Participation c: members of the organisers' institutes are not listed in the leaderboard."""
    results, board = ranked(folder, "team,eligible,listed,compare_with\ngrader,no,no,a\nensemble,no,yes,\n")
    assert sorted(team.team for team in board.teams) == ["a", "b", "c", "ensemble"]
    assert (results.ineligible, results.compare_with) == (frozenset({"ensemble"}), {})
