"""JustRAIGS: final and agreed labels, graders against the final label, images to regrade."""

import csv
import json
from fractions import Fraction

import pytest

from evaluation.challenges.justraigs.rules import FEATURES
from evaluation.core.fault import PhaseError
from evaluation.organiser.justraigs_graders.fuse_graders import fuse_graders
from evaluation.organiser.justraigs_graders.grading import (
    MONITORING,
    GraderFigures,
    GraderLimits,
    figures_of,
)
from evaluation.organiser.justraigs_graders.tables import read_graders
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from evaluation.stats.intervals import wilson_interval
from test.faults import faulted
from test.organiser.justraigs_graders.test_graders import HEADER, ROWS, graders, mapping, row

CONFIGURATION = (
    'challenge = "justraigs"\nname = "eyes"\ntitle = "Eyes"\nsubmission = "algorithm"\nresamples = 0\n'
)


def fuse(folder, table, configuration=CONFIGURATION):
    (folder / "phase.toml").write_text(configuration)
    places = (folder / "phase.toml", folder / "phase", folder / "report")
    fuse_graders(table, mapping(folder), *places)
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
    figures = {one.grader: one for one in figures_of(eyes)}
    # The ungradable EYE4 enters nowhere; G2 missed EYE3, which the specialist called referable.
    assert figures["G1"] == GraderFigures("G1", 4, 2, 2, 1, 1)
    assert figures["G2"] == GraderFigures("G2", 4, 1, 2, 1, 1)
    # Both eyes of the specialist have the specialist's own label as their final one.
    assert figures["G3"] == GraderFigures("G3", 2, 1, 1, 0, 0, self_decided=2)
    assert {name for name, one in figures.items() if one.is_below(MONITORING)} == {"G2"}
    # Ungradable is a wrong label of a gradable eye.
    table = graders(tmp_path, [row("E1", "NRG", "", ("U", "NRG", "NRG"))])
    assert figures_of(read_graders(table))[0] == GraderFigures("G1", 1, 0, 0, 0, 1)


EXACT = GraderLimits(Fraction("0.3"), Fraction(0))
"""0.1 + 0.2 in floating point is above 3/10; as fractions, three of ten reach it."""


@pytest.mark.parametrize(
    ("found", "referable", "cleared", "not_referable", "limits", "flagged"),
    [
        (80, 100, 95, 100, MONITORING, False),  # at the limit
        (79, 100, 95, 100, MONITORING, True),
        (80, 100, 94, 100, MONITORING, True),
        (3, 3, 0, 0, MONITORING, False),  # no eyes of a class
        (3, 10, 0, 10, EXACT, False),
        (2, 10, 10, 10, EXACT, True),
    ],
)
def test_limits_of_graders(found, referable, cleared, not_referable, limits, flagged):
    figures = GraderFigures("g", 200, found, referable, cleared, not_referable)
    assert figures.is_below(limits) is flagged


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


def test_images_of_a_flagged_grader_are_graded_again(tmp_path):
    names = {"EYE1": "ad-", "EYE2": "bac", "EYE3": "abc", "EYE4": "dac"}
    rows = [[*cells, *names[cells[0]]] for cells in ROWS]
    table = graders(tmp_path, rows, [*HEADER, "Grader G1", "Grader G2", "Grader G3"])
    again = rows_of(fuse(tmp_path, table) / "regrade.csv")
    # "b" was wrong on EYE3.
    of_images = [(found["name"], found["role"], found["grader"]) for found in again]
    assert of_images == [("EYE2", "G1", "b"), ("EYE3", "G2", "b")]


def test_specialists_are_marked_who_are_scored_on_their_own_labels_and_listed_where_graders_agree(tmp_path):
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
    content = json.loads((report / "report.json").read_text())
    assert content["scored_on_own_decisions"] == ["G3"]
    assert content["specialist_although_graders_agree"] == 1
    (unexpected,) = rows_of(report / "unexpected.csv")
    assert (unexpected["name"], unexpected["label_g3"]) == ("EYE1", "RG")


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
    (tmp_path / "phase.toml").write_text(CONFIGURATION)
    with faulted(PhaseError, "--mapping", "none"):
        fuse_graders(
            graders(tmp_path), None, tmp_path / "phase.toml", tmp_path / "phase", tmp_path / "report"
        )
    assert not (tmp_path / "phase").exists()
