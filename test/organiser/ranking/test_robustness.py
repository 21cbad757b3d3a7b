"""Places under other schemes: four teams by hand, and the schemes beside one."""

from fractions import Fraction

import pytest
from scipy.stats import kendalltau

from evaluation.core.scheme import Board, Place, Rank, Scheme
from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.leaderboard import rank_phase
from evaluation.organiser.ranking.result_tables import MetricDefinition, TableDefinition, read_results_table
from evaluation.organiser.ranking.robustness import left_out_metrics, other_weights
from evaluation.phase.places import scheme_of

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
    path = tmp_path_factory.mktemp("table") / "results.csv"
    lines = [
        f"{team},C{case},{site},{value},{DISTANCE[team]}\n"
        for team, values in DICE.items()
        for case, (value, site) in enumerate(zip(values, SITE, strict=True))
    ]
    path.write_text("team,case,site,dice,distance\n" + "".join(lines), encoding="utf-8")
    definition = TableDefinition(
        metrics={
            "dice": MetricDefinition(better="higher", weight="0.7"),
            "distance": MetricDefinition(better="lower", weight="0.3"),
        },
        resamples=0,
    )
    results = read_results_table(path, definition)
    scheme = scheme_of(results.challenge, results.options)
    return rank_phase(results, scheme, RankOptions(subgroups=("site",))).board


def variation(board, kind, change):
    return next(v for v in board.robustness if (v.kind, v.change) == (kind, change))


def test_the_scheme_in_force(board):
    # Mean Dice 0.900, 0.825, 0.825: ranks 1, 2, 2; distances 3, 2, 1. 0.7 + 0.9, 1.4 + 0.6, 1.4 + 0.3.
    places = {team.team: team.boards["overall"].place for team in board.teams}
    assert places == {"a": 1, "c": 2, "b": 3}
    assert [team.boards["overall"].exact_score for team in board.teams] == ["1.6", "1.7", "2"]
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
        # 0.35·(1, 2, 2) + 0.3·(3, 2, 1) = 1.25, 1.3, 1.0.
        ("weight", "overall: results.dice − 50 %", {"a": 2, "b": 3, "c": 1}),
        ("weight", "overall: results.distance + 50 %", {"a": 2, "b": 3, "c": 1}),
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
        Board("disc", (Rank("disc.f1", Fraction("0.4")), Rank("disc.dice", Fraction("0.6")))),
        Board("fovea", (Rank("fovea.distance"),)),
        Board("overall", (Place("disc"), Place("fovea", Fraction(0))), ties=(Rank("fovea.distance"),)),
    ),
    overall="overall",
)


def test_without_a_metric():
    found = dict(left_out_metrics(SCHEME))
    assert list(found) == ["disc.f1", "disc.dice", "fovea.distance"]
    assert found["disc.f1"].boards[0].terms == (Rank("disc.dice", Fraction("0.6")),)
    without_fovea = found["fovea.distance"]
    assert [board.name for board in without_fovea.boards] == ["disc", "overall"]
    assert (without_fovea.boards[1].terms, without_fovea.boards[1].ties) == ((Place("disc"),), ())


def test_weights():
    found = {change: scheme for change, _, scheme in other_weights(SCHEME)}
    # Weights of zero, and those of boards with one term, change nothing.
    assert list(found) == [
        "disc: disc.f1 − 50 %",
        "disc: disc.f1 + 50 %",
        "disc: disc.dice − 50 %",
        "disc: disc.dice + 50 %",
        "overall: disc − 50 %",
        "overall: disc + 50 %",
    ]
    assert found["disc: disc.f1 + 50 %"].boards[0].terms[0].weight == Fraction("0.6")
    assert found["overall: disc − 50 %"].boards[2].terms[0].weight == Fraction(1, 2)
    mean = Scheme((Board("overall", (Rank("a.b"), Rank("a.c")), combination="mean"),))
    changed = next(scheme for _, _, scheme in other_weights(mean))
    assert changed.boards[0].combination == "sum"
    assert changed.boards[0].terms == (Rank("a.b", Fraction(1, 2)), Rank("a.c"))
    median = Scheme((Board("overall", (Rank("a.b"), Rank("a.c")), combination="median"),))
    assert list(other_weights(median)) == []
