"""Submissions derived from a reference: written as participants write them, then indexed, read and scored.

They take the way of every submission: files or jobs in a folder, an index, confined readers, the handing over
of values, scorers.
"""

import traceback
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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


@dataclass
class Stage:
    """Derives submissions to a phase of `part_of` from its reference, and has them scored.

    ``notes`` says what could not be done as participants do it.
    """

    phase: Phase
    workers: int
    progress: Progress
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Note the fields whose predictions cannot reach the scorers."""
        phase = self.phase
        self.fields = fields_of(phase.tasks)
        self._opened = OpenReference(phase.reference, references_of(phase.tasks))
        self._jobs = [CaseJob(*pair) for pair in zip(phase.cases.forms, phase.rows, strict=True)]
        self.unwritten = {one.name: one for one in self.fields if unwritten(one, phase.form.submission)}
        for name, item in self.unwritten.items():
            self.notes.append(f"{name}: left out, since {type(item.kind).__name__} writes no values")

    def play(self, partners: Sequence[int]) -> dict[str, Played]:
        """Return all submissions; in a shuffled one each case has the value of its partner.

        Raises `PhaseError` for one that is rejected or cannot be scored.
        """
        made = {name: [of for of in self.fields if can_be_made(name, of.kind)] for name in MADE}
        names = [*map(str, Variant), *(name for name, fields in made.items() if fields or name == SMALLEST)]
        if list(partners) != list(range(len(partners))):
            names.append(SHUFFLED)
        found: dict[str, Played] = {}
        with scratch_folder("rehearsal-") as folder:
            derived = {name: _Derived(self, name, folder / name) for name in names}
            recipient = {partner: position for position, partner in enumerate(partners)}
            for position, job in enumerate(self._jobs):
                reference = ReferenceValues(self._opened, job.case, job.reference)
                of_case = {variant: self.predictions(job.case, reference, variant) for variant in Variant}
                for variant, predictions in of_case.items():
                    derived[variant].add(job.case, predictions, job.case)
                    if variant is Variant.PERFECT and SHUFFLED in derived:
                        derived[SHUFFLED].add(self._jobs[recipient[position]].case, predictions, job.case)
                for name in derived.keys() & made.keys():
                    others = of_case[Variant.EMPTY if name == SMALLEST else Variant.NEAR]
                    changed = {
                        field.name: made_value(
                            name,
                            field.kind,
                            {of: values[field.name] for of, values in of_case.items()},
                            job.case,
                        )
                        for field in made[name]
                        if all(field.name in values for values in of_case.values())
                    }
                    derived[name].add(job.case, {**others, **changed}, job.case)
                self.progress((position + 1) // 2)
            for number, (name, submission) in enumerate(derived.items(), start=1):
                found[name] = submission.scored()
                self.progress((len(self._jobs) * (len(derived) + number)) // (2 * len(derived)))
        outcomes = run_reference(self.phase, "worst", self.workers, tasks=self.phase.tasks)
        scored = _all_scored(self.phase, MISSING, outcomes)
        return found | {MISSING: Played(scored, self.phase.tasks)}

    def predictions(self, case: CaseForm, reference: Mapping[str, Any], variant: Variant) -> Predictions:
        """Return the values that can be derived from a reference, by field."""
        derived = {
            field.name: field.kind.rehearse(reference[field.name], case, variant)
            for field in self.fields
            if field.cases(case)
        }
        return {name: value for name, value in derived.items() if value is not None}


class _Derived:
    """One derived submission while it is written; tasks with a field that does not reach it are left out."""

    def __init__(self, stage: Stage, name: str, folder: Path) -> None:
        phase = stage.phase
        self._stage, self._name, self._folder = stage, name, folder
        tasks = [
            task for task in phase.tasks if not any(field.name in stage.unwritten for field in task.fields)
        ]
        self._phase = replace(phase, tasks=tuple(tasks))
        folder.mkdir()
        values = {case.name: _values_of(case, phase.form) for case in phase.form.cases}
        self._writer = writer_of(folder, phase.form, fields_of(tasks), values)
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

    def scored(self) -> Played:
        """Return the outcome of every case. Raises `PhaseError`."""
        phase = self._phase
        if not self._any:
            return Played([Scored({})] * len(phase.form.cases), ())
        self._writer.close()
        if not self._complete:
            config = phase.config.model_copy(update={"missing": "worst"})
            phase = replace(phase, config=config)
        scored, entered = _evaluated(phase, self._folder, self._name, self._stage.workers)
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
    return _all_scored(phase, submission, result.outcomes), result.tasks


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
