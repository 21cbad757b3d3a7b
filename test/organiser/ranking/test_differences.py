"""Teams beside the first place, and variants, with the values that ADAM's paper prints and by hand."""

import csv
from pathlib import Path

import pytest

from evaluation.core.scheme import Board, Place, Rank, Scheme
from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.leaderboard import RankedPhase, rank_phase
from evaluation.organiser.ranking.leaderboard_writing import write_differences
from evaluation.organiser.ranking.result_tables import MetricDefinition, TableDefinition, read_results_table


def ranked(folder: Path, text: str, scheme: Scheme, **metrics: str) -> RankedPhase:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    definition = TableDefinition(
        metrics={name: MetricDefinition(better=better) for name, better in metrics.items()}
    )
    return rank_phase(read_results_table(path, definition), scheme, RankOptions())


def test_the_relative_changes_of_table_13_and_section_4_3(tmp_path):
    phase = ranked(
        tmp_path,
        "team,variant_of,exudate_dice,exudate_f1,distance\n"
        "Airamatrix,,0.2606,0.4673,26.1720\n"
        "Airamatrix alone,Airamatrix,0.2574,0.4545,\n"
        "VUNO,,,,18.5538\n"
        "VUNO alone,VUNO,,,24.9309\n"
        "Voxelcloud,,,,25.2316\n"
        "Voxelcloud alone,Voxelcloud,,,48.8327\n",
        Scheme((Board("overall", (Rank("results.distance"),)),), "overall"),
        exudate_dice="higher",
        exudate_f1="higher",
        distance="lower",
    )
    found = {
        (row.team, row.metric.partition(".")[2]): (round(row.relative_change_percent, 2), row.outcome)
        for row in phase.variants
    }
    assert found == {
        ("Airamatrix alone", "exudate_dice"): (-1.23, "worse"),
        ("Airamatrix alone", "exudate_f1"): (-2.74, "worse"),
        ("VUNO alone", "distance"): (34.37, "worse"),
        ("Voxelcloud alone", "distance"): (93.54, "worse"),
    }
    # A variant is shown and not ranked.
    rows = {team.team: team for team in phase.board.teams}
    assert rows["VUNO alone"].note == "variant of VUNO"
    assert (rows["VUNO alone"].eligible, rows["VUNO alone"].boards["overall"].place) == (False, None)
    assert rows["Voxelcloud"].boards["overall"].place == 2


def test_the_ensemble_of_adams_table_10_beside_the_first_places(tmp_path):
    """Tables 3, 5 and 7: 0.9702 < 0.9714, 0.9519 > 0.9486, 17.8173 < 18.5538 (a distance)."""
    tasks = {"auc": "classification", "dice": "disc", "distance": "fovea"}
    boards = tuple(Board(task, (Rank(f"results.{metric}"),)) for metric, task in tasks.items())
    phase = ranked(
        tmp_path,
        "team,eligible,auc,dice,distance\n"
        "VUNO,,0.9714,0.9437,18.5538\n"
        "XxlzT,,0.9287,0.9486,284.0345\n"
        "Voxelcloud,,,,25.2316\n"
        "ensemble,no,0.9702,0.9519,17.8173\n",
        Scheme(boards),
        auc="higher",
        dice="higher",
        distance="lower",
    )
    rows = [(row.board, row.other, row.outcome) for row in phase.first_place if row.team == "ensemble"]
    assert rows == [
        ("classification", "VUNO", "worse"),
        ("disc", "XxlzT", "better"),
        ("fovea", "VUNO", "better"),
    ]
    assert all(row.team != row.other for row in phase.first_place)
    # Voxelcloud took part in the localisation of the fovea alone.
    assert {row.board for row in phase.first_place if row.team == "Voxelcloud"} == {"fovea"}
    (path,) = write_differences(phase, tmp_path, "-onsite")
    assert path.name == "first-place-onsite.csv"
    with path.open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert len(written) == len(phase.first_place)
    (row,) = (row for row in written if (row["team"], row["metric"]) == ("ensemble", "results.dice"))
    expected = ("0.9519", "XxlzT", "0.0033", "better")
    assert (row["value"], row["other"], row["difference"], row["outcome"]) == expected


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
