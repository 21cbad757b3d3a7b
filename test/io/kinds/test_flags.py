"""Sets of named flags, from JSON and from tables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, JsonSource
from evaluation.io.kinds.classes import FlagSet
from test.faults import faulted

KIND = FlagSet(("large cup", "laminar dots", "disc hemorrhages"))
CASE = CaseForm("E1")


def of_json(value):
    return KIND.read(JsonSource(value, "features.json", "job 1, socket features", 3), CASE, None)


def of_cells(*cells):
    return KIND.read(CellsSource(cells, "features.csv", 2, KIND.names), CASE, None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"large cup": True, "laminar dots": False, "disc hemorrhages": True}, (True, False, True)),
        ({"disc hemorrhages": True, "laminar dots": False, "large cup": True}, (True, False, True)),
        ({"large cup": None, "laminar dots": False}, (None, False, None)),
        ({}, (None, None, None)),
    ],
)
def test_reads_objects(value, expected):
    assert of_json(value) == expected


@pytest.mark.parametrize(
    ("value", "kind", "expected", "found"),
    [
        ({"large  cup": True}, FaultKind.UNKNOWN, "only the keys large cup, ", "the key 'large  cup'"),
        ({"large cup": 1}, FaultKind.MALFORMED, "true, false or null for 'large cup'", "the number 1"),
        ({"large cup": "true"}, FaultKind.MALFORMED, "true, false or null", "the text 'true'"),
        ([True, False, True], FaultKind.MALFORMED, "an object", "a list of 3"),
        (True, FaultKind.MALFORMED, "an object", "true"),
    ],
)
def test_faults_name_place_and_index(value, kind, expected, found):
    with pytest.raises(FormFault) as caught:
        of_json(value)
    (fault,) = caught.value.faults
    assert (fault.kind, fault.found) == (kind, found)
    assert fault.expected.startswith(expected)
    assert fault.field == "job 1, socket features, index 3"


def test_all_faults_of_one_object_are_told():
    with pytest.raises(FormFault) as caught:
        of_json({"large cup": 0, "cup": True, "laminar dots": "no"})
    assert [fault.kind.value for fault in caught.value.faults] == ["malformed", "unknown", "malformed"]


def test_reads_cells():
    assert of_cells("1", "0", "") == (True, False, None)
    with faulted(FormFault, "features.csv, line 2, laminar dots", "'yes'", kind=FaultKind.MALFORMED):
        of_cells("1", "yes", "0")


@given(st.tuples(*[st.sampled_from([True, False, None])] * 3))
def test_written_flags_are_read_back(flags):
    assert of_json(KIND.write_json(flags)) == flags
    assert of_cells(*KIND.write_cells(flags)) == flags


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ((True, False), [(True, False), (True, False), (False, False), (False, True)]),
        # On a flag without a label any prediction is as good.
        ((None, True), [(False, True), (False, True), (False, False), (True, False)]),
        (None, [(False, False)] * 4),
    ],
)
def test_variants_for_a_rehearsal(reference, expected):
    kind = FlagSet(("a", "b"))
    assert [kind.rehearse(reference, CaseForm("E1"), variant) for variant in Variant] == expected
