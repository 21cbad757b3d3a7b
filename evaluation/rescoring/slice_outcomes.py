"""The outcomes of slices of a submission: packed for transport, and joined."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

from evaluation.core.challenge import fields_of
from evaluation.core.fault import PhaseError
from evaluation.core.limits import limits_of
from evaluation.core.outcome import Outcome
from evaluation.evaluate import CaseOutcomes
from evaluation.phase.phase import Phase
from evaluation.phase.registry import tasks_of_form
from evaluation.workers.outcomes import packed_outcomes, unpacked_outcomes
from evaluation.workers.reports import Used


def packed_slice(cases: CaseOutcomes) -> bytes:
    """Return the outcomes as bytes, for `put_together`."""
    outcomes = packed_outcomes(list(cases.outcomes.values()))
    return pickle.dumps((cases.tasks, cases.run_seconds, tuple(cases.outcomes), outcomes, cases.used))


def put_together(phase: Phase, slices: Sequence[bytes]) -> CaseOutcomes:
    """Return the outcomes of all cases from the slices' outcomes.

    Raises `PhaseError` where slices contradict each other or together exceed the limits of a submission,
    which must then be scored as a whole.
    """
    outcomes: dict[int, Outcome] = {}
    used, about = Used(), set()
    for packed in slices:
        tasks, run_seconds, positions, of_slice, of_reading = pickle.loads(packed)  # noqa: S301 - of a lane
        about.add((tasks, run_seconds))
        outcomes.update(zip(positions, unpacked_outcomes(of_slice), strict=True))
        used += of_reading
    limits = limits_of(phase.form.cases, fields_of(tasks_of_form(phase.form)))
    if (
        len(about) != 1
        or outcomes.keys() != set(range(len(phase.rows)))
        or used.bytes > limits.bytes
        or used.items > limits.items
        or used.seconds > limits.seconds
    ):
        raise PhaseError("the slices of the submission do not fit together")
    ((tasks, run_seconds),) = about
    return CaseOutcomes(tasks, run_seconds, outcomes, used)
