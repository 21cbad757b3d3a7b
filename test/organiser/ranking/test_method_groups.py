"""Groups of teams by method, with the twelve teams of REFUGE's Tables 3 and 4."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from evaluation.core.fault import PhaseError
from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.leaderboard import rank_phase
from evaluation.organiser.ranking.leaderboard_file import PhaseLeaderboard
from evaluation.organiser.ranking.leaderboard_writing import (
    method_groups,
    methods_rows,
    read_methods,
    write_methods,
)
from evaluation.organiser.ranking.result_tables import MetricDefinition, TableDefinition, read_results_table
from evaluation.organiser.ranking.results import RankingError
from evaluation.phase.places import scheme_of
from test.faults import faulted

# Team: AUC (Table 4), architectures and post-processing (Table 3).
PAPER = {
    "VRT": (0.9885, "Custom", "None"),
    "SDSAIRC": (0.9817, "ResNet", "None"),
    "CUHKMED": (0.9644, "", "None"),
    "NKSG": (0.9587, "SENet", "None"),
    "Mammoth": (0.9555, "ResNet; CatGAN", "None"),
    "Masker": (0.9524, "ResNet", "Ensemble"),
    "SMILEDeepDR": (0.9508, "DeepLabv3+", "None"),
    "BUCT": (0.9348, "Xception", "None"),
    "WinterFell": (0.9327, "ResNet; DenseNet", "Ensemble"),
    "NightOwl": (0.9101, "Custom", "Ensemble"),
    "Cvblab": (0.8806, "VGG19; Inception; ResNet; Xception", "Ensemble"),
    "AIML": (0.8458, "ResNet", "Ensemble"),
}


def board(tmp_path: Path, better: str = "higher", ineligible: str = "") -> PhaseLeaderboard:
    rows = [f"{team},{row[0]},{'no' if team == ineligible else 'yes'}" for team, row in PAPER.items()]
    path = tmp_path / "results.csv"
    path.write_text("\n".join(["team,auc,eligible", *rows]) + "\n", encoding="utf-8")
    results = read_results_table(path, TableDefinition(metrics={"auc": MetricDefinition(better=better)}))
    return rank_phase(results, scheme_of(results.challenge, results.options), RankOptions()).board


def methods(tmp_path: Path, *more: str):
    path = tmp_path / "teams.csv"
    rows = [f"{team},,{row[1]},{row[2]}" for team, row in PAPER.items()]
    header = "team,eligible,architecture,post-processing"
    path.write_text("\n".join([header, *rows, *more]) + "\n", encoding="utf-8")
    return read_methods(path)


def test_post_processing_of_the_paper(tmp_path):
    groups = method_groups(board(tmp_path), methods(tmp_path), ["post-processing"])
    assert [(group.metric, group.value, group.teams) for group in groups] == [
        ("results.auc", "None", 7),
        ("results.auc", "Ensemble", 5),
    ]
    of_value = {
        name: [auc for auc, _, post in PAPER.values() if post == name] for name in ("None", "Ensemble")
    }
    for group in groups:
        assert group.mean == pytest.approx(np.mean(of_value[group.value]))
        assert group.median == pytest.approx(np.median(of_value[group.value]))
    assert (groups[0].best, groups[0].best_team, groups[0].worst) == (0.9885, "VRT", 0.9348)
    assert (groups[1].best, groups[1].best_team, groups[1].worst) == (0.9524, "Masker", 0.8458)
    expected = mannwhitneyu(of_value["None"], of_value["Ensemble"]).pvalue
    assert groups[0].p_value == groups[1].p_value == pytest.approx(expected)
    assert groups[0].p_holm == pytest.approx(2 * expected)


def test_a_team_is_in_every_group_of_its_cell(tmp_path):
    groups = {
        group.value: group for group in method_groups(board(tmp_path), methods(tmp_path), ["architecture"])
    }
    assert set(groups) == {name for _, cell, _ in PAPER.values() for name in cell.split("; ") if name}
    resnet = [auc for auc, network, _ in PAPER.values() if "ResNet" in network]
    # CUHKMED used no network, and is not among the others.
    others = [auc for auc, network, _ in PAPER.values() if network and "ResNet" not in network]
    assert (groups["ResNet"].teams, len(others)) == (6, 5)
    assert groups["ResNet"].mean == pytest.approx(np.mean(resnet))
    assert groups["ResNet"].p_value == pytest.approx(mannwhitneyu(resnet, others).pvalue)


def test_the_tables(tmp_path):
    phase, table = board(tmp_path), methods(tmp_path)
    groups = method_groups(phase, table, ["post-processing"])
    paths = write_methods(groups, methods_rows(phase, table), tmp_path, "-onsite")
    assert [path.name for path in paths] == ["methods-onsite.csv", "method-groups-onsite.csv"]
    with paths[0].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["team"] for row in rows] == list(PAPER)
    assert rows[4]["architecture"] == "ResNet; CatGAN"
    assert (rows[0]["overall place"], rows[0]["results.auc"]) == ("1", "0.9885")
    assert "eligible" not in rows[0]


def test_faults(tmp_path):
    with pytest.raises(RankingError) as error:
        method_groups(board(tmp_path), methods(tmp_path), ["network", "eligible"])
    assert error.value.problems == (
        "network: no column of teams.csv; it has architecture, post-processing",
        "eligible: no column of teams.csv; it has architecture, post-processing",
    )
    with faulted(PhaseError, "teams.csv, line 14, team", "VRT"):
        methods(tmp_path, "VRT,,Custom,None")
