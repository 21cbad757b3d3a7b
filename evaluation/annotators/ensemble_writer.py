"""What writes a combined submission: the layout is the phase's, the file formats the first submission's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evaluation.annotators.submissions import OpenSubmission
from evaluation.core.field import Field, Files
from evaluation.core.form import STACK_NAME, Form
from evaluation.core.source import FileSource
from evaluation.platform.submission_writer import AlgorithmWriter, ArchiveWriter, InputImage

_INPUT_SOCKET = "image"


def writer_for(
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
    """Return what the jobs ran on: stacks where the fields are stacked, else the images themselves."""
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
