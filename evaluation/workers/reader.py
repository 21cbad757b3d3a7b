"""The first stage in its worker: the index of a submission, and the values of its cases.

A reader gets form and submission, and nothing of the reference. It is confined to that before it opens a
file.
"""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.core.fault import Faults, PhaseError, ReadError
from evaluation.core.form import CaseForm, Form
from evaluation.core.limits import case_seconds
from evaluation.core.source import Source, file_of
from evaluation.io.handover import Packed
from evaluation.io.stream import digest_below
from evaluation.phase import home
from evaluation.phase.registry import tasks_of_form
from evaluation.platform.submission import index_submission
from evaluation.workers.batches import Content, batches_of
from evaluation.workers.case_reader import CaseReader
from evaluation.workers.confinement import confine
from evaluation.workers.reports import BatchReport, IndexReport, Used
from evaluation.workers.worker import Answer, AskReader, Handler, Tick

INDEX_SECONDS = 10.0
_BYTES_PER_NUMBER = 32


@dataclass(frozen=True)
class IndexJob:
    """To list a submission, to parse its tables or list of jobs, and to part its cases into batches."""

    cases: tuple[CaseForm, ...]
    workers: int


@dataclass(frozen=True)
class ReadJob:
    """To read the cases of a batch, all or those of the given numbers, and all or one of their fields.

    Values are handed over as long as they take at most ``room_bytes``; None: they are only checked. With
    ``digests`` (by file) it must be the same bytes as before.
    """

    content: bytes
    only: tuple[int, ...] | None = None
    field: str | None = None
    room_bytes: float | None = None
    digests: Mapping[str, str] | None = None


@dataclass(frozen=True)
class FilesJob:
    """To name the files of one case by field."""

    content: bytes
    case: int


@dataclass(frozen=True)
class ReaderSetup:
    """All that a reader gets: the form without its cases, where the submission lies, and its limits.

    A case may take ``case_seconds`` of processor time, or less if its images are small. ``home`` is the file
    of a challenge that is programmed at home (`evaluation.phase.home`).
    """

    form: Form
    folder: str
    memory_bytes: int | None = None
    case_seconds: float = math.inf
    home: str | None = None

    def confine(self) -> None:
        """Give up everything but the submission."""
        if self.home is not None:  # while it can still be opened
            home.load(Path(self.home))
        confine(self.folder)

    def open(self, ask_reader: AskReader | None) -> Handler:
        """Return what does the jobs of readers."""
        return _Reader(self)


class _Reader:
    def __init__(self, setup: ReaderSetup) -> None:
        self._setup = setup
        self._tasks = tasks_of_form(setup.form)
        self._root = ""
        self._cases: CaseReader | None = None

    def __call__(self, job: IndexJob | ReadJob | FilesJob, tick: Tick) -> Answer:
        if isinstance(job, IndexJob):
            return self._index(job, tick)
        content = Content.unpacked(job.content)
        return self._files(content, job) if isinstance(job, FilesJob) else self._read(content, job, tick)

    def _index(self, job: IndexJob, tick: Tick) -> Answer:
        tick(INDEX_SECONDS)
        form = replace(self._setup.form, cases=job.cases)
        index = index_submission(Path(self._setup.folder), form, self._tasks)
        batches = tuple(batches_of(index.root, job.cases, index.sources, job.workers))
        seconds = tuple(index.run_seconds)
        return IndexReport(Faults(index.faults), index.tasks, index.notices, seconds, batches).packed()

    def _files(self, content: Content, job: FilesJob) -> Answer:
        sources = content.sources[job.case]
        return BatchReport().packed([{name: file_of(source) for name, source in sources.items()}])

    def _read(self, content: Content, job: ReadJob, tick: Tick) -> Answer:
        reader = self._reader_of(content.root)
        faults, problems = Faults(), list[str]()
        died: dict[int, str] = {}
        again: dict[int, Mapping[str, str]] = {}
        values: list[Packed] = [None] * len(content.cases)
        room = job.room_bytes
        items, bytes_before, started = 0, reader.files.bytes, time.process_time()
        for number in range(len(content.cases)) if job.only is None else job.only:
            case, sources = content.cases[number], content.sources[number]
            if job.field is not None:
                sources = {job.field: sources[job.field]}
            tick(min(self._setup.case_seconds, case_seconds(case, reader.fields.values())))
            try:
                if job.digests is not None and _digests_of(content.root, sources) != job.digests:
                    died[number] = "its files have changed"
                    continue
                predictions, found = reader.read(case, sources)
                faults.add(found)
                items += sum(reader.fields[name].kind.items(value) for name, value in predictions.items())
                if room is None or faults:
                    room = None  # of a submission that is rejected nothing is scored
                    continue
                packed = {name: reader.fields[name].kind.pack(value) for name, value in predictions.items()}
                size = _size_of(packed)
                if size > room:
                    again[number] = _digests_of(content.root, sources)
                else:
                    values[number] = packed
                    room -= size
            except MemoryError:
                died[number] = "out of memory"
            except (KeyboardInterrupt, SystemExit) as stop:
                died[number] = f"stopped by {type(stop).__name__}"
            except PhaseError as error:
                problems += error.problems
            except Exception:
                problems.append(f"case {case.name}: {traceback.format_exc(limit=-8)}")
        used = Used(reader.files.bytes - bytes_before, items, time.process_time() - started)
        return BatchReport(faults, died, tuple(problems), again, used).packed(values)

    def _reader_of(self, root: str) -> CaseReader:
        if self._cases is None or root != self._root:
            self._root = root
            self._cases = CaseReader(root, self._tasks, self._setup.form.missing)
        return self._cases


def _digests_of(root: str, sources: Mapping[str, Source]) -> dict[str, str]:
    digests = {}
    for path in {file_of(source) for source in sources.values()}:
        try:
            digests[path] = digest_below(root, path)
        except ReadError as error:
            digests[path] = str(error)
    return digests


def _size_of(packed: Packed) -> float:
    """Return about how many bytes a packed value takes."""
    if isinstance(packed, np.ndarray):
        return packed.nbytes + 2 * _BYTES_PER_NUMBER
    if isinstance(packed, str):
        return len(packed)
    if isinstance(packed, Mapping):
        return math.fsum(map(_size_of, packed.values()))
    items: Iterable[Any] = packed if isinstance(packed, list | tuple) else ()
    return _BYTES_PER_NUMBER + sum(map(_size_of, items))
