"""Classes by their votes and probabilities by their mean: by hand, and through declared phases."""

import csv
import math

import pytest

from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.io.kinds.classes import ClassLabel, ClassProbabilities
from evaluation.organiser.annotators.annotations import open_annotators
from evaluation.organiser.annotators.combine import CombinationRules, combine
from evaluation.organiser.annotators.ensemble import write_ensemble
from evaluation.organiser.annotators.reference import fuse_annotators
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import declared_phase, write_table
from test.faults import faulted

CASE, LABEL = CaseForm("V01"), ClassLabel(("none", "mild", "severe"))
CASES, NAMED = ({key: ["a", "b", "c"]} for key in ("name", "case"))
GRADE = """\
[fields.grade]
kind = "class"
classes = ["none", "mild", "severe"]
excluded = ["ungradable"]

[tasks.grading]
metrics = ["accuracy"]
"""
PROBABILITIES = """\
[fields.grade]
kind = "class_probabilities"
classes = ["none", "mild", "severe"]

[tasks.grading]
metrics = ["macro_auc"]
"""


@pytest.mark.parametrize(
    ("votes", "first", "last"),
    [
        ([2, 1, 2], 2, 2),
        ([0, 1, 2, 1], 1, 1),
        ([0, 2], 0, 2),
        ([1], 1, 1),
        # Excluded only if more say so than name any class.
        ([math.nan, 1], 1, 1),
        ([math.nan, math.nan, 0, 1], math.nan, math.nan),
        ([math.nan], math.nan, math.nan),
    ],
)
def test_the_most_frequent_class(votes, first, last):
    for tie, expected in (("background", first), ("foreground", last)):
        rules = CombinationRules(tie=tie)
        found = combine(LABEL, votes, CASE, rules)
        assert found == expected or (math.isnan(found) and math.isnan(expected))
        assert repr(combine(LABEL, votes[::-1], CASE, rules)) == repr(found)


def mean_of(given):
    return combine(ClassProbabilities(("none", "mild", "severe")), given, CASE, CombinationRules())


def test_mean_probabilities():
    assert mean_of([(0.5, 0.25, 0.25), (0.0, 1.0, 0.0)]) == (0.25, 0.625, 0.125)
    third = (1 / 3, 1 / 3, 1 / 3)
    assert sum(mean_of([third] * 7)) == pytest.approx(1)
    assert mean_of([(1.0, 0.0)] * 3) == (1.0, 0.0)


def rows_of(path):
    with path.open(newline="") as file:
        return {row.pop("case", None) or row.pop("name"): row for row in csv.DictReader(file)}


def test_an_ensemble_averages_probabilities(tmp_path):
    cases = CASES | {"grade": ["none", "mild", "severe"]}
    folder = declared_phase(tmp_path / "phase", PROBABILITIES, cases)
    phase = load_phase(folder, scan(folder))
    for name, none in (("x", [1, 0.5, 0]), ("y", [0, 0.5, 0])):
        of_classes = {"none": none, "mild": [1 - share for share in none], "severe": [0, 0, 0]}
        write_table(tmp_path / name / "predictions.csv", NAMED | of_classes)
    folders = {name: tmp_path / name for name in "xy"}
    write_ensemble(phase.form, phase.tasks, folders, tmp_path / "ensemble", CombinationRules())
    (table,) = (tmp_path / "ensemble").iterdir()
    found = {name: [float(row[of]) for of in ("none", "mild")] for name, row in rows_of(table).items()}
    assert found == {"a": [0.5, 0.5], "b": [0.5, 0.5], "c": [0, 1]}


def test_annotators_vote_on_classes_and_on_leaving_a_case_out(tmp_path):
    folder = declared_phase(tmp_path / "annotations", GRADE, CASES)
    given = {
        "x": ["mild", "ungradable", "severe"],
        "y": ["mild", "ungradable", "none"],
        "z": ["none", "mild", "none"],
    }
    for name, grades in given.items():
        write_table(folder / "readers" / name / "predictions.csv", NAMED | {"grade": grades})
    fused = fuse_annotators(open_annotators(folder), tmp_path / "fused", CombinationRules(), workers=0)
    assert rows_of(tmp_path / "fused" / "cases.csv") == {
        "a": {"grade": "mild"},
        "b": {"grade": "ungradable"},
        "c": {"grade": "none"},
    }
    accuracy = {score.annotator: score.value for score in fused.scores if score.metric == "accuracy"}
    # Of the cases that enter and that the annotator did not leave out.
    assert accuracy == {"x": 0.5, "y": 1.0, "z": 0.5}
    kappas = {(a.measure, a.first, a.second): a.cases for a in fused.agreement}
    assert kappas["Cohen's kappa", "x", "y"] == 3


def test_probabilities_are_no_annotations(tmp_path):
    folder = declared_phase(tmp_path / "annotations", PROBABILITIES, CASES)
    (folder / "readers" / "x").mkdir(parents=True)
    with faulted(PhaseError, "Grade"):
        open_annotators(folder)
