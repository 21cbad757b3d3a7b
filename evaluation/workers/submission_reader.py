"""The first stage in its worker: the index of a submission, and the values of its cases."""

import importlib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Any

from evaluation.core.challenge import fields_of
from evaluation.core.fault import Faults, PhaseError, ReadError
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.core.formats import format_of_content
from evaluation.core.limits import case_seconds
from evaluation.core.sources import IndexedSource
from evaluation.core.trouble import MachineTrouble
from evaluation.io.files import OpenFolder, digest_below, head_of
from evaluation.phase.registry import tasks_to_read
from evaluation.platform.submission import index_submission
from evaluation.workers.batches import Content, batches_of
from evaluation.workers.case_reader import CaseReader
from evaluation.workers.own_code import problem_of, telling_of_home
from evaluation.workers.reader import FilesJob, IndexJob, ReaderSetup, ReadJob
from evaluation.workers.reports import BatchReport, IndexReport, Used, ValuesOfBatch
from evaluation.workers.worker import Reply, Tick

INDEX_SECONDS = 30.0
_QUICK_BYTES = 1 << 22
_FILES_PER_TICK = 32
# All that is imported late to read; once it is confined, a reader cannot import.
LATE = (
    "difflib",
    *(f"encodings.{name}" for name in ("ascii", "latin_1", "unicode_escape", "utf_16", "utf_8_sig")),
    "evaluation.io.box_files",
)


class SubmissionReader:
    """Does the jobs of a reader with the given setup."""

    def __init__(self, setup: ReaderSetup) -> None:
        self._setup = setup
        self._tasks = tasks_to_read(setup.form)
        self.fields = {field.name: field for field in fields_of(self._tasks)}
        for module in chain(LATE, setup.decoders(self.fields.values())):
            with suppress(ImportError):  # who uses it tells
                importlib.import_module(module)
        self._root = ""
        self._cases: CaseReader | None = None

    def __call__(self, job: IndexJob | ReadJob | FilesJob, tick: Tick) -> Reply:
        """Return the parts of the answer to a job."""
        if isinstance(job, IndexJob):
            return self._index(job, tick)
        content = Content.unpacked(job.content)
        return self._files(content, job) if isinstance(job, FilesJob) else self._read(content, job, tick)

    def _index(self, job: IndexJob, tick: Tick) -> Reply:
        tick(INDEX_SECONDS)
        form = replace(self._setup.form, cases=tuple(job.cases.instances()))
        with telling_of_home():
            index = index_submission(Path(self._setup.folder), form, self._tasks)
        fields = fields_of(self._tasks)
        batches = tuple(batches_of(index.root, form.cases, index.sources, fields, job.workers))
        seconds = tuple(index.run_seconds)
        formats = tuple(sorted(self._formats(index.root, index.sources)))
        return IndexReport(
            Faults(index.faults), index.tasks, index.notices, seconds, batches, formats
        ).packed()

    def _formats(self, root: str, sources: Sequence[Mapping[str, IndexedSource]]) -> set[str]:
        """Return the names of the formats of all files to be decoded, by their first bytes."""
        folder, found = OpenFolder(), set[str]()
        for name, field in self.fields.items():
            if field.kind.in_arrays is not None:  # of small values, in text
                continue
            for source in (of_case.get(name) for of_case in sources):
                path = None if source is None else source.path_to_decode
                if path is not None and (content := format_of_content(head_of(root, path, folder))):
                    found.add(content.name)
        return found

    def _files(self, content: Content, job: FilesJob) -> Reply:
        sources = content.sources[job.case]
        return BatchReport().packed([{name: source.file for name, source in sources.items()}])

    def _read(self, content: Content, job: ReadJob, tick: Tick) -> Reply:
        if self._cases is None or content.root != self._root:
            self._root = content.root
            self._cases = CaseReader(content.root, self._tasks, self._setup.form.missing)
        reader = self._cases
        faults, problems = Faults(), list[str]()
        died: dict[int, str] = {}
        again: dict[int, Mapping[str, str]] = {}
        values = ValuesOfBatch(reader.fields, job.room_bytes)
        items, bytes_before = 0, reader.files.bytes
        tallies = Tallies(reader.fields) if job.room_bytes is None else None
        numbers = range(len(content.cases)) if job.only is None else job.only
        if job.only is None and (quick := self._read_quickly(reader, content, job, tick)) is not None:
            if values.add_all(quick):
                items = sum(
                    sum(map(reader.fields[name].kind.items, of_field.values()))
                    for name, of_field in quick.items()
                )
                if tallies is not None:
                    tallies.add_all(quick, content.cases)
                numbers = ()
            else:
                reader.files.bytes = bytes_before
        for number in numbers:
            case, sources = content.cases[number], content.sources[number]
            if job.field is not None:
                sources = {job.field: sources[job.field]}
            if job.left is not None and (
                items > job.left.items or reader.files.bytes - bytes_before > job.left.bytes
            ):
                break
            tick(min(self._setup.case_seconds, case_seconds(case, reader.fields.values())))
            try:
                if job.digests is not None and _digests_of(content.root, sources) != job.digests:
                    died[number] = "its files have changed"
                    continue
                predictions, found = reader.read(case, sources)
                faults.add(found)
                if tallies is not None and not faults:
                    tallies.add_all({name: {0: value} for name, value in predictions.items()}, (case,))
                items += sum(reader.fields[name].kind.items(value) for name, value in predictions.items())
                if faults:
                    values.drop()  # a rejected submission is not scored
                elif not values.add(number, predictions):
                    again[number] = _digests_of(content.root, sources)
            except (MachineTrouble, MemoryError):
                raise
            except SystemExit:
                died[number] = "stopped by SystemExit"
            except PhaseError as error:
                problems += error.problems
            except Exception as error:
                problems.append(problem_of(case.name, error))
        used = Used(reader.files.bytes - bytes_before, items)
        try:
            counts = {} if tallies is None else tallies.counts
            return BatchReport(faults, died, tuple(problems), again, used, counts).packed(values.packed())
        except (MachineTrouble, MemoryError):
            raise
        except Exception as error:  # of a kind that packs the values of many cases at once
            problems.append(problem_of(content.cases[0].name, error))
            return BatchReport(faults, died, tuple(problems), again, used).packed({})

    def _read_quickly(
        self, reader: CaseReader, content: Content, job: ReadJob, tick: Tick
    ) -> dict[str, dict[int, Any]] | None:
        """Return the values of all cases by field and number, if they are small and without fault."""
        if not content.cases:
            return None
        seconds = min(self._setup.case_seconds, case_seconds(content.cases[0], ()))
        files = count()

        def begin_file() -> None:
            if next(files) % _FILES_PER_TICK == 0:
                tick(seconds)

        begin_file()
        limit_bytes = _QUICK_BYTES if job.left is None else min(_QUICK_BYTES, job.left.bytes)
        return reader.read_all(content.cases, content.sources, limit_bytes, begin_file)


class Tallies:
    """Counts by field the values that are read, and those that look wrong in the same way."""

    def __init__(self, fields: Mapping[str, Field]) -> None:
        self._fields = fields
        self.counts: dict[str, Counter[str]] = {}

    def add_all(self, values: Mapping[str, Mapping[int, Any]], cases: Sequence[CaseForm]) -> None:
        """Count values by field and number of their case."""
        for name, of_field in values.items():
            kind, counts = self._fields[name].kind, self.counts.setdefault(name, Counter())
            for number, value in of_field.items():
                counts.update(("", *kind.oddities(value, cases[number])))


def _digests_of(root: str, sources: Mapping[str, IndexedSource]) -> dict[str, str]:
    digests = {}
    for path in {source.file for source in sources.values()}:
        try:
            digests[path] = digest_below(root, path)
        except ReadError as error:
            digests[path] = str(error)
    return digests
