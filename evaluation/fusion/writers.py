"""What writes a combined submission: the layout is the phase's, the file formats the first submission's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evaluation.fusion.submissions import OpenSubmission
from evaluation.model.field import Field, Files
from evaluation.model.form import Form
from evaluation.model.source import FileSource
from evaluation.samples.writer import ArchiveWriter


def writer_for(
    folder: Path, form: Form, fields: Sequence[Field], submissions: Sequence[OpenSubmission]
) -> ArchiveWriter:
    """Return the writer of a submission of the phase."""
    extensions = {
        field.name: extension
        for field in fields
        if isinstance(field.archive, Files)
        and (extension := _extension(field.name, field.archive, submissions[0])) is not None
    }
    return ArchiveWriter(folder, fields, extensions)


def _extension(name: str, layout: Files, submission: OpenSubmission) -> str | None:
    """Return the extension of a field's first file in a submission, None where it has no file."""
    for sources in submission.index.sources:
        source = sources.get(name)
        if isinstance(source, FileSource):
            path = source.path.casefold()
            return next((extension for extension in layout.extensions if path.endswith(extension)), None)
    return None
