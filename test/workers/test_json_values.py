import json

import pytest

from evaluation.core.fault import FaultKind, FormFault, ReadError
from evaluation.core.form import CaseForm
from evaluation.core.sources import JsonFileSource, JsonSource, StackSource
from evaluation.workers.case_reader import JsonValues

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
    found = [STACK.of_case("risk", case(index), values) for index in (2, 0, 1)]
    assert found == [
        JsonSource(value, PATH, "job 1, socket risk", index)
        for index, value in ((2, 0.75), (0, 0.25), (1, 0.5))
    ]
    assert files.reads == [PATH]


def test_a_file_of_one_value():
    assert ONE.of_case("risk", case(0), JsonValues(MemoryFiles("[1]"), "reject")).value == [1]


def test_values_that_lie_in_the_list_of_jobs():
    source = StackSource([1, 2], "predictions.json", "job 1", 2)
    assert source.of_case("risk", case(1), JsonValues(MemoryFiles(), "reject")).value == 2


@pytest.mark.parametrize(
    ("content", "found"), [([1, 2], "2 values"), ([1, 2, 3, 4], "4 values"), ({"a": 1}, "an object")]
)
def test_a_stack_of_another_length_is_a_fault(content, found):
    with pytest.raises(FormFault) as caught:
        STACK.of_case("risk", case(0), JsonValues(MemoryFiles(json.dumps(content)), "worst"))
    (fault,) = caught.value.faults
    assert (fault.kind, fault.file, fault.field) == (FaultKind.MALFORMED, PATH, STACK.place)
    assert fault.found == found


@pytest.mark.parametrize("content", ["[null, 1, 1]", "null", None])
@pytest.mark.parametrize("missing", ["reject", "worst"])
def test_what_is_missing_is_a_fault_or_nothing_by_the_rule_of_the_phase(content, missing):
    values = JsonValues(MemoryFiles(content), missing)
    if missing == "worst":
        assert STACK.of_case("risk", case(0), values) is None
        return
    with pytest.raises(FormFault) as caught:
        STACK.of_case("risk", case(0), values)
    assert [(fault.kind, fault.file) for fault in caught.value.faults] == [(FaultKind.MISSING, PATH)]


def test_a_file_that_is_no_json_is_a_fault_whatever_the_rule():
    files = MemoryFiles("[1, 2")
    with pytest.raises(FormFault) as caught:
        STACK.of_case("risk", case(0), JsonValues(files, "worst"))
    assert [fault.file for fault in caught.value.faults] == [PATH]
