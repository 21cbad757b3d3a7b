"""The bytes of voxels, plain or deflated, handed out in pieces and never more than the header promises."""

from __future__ import annotations

import zlib
from typing import Protocol

from evaluation.core.fault import FaultKind, ReadError
from evaluation.core.source import ByteStream

_PIECE = 1 << 18
ZLIB, GZIP = zlib.MAX_WBITS, zlib.MAX_WBITS | 16


class VoxelBytes(Protocol):
    """Bytes that are asked for piece by piece."""

    def fill(self, view: memoryview) -> None:
        """Fill a view of bytes. Raises `ReadError` where the data end or are damaged."""

    def finish(self) -> None:
        """Make sure that nothing follows. Raises `ReadError`."""


class PlainBytes:
    """Bytes as they lie in the file."""

    def __init__(self, stream: ByteStream, volume: str) -> None:
        self._stream, self._volume = stream, volume

    def fill(self, view: memoryview) -> None:
        """Fill a view of bytes; see `VoxelBytes`."""
        if self._stream.readinto(view) < len(view):
            raise incomplete(self._volume)

    def finish(self) -> None:
        """Make sure that nothing follows; see `VoxelBytes`."""
        if self._stream.read(1):
            raise _too_long(self._volume)


class InflatedBytes:
    """Bytes of a deflated file: a zlib stream, or one or more gzip members.

    Never more is inflated than is asked for, so that a small file cannot swell.
    """

    def __init__(self, stream: ByteStream, form: int, volume: str) -> None:
        self._stream, self._form, self._volume = stream, form, volume
        self._inflater = zlib.decompressobj(form)
        self._pending = b""

    def fill(self, view: memoryview) -> None:
        """Fill a view of bytes; see `VoxelBytes`."""
        filled = 0
        while filled < len(view):
            piece = self._next(len(view) - filled)
            if not piece:
                raise incomplete(self._volume)
            view[filled : filled + len(piece)] = piece
            filled += len(piece)

    def finish(self) -> None:
        """Make sure that nothing follows, and that the checksum is right; see `VoxelBytes`."""
        if self._next(1):
            raise _too_long(self._volume)

    def _next(self, most: int) -> bytes:
        """Return up to ``most`` inflated bytes, none at the end of the data."""
        while True:
            if self._inflater.eof:
                left = self._inflater.unused_data or self._stream.read(_PIECE)
                if self._form != GZIP or not left.strip(b"\0"):
                    return b""
                self._inflater, self._pending = zlib.decompressobj(self._form), left
            if not self._pending:
                self._pending = self._stream.read(_PIECE)
                if not self._pending:
                    raise incomplete(self._volume)
            try:
                piece = self._inflater.decompress(self._pending, most)
            except zlib.error:
                raise ReadError(
                    FaultKind.UNREADABLE, self._volume, "damaged or incomplete image data"
                ) from None
            self._pending = self._inflater.unconsumed_tail
            if piece:
                return piece


def incomplete(volume: str) -> ReadError:
    """Return the error for data that end too early."""
    return ReadError(FaultKind.UNREADABLE, volume, "a file that ends before its voxels")


def _too_long(volume: str) -> ReadError:
    return ReadError(FaultKind.UNREADABLE, volume, "more voxels than its header says")
