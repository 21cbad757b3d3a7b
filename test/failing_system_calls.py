"""System calls of another process that fail in the kernel, one chosen by its number or all of a kind.

A filter of system calls (seccomp) hands each call of a process to its supervisor, which lets it go on or
answers with an error. Sources: seccomp(2) and seccomp_unotify(2).
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import socket
import struct
from collections.abc import Callable

from evaluation.core.trouble import trouble_of
from evaluation.io.system_calls import architecture, call, library

DONE, TROUBLE, OTHER = 0, 1, 2
"""How a function ends: it returned, the machine was short of something, or another exception."""

_SECCOMP = {"x86_64": 317, "aarch64": 277}
_OPENAT = {"x86_64": 257, "aarch64": 56}
# What cannot fail, and what any process does to live: memory, signals, locks, telling its supervisor.
_OWN = {
    "x86_64": (1, 9, 10, 11, 12, 13, 14, 15, 25, 28, 39, 45, 46, 60, 202, 231),
    "aarch64": (64, 222, 226, 215, 214, 134, 135, 139, 216, 233, 207, 211, 93, 98, 94, 172),
}
_NO_NEW_PRIVILEGES, _SET_FILTER, _LISTENER = 38, 1, 1 << 3
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _ERROR, _ASK = 0x7FFF0000, 0x00050000, 0x7FC00000
_RECEIVE, _SEND, _CONTINUE = 0xC0502100, 0xC0182101, 1
_QUESTION, _ANSWER = struct.Struct("=QIIiI"), struct.Struct("=QqiI")
_O_PATH = 0o10000000


def fail_paths_opened(error: int) -> None:
    """Let every opening of a mere place (O_PATH) fail from here on, in this process and its children."""
    program = [
        (_LOAD, 0, 0, 0),
        (_EQUAL, 0, 3, _OPENAT[_machine()]),
        (_LOAD, 0, 0, 32),
        (_ANY_BIT, 0, 1, _O_PATH),
        (_RETURN, 0, 0, _ERROR | error),
        (_RETURN, 0, 0, _ALLOW),
    ]
    _install(program, 0)


def end_of(function: Callable[[], object], number: int = 0, error: int = 0) -> tuple[int, int]:
    """Run a function in a copy of this process and let one of its system calls fail.

    ``number`` is that of the call from 1, 0: none fails. Return how the function ended (`DONE`, `TROUBLE`,
    `OTHER`), and how many calls there were. Raises `OSError` where this kernel has no such filter.
    """
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        _run_watched(function, theirs)
    theirs.close()
    with ours:
        code, descriptors, _, _ = socket.recv_fds(ours, 4, 1)
        if not descriptors:
            os.waitpid(child, 0)
            raise OSError(int.from_bytes(code, "little"), "no filter of system calls can be supervised")
        count = _supervised(descriptors[0], ours, number, error)
        _, status = os.waitpid(child, 0)
        os.close(descriptors[0])
    return os.waitstatus_to_exitcode(status), count


def _run_watched(function: Callable[[], object], theirs: socket.socket) -> None:
    end = OTHER
    try:
        program = [(_LOAD, 0, 0, 0)]
        for own in _OWN[_machine()]:
            program += [(_EQUAL, 0, 1, own), (_RETURN, 0, 0, _ALLOW)]
        try:
            listener = _install([*program, (_RETURN, 0, 0, _ASK)], _LISTENER)
        except OSError as error:
            theirs.send((error.errno or 0).to_bytes(4, "little"))
            return
        socket.send_fds(theirs, [b"ours"], [listener])
        theirs.recv(4)
        function()
        end = DONE
    except Exception as error:
        end = OTHER if trouble_of(error, "run") is None else TROUBLE
    finally:
        os._exit(end)


def _supervised(listener: int, ours: socket.socket, number: int, error: int) -> int:
    """Answer all calls of a process until it ends; return how many there were."""
    count = 0
    ours.send(b"go!!")
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    while True:
        ((_, event),) = poll.poll()
        if not event & select.POLLIN:
            return count
        question = bytearray(80)
        try:
            fcntl.ioctl(listener, _RECEIVE, question)
        except FileNotFoundError:  # it has ended meanwhile
            continue
        count += 1
        (key, *_) = _QUESTION.unpack_from(question)
        fails = count == number
        fcntl.ioctl(listener, _SEND, _ANSWER.pack(key, 0, -error if fails else 0, 0 if fails else _CONTINUE))


def _machine() -> str:
    found = architecture()
    assert found is not None
    return found


def _install(program: list[tuple[int, int, int, int]], flags: int) -> int:
    code = b"".join(struct.pack("=HBBI", *statement) for statement in program)
    statements = ctypes.create_string_buffer(code)
    library().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    whole = struct.pack("=H6xQ", len(code) // 8, ctypes.addressof(statements))
    return call(_SECCOMP[_machine()], _SET_FILTER, flags, whole)
