"""JustRAIGS: final and agreed labels, graders against the final label, images to regrade."""

import csv
import json
import math
from fractions import Fraction

import numpy as np
import pytest

from evaluation.challenges.justraigs.rules import FEATURES
from evaluation.core.fault import PhaseError
from evaluation.evaluate import Result, evaluate
from evaluation.metrics.intervals import wilson_interval
from evaluation.organiser.annotators.combine import CombinationRules
from evaluation.organiser.annotators.ensemble import write_ensemble
from evaluation.organiser.justraigs_graders.grading import (
    MONITORING,
    GraderFigures,
    GraderLimits,
    agreement_of,
    figures_of,
    gradings_of,
)
from evaluation.organiser.justraigs_graders.reference import fuse_graders
from evaluation.organiser.justraigs_tables import read_graders
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from test.eyes import Eye, justraigs_phase, justraigs_submission
from test.faults import faulted
from test.organiser.justraigs_graders.test_graders import HEADER, ROWS, graders, mapping, row

CONFIGURATION = (
    'challenge = "justraigs"\nname = "eyes"\ntitle = "Eyes"\nsubmission = "algorithm"\nresamples = 0\n'
)


def fuse(folder, table, configuration=CONFIGURATION, monitoring=None):
    (folder / "phase.toml").write_text(configuration)
    places = (folder / "phase.toml", folder / "phase", folder / "report")
    fuse_graders(table, mapping(folder), *places, monitoring)
    return folder / "report"


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def marks(text):
    return tuple({"1": True, "0": False, "-": None}[mark] for mark in text)


@pytest.mark.parametrize(
    ("name", "specialist_alone", "final", "decided_by", "features"),
    [
        # Both graders agree on RG: their features, where they agree.
        ("EYE2", False, "RG", "both graders", "101-00110-"),
        ("EYE1", False, "NRG", "both graders", None),
        # G1 and the specialist say RG: these two count, and disagree on every feature.
        ("EYE3", False, "RG", "specialist", "----------"),
        ("EYE3", True, "RG", "specialist", "0000011111"),
        ("EYE4", False, "U", "specialist", None),
    ],
)
def test_agreed_labels_by_hand(tmp_path, name, specialist_alone, final, decided_by, features):
    (eye,) = [eye for eye in read_graders(graders(tmp_path)) if eye.name == name]
    assert (eye.final, eye.decided_by) == (final, decided_by)
    assert eye.agreed_features(specialist_alone) == (None if features is None else marks(features))


def test_figures_by_hand(tmp_path):
    eyes = read_graders(graders(tmp_path))
    gradings = gradings_of(eyes)
    figures = {one.grader: one for one in figures_of(gradings)}
    # The ungradable EYE4 enters nowhere; G2 missed EYE3, which the specialist called referable.
    assert figures["G1"] == GraderFigures("G1", 4, 2, 2, 1, 1)
    assert figures["G2"] == GraderFigures("G2", 4, 1, 2, 1, 1)
    # Both eyes of the specialist have the specialist's own label as their final one.
    assert figures["G3"] == GraderFigures("G3", 2, 1, 1, 0, 0, self_decided=2)
    assert {name for name, one in figures.items() if one.is_below(MONITORING)} == {"G2"}


@pytest.mark.parametrize(
    ("found", "cleared", "flagged"), [(80, 95, False), (79, 95, True), (80, 94, True), (100, 100, False)]
)
def test_limits_of_graders(found, cleared, flagged):
    """A grader at the limit stays."""
    assert GraderFigures("g", 200, found, 100, cleared, 100).is_below(MONITORING) is flagged


def test_a_grader_without_eyes_of_a_class_is_not_flagged_for_it():
    assert not GraderFigures("g", 3, 3, 3, 0, 0).is_below(MONITORING)


def test_ungradable_is_a_wrong_label_of_a_gradable_eye(tmp_path):
    table = graders(tmp_path, [row("E1", "NRG", "", ("U", "NRG", "NRG"))])
    (first, *_) = figures_of(gradings_of(read_graders(table)))
    assert first == GraderFigures("G1", 1, 0, 0, 0, 1)


def test_kappa_of_the_first_two_graders_by_hand(tmp_path):
    found = {(a.field, a.measure): a for a in agreement_of(read_graders(graders(tmp_path)))}
    # RG NRG RG NRG against RG NRG NRG U: observed 2/4, by chance ½·¼ + ½·½ = 3/8.
    assert found["main label", "Cohen's kappa"].value == pytest.approx((1 / 2 - 3 / 8) / (5 / 8))
    # 8 labels: 3 RG, 4 NRG, 1 U.
    by_chance = (9 + 16 + 1) / 64
    assert found["main label", "Fleiss' kappa"].value == pytest.approx((1 / 2 - by_chance) / (1 - by_chance))
    # Only EYE2 has the features of both; where they agree, only one category occurs: no kappa.
    assert {field for field, _ in found} == {"main label", FEATURES[3], FEATURES[9]}
    assert found[FEATURES[3], "Cohen's kappa"].cases == 1
    assert found[FEATURES[3], "Fleiss' kappa"].value == pytest.approx(-1)


def test_a_phase_ready_to_seal_with_its_report(tmp_path):
    report = fuse(tmp_path, graders(tmp_path))
    seal(tmp_path / "phase", scan(tmp_path / "phase"))
    names = [f"EYE{number}" for number in range(1, 5)]
    assert [case.name for case in load_phase(tmp_path / "phase").form.cases] == names
    content = json.loads((report / "report.json").read_text())
    assert content["final_labels"] == {"NRG": 1, "RG": 2, "U": 1}
    assert content["decided_by"] == {"both graders": 2, "specialist": 2}
    assert content["without_agreed_label"] == 1
    assert content["images_to_regrade"] == 4
    of_graders = {found["grader"]: found for found in rows_of(report / "graders.csv")}
    assert float(of_graders["G2"]["sensitivity"]) == 0.5
    assert float(of_graders["G2"]["sensitivity_upper"]) == pytest.approx(wilson_interval(1, 2).upper)
    assert of_graders["G3"]["specificity"] == ""
    labels = {found["name"]: found for found in rows_of(report / "labels.csv")}
    assert [labels["EYE2"][feature] or "-" for feature in FEATURES] == [*"101-00110-"]
    assert [found["name"] for found in rows_of(report / "regrade.csv")] == names


def test_a_specialist_where_both_graders_agree_is_listed(tmp_path):
    rows = [[*cells] for cells in ROWS]
    position = HEADER.index("Label G3")
    agreeing = next(cells for cells in rows if cells[0] == "EYE2")
    agreeing[position] = "NRG"
    report = fuse(tmp_path, graders(tmp_path, rows))
    assert [(found["name"], found["label_g3"]) for found in rows_of(report / "unexpected.csv")] == [
        ("EYE2", "NRG")
    ]
    assert json.loads((report / "report.json").read_text())["specialist_although_graders_agree"] == 1


def test_an_algorithm_phase_needs_the_mapping_of_its_stacks(tmp_path):
    (tmp_path / "eyes.toml").write_text(CONFIGURATION)
    with faulted(PhaseError, "--mapping", "none"):
        fuse_graders(graders(tmp_path), None, tmp_path / "eyes.toml", tmp_path / "phase", tmp_path / "report")


def test_images_of_a_flagged_grader_go_to_one_who_has_not_seen_them(tmp_path):
    names = {"EYE1": "ad-", "EYE2": "bac", "EYE3": "abc", "EYE4": "dac"}
    rows = [[*cells, *names[cells[0]]] for cells in ROWS]
    table = graders(tmp_path, rows, [*HEADER, "Grader G1", "Grader G2", "Grader G3"])
    again = rows_of(fuse(tmp_path, table) / "regrade.csv")
    # "b" was wrong on EYE3; the other grader of both images is "a", so that "d" is the only one left.
    assert [(found["name"], found["new_grader"]) for found in again] == [("EYE2", "d"), ("EYE3", "d")]


def test_specialists_are_marked_who_are_scored_on_labels_that_they_decided(tmp_path):
    rows = [[*cells] for cells in ROWS]
    # A specialist's label although both graders agree decides nothing.
    next(cells for cells in rows if cells[0] == "EYE1")[HEADER.index("Label G3")] = "RG"
    report = fuse(tmp_path, graders(tmp_path, rows))
    of_graders = {found["grader"]: found for found in rows_of(report / "graders.csv")}
    assert {name: found["self_decided"] for name, found in of_graders.items()} == {
        "G1": "0",
        "G2": "0",
        "G3": "2",
    }
    assert of_graders["G3"]["eyes"] == "3"
    assert float(of_graders["G3"]["specificity"]) == 0
    assert json.loads((report / "report.json").read_text())["scored_on_own_decisions"] == ["G3"]


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        (CONFIGURATION.replace("justraigs", "refuge"), ("challenge", "'refuge'")),
        (CONFIGURATION + "[options]\nspecialist = true\n", ("options.specialist",)),
    ],
)
def test_a_configuration_of_something_else(tmp_path, configuration, message):
    with faulted(PhaseError, *message):
        fuse(tmp_path, graders(tmp_path), configuration)
    assert not (tmp_path / "phase").exists()


EYES = [
    Eye("E1", "RG", 0.0),
    Eye("E2", "RG", 0.0),
    Eye("E3", "NRG", 0.0),
    Eye("E4", "NRG", 0.0),
]


def said(likelihoods, decisions, features):
    return [
        Eye(eye.name, eye.label, likelihood, decision, predicted=flags)
        for eye, likelihood, decision, flags in zip(EYES, likelihoods, decisions, features, strict=True)
    ]


def test_an_ensemble_of_algorithms_by_hand(tmp_path):
    phase = justraigs_phase(tmp_path / "phase", EYES)
    yes, no, none = (True,) * 10, (False,) * 10, (None,) * 10
    teams = {
        "a": said([10, 0, 5, 0], [True, True, False, None], [yes, yes, no, none]),
        "b": said([0.1, 0.2, 0.2, 0.3], [True, False, False, True], [no, yes, no, none]),
        "c": said([7, 7, 7, None], [False, True, False, True], [yes, none, no, none]),
    }
    folders = {name: justraigs_submission(tmp_path / name, eyes) for name, eyes in teams.items()}
    write_ensemble(phase.form, phase.tasks, folders, tmp_path / "ensemble", CombinationRules())
    result = evaluate(phase, tmp_path / "ensemble", workers=0)
    assert isinstance(result, Result)
    # a: 1, 0, ½, 0; b: 0, ½, ½, 1; c is constant: ½, ½, ½ and nothing.
    expected = [(1 + 0 + 0.5) / 3, (0 + 0.5 + 0.5) / 3, 0.5, 0.5]
    assert result.tables["referral"]["likelihood"].tolist() == pytest.approx(expected)
    # E2: two of three say yes; E1: two of three.
    np.testing.assert_array_equal(result.tables["decision"]["referred"][:2], [1, 1])
    # E3: nobody refers; E4: both who say something do.
    np.testing.assert_array_equal(result.tables["decision"]["not_referred"][2:], [1, 0])
    # "1010101010" is agreed; all yes is wrong in five of ten.
    assert result.tables["justification"]["distance"][:2].tolist() == [0.5, 0.5]
    assert math.isnan(result.tables["justification"]["distance"][2])


def test_limits_are_compared_exactly():
    # 0.1 + 0.2 in floating point is above 3/10; as fractions, three of ten reach it.
    limits = GraderLimits(Fraction("0.3"), Fraction(0))
    assert not GraderFigures("g", 10, 3, 10, 0, 10).is_below(limits)
    assert GraderFigures("g", 10, 2, 10, 10, 10).is_below(limits)
