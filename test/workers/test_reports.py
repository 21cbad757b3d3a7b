import struct
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.fault import MAX_KEPT, Fault, FaultKind, Faults
from evaluation.core.limits import Totals
from evaluation.io.handover import HandoverError, decode, encode
from evaluation.workers.batches import Batch
from evaluation.workers.reports import BatchReport, IndexReport, unpacked_trouble

TEXT = st.text(st.characters(), max_size=30) | st.text(st.characters(), min_size=200, max_size=300)
FAULT = st.builds(
    Fault,
    st.sampled_from(FaultKind),
    *[TEXT] * 3,
    line=st.none() | st.integers(1, 10**9),
    field=st.none() | TEXT,
    hint=st.none() | TEXT,
)
TASKS = ("one", "two")
BATCHES = (Batch((2, 0), b"content"), Batch((1,), b""))


def joined(parts) -> memoryview:
    return memoryview(b"".join(parts))


def shown(faults):
    return {(fault.kind, str(fault)) for fault in faults}


@settings(deadline=None)
@given(st.lists(FAULT, max_size=5))
def test_a_report_on_an_index_comes_as_it_was_told(faults):
    report = IndexReport(Faults(faults), ("two",), ("a notice",), (None, 0.5, 1.0), BATCHES, (".png",))
    unpacked = IndexReport.unpacked(joined(report.packed()), TASKS, 3)
    assert replace(unpacked, faults=report.faults) == report
    assert shown(unpacked.faults) == shown(report.faults)


@settings(deadline=None)
@given(st.lists(FAULT, max_size=5))
def test_a_report_on_a_batch_comes_as_it_was_told_with_its_values(faults):
    report = BatchReport(
        Faults(faults), {1: "out of memory"}, ("a problem",), {0: {"a.png": "12ab"}}, Totals(7, 8)
    )
    unpacked, values = BatchReport.unpacked(joined(report.packed({"field": [[0], [1.0]]})), 2)
    assert replace(unpacked, faults=report.faults) == report
    assert shown(unpacked.faults) == shown(report.faults)
    assert bytes(values) == b"".join(encode({"field": [[0], [1.0]]}))


@settings(deadline=None)
@given(st.text(st.characters(), max_size=5) | st.just("secret=\n\x1b[2J" * 10_000))
def test_a_fault_holds_few_characters_and_only_printable_ones(text):
    """A process that was taken over can put all that it holds into a fault."""
    told = Fault(FaultKind.MISSING, text, text, text, None, text, text)
    report, _ = BatchReport.unpacked(joined(BatchReport(Faults([told])).packed({})), 1)
    (fault,) = report.faults
    for part in (fault.file, fault.expected, fault.found, fault.field, fault.hint):
        assert len(part) <= 240
        assert part.isprintable()


TROUBLE = {
    "an operation in its own words": ["tell everybody about", "a.png", "memory"],
    "a lack in its own words": ["read", "a.png", "labels such as 1, 0, 0"],
    "no texts": ["read", "a.png", 7],
}


@pytest.mark.parametrize("name", TROUBLE)
def test_trouble_of_a_reader_has_only_our_words(name):
    data = joined(encode(TROUBLE[name]))
    with pytest.raises(HandoverError):
        unpacked_trouble(data, quoted=True)


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("disc/V0012.png", "disc/V0012.png"),
        ("told by the first reader", '"told by the first reader"'),
        ('a": the machine is short of "b', r'"a\x22: the machine is short of \x22b"'),
        ("a\nRejected, 1 fault", r'"a\nRejected, 1 fault"'),
    ],
)
def test_the_file_of_a_readers_trouble_cannot_be_taken_for_our_words(file, told):
    trouble = unpacked_trouble(joined(encode(["read", file, "memory"])), quoted=True)
    assert str(trouble) == f"cannot read {told}: the machine is short of memory"


def test_a_text_that_would_become_much_memory_is_no_document():
    data = b"[" + b",".join([b"[]"] * 2_000_000) + b"]"
    document = struct.pack("<Q", len(data)) + data
    tracemalloc.start()
    try:
        with pytest.raises(HandoverError):
            decode(document)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * len(document)


def test_faults_that_were_not_kept_are_counted():
    faults = Faults(Fault(FaultKind.MISSING, f"{number}.png", "a", "b") for number in range(3 * MAX_KEPT))
    report, _ = BatchReport.unpacked(joined(BatchReport(faults).packed([])), 0)
    assert (len(report.faults), len(list(report.faults))) == (3 * MAX_KEPT, MAX_KEPT)


def index(faults=((), ()), tasks=(), notices=(), run_seconds=(), batches=(), formats=()):
    return [[list(part) for part in faults], *map(list, (tasks, notices, run_seconds, batches, formats))]


FORGED = {
    "no list": {},
    "too short": [1, 2],
    "a task that the form has not": index(tasks=["three"]),
    "no positions": index(),
    "a text for a batch": index(batches=["x"]),
    "a notice that is no text": index(notices=[1]),
    "a fault of no kind": index(faults=([["odd", "a", "b", "c", None, None, None]], [])),
    "a fault of few parts": index(faults=([["missing"]], [])),
    "a count below 0": index(faults=([], [["missing", -1]])),
    "a format that is no text": index(batches=[[np.arange(3), np.zeros(0, np.uint8)]], formats=[1]),
    "run times of too few cases": index(run_seconds=[1.0]),
    "a run time that is no number": index(run_seconds=[float("inf")] * 3),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_report_is_refused(name):
    with pytest.raises(HandoverError):
        IndexReport.unpacked(joined(encode(FORGED[name])), TASKS, 3)


@pytest.mark.parametrize("positions", [(0, 1), (0, 1, 2, 2), (0, 1, 3), (-1, 0, 1)])
def test_every_case_is_in_one_batch(positions):
    report = IndexReport(Faults(), (), (), (), (Batch(positions, b""),))
    with pytest.raises(HandoverError):
        IndexReport.unpacked(joined(report.packed()), TASKS, 3)
