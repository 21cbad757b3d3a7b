"""Reads the bytes of voxels, plain or compressed, in pieces, and never more than the header declares."""

from __future__ import annotations

import zlib

from evaluation.core.fault import FaultKind, ReadError
from evaluation.core.source import ByteStream

_PIECE = 1 << 18
ZLIB, GZIP = zlib.MAX_WBITS, zlib.MAX_WBITS | 16


class VoxelBytes:
    """The rest of a file: plain bytes, a zlib stream, or one or more gzip members.

    Only as many bytes are inflated as are requested, so that a small file cannot use much memory.
    """

    def __init__(self, stream: ByteStream, volume: str, form: int | None) -> None:
        """Begin at the next byte; ``form`` is `ZLIB`, `GZIP` or None; messages name the file ``volume``."""
        self._stream, self._volume, self._form = stream, volume, form
        self._inflater = zlib.decompressobj(form or ZLIB)
        self._pending = b""

    def fill(self, view: memoryview) -> None:
        """Fill a view of bytes. Raises `ReadError` if the data end early or are damaged."""
        if self._form is None:
            filled = self._stream.readinto(view)
        else:
            filled = 0
            while filled < len(view) and (piece := self._inflate(len(view) - filled)):
                view[filled : filled + len(piece)] = piece
                filled += len(piece)
        if filled < len(view):
            raise self._error("a file that ends before its voxels")

    def finish(self) -> None:
        """Check that nothing follows and that the checksum is correct. Raises `ReadError`."""
        if self._stream.read(1) if self._form is None else self._inflate(1):
            raise self._error("more voxels than its header says")

    def _inflate(self, most: int) -> bytes:
        """Return up to ``most`` inflated bytes, none at the end of the data."""
        while True:
            if self._inflater.eof:
                left = self._inflater.unused_data or self._stream.read(_PIECE)
                if self._form != GZIP or not left.strip(b"\0"):
                    return b""
                self._inflater, self._pending = zlib.decompressobj(GZIP), left
            self._pending = self._pending or self._stream.read(_PIECE)
            if not self._pending:
                raise self._error("a file that ends before its voxels")
            try:
                piece = self._inflater.decompress(self._pending, most)
            except zlib.error:
                raise self._error("damaged or incomplete image data") from None
            self._pending = self._inflater.unconsumed_tail
            if piece:
                return piece

    def _error(self, found: str) -> ReadError:
        return ReadError(FaultKind.UNREADABLE, self._volume, found)
