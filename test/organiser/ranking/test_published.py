"""From the printed values of REFUGE's and ADAM's tables to the printed scores (reproduce.sh has more)."""

import csv
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from evaluation.challenges.adam import LESIONS
from evaluation.challenges.adam import RANKING as ADAM
from evaluation.challenges.refuge import RefugeOptions, ranking
from evaluation.core.scheme import Scheme
from evaluation.phase.places import Better, BoardPlaces, Leaderboards, combine_phases, place_teams
from test.repository import REPOSITORY

PUBLISHED = REPOSITORY / "examples/published/tables"
REFUGE = ranking(RefugeOptions())
LOWER = ("segmentation.vertical_cup_to_disc_ratio_error", "fovea.distance")
BETTER: dict[str, Better] = {
    name: "lower" if name in LOWER else "higher" for name in (*REFUGE.metrics, *ADAM.metrics)
}


def read(name: str) -> list[dict[str, str]]:
    with (PUBLISHED / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def places_of(
    scheme: Scheme, teams: Sequence[str], columns: dict[str, tuple[list[dict[str, str]], str]]
) -> Leaderboards:
    """``columns``: by metric the rows of a table and its column."""
    values = {}
    for metric, (rows, column) in columns.items():
        of_team = {row["team"]: float(row[column]) for row in rows}
        values[metric] = [[of_team.get(team, math.nan) for team in teams]]
    return place_teams(scheme, values, BETTER)


def test_refuge_tables_4_and_6():
    table_4 = [row for row in read("refuge_table4_classification.csv") if row["rank"]]
    table_6 = read("refuge_table6_segmentation.csv")
    columns = {"dice_cup": "dice_cup", "dice_disc": "dice_disc"}
    columns |= {"vertical_cup_to_disc_ratio_error": "vcdr_mae"}
    teams = [row["team"] for row in table_6]
    found = places_of(
        REFUGE,
        teams,
        {"classification.auc": (table_4, "auc")}
        | {f"segmentation.{metric}": (table_6, column) for metric, column in columns.items()},
    ).boards
    for position, row in enumerate(table_6):
        assert found["segmentation"].score(position) == Fraction(row["score"]), row["team"]
        assert found["segmentation"].place(position) == int(row["rank"])
    # 0.4 × rank of Table 4 + 0.6 × rank of Table 6: 0.4·3 + 0.6·1, 0.4·1 + 0.6·5 and 0.4·11 + 0.6·11.
    for team, score, place in (("CUHKMED", "1.8", 1), ("VRT", "3.4", 2), ("Cvblab", "11", 12)):
        assert found["overall"].score(teams.index(team)) == Fraction(score)
        assert found["overall"].place(teams.index(team)) == place


def test_adam_table_9_scores():
    rows = read("adam_table9_lesions.csv")
    names = [f"{lesion}_{metric}" for lesion in LESIONS for metric in ("dice", "f1")]
    columns = {f"lesions.{name}": (rows, name) for name in names}
    board = places_of(ADAM, [row["team"] for row in rows], columns).boards["lesions"]
    expected = ["12.2", "16.0", "19.0", "20.8", "21.2", "22.6", "32.4", "34.0", "43.4"]
    assert [board.score(team) for team in range(len(rows))] == [Fraction(score) for score in expected]


def test_adam_overall_tie_is_broken_by_the_classification_rank():
    # On-site ranks as printed: TeamTiger 8, 5, 9, 9 and XxlzT 7, 1, 11, 10; both
    # 0.3·8 + 0.1·5 + 0.1·9 + 0.5·9 = 8.3 = 0.3·7 + 0.1·1 + 0.1·11 + 0.5·10.
    printed = {"TeamTiger": (8, 5, 9, 9), "XxlzT": (7, 1, 11, 10)}
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
