"""The attack by constraints: each kind of figure, alone, tells labels, and only right ones."""

import numpy as np
import pytest

from evaluation.organiser.attacks.attack import attack
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import declared_phase

CASES = 10
RANDOM = np.random.Generator(np.random.PCG64(7))
GRADES = RANDOM.permutation(["none"] * 5 + ["mild"] * 3 + ["severe"] * 2).tolist()

GRADE = """
resamples = 0
value_digits = {digits}
spread_digits = 3
public_detail = "{detail}"

[fields.grade]
kind = "class"
classes = ["none", "mild", "severe"]

[tasks.grading.metrics]
{metrics}
"""


def phase_of(folder, digits=4, detail="value", metrics="accuracy = {}"):
    cases = {"name": [f"c{number:02d}" for number in range(CASES)], "grade": GRADES}
    tables = GRADE.format(digits=digits, detail=detail, metrics=metrics)
    declared = declared_phase(folder / "phase", tables, cases)
    seal(declared, scan(declared))
    return load_phase(declared)


def solved(phase, allowed=30):
    (found,) = [one for one in attack(phase, 0, allowed, solver=True) if "solving" in one.method]
    assert found.recovered == found.correct
    if found.recovered == found.cases:
        assert found.bound <= found.bound_of_used <= found.submissions
    return found


@pytest.mark.parametrize(
    ("metric", "detail"), [("accuracy", "value"), ("balanced_accuracy", "value"), ("accuracy", "full")]
)
def test_three_classes_from_one_figure(tmp_path, metric, detail):
    """No other attack applies to them."""
    found = solved(phase_of(tmp_path, detail=detail, metrics=f"{metric} = {{}}"))
    assert (found.labels, found.recovered, found.cases) == ("grade", CASES, CASES)


def test_with_few_submissions_only_proven_labels_count(tmp_path):
    found = solved(phase_of(tmp_path), allowed=2)
    assert found.submissions == 2
    assert found.recovered < CASES


def test_ranks_among_other_teams_contradict_no_value(tmp_path):
    """A leaderboard of other teams bounds the values of one decimal from both sides."""
    phase = phase_of(tmp_path, digits=1)
    rows = "".join(f"t{number},{number / CASES:.4f}\n" for number in range(CASES + 1))
    (phase.folder / "leaderboard.csv").write_text(f"team,grading.accuracy\n{rows}")
    seal(phase.folder, scan(phase.folder))
    assert solved(load_phase(phase.folder), allowed=40).recovered == CASES
