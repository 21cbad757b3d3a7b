"""Ensembles beside the first place, and variants, with the values that ADAM's paper prints."""

import csv
from pathlib import Path

import pytest

from evaluation.challenges.adam import LESIONS, RANKING
from evaluation.core.scheme import Board, Place, Rank, Scheme
from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.leaderboard import RankedPhase, rank_phase
from evaluation.organiser.ranking.leaderboard_writing import write_differences
from evaluation.organiser.ranking.result_tables import MetricDefinition, TableDefinition, read_results_table
from test.organiser.ranking.test_published import read

LESION_METRICS = [f"{lesion}_{metric}" for lesion in LESIONS for metric in ("dice", "f1")]
COLUMNS = {
    "classification.auc": ("adam_table3_classification.csv", "auc"),
    "disc.dice": ("adam_table5_disc.csv", "dice"),
    "disc.f1": ("adam_table5_disc.csv", "f1"),
    "fovea.distance": ("adam_table7_fovea.csv", "euclidean_distance"),
    **{f"lesions.{name}": ("adam_table9_lesions.csv", name) for name in LESION_METRICS},
}
# Of its columns in the order of Table 10.
ENSEMBLE = {
    "classification.auc": "auc",
    "disc.dice": "disc_dice",
    "disc.f1": "disc_f1",
    "fovea.distance": "fovea_distance",
    **{f"lesions.{name}": name for name in LESION_METRICS},
}


def ranked(folder: Path, text: str, scheme: Scheme = RANKING, **metrics: str) -> RankedPhase:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    directions = metrics or {name: "lower" if name == "fovea.distance" else "higher" for name in COLUMNS}
    definition = TableDefinition(
        metrics={name: MetricDefinition(better=better) for name, better in directions.items()}
    )
    return rank_phase(read_results_table(path, definition), scheme, RankOptions())


@pytest.fixture(scope="module")
def published(tmp_path_factory) -> RankedPhase:
    """The teams of Tables 3, 5, 7 and 9, and the ensemble of Table 10, which is not ranked."""
    values: dict[str, dict[str, str]] = {}
    for metric, (table, column) in COLUMNS.items():
        for row in read(table):
            values.setdefault(row["team"], {})[metric] = row[column]
    (ensemble,) = read("adam_table10_ensemble_of_top3.csv")
    lines = [",".join(["team", "eligible", *COLUMNS])]
    lines += [",".join([team, "", *(row.get(name, "") for name in COLUMNS)]) for team, row in values.items()]
    lines.append(",".join(["ensemble", "no", *(ensemble[ENSEMBLE[name]] for name in COLUMNS)]))
    return ranked(tmp_path_factory.mktemp("published"), "\n".join(lines))


def test_the_ensemble_of_table_10_beside_the_first_places(published):
    rows = {row.metric: row for row in published.first_place if row.team == "ensemble"}
    assert rows.keys() == COLUMNS.keys()
    firsts = {row.board: row.other for row in rows.values()}
    # The first places of Tables 3, 5, 7 and 9.
    assert firsts == {
        "classification": "VUNO EYE TEAM",
        "disc": "XxlzT",
        "fovea": "VUNO EYE TEAM",
        "lesions": "VUNO EYE TEAM",
    }
    # 0.9702 < 0.9714, 0.9519 > 0.9486, 17.8173 < 18.5538 (a distance), and so on.
    assert {metric for metric, row in rows.items() if row.outcome == "better"} == {
        "disc.dice",
        "disc.f1",
        "fovea.distance",
        "lesions.drusen_dice",
        "lesions.exudate_f1",
        "lesions.scar_dice",
        "lesions.scar_f1",
        "lesions.other_f1",
    }
    assert {row.outcome for row in rows.values()} == {"better", "worse"}
    assert rows["fovea.distance"].difference == pytest.approx(17.8173 - 18.5538)


def test_the_first_place_is_not_compared_with_itself(published):
    assert all(row.team != row.other for row in published.first_place)
    # Voxelcloud took part in the localisation of the fovea alone.
    assert {row.board for row in published.first_place if row.team == "Voxelcloud"} == {"fovea"}


def test_the_relative_changes_of_table_13_and_section_4_3(tmp_path):
    phase = ranked(
        tmp_path,
        "team,variant_of,exudate_dice,exudate_f1,scar_dice,scar_f1,distance\n"
        "Airamatrix,,0.2606,0.4673,0.4080,0.6500,26.1720\n"
        "Airamatrix alone,Airamatrix,0.2574,0.4545,0.4006,0.6047,\n"
        "VUNO,,,,,,18.5538\n"
        "VUNO alone,VUNO,,,,,24.9309\n"
        "Voxelcloud,,,,,,25.2316\n"
        "Voxelcloud alone,Voxelcloud,,,,,48.8327\n",
        Scheme((Board("overall", (Rank("results.distance"),)),), "overall"),
        **dict.fromkeys(["exudate_dice", "exudate_f1", "scar_dice", "scar_f1"], "higher"),
        distance="lower",
    )
    found = {
        (row.team, row.metric.partition(".")[2]): (round(row.relative_change_percent, 2), row.outcome)
        for row in phase.variants
    }
    assert found == {
        ("Airamatrix alone", "exudate_dice"): (-1.23, "worse"),
        ("Airamatrix alone", "exudate_f1"): (-2.74, "worse"),
        ("Airamatrix alone", "scar_dice"): (-1.81, "worse"),
        ("Airamatrix alone", "scar_f1"): (-6.97, "worse"),
        ("VUNO alone", "distance"): (34.37, "worse"),
        ("Voxelcloud alone", "distance"): (93.54, "worse"),
    }
    # A variant is shown and not ranked.
    rows = {team.team: team for team in phase.board.teams}
    assert rows["VUNO alone"].note == "variant of VUNO"
    assert (rows["VUNO alone"].eligible, rows["VUNO alone"].boards["overall"].place) == (False, None)
    assert rows["Voxelcloud"].boards["overall"].place == 2


def test_equal_values_a_shared_first_place_and_a_value_of_zero(tmp_path):
    text = "team,dice,error\na,0.3,0\nb,0.3,0\nc,0.1,0.5\n"
    boards = (
        Board("dice", (Rank("results.dice"),)),
        Board("overall", (Place("dice"), Rank("results.error"))),
    )
    phase = ranked(tmp_path, text, Scheme(boards, "overall"), dice="higher", error="lower")
    rows = {(row.board, row.metric, row.team, row.other): row for row in phase.first_place}
    # The overall board adds what its parts do not rank.
    assert list(rows) == [
        (board, f"results.{board if board == 'dice' else 'error'}", "c", other)
        for board in ("dice", "overall")
        for other in ("a", "b")
    ]
    worse = rows["dice", "results.dice", "c", "a"]
    assert (worse.difference, worse.outcome) == (-0.2, "worse")
    assert worse.relative_change_percent == pytest.approx(-200 / 3)
    of_zero = rows["overall", "results.error", "c", "a"]
    assert (of_zero.outcome, of_zero.relative_change_percent) == ("worse", None)


def test_without_an_overall_board_every_last_one_counts(tmp_path):
    boards = (Board("dice", (Rank("results.dice"),)), Board("error", (Rank("results.error"),)))
    text = "team,dice,error\na,0.3,2\nb,0.2,1\n"
    phase = ranked(tmp_path, text, Scheme(boards), dice="higher", error="lower")
    assert [(row.board, row.team, row.other) for row in phase.first_place] == [
        ("dice", "b", "a"),
        ("error", "a", "b"),
    ]


def test_the_files(published, tmp_path):
    (path,) = write_differences(published, tmp_path, "-onsite")
    assert path.name == "first-place-onsite.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(published.first_place)
    row = next(row for row in rows if row["team"] == "ensemble" and row["metric"] == "disc.dice")
    assert (row["value"], row["other"], row["difference"], row["outcome"]) == (
        "0.9519",
        "XxlzT",
        "0.0033",
        "better",
    )
