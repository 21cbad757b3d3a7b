"""The first stage as a whole: a submission is read to its end, or to the first file that kills its reader."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile

from evaluation.core.challenge import fields_of
from evaluation.core.fault import Fault, FaultKind, Faults, PhaseError, printable, quotation
from evaluation.core.form import CaseForm, Form
from evaluation.core.limits import Totals, limits_of
from evaluation.core.outcome import Died, Progress, no_progress
from evaluation.core.trouble import MEMORY, TIME, MachineTrouble
from evaluation.io.handover import HandoverError
from evaluation.io.oddities import LACKS
from evaluation.phase.registry import tasks_of_form, tasks_to_read
from evaluation.workers.batches import Batch, Columns, Content
from evaluation.workers.pool import DeadlineExceeded, Pool, PoolSettings, open_pool
from evaluation.workers.processes import KILLED, OUT_OF_TIME
from evaluation.workers.reader import FilesJob, IndexJob, ReaderSetup, ReadJob
from evaluation.workers.reports import (
    REPORT_BYTES,
    BatchReport,
    IndexReport,
    PackedValues,
    files_of,
    said_by_readers,
)

# --- Reads batches of a submission in workers that may die of its files ---

DEADLY = "one that crashes its reader"
"""The found value of a fault for which a second run may know better."""

_ENOUGH_FAULTS = 20_000
# Beside the values themselves, a batch has the number of each case by field, and some words.
_SPARE_BYTES, _NUMBER_BYTES = 1 << 16, 16
# Headers, sizes and counts are limited before anything is decoded, so that no file within those limits can
# take as much as a reader is granted: a machine that is slow or short of memory ends a reader in these ways.
_LACKS = {OUT_OF_TIME: TIME, KILLED: MEMORY}


@dataclass(frozen=True)
class ReadBatch:
    """Cases that have been read: positions by numbers in a batch, and their values as handed over.

    ``again`` names the cases that are to be read again, since their values are too large to be kept, with the
    digests of their files. Of cases without a submission there are the positions alone.
    """

    positions: Mapping[int, int]
    content: bytes = b""
    values: bytes | memoryview = b""
    again: Mapping[int, Mapping[str, str]] = field(default_factory=dict)


@dataclass
class BatchReading:
    """Reads batches, and collects their faults until there is no sense in reading on.

    After a death, each case of the reader is read again in a process of its own, with no other beside it.
    Only a case that crashes its reader again is at fault; for the machine's trouble nobody is. Values of
    ``cases`` are checked here, while no label is in use: no file holds those that fail (``lies``).
    """

    setup: ReaderSetup
    settings: PoolSettings
    room_bytes: int | None
    progress: Progress
    faults: Faults
    cases: Sequence[CaseForm] = ()
    limits: Totals | None = None
    used: Totals = field(default_factory=Totals)
    problems: list[str] = field(default_factory=list)
    lies: list[str] = field(default_factory=list)
    done: list[ReadBatch] = field(default_factory=list)
    tallies: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    count: int = 0
    ended: bool = False
    _rooms: dict[tuple[int, ...], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find the fields, whose kinds check the values."""
        self._fields = {each.name: each for each in fields_of(tasks_to_read(self.setup.form))}

    def run(self, batches: Sequence[Batch], pool: Pool) -> tuple[ReadBatch, ...]:
        """Return the batches that were read.

        The open ``pool`` is the first that is used, and is closed here. Raises as `read_submission` does.
        """
        left = dict(enumerate(batches))
        try:
            while left:
                with pool:
                    died = self._read_until_one_dies(pool, left)
                if self.ended or any(self._read_alone(left.pop(number)) for number in sorted(died)):
                    break
                pool = open_pool(self.setup, self.settings)
        except DeadlineExceeded:
            if not (self.faults or self.settings.fill_at_deadline):
                raise
        if self.problems and not (self.faults or self.lies):
            raise said_by_readers(self.problems)
        return tuple(self.done)

    def _read_until_one_dies(self, pool: Pool, left: dict[int, Batch]) -> list[int]:
        """Read batches until a reader dies, and remove those that were read from ``left``.

        Batches begun before the death are read to their end, so that their faults are known. Return the
        numbers of the batches whose readers died.
        """
        died: list[int] = []
        numbers = takewhile(lambda _: not died, list(left))
        for number, answer in pool.run(numbers, lambda number: self._job(left[number])):
            report = self._report(left[number], answer)
            if isinstance(report, Died):
                died.append(number)
                continue
            batch = left.pop(number)
            self._take(batch, range(len(batch.positions)), *report)
            if self.lies or self._is_enough():
                self.ended = True
                break
        return died

    def _is_enough(self) -> bool:
        """Return whether to stop reading, and add a fault for each limit that is used up."""
        limits, used = self.limits, self.used
        if limits is not None:
            too_much = (
                (used.bytes > limits.bytes, f"at most {limits.bytes} bytes in all files"),
                (used.items > limits.items, f"at most {limits.items} boxes or other values in all files"),
            )
            faults = [Fault(FaultKind.TOO_LARGE, ".", text, "more") for passed, text in too_much if passed]
            self.faults.add(faults)
            if faults:
                return True
        return len(self.faults) > _ENOUGH_FAULTS

    def _read_alone(self, batch: Batch) -> bool:
        """Read the cases of a batch one by one; return whether one crashes, which is a fault of its files."""
        alone = replace(self.settings, workers=1)
        numbers = range(len(batch.positions))
        with open_pool(self.setup, alone) as pool:
            for number, answer in pool.run(numbers, lambda number: self._job(batch, only=(number,))):
                report = self._report(batch, answer)
                if isinstance(report, Died):
                    break
                self._take(batch, [number], *report)
            else:
                return False
        self.faults.add(self._faults_of_files(batch, number, report))
        return True

    def _job(self, batch: Batch, only: tuple[int, ...] | None = None, field: str | None = None) -> ReadJob:
        room = None
        if self.room_bytes is not None and not self.faults:
            kept = sum(len(done.values) for done in self.done)
            room = max(0, self.room_bytes - kept) // max(1, self.settings.workers)
        self._rooms[batch.positions] = room or 0
        left = None
        if self.limits is not None:
            left = Totals(self.limits.bytes - self.used.bytes, self.limits.items - self.used.items)
        return ReadJob(batch.content, only, field, room, left=left)

    def _report(self, batch: Batch, answer: memoryview | Died) -> tuple[BatchReport, memoryview] | Died:
        """Return a reader's report on a batch, or how the reader or a case died."""
        if isinstance(answer, Died):
            return answer
        cases = len(batch.positions)
        most = self._rooms.get(batch.positions, 0) + _SPARE_BYTES + cases * len(self._fields) * _NUMBER_BYTES
        try:
            report, values = BatchReport.unpacked(answer, cases)
            if len(values) > most:
                raise HandoverError(f"expected at most {most} bytes of values")
        except HandoverError as error:
            return Died(str(error))
        return Died("; ".join(report.died.values())) if report.died else (report, values)

    def _take(self, batch: Batch, numbers: Iterable[int], report: BatchReport, values: memoryview) -> None:
        self.faults.add(report.faults, report.faults.more)
        if not self.faults:
            self.lies += self._lies(batch, numbers, values)
        self.used += report.used
        for name, counts in report.tallies.items():
            self.tallies[name].update(counts)
        self.problems += report.problems
        positions = {number: batch.positions[number] for number in numbers}
        if not self.faults:
            again = {number: of for number, of in report.again.items() if number in positions}
            self.done.append(ReadBatch(positions, batch.content, values, again))
        self.count += len(positions)
        self.progress(self.count)

    def _lies(self, batch: Batch, numbers: Iterable[int], values: memoryview) -> Iterator[str]:
        """Yield the cases of a batch with values that no file of their kind can hold."""
        if not self.cases:
            return
        packed: PackedValues | None = None
        for number in numbers:
            case = self.cases[batch.positions[number]]
            try:
                packed = packed or PackedValues(values, self._fields)
                packed.of_case(number, case)
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                yield printable(f"case {case.name}: {error}")

    def _faults_of_files(self, batch: Batch, number: int, died: Died) -> Iterator[Fault]:
        """Yield the faults of a case that cannot be read, of those files alone that crash their reader.

        Raises `MachineTrouble` if one of them ends its reader by a lack of the machine's.
        """
        alone = replace(self.settings, workers=1)
        if died.trouble is not None:
            raise died.trouble
        require_sound_readers(self.setup, alone)
        with open_pool(self.setup, alone) as pool:
            files = {"": "."}
            for _, answer in pool.run([0], lambda _: FilesJob(batch.content, number)):
                with suppress(HandoverError):
                    if not isinstance(report := self._report(batch, answer), Died):
                        files = files_of(report[1]) or files
            fields = list(files)
            deadly = dict.fromkeys(fields, died) if len(fields) == 1 else {}
            if len(fields) > 1:
                jobs = [self._job(batch, only=(number,), field=field) for field in fields]
                for position, answer in pool.run(range(len(jobs)), jobs.__getitem__):
                    if isinstance(report := self._report(batch, answer), Died):
                        deadly[fields[position]] = report
        for name, end in (deadly or dict.fromkeys(fields, died)).items():
            require_no_lack(end, quotation(files[name]))
        for file in sorted({files[name] for name in deadly or fields}):
            yield Fault(FaultKind.UNREADABLE, file, "a readable file", DEADLY)


def require_no_lack(died: Died, file: str) -> None:
    """Raise `MachineTrouble` for a reader that ended as readers do on a machine that is slow or short."""
    if died.trouble is not None:
        raise died.trouble
    if died.reason in _LACKS:
        raise MachineTrouble("read", file, _LACKS[died.reason])


def require_sound_readers(setup: ReaderSetup, settings: PoolSettings) -> None:
    """Check that a reader on this machine can read nothing at all, so that no file is blamed wrongly.

    Raises `MachineTrouble` and `PhaseError`.
    """
    nothing = ReadJob(Content("", (), ()).packed(), only=())
    with open_pool(setup, replace(settings, workers=1)) as pool:
        for _, answer in pool.run([0], lambda _: nothing):
            if isinstance(answer, Died):
                require_no_lack(answer, "nothing at all")
                raise PhaseError(f"readers die without reading anything ({answer.reason})")


_MISLED = Fault(FaultKind.UNREADABLE, ".", "files that can be read", "one that misleads its reader")
_NOTE = "Note: a reader handed on values that no file holds; a file may have taken it over:"
_DEADLY_INDEX = ("a submission whose listing, tables and JSON can be read", DEADLY)


@dataclass(frozen=True)
class ReadSubmission:
    """A submission that has been read, or as much of it as its faults or the deadline allowed.

    ``batches`` lack the cases that were not read before the deadline; ``notes`` are for the organiser alone.
    """

    faults: Faults
    tasks: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    run_seconds: tuple[float | None, ...] = ()
    batches: tuple[ReadBatch, ...] = ()
    notes: tuple[str, ...] = ()


def read_submission(
    form: Form,
    setup: ReaderSetup,
    settings: PoolSettings,
    room_bytes: int | None,
    progress: Progress = no_progress,
    meanwhile: Callable[[], None] | None = None,
) -> ReadSubmission:
    """Return the values of a submission, or its faults.

    ``meanwhile`` is called once, while the first reader is at work; its exceptions end the reading.

    At most ``room_bytes`` of values are kept; None: they are only checked. Raises `PhaseError` for faults of
    others than the submission, `MachineTrouble`, and `DeadlineExceeded` if no fault is found before the
    deadline.
    """
    settings = _of_readers(settings, room_bytes)
    fields = fields_of(tasks_of_form(form))
    limits = limits_of(form.cases, fields)
    index: IndexReport | Died = Died("")
    for tried in (settings, replace(settings, workers=min(1, settings.workers))):
        with ExitStack() as stack:
            pool = stack.enter_context(open_pool(replace(setup, formats=()), tried))
            index = _index(pool, form, max(1, settings.workers), meanwhile)
            meanwhile = None
            if isinstance(index, Died):
                continue
            setup = replace(setup, formats=index.formats)
            if setup.decoders(fields):
                stack.close()
                pool = open_pool(setup, tried)
            stage = BatchReading(setup, settings, room_bytes, progress, index.faults, form.cases, limits)
            done = stage.run(index.batches, pool)
            if stage.lies:
                return ReadSubmission(Faults([_MISLED]), notes=(_NOTE, *sorted(stage.lies)))
            notices = index.notices
            if room_bytes is None and not stage.faults:
                notices += tuple(_remarks(form, index.tasks, stage.tallies))
            about = (index.tasks, notices, index.run_seconds)
            return ReadSubmission(stage.faults, *about, done)
    require_sound_readers(setup, settings)
    if isinstance(index, Died):
        require_no_lack(index, "the listing, tables and JSON of the submission")
    return ReadSubmission(Faults([Fault(FaultKind.TOO_LARGE, ".", *_DEADLY_INDEX)]))


def _remarks(form: Form, tasks: Sequence[str], tallies: Mapping[str, Counter[str]]) -> Iterator[str]:
    """Yield a sentence about each field whose values are missing, or look wrong in all cases.

    `oddities` tells what looks wrong. Of a field without any value the index tells.
    """
    for each in fields_of(task for task in tasks_of_form(form) if task.name in tasks):
        counts = tallies.get(each.name, Counter[str]())
        expected, read = sum(map(each.cases, form.cases)), counts[""]
        if read < expected and (read or form.submission == "algorithm"):
            missing = f"{expected - read} of {expected} images have no value"
            yield f"{each.title}: {missing} and take the worst one"
        if lacking := counts.get(LACKS):
            yield f"{each.title}: {lacking} of {read} images {LACKS}"
        clauses = [clause for clause, count in counts.items() if clause not in ("", LACKS) and count == read]
        if clauses and read > 1:
            yield f"{each.title}: of all {read} images, {clauses[0]}"


def read_batches(
    batches: Sequence[Batch],
    setup: ReaderSetup,
    settings: PoolSettings,
    room_bytes: int | None,
    progress: Progress = no_progress,
) -> ReadSubmission:
    """Return the same for cases with known sources of their values."""
    settings = _of_readers(settings, room_bytes)
    stage = BatchReading(setup, settings, room_bytes, progress, Faults())
    with open_pool(setup, settings) as pool:
        done = stage.run(batches, pool)
    return ReadSubmission(stage.faults, batches=done)


def _of_readers(settings: PoolSettings, room_bytes: int | None) -> PoolSettings:
    return replace(settings, answer_bytes=REPORT_BYTES + (room_bytes or 0))


def _index(pool: Pool, form: Form, workers: int, meanwhile: Callable[[], None] | None) -> IndexReport | Died:
    """Return the index of a submission, or how its reader died."""
    job = IndexJob(Columns.of(form.cases), workers)
    ((_, answer),) = pool.run([0], lambda _: job, meanwhile=meanwhile)
    if isinstance(answer, Died):
        return answer
    try:
        return IndexReport.unpacked(answer, form.tasks, len(form.cases))
    except HandoverError as error:
        return Died(str(error))
