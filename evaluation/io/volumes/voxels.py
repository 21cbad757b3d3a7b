"""Reads the bytes of voxels, plain or compressed, in pieces, and never more than the header declares."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from evaluation.core.fault import FaultKind, ReadError
from evaluation.core.source import ByteStream

_PIECE = 1 << 18
ZLIB, GZIP = zlib.MAX_WBITS, zlib.MAX_WBITS | 16
_RAW = -zlib.MAX_WBITS
_BLOCK = 1 << 16
_ZEROS = bytes(_PIECE)
_ADLER = 65521

Range = tuple[int, int]
"""The first byte and the last + 1."""


class VoxelBytes:
    """The rest of a file: plain bytes, a zlib stream, or one or more gzip members.

    Only as many bytes are inflated as are requested, so that a small file cannot use much memory.

    Of a mask nearly all bytes are 0. Blocks of zeros are recognised and not copied, and their part of the
    checksum of a zlib stream is computed without looking at them: zlib takes nearly as long for it as for
    inflating.
    """

    def __init__(self, stream: ByteStream, volume: str, form: int | None) -> None:
        """Begin at the next byte; ``form`` is `ZLIB`, `GZIP` or None; messages name the file ``volume``."""
        self._stream, self._volume, self._form = stream, volume, form
        self._inflater = zlib.decompressobj(_RAW if form == ZLIB else GZIP)
        self._pending = b""
        self._begun = False
        self._checksum = 1

    def fill(self, view: memoryview) -> list[Range]:
        """Fill a view of bytes that are 0; return the ranges outside of which they still are, in order.

        Raises `ReadError` if the data end early or are damaged.
        """
        if self._form is None:
            filled = self._stream.readinto(view)
            ranges = [(0, filled)]
        else:
            filled, ranges = 0, []
            while filled < len(view) and (piece := self._inflate(min(_PIECE, len(view) - filled))):
                for block, is_blank in _blocks(piece):
                    end = filled + len(block)
                    if not is_blank:
                        view[filled:end] = block
                        first = ranges.pop()[0] if ranges and ranges[-1][1] == filled else filled
                        ranges.append((first, end))
                    if self._form == ZLIB:
                        self._sum_up(block, is_blank)
                    filled = end
        if filled < len(view):
            raise self._error("a file that ends before its voxels")
        return ranges

    def finish(self) -> None:
        """Check that nothing follows and that the checksum is correct. Raises `ReadError`."""
        if self._stream.read(1) if self._form is None else self._inflate(1):
            raise self._error("more voxels than its header says")

    def _sum_up(self, block: bytes, is_blank: bool) -> None:
        """Take a block into the checksum of a zlib stream."""
        if is_blank:  # a byte adds itself to the low half of Adler-32, and the low half to the high one
            high, low = divmod(self._checksum, 1 << 16)
            self._checksum = (high + len(block) * low) % _ADLER << 16 | low
        else:
            self._checksum = zlib.adler32(block, self._checksum)

    def _inflate(self, most: int) -> bytes:
        """Return up to ``most`` inflated bytes, none at the end of the data."""
        if self._form == ZLIB and not self._begun:
            self._begin()
        while True:
            if self._inflater.eof:
                if self._form == ZLIB:
                    self._compare_checksum()
                    return b""
                left = self._inflater.unused_data or self._stream.read(_PIECE)
                if not left.strip(b"\0"):
                    return b""
                self._inflater, self._pending = zlib.decompressobj(GZIP), left
            self._pending = self._pending or self._stream.read(_PIECE)
            if not self._pending:
                raise self._error("a file that ends before its voxels")
            try:
                piece = self._inflater.decompress(self._pending, most)
            except zlib.error:
                raise self._damaged() from None
            self._pending = self._inflater.unconsumed_tail
            if piece:
                return piece

    def _begin(self) -> None:
        """Read the header of a zlib stream (RFC 1950): the method is deflate, and there is no dictionary."""
        self._begun = True
        data = self._stream.read(_PIECE)
        if len(data) < 2:
            raise self._error("a file that ends before its voxels")
        method, flags, self._pending = data[0], data[1], data[2:]
        if method & 15 != zlib.DEFLATED or method >> 4 > 7 or flags & 32 or (method << 8 | flags) % 31:
            raise self._damaged()

    def _compare_checksum(self) -> None:
        """Compare the checksum at the end of a zlib stream with that of what was inflated."""
        found = self._inflater.unused_data[:4]
        found += self._stream.read(4 - len(found))
        if len(found) < 4:
            raise self._error("a file that ends before its voxels")
        if int.from_bytes(found, "big") != self._checksum:
            raise self._damaged()

    def _damaged(self) -> ReadError:
        return self._error("damaged or incomplete image data")

    def _error(self, found: str) -> ReadError:
        return ReadError(FaultKind.UNREADABLE, self._volume, found)


def _blocks(piece: bytes) -> Iterator[tuple[bytes, bool]]:
    """Yield the blocks of a piece and whether all their bytes are 0; a piece of zeros is one block."""
    if _ZEROS.startswith(piece):
        yield piece, True
        return
    for start in range(0, len(piece), _BLOCK):
        block = piece[start : start + _BLOCK]
        yield block, _ZEROS.startswith(block)
