"""System calls of this process that fail as those of a machine do that is short of something."""

from __future__ import annotations

import builtins
import contextlib
import errno
import io
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.io import files

ERRORS = ("EMFILE", "ENFILE", "ENOMEM", "ENOSPC", "EIO", "EFBIG", "EDQUOT", "EINTR")
_BY_EVENT = {
    "open": ("open", 0),
    "os.listdir": ("list", 0),
    "os.scandir": ("list", 0),
    "os.mkdir": ("mkdir", 0),
    "os.rename": ("rename", 1),
}


class Calls:
    """Counts system calls on files below a folder, and lets some of them fail.

    ``kind`` and ``number`` say which call fails, counted from 1; all later ones fail too if it ``lasts``.
    """

    def __init__(self, root: Path, kind: str = "", number: int = 0, name: str = "EIO", lasts: bool = False):
        self.counts: Counter[str] = Counter()
        self._root, self._kind, self._number, self._lasts = str(root), kind, number, lasts
        self._error = getattr(errno, name)

    def __call__(self, kind: str, path: str | os.PathLike[str] | None = None) -> None:
        if path is not None and Path(path).is_absolute() and not str(path).startswith(self._root):
            return
        self.counts[kind] += 1
        count = self.counts[kind]
        if kind == self._kind and (count >= self._number if self._lasts else count == self._number):
            raise OSError(self._error, os.strerror(self._error))


_calls: Calls | None = None


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if _calls is not None and event in _BY_EVENT:
        kind, position = _BY_EVENT[event]
        if isinstance(path := arguments[position], str | os.PathLike):
            _calls(kind, path)


sys.addaudithook(_audit)  # reaches every way to open a file; it cannot be removed


class _ReadBytes(io.FileIO):
    """A file whose bytes are read by calls that count."""

    def readinto(self, buffer):
        if _calls is not None:
            _calls("read", self.name)
        return super().readinto(buffer)

    def readall(self):
        if _calls is not None:
            _calls("read", self.name)
        return super().readall()


def _open(path, mode="r", buffering=-1, encoding=None, errors=None, newline=None, **more):
    """Open a file as `io.open` does; reading it counts."""
    if _calls is None or more or not isinstance(path, str | os.PathLike) or set(mode) - set("rbt"):
        return _REAL_OPEN(path, mode, buffering, encoding, errors, newline, **more)
    raw = _ReadBytes(os.fspath(path))
    if "b" in mode:
        return raw if buffering == 0 else io.BufferedReader(raw)
    return io.TextIOWrapper(io.BufferedReader(raw), encoding, errors, newline)


_REAL_OPEN = io.open


@contextlib.contextmanager
def counted(calls: Calls) -> Iterator[Calls]:
    """Count calls, and let the chosen ones fail."""
    global _calls

    def before(kind, function):
        def call(*arguments, **named):
            calls(kind)
            return function(*arguments, **named)

        return call

    class Written(io.FileIO):
        def write(self, data):
            calls("write")
            return super().write(data)

    def opened(descriptor, mode, closefd):
        return io.BufferedWriter(Written(descriptor, "w", closefd))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "readv", before("read", os.readv))
        patch.setattr(os, "fsync", before("fsync", os.fsync))
        patch.setattr(os, "memfd_create", before("memfd", os.memfd_create))
        patch.setattr(os, "fork", before("fork", os.fork))
        patch.setattr(files, "open", opened, raising=False)
        patch.setattr(io, "open", _open)
        patch.setattr(builtins, "open", _open)
        patch.setattr(files, "_swept", set())
        _calls = calls
        try:
            yield calls
        finally:
            _calls = None
