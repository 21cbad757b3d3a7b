"""Worker processes: their messages, and how the main process starts, stops and judges them."""

import atexit
import contextlib
import gc
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from evaluation.core.child_processes import program_of
from evaluation.core.fault import PhaseError
from evaluation.core.trouble import LACKS, PROCESSES, TIME, MachineTrouble, raise_trouble_of
from evaluation.workers.server import REFUSED, REQUEST_BYTES, STARTED, STATUS

# --- Messages between two processes: a length, a kind, and bytes that nobody interprets here ---

_HEAD = struct.Struct("<BQ")
_DESCRIPTOR = struct.Struct("i")
_IOV_MAX = 512
MAX_ANSWER_BYTES = 1 << 32


class Message(IntEnum):
    """The type of a message: a job, its answer, a sign of work, or what ends a worker.

    That is the machine's trouble, or problems of the organiser's.
    """

    JOB = 1
    ANSWER = 2
    ALIVE = 3
    TROUBLE = 4
    PROBLEMS = 5


class ChannelError(Exception):
    """Raised if the other side has ended, is silent within a message, or breaks the protocol."""


class Channel:
    """One end of a connection between two processes."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def fileno(self) -> int:
        """Return the descriptor, for `selectors`."""
        return self._connection.fileno()

    def send(
        self,
        kind: Message,
        parts: Sequence[bytes | memoryview] = (),
        seconds: float | None = None,
        companion: "Channel | None" = None,
    ) -> None:
        """Send a message of several parts. Raises `ChannelError`, also after seconds without progress.

        With it goes a ``companion``: this end of the connection to another process.
        """
        self._connection.settimeout(seconds)
        views = [memoryview(_HEAD.pack(kind, sum(map(len, parts)))), *(memoryview(part) for part in parts)]
        views = [view for view in views if len(view)]
        rights = []
        if companion is not None:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, _DESCRIPTOR.pack(companion.fileno()))]
        try:
            while views:
                sent = self._connection.sendmsg(views[:_IOV_MAX], rights)
                rights = []
                while views and sent >= len(views[0]):
                    sent -= len(views.pop(0))
                if views:
                    views[0] = views[0][sent:]
        except OSError as error:
            raise ChannelError(f"nothing can be sent: {error}") from None

    def receive(self, limit_bytes: int, seconds: float | None = None) -> tuple[Message, memoryview]:
        """Return the next message. Raises `ChannelError`, also where it takes longer than ``seconds``."""
        until = None if seconds is None else time.monotonic() + seconds
        kind, length = _HEAD.unpack(self._exactly(_HEAD.size, until))
        if kind not in set(Message) or length > limit_bytes:
            raise ChannelError(f"a message of kind {kind} and {length} bytes")
        return Message(kind), self._exactly(length, until)

    def receive_job(self) -> "tuple[memoryview, Channel | None]":
        """Return the next message of the main process, and its companion. Raises `ChannelError`."""
        self._connection.settimeout(None)
        try:
            head, rights, _, _ = self._connection.recvmsg(_HEAD.size, socket.CMSG_SPACE(_DESCRIPTOR.size))
        except OSError as error:
            raise ChannelError(f"nothing can be received: {error}") from None
        (descriptor,) = (_DESCRIPTOR.unpack(data)[0] for _, _, data in rights) if rights else (None,)
        companion = None if descriptor is None else Channel(socket.socket(fileno=descriptor))
        if not head:
            raise ChannelError("the other side has ended")
        _, length = _HEAD.unpack(bytes(head) + bytes(self._exactly(_HEAD.size - len(head), None)))
        return self._exactly(length, None), companion

    def _exactly(self, count: int, until: float | None) -> memoryview:
        view = memoryview(bytearray(count))
        filled = 0
        try:
            while filled < count:
                if until is not None:
                    self._connection.settimeout(max(0.001, until - time.monotonic()))
                received = self._connection.recv_into(view[filled:])
                if not received:
                    raise ChannelError("the other side has ended")
                filled += received
        except OSError as error:
            raise ChannelError(f"nothing can be received: {error}") from None
        return view.toreadonly()

    def close(self) -> None:
        """Close this end."""
        self._connection.close()


# --- Starts and ends the server and the workers, and finds the causes of their death ---

_PRELOAD = (
    "evaluation.workers.worker",
    "evaluation.workers.reader",
    "evaluation.workers.submission_reader",
    "evaluation.workers.scorer",
)
# SimpleITK decodes most images; the server imports it once for all workers. The first worker, which lists
# the submission, does not wait for it.
_OF_IMAGES = "SimpleITK"
# glibc would hand the pages of every decoded image back and fault fresh ones in for the next, which takes
# longer than to decode it. Read by glibc when a process starts.
_KEEP_PAGES = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
# A file that takes over its reader can tell all that its process holds. So the server inherits only what
# Python, its libraries and this package read.
_VARIABLES = (
    *("PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "LANG", "LC_ALL", "LC_CTYPE", "LC_NUMERIC", "LOCPATH", "TZ"),
    *("TMPDIR", "PYTHONHOME"),
    *("PYTHONHASHSEED", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTHONWARNINGS"),
    *(f"{library}_NUM_THREADS" for library in ("OPENBLAS", "OMP", "MKL")),
    *("OPENBLAS_CORETYPE", "PYDANTIC_DISABLE_PLUGINS", "EVALUATION_CHALLENGES"),
)
OUT_OF_TIME = "out of time"
KILLED = "killed by SIGKILL, probably for the machine's memory"
_START_SECONDS = 30.0
_CAUSE_SECONDS = 1.0
_OBJECTS_BETWEEN_COLLECTIONS = 200_000


class ServerError(Exception):
    """Raised if the server has ended, or does not answer in time."""


@dataclass(frozen=True)
class Worker:
    """A process that was forked from the server, and the channel to it."""

    process: int
    channel: Channel


class Server:
    """The process from which workers are forked."""

    def __init__(self, images: bool, modules: Sequence[str], names: Sequence[str]) -> None:
        """Start the server, which imports in parallel to this process. Raises as `start_worker` does."""
        first, *others = modules
        later = [*([_OF_IMAGES] if images else []), *others]
        self._control, theirs = socket.socketpair()
        serve = f"serve({theirs.fileno()}, {_PRELOAD!r}, {first!r}, {later!r}, {list(names)!r})"
        program = program_of(f"evaluation.workers.server:{serve}")
        os.set_inheritable(theirs.fileno(), True)
        environment = {name: os.environ[name] for name in _VARIABLES if name in os.environ} | _KEEP_PAGES
        try:
            # Without Ctrl-C, which would end the server with a traceback: the main process ends it.
            command = [sys.executable, "-c", program]
            self.process = os.posix_spawn(command[0], command, environment, setsigmask=[signal.SIGINT])
        except OSError as error:
            raise_trouble_of(error, *_START)
            raise PhaseError(f"{command[0]}: cannot be started: {error.strerror}") from None
        finally:
            theirs.close()
        self._statuses: dict[int, int] = {}

    def start_worker(self, modules: Sequence[str], seconds: float = _START_SECONDS) -> Worker:
        """Return a new worker that needs modules. Raises `ServerError`, `MachineTrouble` and `OSError`."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                self._control.settimeout(seconds)
                # At least a comma: no bytes would be no message.
                request = (",".join(modules) + ",").encode()[:REQUEST_BYTES]
                socket.send_fds(self._control, [request], [theirs.fileno()])
            until = time.monotonic() + seconds
            while True:
                process, status = self._next_status(until)
                if status == STARTED:
                    return Worker(process, Channel(ours))
                if status == REFUSED:
                    raise MachineTrouble(*_START, LACKS.get(process, PROCESSES))
                self._statuses[process] = status
        except (ServerError, MachineTrouble):
            ours.close()
            raise
        except OSError as error:
            ours.close()
            raise ServerError(str(error)) from None

    def end_of(self, worker: Worker, seconds: float) -> int | None:
        """Return the exit status of a worker, None if it is not known within ``seconds``."""
        until = time.monotonic() + seconds
        with contextlib.suppress(ServerError):
            while worker.process not in self._statuses:
                process, status = self._next_status(until)
                self._statuses[process] = status
        return self._statuses.pop(worker.process, None)

    def _next_status(self, until: float) -> tuple[int, int]:
        data = b""
        while len(data) < STATUS.size:
            left = max(0.0, until - time.monotonic())
            if not select.select([self._control], [], [], left)[0]:
                raise ServerError("the process that starts the workers does not answer")
            try:
                received = self._control.recv(STATUS.size - len(data))
            except OSError as error:
                raise ServerError(str(error)) from None
            if not received:
                raise ServerError("the process that starts the workers has ended")
            data += received
        process, status = STATUS.unpack(data)
        return process, status

    def kill(self, seconds: float = 0.0) -> int | None:
        """End the server and with it all workers; return its status if it ends by itself within seconds."""
        with self._control, contextlib.suppress(ChildProcessError):
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                process, status = os.waitpid(self.process, os.WNOHANG)
                if process:
                    return os.waitstatus_to_exitcode(status)
                time.sleep(0.01)
            kill(self.process)
            os.waitpid(self.process, 0)
        return None


_server: Server | None = None
_START = ("start", "a worker process")


def warm_up(
    images: bool = True, modules: Sequence[str] = ("evaluation.challenges",), names: Sequence[str] = ()
) -> None:
    """Start the server, so that it imports in parallel to this process. Raises as `start_worker` does.

    The server imports the modules of every worker and the first of a challenge's ``modules``, which it has
    prepare the ``names`` that a phase declares, if any. As soon as a worker has started, it does so for what
    the next ones need: the decoder of ``images``, if there may be any, and the other modules.
    """
    global _server
    if _server is None:
        _server = Server(images, modules, names)
        atexit.register(_server.kill)


def start_worker(modules: Sequence[str], seconds: float = _START_SECONDS) -> Worker:
    """Return a new worker that needs modules, from a new server if none answers in so many seconds.

    Raises `MachineTrouble`, and `PhaseError` where Python cannot be started.
    """
    global _server
    status: int | None = None
    for _ in range(2):
        try:
            warm_up()
            assert _server is not None
            return _server.start_worker(modules, seconds)
        except OSError as error:
            raise_trouble_of(error, *_START)
            raise
        except ServerError:
            assert _server is not None
            atexit.unregister(_server.kill)
            status = _server.kill(_CAUSE_SECONDS)
            _server = None
    if status is None:
        raise MachineTrouble(*_START, TIME)
    end = signal.Signals(-status).name if status < 0 else f"status {status}"
    raise MachineTrouble(*_START, f"{PROCESSES}, memory or stack (their server ended with {end})")


def stop(worker: Worker) -> None:
    """End a worker at once."""
    worker.channel.close()
    if _server is None or _server.end_of(worker, 0.0) is None:
        kill(worker.process)


def cause_of_end(worker: Worker) -> str:
    """Return in words how a worker ended by itself."""
    status = None if _server is None else _server.end_of(worker, _CAUSE_SECONDS)
    if status is None:
        kill(worker.process)
    worker.channel.close()
    if status is None or status >= 0:
        return "ended its worker"
    if status == -signal.SIGXCPU:
        return OUT_OF_TIME
    if status == -signal.SIGKILL:
        return KILLED
    return f"crashed with {signal.Signals(-status).name}"


def kill(process: int) -> None:
    """Kill a process, which may have ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def collect_rarely() -> None:
    """Let Python look for cycles of dead objects rarely.

    Ten thousand cases make many objects and hardly a cycle.
    """
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
