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
from evaluation.platform.machine import limit_for_good, resource
from evaluation.workers.processes import MAX_ANSWER_BYTES, Channel, ChannelError, Message, collect_rarely
from evaluation.workers.reports import (
    packed_problems,
    packed_trouble,
    unpacked_problems,
    unpacked_trouble,
)

_OOM_SCORE = "800"
_ALIVE_EVERY_SECONDS = 0.5

Answer = Sequence[bytes | memoryview]
Tick = Callable[[float], None]
Handler = Callable[[Any, Tick], Answer]
"""Does a job and returns the parts of the answer.

Before each case the tick is called with the case's limit in seconds of processor time.
"""

AskReader = Callable[[object], memoryview]
"""Has a job done by the reader at a scorer's side and returns its answer."""


class WorkerSetup(Protocol):
    """The setup that makes a worker a reader or a scorer; picklable data for its process."""

    @property
    def memory_bytes(self) -> int | None:
        """The memory limit of the process in bytes, None for no limit."""

    @property
    def challenge(self) -> str | None:
        """The name of the challenge whose module the worker needs, None if it needs none."""

    def open(self, ask_reader: AskReader | None) -> Handler:
        """Return the handler of the jobs, in a worker or in this process."""

    def confine(self) -> None:
        """Give up the rights that this kind of worker does not need from here on."""


def work(connections: Sequence[socket.socket]) -> None:
    """Do the jobs of the main process until it ends; the second connection is to the reader at our side.

    The machine's trouble and the organiser's problems end this process too, and are told to the other side.
    """
    channel, *readers = map(Channel, connections)
    try:
        _work(channel, readers)
    except PhaseError as error:
        with contextlib.suppress(ChannelError):
            channel.send(Message.PROBLEMS, packed_problems(error))
    except (OSError, MemoryError, MachineTrouble) as error:
        if (trouble := trouble_of(error, "run", "a worker process")) is None:
            raise
        with contextlib.suppress(ChannelError):
            channel.send(Message.TROUBLE, packed_trouble(trouble))


def _work(channel: Channel, readers: Sequence[Channel]) -> None:
    _settle()
    _, data = channel.receive(MAX_ANSWER_BYTES)
    setup: WorkerSetup = pickle.loads(data)  # noqa: S301 - from the main process
    _limit_memory(setup.memory_bytes)
    handler = setup.open(_asking(readers[0]) if readers else None)
    setup.confine()
    tick = _Ticker(channel)
    channel.send(Message.ALIVE)
    while True:
        try:
            _, data = channel.receive(MAX_ANSWER_BYTES)
        except ChannelError:
            return
        answer = handler(pickle.loads(data), tick)  # noqa: S301 - as above
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


def _asking(channel: Channel) -> AskReader:
    def ask(job: object) -> memoryview:
        channel.send(Message.JOB, [pickle.dumps(job)])
        while True:
            kind, data = channel.receive(MAX_ANSWER_BYTES)
            if kind is Message.TROUBLE:
                raise unpacked_trouble(data)
            if kind is Message.PROBLEMS:
                raise unpacked_problems(data)
            if kind is Message.ANSWER:
                return data

    return ask


def _settle() -> None:
    """Make this process the first to be killed for memory, and let it leave no core."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    collect_rarely()


def _limit_memory(memory_bytes: int | None) -> None:
    if memory_bytes is not None:
        limit = limit_for_good(resource.RLIMIT_DATA, memory_bytes)
        # Where this fails, the machine has less than it granted, and no case is to blame for that.
        mmap.mmap(-1, limit // 4, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
