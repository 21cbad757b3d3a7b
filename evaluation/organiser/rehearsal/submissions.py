"""Submissions derived from a reference: written as participants write them, then indexed, read and scored.

They take the way of every submission: files or jobs in a folder, an index, confined readers, the handing over
of values, scorers.
"""

import traceback
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluation.core.challenge import Task, fields_of, references_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field, Variant
from evaluation.core.form import INPUT_VALUE, INTERFACE, STACK_INDEX, STACK_NAME, CaseForm, Form
from evaluation.core.outcome import CaseJob, Progress, Scored
from evaluation.evaluate import Rejection, read_and_score, run_reference
from evaluation.io.files import scratch_folder
from evaluation.organiser.rehearsal.from_views import MADE, SMALLEST, can_be_made, made_value
from evaluation.organiser.submission_writer import unwritten, writer_of
from evaluation.phase.phase import Phase
from evaluation.phase.reference import OpenReference, ReferenceValues

SHUFFLED = "shuffled"
"""Perfect predictions, each of another case of the same size."""
MISSING = "missing"
"""No prediction at all."""

Predictions = Mapping[str, Any]
_SHOWN = 3


def part_of(phase: Phase, positions: Sequence[int]) -> Phase:
    """Return a phase of some of its cases and of the tasks that have a field.

    Stacks are closed up. A run time cannot be derived from a reference. Values that identify the cases are
    replaced by the cases' names, since a phase has only their digests.
    """
    heights: dict[str, list[int]] = defaultdict(list)
    forms = [phase.cases.forms[position] for position in positions]
    for case in forms:
        if STACK_NAME in case.columns:
            heights[case.columns[STACK_NAME]].append(int(case.columns[STACK_INDEX] or 0))

    def within(case: CaseForm) -> CaseForm:
        columns = dict(case.columns)
        if STACK_NAME in columns:
            below = sorted(heights[columns[STACK_NAME]]).index(int(columns[STACK_INDEX] or 0))
            columns[STACK_INDEX] = str(below)
        if values := _values_of(case, phase.form):
            interface = next(one for one in phase.form.interfaces if one.name == columns[INTERFACE])
            columns[INPUT_VALUE] = interface.key_of(values)
        return replace(case, columns=columns)

    rows = tuple(phase.rows[position] for position in positions)
    cases = replace(phase.cases, forms=tuple(map(within, forms)), rows=rows)
    config = phase.config.model_copy(update={"run_time": None})
    return replace(
        phase,
        config=config,
        cases=cases,
        tasks=tuple(task for task in phase.tasks if task.fields),
        seal_is_verified=True,
    )


def _values_of(case: CaseForm, form: Form) -> dict[str, str]:
    """Return values by socket that identify a case: its name for each; none where images do."""
    return {
        socket: case.name
        for interface in form.interfaces
        if interface.by_value and case.columns[INTERFACE] == interface.name
        for socket in interface.input_sockets
    }


def written(case: CaseForm, field: Field, value: Any) -> Any:
    """Return a value as writers take it. Raises `PhaseError` where its kind fails."""
    try:
        return field.kind.writable(value, case)
    except Exception:
        raise _failed(case) from None


def _failed(case: CaseForm, what: str = "its prediction") -> PhaseError:
    return PhaseError(f"case {case.name}: {what} cannot be written: {traceback.format_exc(limit=-4)}")


@dataclass(frozen=True)
class Played:
    """The outcome of every case of one derived submission, in the tasks for which it has all values."""

    scored: Sequence[Scored]
    tasks: Sequence[Task]


def unwritten_fields(phase: Phase) -> list[Field]:
    """Return the fields whose kinds do not write what a submission holds: their tasks cannot be played."""
    return [field for field in fields_of(phase.tasks) if unwritten(field, phase.form.submission)]


def play(phase: Phase, partners: Sequence[int], workers: int, progress: Progress) -> dict[str, Played]:
    """Return all submissions that are derived from the reference of a phase of `part_of`.

    In a shuffled one each case has the value of its partner. Raises `PhaseError` for a submission that is
    rejected or cannot be scored.
    """
    lacking = {field.name for field in unwritten_fields(phase)}
    tasks = tuple(task for task in phase.tasks if lacking.isdisjoint(field.name for field in task.fields))
    fields = fields_of(tasks)
    opened = OpenReference(phase.reference, references_of(phase.tasks))
    jobs = [CaseJob(*pair) for pair in zip(phase.cases.forms, phase.rows, strict=True)]
    made = {name: [of for of in fields if can_be_made(name, of.kind)] for name in MADE}
    names = [*map(str, Variant), *(name for name, of in made.items() if of or name == SMALLEST)]
    if list(partners) != list(range(len(partners))):
        names.append(SHUFFLED)
    found: dict[str, Played] = {}
    with scratch_folder("rehearsal-") as folder:
        derived = {name: _Derived(replace(phase, tasks=tasks), name, folder / name) for name in names}
        recipient = {partner: position for position, partner in enumerate(partners)}
        for position, job in enumerate(jobs):
            reference = ReferenceValues(opened, job.case, job.reference)
            of_case = {variant: _predictions(fields, job.case, reference, variant) for variant in Variant}
            for variant, predictions in of_case.items():
                derived[variant].add(job.case, predictions, job.case)
                if variant is Variant.PERFECT and SHUFFLED in derived:
                    derived[SHUFFLED].add(jobs[recipient[position]].case, predictions, job.case)
            for name in derived.keys() & made.keys():
                others = of_case[Variant.EMPTY if name == SMALLEST else Variant.NEAR]
                changed = {
                    field.name: made_value(
                        name, field.kind, {of: values[field.name] for of, values in of_case.items()}, job.case
                    )
                    for field in made[name]
                    if all(field.name in values for values in of_case.values())
                }
                derived[name].add(job.case, {**others, **changed}, job.case)
            progress((position + 1) // 2)
        for number, (name, submission) in enumerate(derived.items(), start=1):
            found[name] = submission.scored(workers)
            progress((len(jobs) * (len(derived) + number)) // (2 * len(derived)))
    outcomes = run_reference(phase, "worst", workers, tasks=phase.tasks)
    return found | {MISSING: Played(_all_scored(phase, MISSING, outcomes), phase.tasks)}


def _predictions(
    fields: Sequence[Field], case: CaseForm, reference: Mapping[str, Any], variant: Variant
) -> Predictions:
    """Return the values that can be derived from a reference, by field."""
    derived = {
        field.name: field.kind.rehearse(reference[field.name], case, variant)
        for field in fields
        if field.cases(case)
    }
    return {name: value for name, value in derived.items() if value is not None}


class _Derived:
    """One derived submission while it is written."""

    def __init__(self, phase: Phase, name: str, folder: Path) -> None:
        self._phase, self._name, self._folder = phase, name, folder
        folder.mkdir()
        values = {case.name: _values_of(case, phase.form) for case in phase.form.cases}
        self._writer = writer_of(folder, phase.form, fields_of(phase.tasks), values)
        self._any, self._complete = False, True

    def add(self, case: CaseForm, predictions: Predictions, origin: CaseForm) -> None:
        """Write the predictions for a case, derived from ``origin``."""
        fields = [field for field in self._writer.fields if field.cases(case)]
        self._complete &= predictions.keys() >= {field.name for field in fields}
        present = [field for field in fields if field.name in predictions]
        self._any |= bool(present)
        values = {field.name: written(origin, field, predictions[field.name]) for field in present}
        try:
            self._writer.add(case.name, values)
        except Exception:
            raise _failed(case, f"its {self._name} prediction") from None

    def scored(self, workers: int) -> Played:
        """Return the outcome of every case. Raises `PhaseError`."""
        phase = self._phase
        if not self._any:
            return Played([Scored({})] * len(phase.form.cases), ())
        self._writer.close()
        if not self._complete:
            config = phase.config.model_copy(update={"missing": "worst"})
            phase = replace(phase, config=config)
        scored, entered = _evaluated(phase, self._folder, self._name, workers)
        worst = {name for row in scored for name in row.worst}
        return Played(scored, [one for one in phase.tasks if one.name in entered and one.name not in worst])


def _evaluated(
    phase: Phase, folder: Path, submission: str, workers: int
) -> tuple[list[Scored], tuple[str, ...]]:
    """Return the outcomes of a submission in a folder, and the tasks that it enters. Raises `PhaseError`."""
    try:
        result = read_and_score(phase, folder, workers)
    except PhaseError as error:
        problems = [f"the {submission} submission cannot be scored: {problem}" for problem in error.problems]
        raise PhaseError(*_first(problems)) from None
    if isinstance(result, Rejection):
        problems = [f"the {submission} submission is rejected: {fault}" for fault in result.faults]
        raise PhaseError(*_first(problems), *result.notes)
    return _all_scored(phase, submission, result.outcomes), tuple(task.name for task in result.tasks)


def _first(problems: Sequence[str]) -> list[str]:
    """Return the first of many problems, mostly of one cause, and the number of the others."""
    more = len(problems) - _SHOWN
    return [*problems[:_SHOWN], *([f"and {more} more"] if more > 0 else [])]


def _all_scored(phase: Phase, submission: str, outcomes: Sequence[object]) -> list[Scored]:
    """Return outcomes that are all scores. Raises `PhaseError`."""
    problems = [
        f"case {case.name} of the {submission} submission: {getattr(outcome, 'failure', '') or outcome}"
        for case, outcome in zip(phase.form.cases, outcomes, strict=True)
        if not isinstance(outcome, Scored) or outcome.failure is not None
    ]
    PhaseError.raise_all(_first(problems))
    return [outcome for outcome in outcomes if isinstance(outcome, Scored)]
