"""Reading what was submitted for one case, with nothing but the form at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.core.challenge import Task, fields_of
from evaluation.core.fault import Fault, FaultKind, FormFault, PhaseError
from evaluation.core.form import CaseForm
from evaluation.core.source import JsonFileSource, Source, StackSource, file_of
from evaluation.io.buffer import ReadBuffer
from evaluation.io.stream import FileStream
from evaluation.workers.json_values import JsonValues


class SubmissionFiles:
    """Files of the submission, read into one buffer; ``bytes`` counts what was read."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._buffer = ReadBuffer()
        self.bytes = 0

    def read(self, path: str, limit_bytes: int, may_be_empty: bool = False) -> memoryview:
        """Return the bytes of a file, valid until the next call. Raises `ReadError`."""
        data = self._buffer.read(self._root, path, limit_bytes=limit_bytes, may_be_empty=may_be_empty)
        self.bytes += len(data)
        return data

    def open(self, path: str, limit_bytes: int) -> FileStream:
        """Return a file to be read in pieces. Raises `ReadError`."""
        stream = FileStream(self._root, path, limit_bytes)
        self.bytes += stream.size
        return stream


class CaseReader:
    """Reads the cases of one submission; ``missing`` is the phase's rule, "reject" or "worst"."""

    def __init__(self, root: str, tasks: Sequence[Task], missing: str) -> None:
        self.fields = {field.name: field for field in fields_of(tasks)}
        self.files = SubmissionFiles(root)
        self._json_values = JsonValues(self.files, missing)

    def read(self, case: CaseForm, sources: Mapping[str, Source]) -> tuple[dict[str, Any], list[Fault]]:
        """Return the submitted values of a case by field, and the faults of those that could not be read.

        Raises `MemoryError`, and `PhaseError` for a mistake in the form.
        """
        predictions: dict[str, Any] = {}
        faults: list[Fault] = []
        for name, field in self.fields.items():
            source = sources.get(name)
            try:
                if isinstance(source, StackSource | JsonFileSource):
                    source = self._json_values.value(name, source, case)
                if source is not None:
                    predictions[name] = field.kind.read(source, case, self.files)
            except FormFault as fault:
                faults += fault.faults
            except (MemoryError, TypeError, PhaseError):
                raise
            except Exception as error:  # a decoder may raise anything on a hostile file
                found = f"one that cannot be decoded ({type(error).__name__})"
                file = file_of(sources[name])
                faults.append(Fault(FaultKind.UNREADABLE, file, "a readable file", found))
        return predictions, faults
