"""The form of a phase for participants: as a file for `check`, and in words."""

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from evaluation.core.challenge import Task, fields_of
from evaluation.core.fault import PhaseError, ReadError, counted, printable
from evaluation.core.field import Field, Files, TableRows, in_one_table
from evaluation.core.form import INTERFACE, Form, RunTime, name_key
from evaluation.core.limits import Totals, limits_of
from evaluation.core.trouble import raise_trouble_of
from evaluation.io.json_files import parse_json
from evaluation.io.stacked import in_words, joined
from evaluation.phase.registry import rules_of, tasks_of_form
from evaluation.phase.validation import InvalidTableError, describe_validation

FORMAT = 1


@dataclass(frozen=True, config=ConfigDict(extra="forbid", strict=True))
class _FormFile:
    """The content of the file: the version of its format, and the form."""

    format: int
    form: Form
    limits: Totals | None = None


_ADAPTER = TypeAdapter(_FormFile)


def write_form(form: Form) -> bytes:
    """Return the file of a form, ASCII JSON; the same form gives the same bytes."""
    content = {
        "format": FORMAT,
        "form": dataclasses.asdict(form),
        # Follow from the form; written for human readers.
        "limits": dataclasses.asdict(limits_of(form.cases, fields_of(tasks_of_form(form)))),
    }
    return (json.dumps(content, indent=1, ensure_ascii=True, allow_nan=False) + "\n").encode("ascii")


def read_form(path: Path) -> Form:
    """Return the form in a file. Raises `PhaseError` listing every fault; unknown keys are errors."""
    name = path.name
    try:
        data = path.read_bytes()
        # Rejects duplicate keys; pydantic would take the last.
        parse_json(data)
        found = _ADAPTER.validate_json(data.removeprefix(b"\xef\xbb\xbf"))
    except OSError as error:
        raise_trouble_of(error, "read", path)
        raise PhaseError(f"{name}: {error.strerror}") from None
    except ReadError as error:
        raise PhaseError(f"{name}: {error}") from None
    except ValidationError as error:
        raise PhaseError(*describe_validation(name, error)) from None
    if found.format != FORMAT:
        raise PhaseError(f"{name}: expected format {FORMAT}, found {found.format}")
    PhaseError.raise_all([f"{name}: {problem}" for problem in _problems(found.form)])
    return found.form


def _problems(form: Form) -> list[str]:
    """Return the faults of a form that a check of types does not find."""
    problems = [
        f"{key}: expected {' or '.join(known)}, found {printable(found)!r}"
        for key, known, found in (
            ("submission", ("archive", "algorithm"), form.submission),
            ("missing", ("reject", "worst"), form.missing),
        )
        if found not in known
    ]
    try:
        tasks_of_form(form)
    except PhaseError as error:
        problems += error.problems
    except InvalidTableError as error:
        problems += error.problems("options")
    for key, count in Counter(name_key(case.name) for case in form.cases).items():
        if count > 1:
            problems.append(f"duplicate case {printable(key)!r} ({count} entries)")
    problems += [
        f"{printable(case.name)}: expected a size in pixels, found {case.width} × {case.height}"
        for case in form.cases
        if case.width < 0 or case.height < 0
    ]
    known = {interface.name for interface in form.interfaces}
    problems += [
        f"{printable(case.name)}: expected the interface {' or '.join(sorted(known))}"
        for case in form.cases
        if known and case.columns.get(INTERFACE) not in known
    ]
    if not form.cases:
        problems.append("expected at least one case, found none")
    return problems


# --- The format of a submission in words, generated from the fields, for the challenge's web page ---

_MAX_EXAMPLES = 2


def format_in_words(form: Form) -> str:
    """Return the required content of a submission to a phase as Markdown, made from the form."""
    tasks = tasks_of_form(form)
    fields = fields_of(tasks)
    title = rules_of(form.challenge, form.options).challenge.title
    lines = [f"# Format of a submission to {form.phase}", "", title, ""]
    if form.submission == "algorithm":
        lines += [f"An algorithm is run {_jobs(form, fields)}.", ""]
        lines += _section("Input", [*_inputs(form, fields), *_provided(form)])
    elif in_one_table(fields):
        lines += [f"One csv file, or a zip archive with it, for {_all(form)}:", ""]
    else:
        lines += [f"One zip archive, for {_all(form)}:", ""]
    if form.provided and form.submission == "archive":
        lines += _section("Provided", _provided(form))
    for field in fields:
        lines += _section(field.title, _of_field(field, form))
    lines += _section("What is missing", _rules(form, tasks))
    if form.run_time is not None:
        lines += _section("Run time", _of_run_time(form.run_time))
    lines += _section("Limits", [f"- {limits_of(form.cases, fields).in_words()}"])
    return "\n".join(lines)


def _section(title: str, lines: Iterable[str]) -> list[str]:
    return [f"## {title}", "", *lines, ""]


def _inputs(form: Form, fields: Sequence[Field]) -> Iterator[str]:
    """Yield the input sockets of an algorithm in words."""
    for interface in form.interfaces:
        jobs = sum(case.columns[INTERFACE] == interface.name for case in form.cases)
        of = f"- Jobs of {counted(jobs, 'image')}"
        values = " and ".join(f"`{socket}`" for socket in interface.input_sockets)
        case = f"the value of {values}" if interface.by_value else "the name"
        inputs = ", ".join(f"`{socket}`" for socket in interface.inputs)
        yield f"{of} have the inputs {inputs}; {case} tells which image it is"
    if form.interfaces:
        return
    sockets = " or ".join(f"`{socket}`" for socket in form.input_sockets)
    what = f"the socket {sockets}" if sockets else "an image or a file"
    if any(field.socket.stacked for field in fields):
        most = max(map(len, form.stacks.values()))
        yield f"- Input: {what}, a stack of images, at most {most}"
    else:
        yield f"- Input: {what}, named like the image of the test set"


def _provided(form: Form) -> Iterator[str]:
    for text in form.provided:
        yield f"- Provided with each image: {text}"


def _of_field(field: Field, form: Form) -> Iterator[str]:
    names = [case.name for case in form.cases if field.cases(case)]
    examples = names[:_MAX_EXAMPLES]
    if form.submission == "algorithm":
        slug = form.sockets.get(field.name, field.socket.slug)
        path = f"/output/{field.socket.path(slug)}"
        if field.socket.is_image:
            what = "one image"
            if field.socket.stacked:
                what += ", in which the planes of all images follow each other in their order"
            yield f"- Output: the socket `{slug}`, `{path}/*.mha` or `{path}/*.tif`, {what}"
        elif field.socket.extension:
            yield f"- Output: the socket `{slug}`, the file `{path}`"
        elif field.socket.stacked:
            yield f"- Output: the socket `{slug}`, `{path}`, {in_words(field.socket.by)}"
        else:
            yield f"- Output: the socket `{slug}`, `{path}`, JSON"
    elif isinstance(field.archive, Files):
        layout = field.archive
        yield f"- Files: one for each image, {_and_so_on([layout.path(name) for name in examples])}"
        if len(layout.extensions) > 1:
            yield f"- Extension: any of {', '.join(f'`{extension}`' for extension in layout.extensions)}"
    else:
        table = field.archive
        others = ", ".join(f"`{name}`" for name in table.files[1:])
        yield f"- File: `{table.files[0]}`" + (f" (or {others})" if others else "")
        columns = ", ".join(f"`{column}`" for column in (table.key, *table.columns))
        many = "several rows for each image" if isinstance(table, TableRows) else "one row for each image"
        if _may_lack_rows(field):
            many = "any number of rows for each image, none where there is nothing to report"
        yield f"- Columns, named in the first row: {columns}; {many}"
        yield f"- `{table.key}`: the image, {_and_so_on(examples)}, with or without its extension"
    describe = field.kind.describe
    if form.submission == "algorithm":
        describe = field.kind.describe_json if field.socket.is_json else field.kind.describe_image
    yield f"- Value: {describe()}"
    if form.submission == "algorithm" and field.socket.is_json:
        yield from _example(field, form)
    if len(names) < len(form.cases):
        yield f"- For {len(names)} of the {len(form.cases)} images"


def _example(field: Field, form: Form) -> Iterator[str]:
    """Yield an example of an output in JSON, for a kind that makes one up."""
    random = np.random.Generator(np.random.PCG64(0))
    cases = [case for case in form.cases if field.cases(case)][: _MAX_EXAMPLES if field.socket.stacked else 1]
    values = [field.kind.example(case, random) for case in cases]
    if values and values[0] is not None:
        written = [field.kind.write_json(value) for value in values]
        what = f"Example of {counted(len(cases), 'image')}" if field.socket.stacked else "Example"
        whole = joined(written, field.socket.by, [case.name for case in cases])
        yield f"- {what}: `{json.dumps(whole if field.socket.stacked else written[0])}`"


def _rules(form: Form, tasks: Sequence[Task]) -> Iterator[str]:
    optional = [task.title for task in tasks if task.name in form.optional_tasks]
    if form.missing == "reject":
        fields = fields_of(tasks)
        titles = [field.title for field in fields if form.submission == "archive" and _may_lack_rows(field)]
        if len(titles) < len(fields):
            yield "- Every image needs its result: an incomplete submission is rejected, with a list."
        else:
            yield "- Every table is needed, also one without a row."
        if titles:
            yield f"- An image without a row has a result, too, nothing: {', '.join(titles)}."
    else:
        yield "- An image without a result takes the worst value of each metric."
    if optional:
        yield f"- These tasks may be left out as a whole: {', '.join(optional)}."
    if form.submission == "archive":
        yield "- Letter case and the order of files, rows and columns do not matter; names of images do."


def _may_lack_rows(field: Field) -> bool:
    """Return whether an image without a row in a field's table says that there is nothing in it."""
    return isinstance(field.archive, TableRows) and field.kind.may_have_no_rows


def _of_run_time(run_time: RunTime) -> Iterator[str]:
    yield f"- Scored is the mean over the images; one without a result counts {run_time.limit_seconds:g} s."
    if run_time.target_seconds is not None:
        yield f"- More than {run_time.target_seconds:g} s for an image is slow."
    if run_time.penalty_per_second:
        yield f"- Each second beyond costs {run_time.penalty_per_second:g}."


def _jobs(form: Form, fields: Sequence[Field]) -> str:
    images = counted(len(form.cases), "image")
    if not any(field.socket.stacked for field in fields):
        return f"once for each of {images}" if len(form.cases) > 1 else "once, on one image"
    if len(form.stacks) == 1:
        return f"once, on a stack of {images}"
    return f"once for each of {len(form.stacks)} stacks with {images} in all"


def _and_so_on(examples: Sequence[str]) -> str:
    return ", ".join(f"`{example}`" for example in examples) + ", …"


def _all(form: Form) -> str:
    return f"the {counted(len(form.cases), 'image')} of the test set"
