import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.fault import MAX_KEPT, Fault, FaultKind, Faults
from evaluation.io.handover import HandoverError, encode
from evaluation.workers.batches import Batch
from evaluation.workers.reports import BatchReport, IndexReport, Used

TEXT = st.text(st.characters(), max_size=30)
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


@settings(deadline=None)
@given(st.lists(FAULT, max_size=5))
def test_a_report_on_an_index_comes_as_it_was_told(faults):
    report = IndexReport(Faults(faults), ("two",), ("a notice",), (None, 0.5, 1.0), BATCHES, (".png",))
    assert IndexReport.unpacked(joined(report.packed()), TASKS, 3) == report


@settings(deadline=None)
@given(st.lists(FAULT, max_size=5))
def test_a_report_on_a_batch_comes_as_it_was_told_with_its_values(faults):
    report = BatchReport(
        Faults(faults), {1: "out of memory"}, ("a problem",), {0: {"a.png": "12ab"}}, Used(7, 8)
    )
    unpacked, values = BatchReport.unpacked(joined(report.packed({"field": [[0], [1.0]]})), 2)
    assert unpacked == report
    assert bytes(values) == b"".join(encode({"field": [[0], [1.0]]}))


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


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_a_report_or_refused(data):
    with contextlib.suppress(HandoverError):
        IndexReport.unpacked(memoryview(data), TASKS, 3)
    with contextlib.suppress(HandoverError):
        BatchReport.unpacked(memoryview(data), 3)
