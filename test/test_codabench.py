"""`evaluate --for codabench`: scores and page beside metrics.json; the container is in test/container."""

import json
import shutil
from pathlib import Path

import pytest

from evaluation import codabench
from evaluation.cli.main import main
from evaluation.codabench import column_key
from evaluation.phase.phase import load_phase
from test.phases import refuge_phase, refuge_submission
from test.rooms import needs

OPTIONAL = """\
optional_tasks = ["classification", "segmentation"]
platform.columns = ["segmentation.dice_cup"]
"""


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Put the folders of Codabench below the folder of the test."""
    folders = {"input": tmp_path / "res", "output": tmp_path / "output"}
    monkeypatch.setattr(codabench, "FOLDERS", folders)
    monkeypatch.setattr(codabench, "REFERENCE", str(refuge_phase(tmp_path / "ref", 24)))
    folders["output"].mkdir()
    return folders


def evaluate():
    return main(["evaluate", "--for", "codabench", "--workers", "0"])


def test_scores_and_a_page_of_which_a_rejection_leaves_none(places):
    refuge_submission(places["input"], 24)
    assert evaluate() == 0
    scores = json.loads((places["output"] / "scores.json").read_text(encoding="utf-8"))
    assert scores["classification_auc"] == 1
    assert all(type(value) in (int, float) for value in scores.values())
    page = (places["output"] / "detailed_results.html").read_text(encoding="utf-8")
    assert "V0001" not in page
    (places["input"] / "classification_results.csv").write_text("<b>x</b>", encoding="utf-8")
    assert evaluate() == 1
    assert {path.name for path in places["output"].iterdir()} == {"detailed_results.html"}
    page = (places["output"] / "detailed_results.html").read_text(encoding="utf-8")
    assert "Submission rejected" in page
    assert "<b>" not in page


def on_the_leaderboard(folder, status):
    """Return the scores that Codabench takes into a leaderboard: of a program that ended with a scores file.

    Source: the compute worker of codalab/codabench, which fails a submission without the file.
    """
    scores = folder / "scores.json"
    return json.loads(scores.read_text(encoding="utf-8")) if status == 0 and scores.exists() else None


def test_nothing_without_the_score_is_on_the_leaderboard(places):
    """A line without the score would come first."""
    folder = refuge_submission(places["input"], 24)
    phase = Path(codabench.REFERENCE) / "phase.toml"
    text = phase.read_text(encoding="utf-8")
    phase.write_text(f"{OPTIONAL}{text}", encoding="utf-8")
    main(["seal", codabench.REFERENCE])
    shutil.rmtree(folder / "segmentation")
    found = on_the_leaderboard(places["output"], evaluate())
    phase = load_phase(Path(codabench.REFERENCE))
    figures = phase.challenge.figures_of(phase.tasks)
    worst = {column_key(name): figures[name].worst for name in codabench.columns_of(phase)}
    assert found["classification_auc"] == 1
    assert found["segmentation_dice_cup"] == worst["segmentation_dice_cup"] == 0
    assert found.keys() == worst.keys()
    refuge_submission(places["input"], 24)
    (folder / "classification_results.csv").unlink()
    assert on_the_leaderboard(places["output"], evaluate()) is None
    page = (places["output"] / "detailed_results.html").read_text(encoding="utf-8")
    assert "it ranks by" in page
    assert "<table>" in page


def test_keys_of_columns():
    assert column_key("classification.auc") == "classification_auc"
    assert column_key("größe.dice-1") == "gr_e_dice_1"


@needs("starter")
def test_bundles_are_for_phases_of_files(tmp_path, capsys):
    main(["new", str(tmp_path / "mine"), "--like", "regression", "--algorithm"])
    assert main(["export", str(tmp_path / "mine"), "--for", "codabench"]) == 1
    assert "expected submission = 'archive', found 'algorithm'" in capsys.readouterr().err
