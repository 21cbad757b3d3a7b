"""Columns that follow from labels: what graders agreed on, for subgroups of the organiser."""

import pytest

from evaluation.challenges.justraigs.rules import CHALLENGE, FEATURES, JustraigsOptions
from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm, CaseRow
from evaluation.evaluate import Rejection, evaluate
from evaluation.organiser.validate import validate_phase
from evaluation.phase.cases import Cases, with_derived_columns
from evaluation.phase.manifest import scan
from evaluation.phase.scores import case_records
from test.eyes import Eye, justraigs_phase, justraigs_submission
from test.faults import faulted

COLUMNS = ("final_label", "label_g1", "label_g2", "label_g3", "features_g1", "features_g2", "features_g3")
RIM = f"agreed {FEATURES[0]}"
BOTH, OTHER = "1111111111", "0111111111"
ROWS = {
    "both graders": ("RG", "RG", "RG", "", BOTH, BOTH, ""),
    "both graders say no": ("RG", "RG", "RG", "", OTHER, OTHER, ""),
    "they differ": ("RG", "RG", "RG", "", BOTH, OTHER, ""),
    "specialist and grader": ("RG", "NRG", "RG", "RG", "", BOTH, BOTH),
    "specialist and grader differ": ("RG", "RG", "NRG", "RG", OTHER, "", BOTH),
    "not referable": ("NRG", "NRG", "NRG", "", "", "", ""),
    "not graded": ("RG", "RG", "RG", "", "-111111111", "-111111111", ""),
    "no marks": ("RG", "RG", "RG", "", "x111111111", "x111111111", ""),
}


def cases_of(columns=COLUMNS):
    rows = [CaseRow(2, dict(zip(columns, cells, strict=False))) for cells in ROWS.values()]
    return Cases(tuple(map(CaseForm, ROWS)), tuple(rows), columns)


def derived(cases, wanted=(RIM,), **options):
    return with_derived_columns(cases, CHALLENGE, JustraigsOptions(**options), wanted)


def test_what_the_graders_who_count_agree_on():
    found = derived(cases_of())
    assert found.columns == (*COLUMNS, RIM)
    assert {form.name: row.cells[RIM] for form, row in zip(found.forms, found.rows, strict=True)} == {
        "both graders": "present",
        "both graders say no": "absent",
        "they differ": "not agreed",
        "specialist and grader": "present",
        "specialist and grader differ": "not agreed",
        "not referable": "",
        "not graded": "not agreed",
        "no marks": "",
    }
    alone = derived(cases_of(), specialist_alone=True)
    assert alone.rows[4].cells[RIM] == "present"


def test_only_what_is_wanted_and_can_be_had():
    cases = cases_of()
    assert derived(cases, ()) is cases
    assert derived(cases, ("agreed nothing",)) is cases
    assert derived(cases_of(COLUMNS[:3])).columns == COLUMNS[:3]
    own = Cases(cases.forms, cases.rows, (*COLUMNS, RIM))
    assert derived(own) is own


EYES = [
    Eye("E1", "RG", 0.9, True, features=BOTH),
    Eye("E2", "RG", 0.1, False, features=OTHER),
    Eye("E3", "NRG", 0.5, False),
]


def subgroup(audience):
    return f'[[subgroups]]\ncolumn = "{RIM}"\ncompare = "positives"\n' + audience


def test_metrics_by_an_agreed_label_are_for_the_organiser(tmp_path):
    phase = justraigs_phase(tmp_path / "phase", EYES, tables=subgroup('audience = "organiser"'))
    result = evaluate(phase, justraigs_submission(tmp_path / "submission", EYES), 0)
    assert not isinstance(result, Rejection), result
    groups = result.figures.subgroups["_".join(RIM.split())]
    assert {value: found["referral"]["auc"] for value, found in groups.items()} == {"present": 1, "absent": 0}
    assert result.metrics.subgroups == {}
    assert [case["table"][RIM] for case in case_records(result)["cases"]] == ["present", "absent", ""]


def test_publishing_them_or_an_unknown_column_is_refused(tmp_path):
    phase = justraigs_phase(tmp_path / "phase", EYES, tables=subgroup(""))
    with pytest.raises(PhaseError) as error:
        validate_phase(phase.folder, scan(phase.folder), 0)
    assert f"results by {RIM} would give labels away: it is a label" in str(error.value)
    tables = '[[subgroups]]\ncolumn = "agreed nothing"\naudience = "organiser"'
    with faulted(PhaseError, "cases.csv", "agreed nothing"):
        justraigs_phase(tmp_path / "unknown", EYES, tables=tables)
