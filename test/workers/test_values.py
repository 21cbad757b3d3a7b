"""Values of cases: from JSON to a reader, and from it to others."""

import json

import numpy as np
import pytest

from evaluation.core.fault import FaultKind, FormFault, ReadError
from evaluation.core.field import CaseColumns, Field, Files, Reference
from evaluation.core.form import CaseForm
from evaluation.core.sources import JsonFileSource, JsonSource, StackSource
from evaluation.io.handover import HandoverError, encode
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.io.kinds.number import Number
from evaluation.metrics.crops import Crop
from evaluation.workers.reports import PackedValues, ValuesOfBatch
from evaluation.workers.submission_reader import JsonValues


def field_of(name, kind):
    reference = Reference(kind, CaseColumns((name,)))
    return Field(name, name, kind, Files(name, (".txt",)), reference)


FIELDS = {
    "number": field_of("number", Number(0, 1)),
    "mask": field_of("mask", LabelMap({0: "disc"}, 255, dimensions=2)),
}
CASE = CaseForm("A", 4, 4)
MASK = LabelMapValue(Crop(np.ones((1, 2, 2), np.uint8), (0, 1, 1)), (1, 4, 4), None)


def handed_over(values):
    return PackedValues(b"".join(encode(values.packed())), FIELDS)


def test_each_case_has_its_own_values_also_where_some_are_missing():
    values = ValuesOfBatch(FIELDS, 1000)
    assert values.add(3, {"number": 0.25})
    assert values.add(0, {"mask": MASK, "number": 1.0})
    assert values.add(1, {})
    found = handed_over(values)
    assert found.of_case(3, CASE) == {"number": 0.25}
    assert found.of_case(1, CASE) == found.of_case(7, CASE) == {}
    both = found.of_case(0, CASE)
    assert both.keys() == {"mask", "number"}
    assert (both["mask"].corner, both["mask"].positions.tolist()) == ((0, 1, 1), [[[1, 1], [1, 1]]])
    assert both["number"] == 1.0


def test_values_without_room_are_not_kept_and_smaller_ones_are():
    values = ValuesOfBatch(FIELDS, 100)
    assert not values.add(0, {"mask": MASK})
    assert values.add(1, {"number": 0.5})
    found = handed_over(values)
    assert (found.of_case(0, CASE), found.of_case(1, CASE)) == ({}, {"number": 0.5})


@pytest.mark.parametrize("room", [None, 1000])
def test_values_that_nobody_wants_are_dropped(room):
    values = ValuesOfBatch(FIELDS, room)
    assert values.add(0, {"number": 0.5})
    values.drop()
    assert values.add(1, {"mask": MASK})
    assert values.packed() == {}


FORGED = {
    "a list": [],
    "an unknown field": {"other": [np.arange(1), np.zeros(1)]},
    "values without numbers": {"number": np.zeros(1)},
    "more values than cases": {"number": [np.arange(1), np.zeros(2)]},
    "fewer masks than cases": {"mask": [np.arange(2), [None]]},
    "numbers that are no whole ones": {"number": [np.zeros(1), np.zeros(1)]},
    "a value beyond its range": {"number": [np.arange(1), np.full(1, 2.0)]},
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_values_are_refused(name):
    with pytest.raises(HandoverError):
        PackedValues(b"".join(encode(FORGED[name])), FIELDS)


def test_a_forged_mask_is_refused_for_its_case():
    forged = PackedValues(b"".join(encode({"mask": [np.arange(1), [None]]})), FIELDS)
    with pytest.raises(HandoverError):
        forged.of_case(0, CASE)


PATH = "job/output/risk.json"
STACK = JsonFileSource(PATH, "job 1, socket risk", 1000, entries=3)
ONE = JsonFileSource(PATH, "job 1, socket risk", 1000)


class MemoryFiles:
    """Files in memory, which counts how often each is read."""

    def __init__(self, text: str | None = None) -> None:
        self.contents = {} if text is None else {PATH: text}
        self.reads: list[str] = []

    def read(self, path: str, limit_bytes: int, may_be_empty: bool = False) -> memoryview:
        self.reads.append(path)
        if path not in self.contents:
            raise ReadError(FaultKind.MISSING, "a file", "none")
        return memoryview(self.contents[path].encode())


def case(index: int) -> CaseForm:
    return CaseForm(f"V{index}", columns={"stack_index": str(index)})


def test_each_case_gets_its_entry_and_the_file_is_read_once():
    files = MemoryFiles("[0.25, 0.5, 0.75]")
    values = JsonValues(files, "reject")
    found = [values.of_case(STACK, "risk", case(index)) for index in (2, 0, 1)]
    assert found == [
        JsonSource(value, PATH, "job 1, socket risk", index)
        for index, value in ((2, 0.75), (0, 0.25), (1, 0.5))
    ]
    assert files.reads == [PATH]


def test_a_file_of_one_value():
    assert JsonValues(MemoryFiles("[1]"), "reject").of_case(ONE, "risk", case(0)).value == [1]


def test_values_that_lie_in_the_list_of_jobs():
    source = StackSource([1, 2], "predictions.json", "job 1", 2)
    assert JsonValues(MemoryFiles(), "reject").of_case(source, "risk", case(1)).value == 2


@pytest.mark.parametrize(
    ("content", "found"), [([1, 2], "2 values"), ([1, 2, 3, 4], "4 values"), ({"a": 1}, "an object")]
)
def test_a_stack_of_another_length_is_a_fault(content, found):
    with pytest.raises(FormFault) as caught:
        JsonValues(MemoryFiles(json.dumps(content)), "worst").of_case(STACK, "risk", case(0))
    (fault,) = caught.value.faults
    assert (fault.kind, fault.file, fault.field) == (FaultKind.MALFORMED, PATH, STACK.place)
    assert fault.found == found


@pytest.mark.parametrize("content", ["[null, 1, 1]", "null", None])
@pytest.mark.parametrize("missing", ["reject", "worst"])
def test_what_is_missing_is_a_fault_or_nothing_by_the_rule_of_the_phase(content, missing):
    values = JsonValues(MemoryFiles(content), missing)
    if missing == "worst":
        assert values.of_case(STACK, "risk", case(0)) is None
        return
    with pytest.raises(FormFault) as caught:
        values.of_case(STACK, "risk", case(0))
    assert [(fault.kind, fault.file) for fault in caught.value.faults] == [(FaultKind.MISSING, PATH)]


def test_a_file_that_is_no_json_is_a_fault_whatever_the_rule():
    files = MemoryFiles("[1, 2")
    with pytest.raises(FormFault) as caught:
        JsonValues(files, "worst").of_case(STACK, "risk", case(0))
    assert [fault.file for fault in caught.value.faults] == [PATH]
