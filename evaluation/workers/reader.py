"""The setup of a reader and the jobs of the first stage.

A reader gets form and submission, and nothing of the reference. It is confined before it opens a file.
"""

import importlib
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Self

from evaluation.core.field import Field
from evaluation.core.form import CaseForm, Form
from evaluation.core.formats import FORMATS
from evaluation.core.limits import Totals
from evaluation.phase import registry
from evaluation.workers.batches import Columns
from evaluation.workers.confinement import confine, limit_memory
from evaluation.workers.worker import AskReader, Handler

_READING = "evaluation.workers.submission_reader"


@dataclass(frozen=True)
class IndexJob:
    """The job to list a submission, parse its tables or list of jobs, and split its cases into batches."""

    cases: Columns[CaseForm]
    workers: int


@dataclass(frozen=True)
class ReadJob:
    """The job to read cases of a batch, all or by number, and all or one of their fields.

    Values are handed over up to ``room_bytes`` in all; None: they are only checked. Reading stops once more
    bytes or items than ``left`` were read. With ``digests`` (by file) the bytes must be the same as before.
    """

    content: bytes
    only: tuple[int, ...] | None = None
    field: str | None = None
    room_bytes: float | None = None
    digests: Mapping[str, str] | None = None
    left: Totals | None = None


@dataclass(frozen=True)
class FilesJob:
    """The job to name the files of one case by field."""

    content: bytes
    case: int


@dataclass(frozen=True)
class ReaderSetup:
    """The setup of a reader: the form without its cases, the folder of the submission, and the limits.

    The form has the challenge and the options for readers, and ``modules`` are theirs. A case may take
    ``case_seconds`` of processor time, or less if its images are small. ``home`` is the file of a challenge
    that is programmed at home (`evaluation.phase.registry`). ``formats`` are the names of the formats of the
    files to be read by their content, None for any; decoders of others are not imported.
    """

    form: Form
    folder: str
    memory_bytes: int | None = None
    case_seconds: float = math.inf
    home: str | None = None
    formats: tuple[str, ...] | None = None
    modules: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        form: Form,
        folder: str | Path,
        memory_bytes: int | None = None,
        case_seconds: float = math.inf,
    ) -> Self:
        """Return the setup of readers of a submission with that form. Raises `PhaseError`."""
        reading = registry.reading_of(form)
        return cls(
            replace(form, challenge=reading.challenge, options=reading.options, cases=()),
            os.path.realpath(folder),
            memory_bytes,
            case_seconds,
            home=registry.file_of(form.challenge),
            modules=reading.modules,
        )

    def open(self, ask_reader: AskReader | None) -> Handler:
        """Return the handler of a reader's jobs, with all that it ever imports."""
        if self.home is not None:
            registry.load(Path(self.home))
            _own_code().import_ahead()
        # Imported by name: the main process, which makes the setup, needs no module that reads.
        handler: Handler = importlib.import_module(_READING).SubmissionReader(self)
        return handler

    def decoders(self, fields: Iterable[Field]) -> tuple[str, ...]:
        """Return the modules that read such files, which a confined reader can no longer import.

        Without any format, nothing is decoded.
        """
        if self.formats == ():
            return ()
        of_formats = (row.needs for row in FORMATS if self.formats is None or row.name in self.formats)
        of_kinds = (field.kind.late_modules for field in fields)
        return tuple(dict.fromkeys(chain.from_iterable((*of_kinds, *of_formats))))

    def confine(self) -> None:
        """Give up everything but the submission."""
        limit_memory(self.memory_bytes)
        confine(self.folder)
        if self.home is not None:
            _own_code().tell_of_refusals()


def _own_code() -> Any:
    """Return the module that few readers and no other process needs."""
    return importlib.import_module("evaluation.workers.own_code")
