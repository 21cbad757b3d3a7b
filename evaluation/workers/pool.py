"""Runs jobs in worker processes that may die, each told apart from all others.

Every worker has a connection of its own. One that ends, or says nothing for longer than a case may take, is
killed and replaced, and its job is answered by `Died`; no other job is touched. Answers are bytes, which are
not interpreted here.
"""

import contextlib
import itertools
import math
import pickle
import select
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from evaluation.core.fault import PhaseError
from evaluation.core.outcome import Died
from evaluation.core.trouble import MachineTrouble
from evaluation.io.handover import HandoverError
from evaluation.workers import processes
from evaluation.workers.reports import unpacked_problems, unpacked_trouble
from evaluation.workers.worker import WorkerSetup

_START_SECONDS = 30.0
_GRACE_SECONDS = 1.0
_FRUITLESS_STARTS = 3

Answered = tuple[int, memoryview | Died]


class DeadlineExceeded(Exception):  # noqa: N818 - the platform's word
    """Raised where the budget of a phase ran out before all cases were run; ``unfinished`` names these."""

    def __init__(self, unfinished: tuple[str, ...] = ()) -> None:
        self.unfinished = unfinished
        super().__init__(f"{len(unfinished)} cases were not finished")


@dataclass(frozen=True)
class PoolSettings:
    """The number of workers (0: cases run in this process) and limits in seconds.

    ``case_seconds`` limits reading a case, and again scoring it. ``deadline`` is of `time.monotonic`; with
    ``fill_at_deadline`` the cases that it cuts off have failed. ``answer_bytes`` limits an answer of readers;
    None: of workers that run none but our own code.
    """

    workers: int
    case_seconds: float
    deadline: float | None = None
    fill_at_deadline: bool = False
    answer_bytes: int | None = None


MakeJob = Callable[[int], object]
Meanwhile = Callable[[], None]


def open_pool(setup: WorkerSetup, settings: PoolSettings, reader: WorkerSetup | None = None) -> "Pool":
    """Return a pool of one kind of worker; with each job goes a new ``reader`` if one is given.

    A reader lives for one job, so that it has seen nothing of what the worker did before.
    """
    if settings.workers:
        return Pool(setup, settings, reader)
    return InThisProcess(setup, settings, reader)


@dataclass
class _Slot:
    """A worker, the number of its job, the reader beside it, and the time of its last message."""

    worker: processes.Worker
    reader: processes.Worker | None = None
    job: int | None = None
    heard: float = math.inf
    ready: bool = False

    def fileno(self) -> int:
        return self.worker.channel.fileno()


class Pool:
    """Worker processes of one kind that run jobs; a context manager, which ends them on leaving."""

    def __init__(self, setup: WorkerSetup, settings: PoolSettings, reader: WorkerSetup | None = None) -> None:
        self._setup = pickle.dumps(setup)
        self._modules = setup.modules
        self._reader = None if reader is None else pickle.dumps(reader)
        self._settings = settings
        self._slots: list[_Slot] = []
        self._fruitless = 0

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        for slot in list(self._slots):
            self._stop(slot)

    def run(
        self, numbers: Iterable[int], job: MakeJob, meanwhile: Meanwhile | None = None
    ) -> Iterator[Answered]:
        """Yield the number and the answer of every job, as they come.

        Each number is taken, and ``job`` makes its job, once a worker is free and the caller has handled the
        answers so far. ``meanwhile`` is called once, when the first jobs have been given.

        Raises `DeadlineExceeded`, `MachineTrouble`, and `PhaseError` if workers break again and again.
        """
        coming = iter(numbers)
        waiting: deque[int] = deque()
        while self._refill(waiting, coming) or self._busy():
            while self._refill(waiting, coming) and (slot := self._idle()) is not None:
                self._give(slot, waiting, job)
            if meanwhile is not None:
                meanwhile()
                meanwhile = None
            yield from self._answered(waiting)

    def _answered(self, waiting: deque[int]) -> list[Answered]:
        """Return the answers that have come; jobs of workers that could not even start wait again."""
        answered: list[Answered] = []
        for slot in self._heard():
            number, answer = slot.job, self._answer(slot)
            if answer is None or number is None:
                continue
            slot.job = None
            self._stop_reader(slot)
            if isinstance(answer, Died) and not slot.ready:
                self._count_fruitless(answer.trouble)
                waiting.appendleft(number)
            else:
                self._fruitless = 0
                answered.append((number, answer))
        return answered

    def _refill(self, waiting: deque[int], coming: Iterator[int]) -> bool:
        """Take the next number if none waits and a worker is free; return whether a number waits."""
        if not waiting and len(self._busy()) < self._settings.workers:
            waiting.extend(itertools.islice(coming, 1))
        return bool(waiting)

    def _busy(self) -> list[_Slot]:
        return [slot for slot in self._slots if slot.job is not None]

    def _idle(self) -> _Slot | None:
        """Return a worker without a job, or a new worker if there may be more."""
        for slot in self._slots:
            if slot.job is None:
                return slot
        if len(self._slots) == self._settings.workers:
            return None
        self._slots.append(_Slot(self._worker_with(self._setup)))
        return self._slots[-1]

    def _worker_with(self, setup: bytes) -> processes.Worker:
        worker = processes.start_worker(self._modules)
        with contextlib.suppress(processes.ChannelError):  # noticed when the worker is given its job
            worker.channel.send(processes.Message.JOB, [setup], self._settings.case_seconds)
        return worker

    def _give(self, slot: _Slot, waiting: deque[int], job: MakeJob) -> None:
        number = waiting.popleft()
        try:
            data = [pickle.dumps(job(number))]
            companion = None
            if self._reader is not None:
                slot.reader = self._worker_with(self._reader)
                companion = slot.reader.channel
            slot.worker.channel.send(processes.Message.JOB, data, self._settings.case_seconds, companion)
            if companion is not None:
                companion.close()  # from now on the worker's
        except processes.ChannelError:
            waiting.appendleft(number)
            self._stop(slot)
            self._count_fruitless()
        else:
            slot.job, slot.heard = number, time.monotonic()

    def _count_fruitless(self, trouble: MachineTrouble | None = None) -> None:
        self._fruitless += 1
        if self._fruitless == _FRUITLESS_STARTS:
            if trouble is not None:
                raise trouble
            raise PhaseError(f"the workers cannot do anything: {_FRUITLESS_STARTS} of them broke in a row")

    def _heard(self) -> list[_Slot]:
        """Return the workers with a message, and those that have been silent for too long."""
        busy = self._busy()
        deadline = self._settings.deadline or math.inf
        wake = min([deadline, *map(self._limit, busy)]) if busy else 0.0
        ready, _, _ = select.select(busy, [], [], max(0.0, wake - time.monotonic()))
        now = time.monotonic()
        if now >= deadline:
            raise DeadlineExceeded
        return [slot for slot in busy if slot in ready or now >= self._limit(slot)]

    def _limit(self, slot: _Slot) -> float:
        return slot.heard + self._settings.case_seconds + (_GRACE_SECONDS if slot.ready else _START_SECONDS)

    def _answer(self, slot: _Slot) -> memoryview | Died | None:
        """Return a worker's answer, None for a sign of life."""
        if time.monotonic() >= self._limit(slot) and not select.select([slot], [], [], 0)[0]:
            self._stop(slot)
            return Died(processes.OUT_OF_TIME)
        try:
            limit = self._settings.answer_bytes
            most = processes.MAX_ANSWER_BYTES if limit is None else limit
            kind, data = slot.worker.channel.receive(most, self._settings.case_seconds)
            is_trouble = kind is processes.Message.TROUBLE
            trouble = unpacked_trouble(data, quoted=limit is not None) if is_trouble else None
            # Until it says that it is ready, a reader has opened no file of a submission.
            stranger = limit is not None and slot.ready
            problems = unpacked_problems(data, stranger) if kind is processes.Message.PROBLEMS else None
        except (processes.ChannelError, HandoverError):
            cause = processes.cause_of_end(slot.worker)
            self._stop(slot)
            return Died(cause)
        if problems is not None:
            raise problems
        if trouble is not None:
            self._stop(slot)
            return Died(str(trouble), trouble)
        slot.heard = time.monotonic()
        slot.ready = True
        return data if kind is processes.Message.ANSWER else None

    def _stop(self, slot: _Slot) -> None:
        self._slots.remove(slot)
        self._stop_reader(slot)
        processes.stop(slot.worker)

    @staticmethod
    def _stop_reader(slot: _Slot) -> None:
        if slot.reader is not None:
            processes.stop(slot.reader)
            slot.reader = None


# --- Runs the jobs of workers in the process that asks for them ---


class InThisProcess(Pool):
    """Does every job here, for tests and debuggers: nothing is isolated, and no limit of time holds."""

    def __init__(self, setup: WorkerSetup, settings: PoolSettings, reader: WorkerSetup | None) -> None:
        super().__init__(setup, settings)
        handle = None if reader is None else reader.open(None)
        self._handle = setup.open(None if handle is None else lambda job: _joined(handle(job, _no_tick)))

    def run(
        self, numbers: Iterable[int], job: MakeJob, meanwhile: Meanwhile | None = None
    ) -> Iterator[Answered]:
        """Yield the number and the answer of every job, in order."""
        if meanwhile is not None:
            meanwhile()
        for number in numbers:
            yield number, _joined(self._handle(job(number), _no_tick))


def _joined(parts: Sequence[bytes | memoryview]) -> memoryview:
    return memoryview(b"".join(parts))


def _no_tick(processor_seconds: float) -> None:
    """Tell nobody that a case begins."""
