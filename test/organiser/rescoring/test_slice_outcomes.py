"""Slices are put together only if they are all of one submission, and not more than one may be."""

from dataclasses import replace

import pytest

from evaluation.core.fault import PhaseError
from evaluation.evaluate import CaseOutcomes, Rejection, read_and_score
from evaluation.organiser.rescoring.scorer import packed_slice, put_together
from evaluation.phase.phase import load_phase
from evaluation.workers.batches import Slice
from test.faults import faulted
from test.phases import refuge_phase, refuge_submission

CASES = 40
"""Those of two batches."""


@pytest.fixture(scope="module")
def phase(tmp_path_factory):
    return load_phase(refuge_phase(tmp_path_factory.mktemp("phase") / "phase", CASES))


@pytest.fixture(scope="module")
def slices(phase, tmp_path_factory) -> list[CaseOutcomes]:
    submission = refuge_submission(tmp_path_factory.mktemp("submission"), CASES)
    return [read_and_score(phase, submission, 0, part=Slice(number, 2)) for number in range(2)]


def test_slices_hold_every_case_once(slices):
    assert sorted(position for cases in slices for position in cases.outcomes) == list(range(CASES))
    assert all(cases.outcomes for cases in slices)


def test_a_fault_rejects_the_slice_that_has_it(phase, tmp_path):
    submission = refuge_submission(tmp_path / "s", CASES)
    masks = sorted(submission.rglob("*.bmp")) or sorted(submission.rglob("*.png"))
    masks[0].write_bytes(b"no image")
    found = [read_and_score(phase, submission, 0, part=Slice(number, 2)) for number in range(2)]
    assert sorted(isinstance(part, Rejection) for part in found) == [False, True]


UNFIT = {
    "a slice is missing": lambda one, two: [one],
    "another number of slices": lambda one, two: [one, one],
    "other tasks": lambda one, two: [one, replace(two, tasks=two.tasks[:1])],
    "too many bytes": lambda one, two: [one, replace(two, used=replace(two.used, bytes=1 << 40))],
    "too many values": lambda one, two: [one, replace(two, used=replace(two.used, items=1 << 40))],
}


@pytest.mark.parametrize("change", UNFIT)
def test_slices_that_do_not_fit_together_have_no_result(phase, slices, change):
    with faulted(PhaseError):
        put_together(phase, list(map(packed_slice, UNFIT[change](*slices))))
