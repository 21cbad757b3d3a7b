"""System calls by number, for what the C library only does in a way that a confined process may not.

The C library asks for the status of an open file by an empty path (glibc 2.33 to 2.38), and so does its list
of a folder. A reader may not ask by path (`evaluation.workers.confinement`).
"""

import ctypes
import errno
import os
import stat
import struct
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Literal, NamedTuple

_BLOCK = 1 << 16
_ENTRY = struct.Struct("=QqHB")


class _Machine(NamedTuple):
    """Numbers of two calls of a processor, and the layout of fstat's answer: mode and size."""

    fstat: int
    getdents64: int
    status: struct.Struct


_MACHINES = {
    "x86_64": _Machine(5, 217, struct.Struct("=24xI20xq")),
    "aarch64": _Machine(80, 61, struct.Struct("=16xI28xq")),
}


class FileStatus(NamedTuple):
    """Type and rights of an open file as in `os.stat_result`, and its size."""

    mode: int
    size_bytes: int


def call(number: int, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Return the result of a system call. Raises `OSError`."""
    words = (ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments)
    result = int(library().syscall(ctypes.c_long(number), *words))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


@cache
def library() -> ctypes.CDLL:
    """Return the C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


@cache
def architecture() -> Literal["x86_64", "aarch64"] | None:
    """Return the processor; None for another one, for another system than Linux and for 32 bits."""
    if sys.platform != "linux" or sys.maxsize < 1 << 32:
        return None
    return {"x86_64": "x86_64", "aarch64": "aarch64"}.get(os.uname().machine)  # type: ignore[return-value]


def file_status(descriptor: int) -> FileStatus:
    """Return the status of an open file. Raises `OSError`."""
    return _file_status()(descriptor)


@cache
def _file_status() -> Callable[[int], FileStatus]:
    known = architecture()
    if known is None:
        return _status_of_python
    machine = _MACHINES[known]
    # A library that keeps Python's lock, so that no other thread uses the answer's memory meanwhile.
    system_call = ctypes.PyDLL(None).syscall
    answer = ctypes.create_string_buffer(256)
    number, place, unpack = (
        ctypes.c_long(machine.fstat),
        ctypes.c_void_p(ctypes.addressof(answer)),
        machine.status,
    )

    def status(descriptor: int) -> FileStatus:
        if system_call(number, descriptor, place):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return FileStatus(*unpack.unpack_from(answer))

    return status


def _status_of_python(descriptor: int) -> FileStatus:
    status = os.fstat(descriptor)
    return FileStatus(status.st_mode, status.st_size)


def folder_entries(folder: int | str) -> Iterator[tuple[str, int]]:
    """Yield the names in a folder, open or by its path, with their types as in `stat.S_IFMT`.

    No link is followed, and nothing is opened whose type the folder tells. Raises `OSError`.
    """
    machine = architecture()
    if machine is None or isinstance(folder, str):
        with os.scandir(folder) as entries:
            yield from ((entry.name, _type_of_entry(entry)) for entry in entries)
        return
    number = _MACHINES[machine].getdents64
    os.lseek(folder, 0, os.SEEK_SET)
    buffer = ctypes.create_string_buffer(_BLOCK)
    while filled := call(number, folder, buffer, _BLOCK):
        data = buffer.raw[:filled]
        start = 0
        while start < filled:
            _, _, length, kind = _ENTRY.unpack_from(data, start)
            encoded = data[start + _ENTRY.size : start + length].partition(b"\0")[0]
            start += length
            if encoded not in (b".", b".."):
                name = os.fsdecode(encoded)
                yield name, kind << 12 or _type_by_opening(name, folder)


def _type_of_entry(entry: os.DirEntry[str]) -> int:
    if entry.is_file(follow_symlinks=False):
        return stat.S_IFREG
    if entry.is_dir(follow_symlinks=False):
        return stat.S_IFDIR
    return stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode)


def _type_by_opening(name: str, folder: int) -> int:
    """Return the type of an entry of a file system whose folders do not tell it."""
    try:
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        return {errno.ELOOP: stat.S_IFLNK, errno.ENXIO: stat.S_IFSOCK}.get(error.errno or 0, stat.S_IFREG)
    try:
        return stat.S_IFMT(file_status(opened).mode)
    finally:
        os.close(opened)
