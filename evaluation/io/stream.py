"""Reads a file once from start to end, in pieces; SHA-256 digests."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from evaluation.io.buffer import open_regular_file, unreadable
from evaluation.io.descriptors import read_into

_PIECE = 1 << 20


class FileStream:
    """A regular file below a folder, opened as by `ReadBuffer`; a context manager.

    ``observe`` is called with all bytes in the order of reading, for example to compute a digest.
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
        """Fill a view with the next bytes of the file; return their number. Raises `ReadError`."""
        filled = 0
        while filled < len(view):
            try:
                count = read_into(self._descriptor, view[filled:])
            except OSError as error:
                raise unreadable(self._path, error) from None
            if count == 0:
                break
            filled += count
        if self._observe is not None and filled:
            self._observe(view[:filled])
        return filled

    def read(self, count: int) -> bytes:
        """Return at most ``count`` bytes. Raises `ReadError`."""
        data = bytearray(count)
        return bytes(memoryview(data)[: self.readinto(memoryview(data))])

    def drain(self) -> None:
        """Read the rest of the file, so that ``observe`` gets all of it."""
        while self.read(_PIECE):
            pass


def sha256_of(data: bytes | bytearray | memoryview) -> str:
    """Return the SHA-256 digest as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_of_file(path: Path) -> str:
    """Return the digest of a file, read in pieces. Raises `OSError`."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_below(root: str, path: str) -> str:
    """Return the digest of a file below a folder, opened as `FileStream` opens it. Raises `ReadError`."""
    digest = hashlib.sha256()
    with FileStream(root, path, sys.maxsize, digest.update) as stream:
        stream.drain()
    return digest.hexdigest()
