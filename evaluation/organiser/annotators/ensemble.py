"""Combine several submissions of one phase into one, in the submission's own format."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.core.challenge import Task, fields_of
from evaluation.core.fault import PhaseError
from evaluation.core.form import STACK_NAME, Form
from evaluation.core.outcome import Progress, no_progress
from evaluation.core.views import Numbers
from evaluation.organiser.annotators.annotations import OpenSubmission, open_submissions
from evaluation.organiser.annotators.combine import CombinationRules, combine, is_combinable, normalised
from evaluation.organiser.output import whole_folder
from evaluation.organiser.submission_writer import writer_of


def write_ensemble(
    form: Form,
    tasks: Sequence[Task],
    submissions: Mapping[str, Path],
    output: Path,
    rules: CombinationRules,
    progress: Progress = no_progress,
) -> tuple[tuple[str, ...], dict[str, int]]:
    """Combine submissions, given by name, and write the result to a folder, files in their first format.

    Returns the tasks of the submissions, and the number of cases with a value by field.
    Cases missing from a submission are combined from the others; a value missing from all is left out. Raises
    `PhaseError` with every fault of every submission, and for fields that cannot be combined.
    """
    if len(submissions) < 2:
        raise PhaseError(f"an ensemble needs at least two submissions, found {len(submissions)}")
    fields = fields_of(tasks)
    if problems := [
        f"task {task.name}: {field.title}: values of this kind cannot be combined; choose other tasks"
        for task in tasks
        for field in task.fields
        if not is_combinable(field.kind)
    ]:
        raise PhaseError(*problems)
    opened = open_submissions(submissions, form, tasks)
    # Grouped by stack: a stack is one file.
    order = sorted(range(len(form.cases)), key=lambda i: form.cases[i].columns.get(STACK_NAME, ""))
    faults: list[str] = []
    scaled: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    # Several numbers, such as probabilities, have one scale already.
    numbers = {field.name: field.kind.numbers for field in fields}
    single = {name: view for name, view in numbers.items() if view and len(view.names) == 1}
    for name, view in single.items():
        for one in opened:
            for position, number in _normalised(one, name, view, order, faults).items():
                scaled[one.name, position][name] = number
    others = [field.name for field in fields if field.name not in single]
    counts = dict.fromkeys((field.name for field in fields), 0)
    with whole_folder(output) as folder:
        writer = writer_of(folder, form, fields)
        for done, position in enumerate(order, start=1):
            read = [one.read(position, others, faults) | scaled[one.name, position] for one in opened]
            if not faults:
                case, combined = form.cases[position], dict[str, Any]()
                for field in fields:
                    if given := [values[field.name] for values in read if field.name in values]:
                        value = combine(field.kind, given, case, rules)
                        combined[field.name] = field.kind.writable(value, case)
                        counts[field.name] += 1
                writer.add(case.name, combined)
            progress(done)
        PhaseError.raise_all(faults)
        writer.close()
    present = {name for one in opened for name in one.index.tasks}
    return tuple(task.name for task in tasks if task.name in present), counts


def _normalised(
    submission: OpenSubmission, name: str, view: Numbers, order: Sequence[int], faults: list[str]
) -> dict[int, float]:
    """Return one submission's values of a field of one number by case position, on the common scale."""
    read = {position: submission.read(position, [name], faults) for position in order}
    found = {position: view.of(values[name])[0] for position, values in read.items() if values}
    scaled = normalised(view, list(found.values()))
    return {position: view.value((number,)) for position, number in zip(found, scaled, strict=True)}
