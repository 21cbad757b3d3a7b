"""From the printed values of REFUGE's and ADAM's tables to the printed ranks and scores."""

import csv
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from evaluation.challenges.adam import RANKING as ADAM
from evaluation.challenges.refuge import RefugeOptions, ranking
from evaluation.core.scheme import Place, Scheme
from evaluation.phase.places import Better, BoardPlaces, Leaderboards, combine_phases, place_teams
from test.repository import REPOSITORY

PUBLISHED = REPOSITORY / "examples/published/tables"
REFUGE = ranking(RefugeOptions())
BETTER: dict[str, Better] = {
    "classification.auc": "higher",
    "segmentation.dice_cup": "higher",
    "segmentation.dice_disc": "higher",
    "segmentation.vertical_cup_to_disc_ratio_error": "lower",
    "disc.dice": "higher",
    "disc.f1": "higher",
    "fovea.distance": "lower",
} | {
    f"lesions.{lesion}_{metric}": "higher"
    for lesion in ("drusen", "exudate", "hemorrhage", "scar", "other")
    for metric in ("dice", "f1")
}


def read(name: str) -> list[dict[str, str]]:
    with (PUBLISHED / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def places_of(scheme: Scheme, teams: Sequence[str], **columns: dict[str, float]) -> Leaderboards:
    """``columns``: by metric (a double underscore for the dot) the values by team."""
    values = {
        metric.replace("__", "."): [[of_team.get(team, math.nan) for team in teams]]
        for metric, of_team in columns.items()
    }
    return place_teams(scheme, values, BETTER)


def column(rows: list[dict[str, str]], name: str) -> dict[str, float]:
    return {row["team"]: float(row[name]) for row in rows}


@pytest.fixture(scope="module")
def refuge() -> tuple[list[str], Leaderboards]:
    table_4 = [row for row in read("refuge_table4_classification.csv") if row["rank"]]
    table_6 = read("refuge_table6_segmentation.csv")
    teams = [row["team"] for row in table_6]
    leaderboards = places_of(
        REFUGE,
        teams,
        classification__auc=column(table_4, "auc"),
        segmentation__dice_cup=column(table_6, "dice_cup"),
        segmentation__dice_disc=column(table_6, "dice_disc"),
        segmentation__vertical_cup_to_disc_ratio_error=column(table_6, "vcdr_mae"),
    )
    return teams, leaderboards


def test_refuge_table_4_ranks(refuge):
    teams, leaderboards = refuge
    for row in read("refuge_table4_classification.csv"):
        if row["rank"]:
            assert leaderboards.boards["classification"].place(teams.index(row["team"])) == int(row["rank"])


def test_refuge_table_6_scores_are_exact_and_in_order(refuge):
    teams, leaderboards = refuge
    for row in read("refuge_table6_segmentation.csv"):
        team = teams.index(row["team"])
        assert leaderboards.boards["segmentation"].score(team) == Fraction(row["score"]), row["team"]
        assert leaderboards.boards["segmentation"].place(team) == int(row["rank"])


@pytest.mark.parametrize(
    ("metric", "printed"),
    [
        ("segmentation.dice_cup", "dice_cup_rank"),
        ("segmentation.dice_disc", "dice_disc_rank"),
        ("segmentation.vertical_cup_to_disc_ratio_error", "vcdr_mae_rank"),
    ],
)
def test_refuge_table_6_single_ranks(refuge, metric, printed):
    teams, leaderboards = refuge
    # The three single ranks of SMILEDeepDR are misprints: 8/9/6 give its printed score.
    corrected = {"dice_cup_rank": 8, "dice_disc_rank": 9, "vcdr_mae_rank": 6}
    for row in read("refuge_table6_segmentation.csv"):
        expected = corrected[printed] if row["team"] == "SMILEDeepDR" else int(row[printed])
        assert leaderboards.ranks[metric][0, teams.index(row["team"])] == expected, row["team"]


def test_refuge_on_site_order(refuge):
    # 0.4 × rank of Table 4 + 0.6 × rank of Table 6, for example CUHKMED 0.4·3 + 0.6·1 = 1.8.
    expected = {
        "CUHKMED": "1.8",
        "VRT": "3.4",
        "Masker": "3.6",
        "NKSG": "4.0",
        "BUCT": "5.0",
        "Mammoth": "6.2",
        "SDSAIRC": "6.8",
        "SMILEDeepDR": "7.6",
        "AIML": "8.4",
        "NightOwl": "9.4",
        "WinterFell": "10.8",
        "Cvblab": "11.0",
    }
    teams, leaderboards = refuge
    for place, (team, score) in enumerate(expected.items(), 1):
        assert leaderboards.boards["overall"].score(teams.index(team)) == Fraction(score)
        assert leaderboards.boards["overall"].place(teams.index(team)) == place


def test_refuge_weights_tie_one_one_four_and_three_three_one():
    # 0.35·1 + 0.25·1 + 0.4·4 = 2.2 = 0.35·3 + 0.25·3 + 0.4·1, but not in floating point.
    assert 0.35 * 1 + 0.25 * 1 + 0.4 * 4 != 0.35 * 3 + 0.25 * 3 + 0.4 * 1
    # Teams a: ranks 1, 1, 4; b: 3, 3, 1; the others fill the ranks between (2, 2, 2) and (4, 4, 3).
    teams = ["a", "b", "c", "d"]
    dice = dict(zip(teams, [0.9, 0.7, 0.8, 0.6], strict=True))
    error = dict(zip(teams, [0.4, 0.1, 0.2, 0.3], strict=True))
    leaderboards = places_of(
        REFUGE,
        teams,
        segmentation__dice_cup=dice,
        segmentation__dice_disc=dice,
        segmentation__vertical_cup_to_disc_ratio_error=error,
    )
    board = leaderboards.boards["segmentation"]
    assert [board.score(team) for team in range(3)] == [Fraction("2.2"), Fraction("2.2"), Fraction(2)]
    assert board.places.tolist() == [[2, 2, 1, 4]]


def test_adam_table_3():
    rows = read("adam_table3_classification.csv")
    leaderboards = places_of(ADAM, [row["team"] for row in rows], classification__auc=column(rows, "auc"))
    assert leaderboards.boards["classification"].places[0].tolist() == [int(row["rank"]) for row in rows]


def test_adam_table_5():
    # The paper leaves out one team; any of about Dice 0.91 and F1 0.96 gives the printed ranks to the others.
    rows = [
        *read("adam_table5_disc.csv"),
        {"team": "(not printed)", "dice": "0.91", "f1": "0.96", "rank": "10"},
    ]
    teams = [row["team"] for row in rows]
    leaderboards = places_of(ADAM, teams, disc__dice=column(rows, "dice"), disc__f1=column(rows, "f1"))
    assert leaderboards.boards["disc"].places[0].tolist() == [int(row["rank"]) for row in rows]
    by_team = dict(zip(teams, range(len(teams)), strict=True))
    tied = [leaderboards.boards["disc"].score(by_team[team]) for team in ("Zasti_AI", "Muenai_Tim")]
    assert tied[0] == tied[1]


def test_adam_table_7():
    # The team that is not printed holds rank 8.
    rows = [
        *read("adam_table7_fovea.csv"),
        {"team": "(not printed)", "euclidean_distance": "100", "rank": "8"},
    ]
    leaderboards = places_of(
        ADAM, [row["team"] for row in rows], fovea__distance=column(rows, "euclidean_distance")
    )
    assert leaderboards.boards["fovea"].places[0].tolist() == [int(row["rank"]) for row in rows]


LESIONS = ("drusen", "exudate", "hemorrhage", "scar", "other")


def lesion_columns(rows: list[dict[str, str]]) -> dict[str, dict[str, float]]:
    return {
        f"lesions__{lesion}_{metric}": column(rows, f"{lesion}_{metric}")
        for lesion in LESIONS
        for metric in ("dice", "f1")
    }


def test_adam_table_9_scores():
    rows = read("adam_table9_lesions.csv")
    board = places_of(ADAM, [row["team"] for row in rows], **lesion_columns(rows)).boards["lesions"]
    expected = ["12.2", "16.0", "19.0", "20.8", "21.2", "22.6", "32.4", "34.0", "43.4"]
    assert [board.score(team) for team in range(len(rows))] == [Fraction(score) for score in expected]


def test_adam_table_9_order_with_the_team_that_is_not_printed():
    # It holds rank 7: just better than ADAM-TEAM (8) in every column.
    rows = read("adam_table9_lesions.csv")
    eighth = next(row for row in rows if row["team"] == "ADAM-TEAM")
    better = {
        name: str(float(value) + 0.00005) for name, value in eighth.items() if name.endswith(("_dice", "_f1"))
    }
    rows.append({"team": "(not printed)", "rank": "7", **better})
    board = places_of(ADAM, [row["team"] for row in rows], **lesion_columns(rows)).boards["lesions"]
    assert board.places[0].tolist() == [int(row["rank"]) for row in rows]


def test_adam_overall_tie_is_broken_by_the_classification_rank():
    # On-site ranks as printed: TeamTiger 8, 5, 9, 9 and XxlzT 7, 1, 11, 10; both
    # 0.3·8 + 0.1·5 + 0.1·9 + 0.5·9 = 8.3 = 0.3·7 + 0.1·1 + 0.1·11 + 0.5·10.
    printed = {"TeamTiger": (8, 5, 9, 9), "XxlzT": (7, 1, 11, 10)}
    ranks = [printed["TeamTiger"], printed["XxlzT"]]
    for position, team in enumerate(printed):
        for table, name in enumerate(("3_classification", "5_disc", "7_fovea", "9_lesions")):
            row = next(row for row in read(f"adam_table{name}.csv") if row["team"] == team)
            assert ranks[position][table] == int(row["rank"])
    # Eleven teams whose single ranks are forced by their values: each metric is its rank.
    teams = list(range(11))
    forced = []
    for table in range(4):
        taken = {0: printed["TeamTiger"][table], 1: printed["XxlzT"][table]}
        free = iter(rank for rank in range(1, 12) if rank not in taken.values())
        forced.append([taken[team] if team in taken else next(free) for team in teams])
    classification, disc, fovea, lesions = forced
    values = {
        "classification.auc": [[-rank for rank in classification]],
        "disc.dice": [[-rank for rank in disc]],
        "disc.f1": [[-rank for rank in disc]],
        "fovea.distance": [fovea],
    } | {
        f"lesions.{lesion}_{metric}": [[-rank for rank in lesions]]
        for lesion in LESIONS
        for metric in ("dice", "f1")
    }
    overall = place_teams(ADAM, values, BETTER).boards["overall"]
    assert overall.score(0) == overall.score(1) == Fraction("8.3")
    assert overall.places[0, 1] + 1 == overall.places[0, 0]
    without_rule = Scheme(
        tuple(
            board if board.name != "overall" else type(board)("overall", board.terms) for board in ADAM.boards
        ),
        "overall",
    )
    tied = place_teams(without_rule, values, BETTER).boards["overall"]
    assert tied.places[0, 0] == tied.places[0, 1]
    assert Place("classification") in ADAM.boards[-1].ties


def test_two_phases_of_refuge():
    # Places 2 and 1 off-line, 1 and 2 on-site: 0.3·2 + 0.7·1 = 1.3 and 0.3·1 + 0.7·2 = 1.7; c has one only.
    def overall(a: float, b: float, c: float) -> Leaderboards:
        values = {
            metric: [[value if BETTER[metric] == "higher" else -value for value in (a, b, c)]]
            for metric in REFUGE.metrics
        }
        return place_teams(REFUGE, values, BETTER)

    final = combine_phases(
        REFUGE,
        {
            "offline": overall(0.8, 0.9, math.nan).boards["overall"],
            "onsite": overall(0.9, 0.8, 0.7).boards["overall"],
        },
    )
    assert [final.score(team) for team in range(3)] == [Fraction("1.3"), Fraction("1.7"), None]
    assert [final.place(team) for team in range(3)] == [1, 2, None]


@pytest.mark.parametrize(
    ("aucs", "places"), [((0.8, 0.9), (2, 1)), ((0.9, 0.8), (1, 2)), ((0.9, 0.9), (1, 1))]
)
def test_a_tie_of_two_phases_of_adam_is_broken_by_the_onsite_classification(aucs, places):
    # Places 8 and 5, 1 and 8: 0.3·8 + 0.7·5 = 5.9 = 0.3·1 + 0.7·8.
    def board(*of_teams: int) -> BoardPlaces:
        return BoardPlaces(np.array([of_teams]), np.array([of_teams]), 1)

    classification = place_teams(ADAM, {"classification.auc": [aucs]}, BETTER).boards["classification"]
    overall = {"online": board(8, 1), "onsite": board(5, 8)}
    final = combine_phases(ADAM, overall, [classification])
    assert [final.score(team) for team in (0, 1)] == [Fraction("5.9")] * 2
    assert final.places.tolist() == [list(places)]
    assert dict(ADAM.phase_ties) == {"onsite": "classification"}
