"""`convert`: an archive submission as jobs of an algorithm, and jobs as an archive submission, for tests."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluation.cli.common import Argument, command, progress_bar, say
from evaluation.core.challenge import fields_of
from evaluation.core.fault import Fault, FaultKind, PhaseError
from evaluation.core.field import Field, Files
from evaluation.core.form import STACK_NAME, Form
from evaluation.io.handover import encode
from evaluation.organiser.annotation_files.writing import submitted_values
from evaluation.organiser.annotators.annotations import OpenSubmission, open_submissions
from evaluation.organiser.cli.shared import MAPPING
from evaluation.organiser.output import whole_folder
from evaluation.organiser.submission_writer import unwritten, writer_of
from evaluation.phase.named import named_phase
from evaluation.phase.phase import Phase
from evaluation.phase.registry import tasks_of_form

_JOBS = "predictions.json"


@command(
    Argument.path(
        "submission",
        "SUBMISSION",
        f"the folder of a submission: of jobs where it holds {_JOBS}, else of an archive; or "
        "annotations, which a file always is",
    ),
    Argument.flag(
        "--boxes",
        "SUBMISSION holds annotations or results: COCO, LabelMe, Pascal VOC, CVAT or a folder of YOLO",
    ),
    *MAPPING,
    Argument(
        "--ground-truth",
        "a phase folder, or the name of one below ground-truth/",
        required=True,
        metavar="PHASE",
    ),
    Argument.path("--output", "FOLDER", "a new or empty folder", required=True),
)
def run(arguments: argparse.Namespace) -> int:
    """Write the submission in its other form, and read it again.

    Raises `PhaseError` with the faults of the submission, or of values that the other form cannot hold.
    """
    given: Path = arguments.submission
    if arguments.boxes or given.is_file():
        return _run_annotations(arguments)
    to_jobs = not (given / _JOBS).is_file()
    phase = named_phase(arguments.ground_truth)
    form = _form_of_both(phase)
    tasks = tasks_of_form(form)
    fields = fields_of(tasks)
    faults = list(_faults_of_kinds(fields, form, to_jobs))
    if any(field.socket.stacked for field in fields) and STACK_NAME not in form.cases[0].columns:
        faults.append(f"cases.csv: {STACK_NAME}: expected the stack of every case, found no such column")
    PhaseError.raise_all(faults)
    before, after = (
        replace(form, submission=kind)
        for kind in (("archive", "algorithm") if to_jobs else ("algorithm", "archive"))
    )
    names = tuple(field.name for field in fields)
    (source,) = open_submissions({str(given): given}, before, tasks)
    with whole_folder(arguments.output) as folder, progress_bar("cases", len(form.cases)) as progress:
        writer = writer_of(folder, after, fields)
        kinds = {field.name: field.kind for field in fields}
        for position, case in enumerate(form.cases):
            values = source.read(position, names, faults)
            if not faults:
                writer.add(
                    case.name, {name: kinds[name].writable(value, case) for name, value in values.items()}
                )
            progress(position + 1)
        if not faults:
            writer.close()
            (written,) = open_submissions({str(arguments.output): folder}, after, tasks)
            faults += _changed(source, written, form, fields)
        PhaseError.raise_all(faults)
    form_of_output = "jobs" if to_jobs else "an archive; run times are left out"
    say(f"{arguments.output}: {len(form.cases)} cases as {form_of_output}")
    return 0


def _run_annotations(arguments: argparse.Namespace) -> int:
    """Write annotations as a submission, and read it again. Raises `PhaseError`."""
    phase = named_phase(arguments.ground_truth)
    form = phase.form
    tasks = tasks_of_form(form)
    fields = fields_of(tasks)
    item, values, lines = submitted_values(arguments.submission, fields, form.cases, arguments)
    others = [field.name for field in fields if field.name != item.name]
    with whole_folder(arguments.output) as folder:
        writer = writer_of(folder, form, [item])
        for name, value in values.items():
            writer.add(name, {item.name: value})
        writer.close()
        faults: list[str] = []
        if not others:
            (written,) = open_submissions({str(arguments.output): folder}, form, tasks)
            for position in range(len(form.cases)):
                written.read(position, [item.name], faults)
        PhaseError.raise_all(faults)
    say(*lines, *(f"not in it: {name}" for name in others), f"{arguments.output}: {len(values)} cases")
    return 0


def _form_of_both(phase: Phase) -> Form:
    """Return the form of a phase with the columns of both kinds of submission, and without run times."""
    columns = [column.name for column in phase.challenge.form_columns_of("algorithm")]
    cases = tuple(
        replace(
            case, columns={**{name: row.cells[name] for name in columns if name in row.cells}, **case.columns}
        )
        for case, row in zip(phase.cases.forms, phase.rows, strict=True)
    )
    tasks = tuple(task.name for task in phase.tasks if task.fields)
    return replace(phase.form, cases=cases, tasks=tasks, run_time=None)


def _faults_of_kinds(fields: Sequence[Field], form: Form, to_jobs: bool) -> Iterator[str]:
    """Yield the fields whose kind cannot be written in the other form."""
    for field in fields:
        if what := unwritten(field, "algorithm" if to_jobs else "archive"):
            layout = field.archive
            if to_jobs:
                file, place = _JOBS, f"socket {form.sockets.get(field.name, field.socket.slug)}"
            elif isinstance(layout, Files):
                file, place = f"{layout.folder}/", field.title
            else:
                file, place = layout.files[0], ", ".join(layout.columns)
            expected, found = f"a kind of value that is written as {what}", type(field.kind).__name__
            yield str(Fault(FaultKind.MALFORMED, file, expected, found, field=place))


def _changed(
    source: OpenSubmission, written: OpenSubmission, form: Form, fields: Sequence[Field]
) -> list[str]:
    """Return the faults of a written submission, and the values that it holds otherwise than its source."""

    def packed(values: dict[str, Any], field: Field) -> bytes:
        return b"".join(encode(field.kind.pack(values[field.name])))

    faults: list[str] = []
    names = [field.name for field in fields]
    for position, case in enumerate(form.cases):
        before, after = source.read(position, names, faults), written.read(position, names, faults)
        for field in fields:
            is_there = (field.name in before, field.name in after)
            if is_there == (False, False) or (
                all(is_there) and packed(before, field) == packed(after, field)
            ):
                continue
            one = written if is_there[1] else source
            expected = "the same value" if is_there[0] else "no value"
            found = "another one" if is_there[1] else "none"
            file = one.index.sources[position][field.name].file
            place = f"case {case.name}, {field.title}"
            fault = Fault(FaultKind.WRONG_VALUE, file, expected, found, field=place)
            faults += one.described([fault])
    return faults
