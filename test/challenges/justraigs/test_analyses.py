"""Patients, eyes, and referral by additional label, counted by hand on a phase of a few eyes."""

import json

import pytest

from evaluation.challenges.justraigs.analyses import participants
from evaluation.challenges.justraigs.rules import FEATURES
from evaluation.core.case_table import ScoredCases
from evaluation.evaluate import Rejection, evaluate
from evaluation.phase.scores import case_records
from evaluation.platform.result_file import render
from test.eyes import Eye, justraigs_phase, justraigs_submission

RIM, CUP = FEATURES[0], FEATURES[-1]
# Specificity needs 95 % of two: no false positive is allowed, so the threshold is 0.8.
EYES = [
    Eye("E1", "RG", 0.9, True, features="1000000000", predicted=[True] + [False] * 9, cluster="P1"),
    Eye("E2", "RG", 0.1, False, features="1000000001", predicted=[False] * 10, cluster="P1"),
    Eye("E3", "RG", 0.8, True, features="0000000000", second="1000000000", predicted=None, cluster="P2"),
    Eye("E4", "NRG", 0.7, False, predicted=[True] + [False] * 9, cluster="P2"),
    Eye("E5", "NRG", 0.2, True, cluster="P3"),
    Eye("E6", "U", 0.95, True),
]


def records_of(folder, eyes, **keys):
    bins = '[[subgroups]]\ncolumn = "age"\nbins = [60]'
    phase = justraigs_phase(folder / "phase", eyes, keys=keys, tables=bins)
    result = evaluate(phase, justraigs_submission(folder / "submission", eyes), 0)
    assert not isinstance(result, Rejection), result
    return json.loads(render(case_records(result), organisers=True))


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    return records_of(tmp_path_factory.mktemp("analyses"), EYES)


def test_what_the_algorithm_said_and_the_graders_agreed_on(records):
    rows = {case["name"]: case["tasks"]["justification"] for case in records["cases"]}
    assert rows["E1"]["predicted"] == rows["E1"]["agreed"] == [1, *[0] * 9]
    assert rows["E3"]["predicted"] == [-1] * 10
    assert rows["E3"]["agreed"] == [-1, *[0] * 9]
    assert rows["E4"]["predicted"] == [1, *[0] * 9]
    assert rows["E4"]["agreed"] == [-1] * 10


def test_referral_by_label(records):
    by_label = records["analyses"]["referral_by_label"]
    present, absent = by_label[RIM]["present"], by_label[RIM]["absent"]
    assert (present["eyes"], present["found"], present["missed"]) == (2, 1, 1)
    assert present["sensitivity_at_95_specificity"] == 0.5
    assert present["auc"] == 0.5  # E1 wins both pairs, E2 none
    assert absent == {"eyes": 0, "found": 0, "missed": 0}
    not_agreed = by_label[RIM]["not_agreed"]
    assert (not_agreed["eyes"], not_agreed["found"], not_agreed["auc"]) == (1, 1, 1)
    assert by_label[RIM]["predicted"] == {
        "false_positives": 0,
        "of_false_positives": 0,
        "true_negatives": 1,
        "of_true_negatives": 2,
    }


def test_referral_by_label_needs_both_tasks_and_no_other(records, tmp_path):
    both = records_of(tmp_path / "both", EYES, tasks=["referral", "justification"])
    assert both["analyses"] == records["analyses"]
    for task in ("referral", "justification"):
        alone = records_of(tmp_path / task, EYES, tasks=[task])["analyses"]
        assert alone == {"participants": records["analyses"]["participants"]}


def test_patients_are_ungradable_without_a_gradable_eye():
    cells = {
        "final_label": ("U", "U", "U", "NRG", "RG", "U", "U"),
        "cluster": ("P1", "P1", "P2", "P3", "P4", "P4", "P5"),
    }
    found = participants(ScoredCases(tuple("abcdefg"), cells, {}, {}), "final_label", "RG", "NRG")
    counts = ("all", "referable", "not_referable", "ungradable")
    assert [found["eyes"][name] for name in counts] == [7, 1, 1, 5]
    assert [found["patients"][name] for name in counts] == [5, 1, 1, 3]


def test_without_a_gradable_eye_there_is_no_prevalence():
    found = participants(
        ScoredCases(("a",), {"final_label": ("U",), "cluster": ("",)}, {}, {}), "final_label", "RG", "NRG"
    )
    assert found["eyes"]["prevalence"] is None
    assert found["patients"] == {
        "all": 1,
        "referable": 0,
        "not_referable": 0,
        "ungradable": 1,
        "prevalence": None,
    }


def test_a_table_without_patients():
    cells = {"final_label": ("RG", "U")}
    found = participants(ScoredCases(("a", "b"), cells, {}, {}), "final_label", "RG", "NRG")
    assert found == {
        "eyes": {"all": 2, "referable": 1, "not_referable": 0, "ungradable": 1, "prevalence": 1.0},
    }
