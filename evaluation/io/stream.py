"""Reading a file from its start to its end, in pieces, and digests of what has been read."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from evaluation.io.buffer import open_regular_file, unreadable

_PIECE = 1 << 20


class FileStream:
    """A regular file below a folder, opened as `ReadBuffer` opens it and read once; a context manager.

    ``observe`` is called with all bytes that are read, in order, for example to compute a digest.
    """

    def __init__(
        self,
        root: str,
        path: str,
        limit_bytes: int,
        observe: Callable[[memoryview], None] | None = None,
    ) -> None:
        """Open the file. Raises `ReadError` (forbidden, too large or unreadable)."""
        self._path = path
        self._observe = observe
        self._descriptor, self.size = open_regular_file(root, path, limit_bytes)

    def __enter__(self) -> FileStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def readinto(self, view: memoryview) -> int:
        """Fill a view of bytes as far as the file goes and return how many it were. Raises `ReadError`."""
        filled = 0
        while filled < len(view):
            try:
                count = os.readv(self._descriptor, [view[filled:]])
            except OSError as error:
                raise unreadable(self._path, error) from None
            if count == 0:
                break
            filled += count
        if self._observe is not None and filled:
            self._observe(view[:filled])
        return filled

    def read(self, count: int) -> bytes:
        """Return the next bytes, at most so many. Raises `ReadError`."""
        data = bytearray(count)
        return bytes(memoryview(data)[: self.readinto(memoryview(data))])

    def drain(self) -> None:
        """Read the rest of the file, for whoever observes it."""
        while self.read(_PIECE):
            pass


def sha256_of(data: bytes | bytearray | memoryview) -> str:
    """Return the SHA-256 digest as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_of_file(path: Path) -> str:
    """Return the digest of a file, of which little is held at a time. Raises `OSError`."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_below(root: str, path: str) -> str:
    """Return the digest of a file below a folder, opened as `FileStream` opens it. Raises `ReadError`."""
    digest = hashlib.sha256()
    with FileStream(root, path, sys.maxsize, digest.update) as stream:
        stream.drain()
    return digest.hexdigest()
