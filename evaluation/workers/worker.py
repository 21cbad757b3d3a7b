"""The main loop of a worker process: settle down, take the setup, then do one job after the other."""

import contextlib
import math
import mmap
import pickle
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from evaluation.core.fault import PhaseError
from evaluation.core.trouble import MachineTrouble, trouble_of
from evaluation.io.handover import HandoverError
from evaluation.platform.machine import limit_for_good, resource
from evaluation.workers.processes import MAX_ANSWER_BYTES, Channel, ChannelError, Message, collect_rarely
from evaluation.workers.reports import packed_problems, packed_trouble, unpacked_trouble

_OOM_SCORE = "800"
_ALIVE_EVERY_SECONDS = 0.5

Reply = Sequence[bytes | memoryview]
Tick = Callable[[float], None]
Handler = Callable[[Any, Tick], Reply]
"""Does a job and returns the parts of the answer.

Before each case the tick is called with the case's limit in seconds of processor time.
"""

AskReader = Callable[[object], memoryview]
"""Has a job done by the reader at a scorer's side and returns its answer. Raises `ReaderTrouble`."""


class ReaderTrouble(Exception):  # noqa: N818 - named like `MachineTrouble`
    """Raised if a reader at a scorer's side does not answer, whatever it says of the reason.

    Labels are in use beside that reader: its word is never taken for the machine's trouble.
    """


class WorkerSetup(Protocol):
    """The setup that makes a worker a reader or a scorer; picklable data for its process."""

    @property
    def memory_bytes(self) -> int | None:
        """The memory limit of the process in bytes, None for no limit."""

    @property
    def modules(self) -> Sequence[str]:
        """The modules that the worker needs, imported once for all of its kind; they may fail to be."""

    def open(self, ask_reader: AskReader | None) -> Handler:
        """Return the handler of the jobs, in a worker or in this process."""

    def confine(self) -> None:
        """Give up the rights that this kind of worker does not need from here on."""


def work(connection: socket.socket) -> None:
    """Do the jobs of the main process until it ends; with a job may come a reader at our side for it.

    The machine's trouble and the organiser's problems end this process too, and are told to the other side.
    """
    channel = Channel(connection)
    try:
        _work(channel)
    except PhaseError as error:
        with contextlib.suppress(ChannelError):
            channel.send(Message.PROBLEMS, packed_problems(error))
    except (OSError, MemoryError, MachineTrouble) as error:
        if (trouble := trouble_of(error, "run", "a worker process")) is None:
            raise
        with contextlib.suppress(ChannelError):
            channel.send(Message.TROUBLE, packed_trouble(trouble))


def _work(channel: Channel) -> None:
    # The first to be killed for memory, and without a core.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    collect_rarely()
    data, _ = channel.receive_job()
    setup: WorkerSetup = pickle.loads(data)  # noqa: S301 - from the main process
    _limit_memory(setup.memory_bytes)
    reader: Channel | None = None

    def ask(job: object) -> memoryview:
        if reader is None:
            raise ReaderTrouble("there is no reader")
        return _asked(reader, job)

    handler = setup.open(ask)
    setup.confine()
    tick = _Ticker(channel)
    channel.send(Message.ALIVE)
    while True:
        try:
            data, reader = channel.receive_job()
        except ChannelError:
            return
        answer = handler(pickle.loads(data), tick)  # noqa: S301 - as above
        if reader is not None:
            reader.close()
        channel.send(Message.ANSWER, answer)


class _Ticker:
    """Sends the main process signs of life between cases, and limits each case."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._last = time.monotonic()

    def __call__(self, processor_seconds: float) -> None:
        if math.isfinite(processor_seconds):
            _, hard = resource.getrlimit(resource.RLIMIT_CPU)
            soft = math.ceil(time.process_time() + processor_seconds)
            # Beyond it the kernel ends this process by SIGXCPU, wherever it hangs.
            resource.setrlimit(resource.RLIMIT_CPU, (soft if hard < 0 else min(soft, hard), hard))
        if time.monotonic() - self._last > _ALIVE_EVERY_SECONDS:
            self._channel.send(Message.ALIVE)
            self._last = time.monotonic()


def _asked(reader: Channel, job: object) -> memoryview:
    """Return the answer of a reader to a job. Raises `ReaderTrouble`."""
    try:
        reader.send(Message.JOB, [pickle.dumps(job)])
        while True:
            kind, data = reader.receive(MAX_ANSWER_BYTES)
            if kind is Message.TROUBLE:
                raise ReaderTrouble(str(unpacked_trouble(data, quoted=True)))
            if kind is Message.PROBLEMS:
                raise ReaderTrouble("its reader tells of problems")
            if kind is Message.ANSWER:
                return data
    except (ChannelError, HandoverError):
        raise ReaderTrouble("its reader ended") from None


def _limit_memory(memory_bytes: int | None) -> None:
    if memory_bytes is not None:
        limit = limit_for_good(resource.RLIMIT_DATA, memory_bytes)
        # Where this fails, the machine has less than it granted, and no case is to blame for that.
        mmap.mmap(-1, limit // 4, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
