"""Reads the submitted values of one case, with the form alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.core.challenge import Task, fields_of
from evaluation.core.fault import Fault, FaultKind, FormFault, PhaseError, ReadError
from evaluation.core.field import ColumnKind
from evaluation.core.form import CaseForm
from evaluation.core.source import JsonFileSource, Source, StackSource, file_of
from evaluation.io.buffer import ReadBuffer
from evaluation.io.stream import FileStream
from evaluation.workers.json_values import JsonValues


class SubmissionFiles:
    """Files of the submission, read into one buffer.

    ``bytes`` counts the bytes read; beyond ``limit_bytes`` no further file is read. ``before_read`` is called
    before each file.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._buffer = ReadBuffer()
        self.bytes = 0
        self.limit_bytes = math.inf
        self.before_read: Callable[[], None] = _nothing

    def read(self, path: str, limit_bytes: int, may_be_empty: bool = False) -> memoryview:
        """Return the bytes of a file, valid until the next call. Raises `ReadError`."""
        if self.bytes > self.limit_bytes:
            raise ReadError(FaultKind.TOO_LARGE, f"at most {self.limit_bytes} bytes", "more")
        self.before_read()
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
        self._has_small_values = all(isinstance(field.kind, ColumnKind) for field in self.fields.values())

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
            except (MemoryError, ImportError, TypeError, PhaseError):
                raise
            except Exception as error:  # a decoder may raise anything on a hostile file
                found = f"one that cannot be decoded ({type(error).__name__})"
                file = file_of(sources[name])
                faults.append(Fault(FaultKind.UNREADABLE, file, "a readable file", found))
        return predictions, faults

    def read_all(
        self,
        cases: Sequence[CaseForm],
        sources: Sequence[Mapping[str, Source]],
        limit_bytes: float,
        before_read: Callable[[], None],
    ) -> dict[str, dict[int, Any]] | None:
        """Return the submitted values of several cases, by field and position; each as `read` returns it.

        None if values are large, if one of them might have a fault, or if the files exceed the byte limit;
        nothing then counts as read. ``before_read`` is called before each file.

        `read_plain_boxes`, which saves 22 % of EDD2020's 10,000 text files, needs it; it saves 3 % of the
        processor time of JustRAIGS in stacks of 500 (0.66 → 0.68 s without).
        """
        if not self._has_small_values:
            return None
        before, self.files.limit_bytes = self.files.bytes, self.files.bytes + limit_bytes
        self.files.before_read = before_read
        try:
            values = self._values_of_all(cases, sources)
        except Exception:  # reading case by case finds whose fault it is
            values = None
        finally:
            self.files.limit_bytes, self.files.before_read = math.inf, _nothing
        if values is None:
            self.files.bytes = before
        return values

    def _values_of_all(
        self, cases: Sequence[CaseForm], sources: Sequence[Mapping[str, Source]]
    ) -> dict[str, dict[int, Any]] | None:
        present: dict[str, dict[int, Source]] = {name: {} for name in self.fields}
        # Case by case: the files of a case mostly lie in one folder, which is then opened only once.
        for position, of_case in enumerate(sources):
            for name, found in of_case.items():
                source: Source | None = found
                if isinstance(found, StackSource | JsonFileSource):
                    source = self._json_values.value(name, found, cases[position])
                if source is not None:
                    present[name][position] = source
        read: dict[str, dict[int, Any]] = {}
        for name, of_field in present.items():
            chosen = [cases[position] for position in of_field]
            values = self.fields[name].kind.read_all(list(of_field.values()), chosen, self.files)
            if values is None:
                return None
            read[name] = dict(zip(of_field, values, strict=True))
        return read


def _nothing() -> None:
    """Do nothing before a file is read."""
