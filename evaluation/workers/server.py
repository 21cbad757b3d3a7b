"""The process from which all workers are forked: it imports what they need once, and holds no label.

The main process starts it first of all, with a socket between them, and asks for a worker by sending the
socket through which it will talk to that worker. Nothing of it lies in a file system, and it is not needed
any more while a worker works.
"""

import contextlib
import gc
import importlib
import os
import select
import signal
import socket
import struct
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from evaluation.core.child_processes import end_with_parent

STATUS = struct.Struct("<qq")
"""What the server tells: the number of a process, and `STARTED` or the status with which it ended.

With `REFUSED` the number is the error of the system, which did not start the process.
"""

REQUEST_BYTES = 4096
"""The longest request; what it does not name whole is imported by each worker."""

STARTED = 1 << 32
REFUSED = 1 << 33


def serve(
    descriptor: int, modules: Sequence[str], wanted: str, later: Sequence[str], names: Sequence[str]
) -> None:
    """Import modules, then fork a process for each request until the main process ends.

    A forked process calls the function ``work`` of the first of ``modules``. The module that is ``wanted``
    may fail to be imported: whoever needs it tells why. It prepares ``names``, if any. So may those for
    ``later``, one of which is imported after the start of each process, which does not wait for it.

    A request names the modules of the worker's challenge, which are imported first, once for all workers,
    also of many submissions (``evaluate --each``). With it comes the socket of the worker to the main
    process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal; the main process ends us
    gc.disable()
    server = os.getpid()
    control = socket.socket(fileno=descriptor)
    os.set_inheritable(descriptor, False)
    worker, *_ = [importlib.import_module(module) for module in modules]
    _import_all([wanted], names)
    ended, wake = os.pipe()
    for end in (ended, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)  # it has already woken the server
    silence()
    with contextlib.suppress(OSError):  # the main process has ended
        while True:
            ready, _, _ = select.select([control.fileno(), ended], [], [])
            if ended in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(ended, 4096)
                _report_ended(control)
            if control.fileno() in ready:
                request, sockets, _, _ = socket.recv_fds(control, REQUEST_BYTES, 1)
                if not request:
                    break
                _import_all(request.decode("utf-8", "replace").split(","))
                try:
                    process, status = os.fork(), STARTED
                except OSError as error:
                    process, status = error.errno or 0, REFUSED
                if process == 0:
                    gc.enable()
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    for inherited in (control.detach(), ended, wake):
                        os.close(inherited)
                    _work(worker, server, *sockets)
                for handed_on in sockets:
                    os.close(handed_on)
                control.sendall(STATUS.pack(process, status))
                _import_all(later[:1], names)
                later = later[1:]
    os._exit(0)


def _import_all(modules: Sequence[str], names: Sequence[str] = ()) -> None:
    """Import modules and have them prepare ``names``; what fails to be imported is left to who needs it."""
    for module in modules:
        with contextlib.suppress(Exception):
            imported = importlib.import_module(module)
            if names:
                imported.prepare(names)
    gc.freeze()  # what is imported stays, and is no work for the collector of any worker


def _report_ended(control: socket.socket) -> None:
    with contextlib.suppress(ChildProcessError):
        while True:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                return
            control.sendall(STATUS.pack(process, os.waitstatus_to_exitcode(status)))


def _work(worker: ModuleType, server: int, descriptor: int) -> NoReturn:
    status = 1
    try:
        end_with_parent(server)
        worker.work(socket.socket(fileno=descriptor))
        status = 0
    finally:
        os._exit(status)


def silence() -> None:
    """Point the standard streams at nothing: a decoder's words could hold anything, and without end."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)
