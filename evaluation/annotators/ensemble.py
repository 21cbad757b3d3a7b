"""Combine several submissions of one phase into one, in the submission's own format.

The kind of a value decides how it is combined (`annotators.combine`): masks are voted region by region,
coordinates are averaged where most submissions have one, likelihoods are averaged on a common scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluation.annotators.agreement_tables import write_agreement_table, write_disagreement_table
from evaluation.annotators.combine import combine, is_combinable, normalised
from evaluation.annotators.disagreement import Disagreements
from evaluation.annotators.field_agreement import FieldAgreement
from evaluation.annotators.masks import Rules
from evaluation.annotators.submissions import OpenSubmission, open_submissions
from evaluation.core.challenge import Task, fields_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field, Files
from evaluation.core.form import STACK_NAME, Form
from evaluation.core.source import FileSource
from evaluation.io.kinds.number import Number
from evaluation.metrics.agreement import Agreement
from evaluation.phase.output import whole_folder
from evaluation.platform.submission_writer import AlgorithmWriter, ArchiveWriter, InputImage
from evaluation.workers.progress import Progress, no_progress

Numbers = Mapping[str, Mapping[str, Sequence[float | None]]]


@dataclass(frozen=True)
class Ensemble:
    """A written ensemble: submissions, tasks, and the number of cases with a value by field.

    ``agreement`` and ``disagreement`` are of the members; numbers are compared on their common scale.
    """

    submissions: tuple[str, ...]
    tasks: tuple[str, ...]
    cases: Mapping[str, int]
    agreement: tuple[Agreement, ...]
    disagreement: Disagreements


def write_ensemble(
    form: Form,
    tasks: Sequence[Task],
    submissions: Mapping[str, Path],
    output: Path,
    rules: Rules,
    progress: Progress = no_progress,
) -> Ensemble:
    """Combine submissions, given by name, and write the result to a folder.

    Cases missing from a submission are combined from the others; a value missing from all is left out. Raises
    `PhaseError` with every fault of every submission, and for fields that cannot be combined.
    """
    if len(submissions) < 2:
        raise PhaseError(f"an ensemble needs at least two submissions, found {len(submissions)}")
    fields = fields_of(tasks)
    if problems := _not_combinable(tasks):
        raise PhaseError(*problems)
    opened = open_submissions(submissions, form, tasks)
    order = _reading_order(form)
    faults: list[str] = []
    numbers = {
        field.name: {one.name: _normalised(one, field, order, faults) for one in opened}
        for field in fields
        if isinstance(field.kind, Number)
    }
    others = [field.name for field in fields if field.name not in numbers]
    agreement = {field.name: FieldAgreement(field.name, field.kind) for field in fields}
    disagreement = Disagreements()
    with whole_folder(output) as folder:
        writer = _writer_for(folder, form, fields, opened)
        counts = dict.fromkeys((field.name for field in fields), 0)
        for done, position in enumerate(order, start=1):
            read = {one.name: one.read(position, others, faults) for one in opened}
            if not faults:
                case = form.cases[position]
                given = _given(fields, position, read, numbers)
                combined = {
                    field.name: combine(field.kind, list(given[field.name].values()), case, rules)
                    for field in fields
                    if given[field.name]
                }
                writer.add(case.name, combined)
                for field in fields:
                    agreement[field.name].add(given[field.name])
                    disagreement.add(case.name, field.name, field.kind, given[field.name])
                for name in combined:
                    counts[name] += 1
            progress(done)
        if faults:
            raise PhaseError(*faults)
        writer.close()
    present = {name for one in opened for name in one.index.tasks}
    return Ensemble(
        tuple(one.name for one in opened),
        tuple(t.name for t in tasks if t.name in present),
        counts,
        tuple(found for of_field in agreement.values() for found in of_field.result()),
        disagreement,
    )


def write_agreement(folder: Path, written: Ensemble) -> None:
    """Write the members' agreement: `agreement.csv`, and by case `disagreement.csv`. No label is read."""
    write_agreement_table(folder / "agreement.csv", "submission", written.agreement)
    write_disagreement_table(folder / "disagreement.csv", "submission", written.disagreement.ordered())


def _not_combinable(tasks: Sequence[Task]) -> list[str]:
    return [
        f"task {task.name}: {field.title}: values of this kind cannot be combined; choose other tasks"
        for task in tasks
        for field in task.fields
        if not is_combinable(field.kind)
    ]


def _given(
    fields: Sequence[Field], position: int, read: Mapping[str, Mapping[str, Any]], numbers: Numbers
) -> dict[str, dict[str, Any]]:
    """Return the values of one case by field and submission."""
    given: dict[str, dict[str, Any]] = {}
    for field in fields:
        if field.name in numbers:
            of_all = {name: values[position] for name, values in numbers[field.name].items()}
            given[field.name] = {name: value for name, value in of_all.items() if value is not None}
        else:
            given[field.name] = {
                name: values[field.name] for name, values in read.items() if field.name in values
            }
    return given


def _normalised(
    submission: OpenSubmission, field: Field, order: Sequence[int], faults: list[str]
) -> list[float | None]:
    """Return one submission's numbers of a field by case position, on the common scale."""
    found: dict[int, float] = {}
    for position in order:
        values = submission.read(position, [field.name], faults)
        if field.name in values:
            found[position] = values[field.name]
    scaled = dict(zip(found, normalised(field.kind, list(found.values())), strict=True))
    return [scaled.get(position) for position in range(len(order))]


def _reading_order(form: Form) -> list[int]:
    """Return the positions of the cases, grouped by stack; a stack is one file."""
    return sorted(range(len(form.cases)), key=lambda i: form.cases[i].columns.get(STACK_NAME, ""))


_INPUT_SOCKET = "image"


def _writer_for(
    folder: Path, form: Form, fields: Sequence[Field], submissions: Sequence[OpenSubmission]
) -> ArchiveWriter | AlgorithmWriter:
    """Return the writer of a submission of the phase."""
    if form.submission == "algorithm":
        slugs = {field.name: form.sockets.get(field.name, field.socket.slug) for field in fields}
        renamed = [replace(field, socket=replace(field.socket, slug=slugs[field.name])) for field in fields]
        return AlgorithmWriter(
            folder, renamed, _inputs(form, fields), next(iter(form.input_sockets), _INPUT_SOCKET)
        )
    extensions = {
        field.name: extension
        for field in fields
        if isinstance(field.archive, Files)
        and (extension := _extension(field.name, field.archive, submissions[0])) is not None
    }
    return ArchiveWriter(folder, fields, extensions)


def _inputs(form: Form, fields: Sequence[Field]) -> list[InputImage]:
    """Return the input images of the jobs: stacks where the fields are stacked, else single images."""
    if not any(field.socket.stacked for field in fields):
        return [InputImage(case.name, (case.name,)) for case in form.cases]
    return [
        InputImage(form.cases[positions[0]].columns[STACK_NAME], tuple(form.cases[i].name for i in positions))
        for positions in form.stacks.values()
    ]


def _extension(name: str, layout: Files, submission: OpenSubmission) -> str | None:
    """Return the extension of a field's first file in a submission, None where it has no file."""
    for sources in submission.index.sources:
        source = sources.get(name)
        if isinstance(source, FileSource):
            path = source.path.casefold()
            return next((extension for extension in layout.extensions if path.endswith(extension)), None)
    return None
