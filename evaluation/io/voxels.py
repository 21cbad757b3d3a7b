"""The voxels of a volume: its planes, and the bytes they are made of."""

import tempfile
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.core.formats import HEAD_BYTES
from evaluation.core.sources import ByteStream, FileContent
from evaluation.io.volume_header import UPRIGHT, Geometry, VolumeHeader
from evaluation.metrics.crops import Crop, content_of

# --- A plane of a volume with known rows of zeros ---


@dataclass(frozen=True, slots=True)
class Plane:
    """The values (y, x) of a plane, of any numeric type; every bit before ``top`` and from ``bottom`` is 0.

    Most planes of most masks are nearly empty, which readers find in passing.
    """

    values: NDArray[Any]
    top: int
    bottom: int

    @property
    def crop(self) -> Crop:
        """A view of the plane, cropped to the box of its nonzero bits."""
        return content_of(self.values[self.top : self.bottom]).moved((self.top, 0))


def whole_plane(values: NDArray[Any]) -> Plane:
    """Return a plane without known rows of zeros."""
    return Plane(values, 0, len(values))


# --- Reads the bytes of voxels, plain or compressed, in pieces, and never more than the header declares ---

_PIECE = 1 << 18
ZLIB, GZIPPED = zlib.MAX_WBITS, zlib.MAX_WBITS | 16
_BLOCK = 1 << 16
_ZEROS = bytes(_PIECE)

Range = tuple[int, int]
"""The first byte and the last + 1."""


class VoxelBytes:
    """The rest of a file: plain bytes, a zlib stream, or one or more gzip members.

    Only as many bytes are inflated as are requested, so that a small file cannot use much memory.

    Of a mask nearly all bytes are 0. Blocks of zeros are recognised and neither copied nor searched.
    """

    def __init__(
        self, stream: ByteStream, volume: str, form: int | None, ends: Collection[bytes] = (b"",)
    ) -> None:
        """Begin at the next byte of ``form`` `ZLIB`, `GZIPPED` or None; ``volume`` names it in messages.

        ``ends``: what may follow the voxels in the file; empty for anything, which a zlib stream ends itself.
        """
        self._stream, self._volume, self._form, self._ends = stream, volume, form, ends
        if form is not None:
            # It inflates masks many times as fast as zlib.
            from zlib_ng import zlib_ng

            self._library: Any = zlib_ng
            self._inflater = zlib_ng.decompressobj(form)
        self._pending = b""

    def fill(self, view: memoryview) -> list[Range]:
        """Fill a view of zero bytes; return the ranges that may hold other values now, in order.

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
                    filled = end
        if filled < len(view):
            raise self._error("a file that ends before its voxels")
        return ranges

    def finish(self) -> None:
        """Check that nothing follows and that the checksum is correct. Raises `ReadError`."""
        more = self._form is not None and bool(self._inflate(1))
        if not more and self._ends and self._form != GZIPPED:  # whose members have been read to the end
            left = b"" if self._form is None else self._inflater.unused_data
            more = left + self._stream.read(1 + max(map(len, self._ends))) not in self._ends
        if more:
            raise self._error("more voxels than its header says")

    def _inflate(self, most: int) -> bytes:
        """Return up to ``most`` inflated bytes, none at the end of the data."""
        while True:
            if self._inflater.eof:
                if self._form != GZIPPED or not (left := self._next_member()):
                    return b""
                self._inflater, self._pending = self._library.decompressobj(GZIPPED), left
            self._pending = self._pending or self._stream.read(_PIECE)
            if not self._pending:
                raise self._error("a file that ends before its voxels")
            try:
                piece = self._inflater.decompress(self._pending, most)
            except self._library.error:
                raise self._error("damaged or incomplete image data") from None
            self._pending = self._inflater.unconsumed_tail
            if piece:
                return piece

    def _next_member(self) -> bytes:
        """Return the first bytes of the next gzip member; tapes and some archives pad the last with zeros."""
        left = self._inflater.unused_data.lstrip(b"\0")
        while not left and (piece := self._stream.read(_PIECE)):
            left = piece.lstrip(b"\0")
        return left

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


# --- A volume whose header has been read ---


class BegunStream:
    """A file from its start, whose first bytes, ``head``, have been read, or all if nothing follows."""

    def __init__(self, head: bytes | memoryview, following: ByteStream | None) -> None:
        self.head = bytes(head[:HEAD_BYTES])
        self.size = len(head) if following is None else following.size
        self._head, self._following = memoryview(head), following
        self._content: FileContent = memoryview(head) if following is None else following

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, part: slice) -> bytes | memoryview:
        return self._content[part]

    def readinto(self, view: memoryview) -> int:
        """Fill a view with the next bytes and return their number. Raises `ReadError`."""
        count = min(len(view), len(self._head))
        if count:
            view[:count], self._head = self._head[:count], self._head[count:]
        rest = view[count:] if count else view
        return count + (self._following.readinto(rest) if self._following and rest else 0)

    def read(self, count: int) -> bytes:
        """Return the next bytes, at most ``count``. Raises `ReadError`."""
        data = bytearray(count)
        return bytes(memoryview(data)[: self.readinto(memoryview(data))])


@dataclass(frozen=True)
class OpenVolume:
    """A volume whose header has been read.

    ``planes`` yields the planes in order, each valid until the next is read. It raises `ReadError` for
    damaged voxels.
    """

    header: VolumeHeader
    planes: Callable[[], Iterator[Plane]]


SLAB_BYTES = 1 << 22


def volume_of(header: VolumeHeader, voxels: VoxelBytes) -> OpenVolume:
    """Return a volume whose voxels follow its header; they are read in slabs of whole planes."""
    return OpenVolume(header, lambda: _planes(header, voxels))


def _planes(header: VolumeHeader, voxels: VoxelBytes) -> Iterator[Plane]:
    depth, height, width = header.geometry.shape
    row_bytes = width * header.dtype.itemsize
    per_slab = min(depth, max(1, SLAB_BYTES // (height * row_bytes)))
    slab = np.zeros((per_slab, height, width), dtype=header.dtype)
    content = slab.view(np.uint8).reshape(-1)
    ranges: list[Range] = []
    for start in range(0, depth, per_slab):
        for first, last in ranges:
            content[first:last] = 0
        part = slab[: min(per_slab, depth - start)]
        ranges = voxels.fill(content[: part.nbytes].data)
        for z, values in enumerate(part):
            yield Plane(values, *_rows(ranges, z * height, height, row_bytes))
    voxels.finish()


def _rows(ranges: list[Range], first_row: int, height: int, row_bytes: int) -> Range:
    """Return which rows of a plane ranges of bytes touch, from the first to the last + 1 of them."""
    begin, end = first_row * row_bytes, (first_row + height) * row_bytes
    inside = [(first, last) for first, last in ranges if first < end and last > begin]
    if not inside:
        return 0, 0
    top, bottom = inside[0][0] // row_bytes - first_row, -(-inside[-1][1] // row_bytes) - first_row
    return max(top, 0), min(bottom, height)


def write_with_simpleitk(values: NDArray[Any], geometry: Geometry | None, extension: str) -> bytes:
    """Return a volume (z, y, x), without a ``geometry`` an image of its one plane, as a compressed file."""
    import SimpleITK  # needed by writers only

    image = SimpleITK.GetImageFromArray(values[0] if geometry is None else values)
    if geometry is not None:
        image.SetSpacing(geometry.spacing_mm or (1.0, 1.0, 1.0))
        image.SetOrigin(geometry.origin_mm or (0.0, 0.0, 0.0))
        image.SetDirection(geometry.direction or UPRIGHT)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"image{extension}")
        SimpleITK.WriteImage(image, path, useCompression=True)
        return path.read_bytes()
