"""What an attacker sees is the metrics.json that `evaluate` writes."""

import json
from dataclasses import asdict

import pytest

from evaluation.evaluate import evaluate
from evaluation.organiser.attacks.attack_tools import Oracle, OutOfSubmissionsError, value_of
from evaluation.platform.result_file import render
from test.phases import loaded_phase, refuge_submission


def test_a_submission_gets_its_metrics_json(tmp_path):
    phase = loaded_phase(tmp_path / "phase", 24, keys={"tasks": ["classification"]})

    def change(case, values):
        return values | {"glaucoma_risk": case.number % 7 / 7}

    folder = refuge_submission(tmp_path / "submission", 24, fields=["glaucoma_risk"], change=change)
    expected = json.loads(render(asdict(evaluate(phase, folder, 0).metrics)))
    oracle = Oracle(phase, phase.tasks, allowed=1)
    found = oracle.submit({"glaucoma_risk": int(case.name[1:]) % 7 / 7} for case in oracle.cases)
    assert found == expected
    assert (
        value_of(found, "classification", "auc") == expected["aggregates"]["classification"]["auc"]["value"]
    )
    assert value_of(found, "fovea", "distance") is None
    with pytest.raises(OutOfSubmissionsError):
        oracle.submit([])
    assert oracle.submissions == 1
