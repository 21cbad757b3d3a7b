"""`rank` on tables of results, as an organiser would: published tables, R's ranks, every option."""

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas
import pytest
from sklearn.preprocessing import MinMaxScaler

from test.repository import REPOSITORY
from test.started import run

RANKING = REPOSITORY / "test" / "organiser" / "ranking"


def ranked(folder: Path, *arguments: object) -> dict:
    done = run("rank", *arguments, "--output", folder)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads((folder / "leaderboard.json").read_text(encoding="ascii"))


def test_a_published_table_with_its_weights(tmp_path):
    """Table 6 of REFUGE; `test.organiser.ranking` computes the others."""
    file = REPOSITORY / "examples" / "published" / "tables" / "refuge_table6_segmentation.csv"
    with file.open(encoding="utf-8", newline="") as table:
        rows = [row for row in csv.DictReader(table) if row["rank"]]
    metrics = ("dice_cup=higher,weight=0.35", "dice_disc=higher,weight=0.25", "vcdr_mae=lower,weight=0.4")
    options = [part for metric in metrics for part in ("--metric", metric)]
    (phase,) = ranked(tmp_path / "out", file, *options)["phases"]
    order = {row["team"]: int(row["rank"]) for row in rows}
    printed = [order[team["team"]] for team in phase["teams"]]
    assert printed == sorted(printed)
    scores = {row["team"]: Fraction(row["score"]) for row in rows}
    for team in phase["teams"]:
        assert Fraction(team["boards"]["overall"]["exact_score"]) == scores[team["team"]]


def test_three_tasks(tmp_path):
    metric = ["--metric", "value=higher,unit=%", "--resamples", 200]
    arguments = [RANKING / "challenger" / "example.csv", *metric]
    document = ranked(tmp_path / "out", *arguments)
    (phase,) = document["phases"]
    assert (phase["phase"], phase["metrics"]["ideal.value"]["unit"]) == ("example", "%")
    across = phase["across"]
    assert across["rankings"] == ["ideal", "random", "worst"]
    assert across["teams"][0] == {"team": "A1", "place": 1, "mean_place": 1}
    taus = phase["agreement"]["ideal"]["taus"]
    assert taus == [1.0] * 200
    sets = [team["metrics"]["ideal.value"]["rank_set"] for team in phase["teams"]]
    assert sets == [[rank, rank] for rank in range(1, 6)]
    assert {row["kind"] for row in phase["robustness"]} == {"method"}
    organiser = json.loads((tmp_path / "out" / "organiser.json").read_text(encoding="ascii"))
    assert len(organiser["values"]["random.value"]["teams"]["A3"]) == 50
    again = ranked(tmp_path / "again", *arguments)
    assert again == document


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "no metric is defined (--metric NAME=higher|lower); further columns are f1"),
        (["--metric", "f1"], "--metric f1: expected NAME=higher or NAME=lower"),
        (["--metric", "f1=higher", "--scheme", "rank-then-mean"], "needs results per case of results.f1"),
        (["--metric", "f1=higher", "--scheme", "other"], "other: "),
        (
            ["--metric", "f1=higher", "folder"],
            "--metric describes a table",
        ),
    ],
)
def test_faults(tmp_path, arguments, problem):
    (tmp_path / "table.csv").write_text("team,f1\na,0.9\nb,0.8\n", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    *options, last = arguments or [""]
    given = (*options, tmp_path / "folder") if last == "folder" else (tmp_path / "table.csv", *arguments)
    done = run("rank", *given)
    assert done.returncode == 1
    assert problem in done.stderr
    assert "Traceback" not in done.stderr


def test_scaled_values_are_summed_as_scikit_learn_scales_them(tmp_path):
    random = np.random.default_rng(0)
    table = pandas.DataFrame(random.normal(100, 20, (7, 3)), columns=["mae", "psnr", "ssim"])
    table.loc[4] = table.loc[2]
    table.insert(0, "team", list("ABCDEFG"))
    table.to_csv(tmp_path / "table.csv", index=False)
    metrics = [
        part
        for metric in ("mae=lower", "psnr=higher", "ssim=higher,weight=2")
        for part in ("--metric", metric)
    ]
    (phase,) = ranked(tmp_path / "out", tmp_path / "table.csv", *metrics, "--scheme", "min-max")["phases"]
    scaled = MinMaxScaler().fit_transform(table[["mae", "psnr", "ssim"]] * [1, -1, -1]) @ [1, 1, 2]
    expected = pandas.Series(scaled.round(9), index=table["team"]).rank(method="min").to_dict()
    boards = {team["team"]: team["boards"]["overall"] for team in phase["teams"]}
    assert {team: board["place"] for team, board in boards.items()} == expected
    scores = [boards[team]["score"] for team in table["team"]]
    assert [float(Fraction(score)) for score in scores] == pytest.approx(scaled, abs=1e-9)
    assert expected["C"] == expected["E"]
