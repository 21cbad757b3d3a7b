"""`evaluate --for codabench`: scores and page beside metrics.json; the container is in test/container."""

import json

import pytest

from evaluation import codabench
from evaluation.cli.main import main
from evaluation.codabench import column_key
from test.phases import refuge_phase, refuge_submission
from test.rooms import needs


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


def test_keys_of_columns():
    assert column_key("classification.auc") == "classification_auc"
    assert column_key("größe.dice-1") == "gr_e_dice_1"


@needs("starter")
def test_bundles_are_for_phases_of_files(tmp_path, capsys):
    main(["new", str(tmp_path / "mine"), "--like", "regression", "--algorithm"])
    assert main(["export", str(tmp_path / "mine"), "--for", "codabench"]) == 1
    assert "expected submission = 'archive', found 'algorithm'" in capsys.readouterr().err
