"""The first stage in its worker: the index of a submission, and the values of its cases."""

import importlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Any

from evaluation.core.challenge import Task, fields_of
from evaluation.core.fault import Fault, FaultKind, Faults, FormFault, PhaseError, ReadError, counted
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.core.formats import format_of_content
from evaluation.core.limits import Totals, case_seconds
from evaluation.core.sources import (
    FileAccess,
    FileSource,
    ImageStackSource,
    IndexedSource,
    JsonFileSource,
    JsonSource,
    Source,
    StackSource,
    fault_at,
)
from evaluation.core.trouble import MachineTrouble, raise_trouble_of
from evaluation.io.files import FileStream, OpenFolder, ReadBuffer, digest_below, head_of
from evaluation.io.json_files import json_kind, parse_json
from evaluation.io.oddities import oddities
from evaluation.io.stacked import divided
from evaluation.io.volumes import StackedImage
from evaluation.phase.registry import tasks_to_read
from evaluation.platform.submission import index_submission
from evaluation.workers.batches import Content, batches_of
from evaluation.workers.own_code import problem_of, raise_refusal, telling_of_home
from evaluation.workers.reader import FilesJob, IndexJob, ReaderSetup, ReadJob
from evaluation.workers.reports import BatchReport, IndexReport, ValuesOfBatch
from evaluation.workers.worker import Reply, Tick

# --- The value of one case from JSON that may hold a whole stack of cases ---


class JsonValues:
    """Reads JSON files of a submission; the last stack of every field is kept, so that it is parsed once.

    ``missing`` is the phase's rule ("reject" or "worst") for a null and for a file that is not there.
    """

    def __init__(self, files: FileAccess, missing: str) -> None:
        self._files = files
        self._missing = missing
        self._kept: dict[str, tuple[JsonFileSource, object]] = {}
        self._stacks: dict[str, tuple[object, object]] = {}

    def of_case(self, source: IndexedSource, field: str, case: CaseForm) -> Source | ImageStackSource | None:
        """Return the source of a case's value, None where it is missing and may be. Raises `FormFault`."""
        if isinstance(source, JsonFileSource):
            content = self._content(field, source)
        elif isinstance(source, StackSource):
            content = source.values
        else:
            return source
        path = source.file
        if content is None:
            self._check_absence(source)
            return None
        if source.entries is None:
            return JsonSource(content, path, source.place)
        if source.by != "order":  # a list of the values of all images, made once for each stack
            kept, values = self._stacks.get(field, (None, None))
            if kept is not content:
                values = divided(JsonSource(content, path, source.place), source.by, source.names)
                self._stacks[field] = content, values
            content = values
        if not isinstance(content, list) or len(content) != source.entries:
            found = json_kind(content)
            if isinstance(content, list):
                found = counted(len(content), "value")
            raise fault_at(source, f"a list of {source.entries} values", found, FaultKind.MALFORMED)
        index = case.stack_index
        entry = JsonSource(content[index], path, source.place, index)
        if entry.value is None:
            self._check_absence(entry)
            return None
        return entry

    def _check_absence(self, source: StackSource | JsonFileSource | JsonSource) -> None:
        if self._missing == "reject":
            raise fault_at(source, "a value", "null", FaultKind.MISSING)

    def _content(self, field: str, source: JsonFileSource) -> object:
        """Return the content of a file, None for one that is missing and may be. Raises `FormFault`."""
        kept, content = self._kept.get(field, (None, None))
        if kept is source or kept == source:
            return content
        try:
            data = self._files.read(source.file, source.limit_bytes)
            content = parse_json(data, finite=False, max_values=source.max_values * (source.entries or 1))
        except ReadError as error:
            if error.kind is not FaultKind.MISSING or self._missing == "reject":
                raise FormFault(error.fault(source.file, source.place)) from None
            content = None
        if source.entries is not None:
            self._kept[field] = (source, content)
        return content


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
        self.before_read: Callable[[], None] = lambda: None

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
        self._stacks: dict[str, StackedImage] = {}
        self._has_small_values = all(field.kind.in_arrays is not None for field in self.fields.values())

    def read(
        self, case: CaseForm, sources: Mapping[str, IndexedSource]
    ) -> tuple[dict[str, Any], list[Fault]]:
        """Return the submitted values of a case by field, and the faults of those that cannot be read.

        Raises `MachineTrouble`, and `PhaseError` for a mistake in the form.
        """
        predictions: dict[str, Any] = {}
        faults: list[Fault] = []
        for name, field in self.fields.items():
            found = sources.get(name)
            try:
                source = None if found is None else self._json_values.of_case(found, name, case)
                if isinstance(source, ImageStackSource):  # the one source that no kind reads as it is
                    predictions[name] = self._read_part(name, source, case)
                elif source is not None:
                    predictions[name] = field.kind.read(source, case, self.files)
            except Exception as error:  # a decoder may raise anything on a hostile file
                raise_refusal(error)
                if isinstance(error, FormFault):
                    faults += error.faults
                    continue
                if isinstance(error, ImportError | TypeError | PhaseError):
                    raise
                file = sources[name].file
                raise_trouble_of(error, "read", file)
                shown = f"one that cannot be decoded ({type(error).__name__})"
                faults.append(Fault(FaultKind.UNREADABLE, file, "a readable file", shown))
        return predictions, faults

    def _read_part(self, name: str, source: ImageStackSource, case: CaseForm) -> Any:
        """Return the value of a case from the planes of a stack. Raises `FormFault`, which names the case."""
        kind = self.fields[name].kind
        stack = self._stacks.get(name)
        if stack is None or stack.source != source:
            stack = self._stacks[name] = StackedImage(source, self.files, kind.image_axes)
        try:
            if source.starts == (0, 1) and stack.dimensions == 2:  # may be an image of two axes
                return kind.read(FileSource(source.file), case, self.files)
            part = stack.part_of(case)
            return kind.read(FileSource(part.path), case, part)
        except FormFault as error:
            raise FormFault(
                replace(fault, file=source.file, field=fault.field or f"image {case.name} of the stack")
                for fault in error.faults
            ) from None

    def read_all(
        self,
        cases: Sequence[CaseForm],
        sources: Sequence[Mapping[str, IndexedSource]],
        limit_bytes: float,
        before_read: Callable[[], None],
    ) -> dict[str, dict[int, Any]] | None:
        """Return the submitted values of several cases, by field and position; each as `read` returns it.

        None if values are large, if one of them might have a fault, or if the files exceed the byte limit;
        nothing then counts as read. ``before_read`` is called before each file.
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
            self.files.limit_bytes, self.files.before_read = math.inf, lambda: None
        if values is None:
            self.files.bytes = before
        return values

    def _values_of_all(
        self, cases: Sequence[CaseForm], sources: Sequence[Mapping[str, IndexedSource]]
    ) -> dict[str, dict[int, Any]] | None:
        present: dict[str, dict[int, Source]] = {name: {} for name in self.fields}
        # Case by case: the files of a case mostly lie in one folder, which is then opened only once.
        for position, of_case in enumerate(sources):
            for name, found in of_case.items():
                source = self._json_values.of_case(found, name, cases[position])
                if source is not None and not isinstance(source, ImageStackSource):
                    present[name][position] = source
        read: dict[str, dict[int, Any]] = {}
        for name, of_field in present.items():
            chosen = [cases[position] for position in of_field]
            values = self.fields[name].kind.read_all(list(of_field.values()), chosen, self.files)
            if values is None:
                return None
            read[name] = dict(zip(of_field, values, strict=True))
        return read


# --- The jobs of a reader ---

INDEX_SECONDS = 30.0
_QUICK_BYTES = 1 << 22
_FILES_PER_TICK = 32
# All that is imported late to read; once it is confined, a reader cannot import.
LATE = (
    "difflib",
    *(f"encodings.{name}" for name in ("ascii", "latin_1", "unicode_escape", "utf_16", "utf_8_sig")),
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
                if isinstance(source, FileSource | ImageStackSource) and (
                    content := format_of_content(head_of(root, source.file, folder))
                ):
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
        tallies: dict[str, Counter[str]] = {}
        numbers = range(len(content.cases)) if job.only is None else job.only
        if job.only is None and (quick := self._read_quickly(reader, content, job, tick)) is not None:
            if values.add_all(quick):
                items = sum(
                    sum(map(reader.fields[name].kind.items, of_field.values()))
                    for name, of_field in quick.items()
                )
                if job.room_bytes is None:
                    _tally(tallies, reader.fields, quick, content.cases)
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
                if job.room_bytes is None and not faults:
                    of_case = {name: {0: value} for name, value in predictions.items()}
                    _tally(tallies, reader.fields, of_case, (case,))
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
        used = Totals(reader.files.bytes - bytes_before, items)
        try:
            report = BatchReport(faults, died, tuple(problems), again, used, tallies)
            return report.packed(values.packed())
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


def _tally(
    tallies: dict[str, Counter[str]],
    fields: Mapping[str, Field],
    values: Mapping[str, Mapping[int, Any]],
    cases: Sequence[CaseForm],
) -> None:
    """Count by field the values that are read, and those that look wrong in the same way."""
    for name, of_field in values.items():
        for number, value in of_field.items():
            counts = tallies.setdefault(name, Counter())
            counts.update(("", *oddities(fields[name].kind, value, cases[number])))


def _digests_of(root: str, sources: Mapping[str, IndexedSource]) -> dict[str, str]:
    digests = {}
    for path in {source.file for source in sources.values()}:
        try:
            digests[path] = digest_below(root, path)
        except ReadError as error:
            digests[path] = str(error)
    return digests
