"""Volumes (MetaImage, NIfTI, TIFF), read plane by plane."""

import math
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, FormFault, ReadError
from evaluation.core.field import ByteStream, FileAccess, FileSource, Source
from evaluation.core.form import CaseForm
from evaluation.core.formats import (
    GZIP,
    HEAD_BYTES,
    META_IMAGE,
    NIFTI,
    TIFF,
    Dimensions,
    extensions_of,
    format_of_content,
    format_of_name,
    image_formats,
)
from evaluation.io.grey_images import read_numbers, write_grey, write_with_simpleitk
from evaluation.io.metaimage import read_header
from evaluation.io.pixels import Size
from evaluation.io.tiff import (
    BLACK_IS_ZERO,
    IMAGE,
    PAGE_TAGS,
    SAMPLES,
    check_pages,
    decode_page,
    read_pages,
    write_tiff,
)
from evaluation.io.volume_header import (
    MAX_VOXELS,
    UPRIGHT,
    Geometry,
    VolumeHeader,
    check_geometry,
    geometry_of,
    header_of,
    plane_geometry_of,
)
from evaluation.metrics.crops import Crop, box_of_content

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
        rows = self.values[self.top : self.bottom]
        box = box_of_content(rows)
        if box.is_empty:
            return Crop(self.values[:0, :0])
        return Crop(rows[box.slices], self.top + box.top, box.left)


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

    Of a mask nearly all bytes are 0. Blocks of zeros are recognised and neither copied nor searched: this
    saves 5 % of the processor time of 13 cyst volumes (4.56 → 4.79 s without).
    """

    def __init__(self, stream: ByteStream, volume: str, form: int | None) -> None:
        """Begin at the next byte of ``form`` `ZLIB`, `GZIPPED` or None; ``volume`` names it in messages."""
        self._stream, self._volume, self._form = stream, volume, form
        if form is not None:
            # It inflates masks in a sixteenth of the time of zlib (4 cyst volumes: 0.11 s, not 1.76 s).
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
        if self._stream.read(1) if self._form is None else self._inflate(1):
            raise self._error("more voxels than its header says")

    def _inflate(self, most: int) -> bytes:
        """Return up to ``most`` inflated bytes, none at the end of the data."""
        while True:
            if self._inflater.eof:
                left = self._inflater.unused_data or self._stream.read(_PIECE)
                if self._form != GZIPPED or not left.strip(b"\0"):
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


# --- MetaImage volumes (`.mha`): a text header, then the voxels, plain or as a zlib stream ---

_META_IMAGE = "a MetaImage volume"


def open_metaimage(stream: ByteStream) -> tuple[VolumeHeader, VoxelBytes]:
    """Return the header of a MetaImage volume in one file and its voxels. Raises `ReadError`."""
    fields = read_header(stream.read, stream.size, _META_IMAGE)
    # A row of the matrix is the direction of an axis; elsewhere an axis is a column.
    matrix = _numbers(fields.one_of("TransformMatrix", "Rotation", "Orientation")) or list(UPRIGHT)
    header = header_of(
        fields.size,
        fields.dtype,
        _numbers(fields.one_of("ElementSpacing", "ElementSize")) or [1.0, 1.0, 1.0],
        _numbers(fields.one_of("Offset", "Position", "Origin")) or [0.0, 0.0, 0.0],
        [*matrix[::3], *matrix[1::3], *matrix[2::3]],
        _META_IMAGE,
    )
    return header, VoxelBytes(stream, _META_IMAGE, ZLIB if fields.deflated else None)


def _numbers(text: str) -> list[float]:
    """Return the numbers of a value. Raises ValueError, also for numbers in a notation of Python alone."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return [float(number) for number in text.split()]


# NIfTI-1 volumes: a binary header and the voxels, in one file (`.nii`) or one gzip stream (`.nii.gz`).
#
# Source: https://nifti.nimh.nih.gov/pub/dist/src/niftilib/nifti1.h. NIfTI's axes point to the right, forwards
# and up, the axes of all other formats here to the left, backwards and up: x and y change their signs.

_HEADER_BYTES = 348

Numbers = list[float]

_TYPES = {
    2: "u1",
    4: "i2",
    8: "i4",
    16: "f4",
    64: "f8",
    256: "i1",
    512: "u2",
    768: "u4",
    1024: "i8",
    1280: "u8",
}
_UNITS_OF_MM = (0, 2)
_SIGNS = (-1.0, -1.0, 1.0)
_MIN_OFFSET, _MAX_OFFSET = 352, 1 << 20
_TOLERANCE = 1e-3
"""Tolerance between two descriptions of a position (float32), in voxels and cosines."""


def open_nifti(stream: ByteStream, compressed: bool) -> tuple[VolumeHeader, VoxelBytes]:
    """Return the header of a NIfTI-1 volume in one file and its voxels.

    Raises `ReadError`, also for a header that readers could understand differently: with two positions in
    space, another unit than mm, a scale, or a type that contradicts the number of bits.
    """
    voxels = VoxelBytes(stream, NIFTI.name, GZIPPED if compressed else None)
    data = bytearray(_HEADER_BYTES)
    voxels.fill(memoryview(data))
    order: Literal["<", ">"] = "<" if struct.unpack_from("<i", data)[0] == _HEADER_BYTES else ">"
    if struct.unpack_from(f"{order}i", data)[0] != _HEADER_BYTES or data[344:348] != b"n+1\0":
        raise ReadError(FaultKind.UNREADABLE, NIFTI.name, "another header")
    axes, *sizes = struct.unpack_from(f"{order}8h", data, 40)
    if not 3 <= axes <= 7 or any(size != 1 for size in sizes[3:axes]):
        raise ReadError(FaultKind.WRONG_SIZE, "a volume of three axes", f"{axes} axes")
    code, bits = struct.unpack_from(f"{order}2h", data, 70)
    offset, slope, intercept = struct.unpack_from(f"{order}3f", data, 108)
    if not (slope in (0, 1) or math.isnan(slope)) or not (intercept == 0 or math.isnan(intercept)):
        raise ReadError(FaultKind.WRONG_VALUE, "values without a scale", f"{slope:g} · value + {intercept:g}")
    if data[123] & 7 not in _UNITS_OF_MM:
        raise ReadError(FaultKind.WRONG_VALUE, "lengths in mm", f"the unit {data[123] & 7}")
    dtype = np.dtype(_TYPES[code]).newbyteorder(order) if code in _TYPES else None
    if dtype is not None and bits != 8 * dtype.itemsize:
        raise ReadError(FaultKind.UNREADABLE, NIFTI.name, f"{bits} bits of a type of {8 * dtype.itemsize}")
    header = header_of(sizes[:3], dtype, *_place(data, order), NIFTI.name)
    if not (_MIN_OFFSET <= offset <= _MAX_OFFSET and offset == int(offset)):
        raise ReadError(FaultKind.UNREADABLE, NIFTI.name, "an invalid offset of its voxels")
    voxels.fill(memoryview(bytearray(int(offset) - _HEADER_BYTES)))
    return header, voxels


def _place(data: bytearray, order: str) -> tuple[Numbers, Numbers, Numbers]:
    """Return spacing, origin and direction cosines, from the rotation, the matrix or both if they agree.

    The matrix is the more exact one: the cosines of a small rotation as float32 can be wrong by 5e-4.
    """
    factor, *spacing = struct.unpack_from(f"{order}4f", data, 76)
    if factor not in (-1, 0, 1):
        raise ReadError(FaultKind.UNREADABLE, NIFTI.name, "an invalid orientation (pixdim[0])")
    by_rotation, by_matrix = struct.unpack_from(f"{order}2h", data, 252)
    places = []
    if by_rotation > 0:
        b, c, d, *origin = struct.unpack_from(f"{order}6f", data, 256)
        places.append((spacing, origin, _rotation(b, c, d, -1.0 if factor < 0 else 1.0)))
    if by_matrix > 0:
        matrix = [struct.unpack_from(f"{order}4f", data, 280 + 16 * row) for row in range(3)]
        lengths = [math.hypot(*(matrix[row][axis] for row in range(3))) for axis in range(3)]
        rows = [[row[axis] / (lengths[axis] or math.nan) for axis in range(3)] for row in matrix]
        places.append((lengths, [row[3] for row in matrix], rows))
    for lengths, origin, rows in places:
        limits = [*(_TOLERANCE * abs(length) for length in (*spacing, *spacing)), *[_TOLERANCE] * 9]
        found = chain(lengths, origin, *rows)
        first = chain(spacing, places[0][1], *places[0][2])
        # NaN is never near.
        if not all(abs(one - other) <= limit for one, other, limit in zip(found, first, limits, strict=True)):
            raise ReadError(
                FaultKind.UNREADABLE, NIFTI.name, "a header with contradictory positions in space"
            )
    if not places:
        return spacing, [0.0, 0.0, 0.0], list(UPRIGHT)
    _, origin, rows = places[-1]
    direction = [sign * cosine for sign, row in zip(_SIGNS, rows, strict=True) for cosine in row]
    return spacing, [sign * number for sign, number in zip(_SIGNS, origin, strict=True)], direction


def _rotation(b: float, c: float, d: float, handed: float) -> list[Numbers]:
    """Return the rows of the rotation of a unit quaternion with a ≥ 0."""
    squared = b * b + c * c + d * d
    if not squared <= 1 + _TOLERANCE**2:
        raise ReadError(FaultKind.UNREADABLE, NIFTI.name, "an invalid rotation")
    a = math.sqrt(max(0.0, 1.0 - squared))
    return [
        [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), handed * 2 * (b * d + a * c)],
        [2 * (b * c + a * d), a * a + c * c - b * b - d * d, handed * 2 * (c * d - a * b)],
        [2 * (b * d - a * c), 2 * (c * d + a * b), handed * (a * a + d * d - b * b - c * c)],
    ]


# --- Reads volumes of all accepted formats plane by plane ---

EXTENSIONS = extensions_of(image_formats(3))
SLAB_BYTES = 1 << 22


class _Begun:
    """A file whose first bytes have been read, from its start."""

    def __init__(self, head: bytes, stream: ByteStream) -> None:
        self._head, self._stream = memoryview(head), stream
        self.size = stream.size

    def readinto(self, view: memoryview) -> int:
        """Fill a view with the next bytes and return their number. Raises `ReadError`."""
        count = min(len(view), len(self._head))
        if not count:
            return self._stream.readinto(view)
        view[:count], self._head = self._head[:count], self._head[count:]
        return count + (self._stream.readinto(view[count:]) if count < len(view) else 0)

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


def open_volume(
    stream: ByteStream, path: str, slab_bytes: int = SLAB_BYTES, max_pages: int = MAX_VOXELS
) -> OpenVolume:
    """Return a volume in the format of the path's extension; a NIfTI volume may be compressed or not.

    Voxels are read in slabs of whole planes, of about ``slab_bytes``. A TIFF stack has at most ``max_pages``.
    Raises `ReadError`, also for the content of another format.
    """
    wanted = format_of_name(path)
    if wanted is None or 3 not in wanted.dimensions:
        raise ReadError(FaultKind.UNREADABLE, f"one of {', '.join(EXTENSIONS)}", "another extension")
    head = stream.read(HEAD_BYTES)
    stream = _Begun(head, stream)
    content = format_of_content(head)
    compressed = content is GZIP
    if content is not wanted and not (compressed and wanted is NIFTI):
        raise ReadError(FaultKind.UNREADABLE, wanted.name, content.name if content else "other content")
    try:
        if wanted is TIFF:
            return _open_tiff_stack(stream, max_pages)
        if wanted is META_IMAGE:
            header, voxels = open_metaimage(stream)
        else:
            header, voxels = open_nifti(stream, compressed)
    except ValueError:
        raise ReadError(FaultKind.UNREADABLE, "a volume", "a header with invalid numbers") from None
    return OpenVolume(header, lambda: _planes(header, voxels, slab_bytes))


def write_volume(values: NDArray[Any], geometry: Geometry, extension: str) -> bytes:
    """Return a volume (z, y, x) as a file of the format with that extension; equal input gives equal bytes.

    Raises `ValueError` for an extension that is not one of `EXTENSIONS`.
    """
    if extension not in EXTENSIONS:
        raise ValueError(f"expected one of {', '.join(EXTENSIONS)}, found {extension}")
    if extension in (".tif", ".tiff"):
        return write_tiff(values)
    return write_with_simpleitk(
        values,
        extension,
        spacing=geometry.spacing_mm or (1.0, 1.0, 1.0),
        origin=geometry.origin_mm or (0.0, 0.0, 0.0),
        direction=geometry.direction or UPRIGHT,
    )


def write_image(values: NDArray[Any], geometry: Geometry, extension: str, dimensions: int) -> bytes:
    """Return a volume, or an image as a volume of one plane, as a file of the format with that extension.

    Equal input gives equal bytes. Raises `ValueError` for another extension, and for values that do not fit.
    """
    if dimensions == 3 or extension in (".nii", ".nii.gz"):
        return write_volume(values, geometry, extension)
    if values.dtype != np.uint8 and extension not in extensions_of(image_formats(2, numbers=True)):
        raise ValueError(f"{extension}: expected 8-bit values, found {values.dtype}")
    return write_grey(values[0], extension)


def _open_tiff_stack(stream: ByteStream, max_pages: int) -> OpenVolume:
    """Return a volume with one page per B-scan; the file is kept in memory, its pages are decoded one by one.

    It has no spacing, origin or direction. The tags of all pages are checked here.
    """
    data = memoryview(stream.read(stream.size))
    first, depth = check_pages(data, (BLACK_IS_ZERO,), max_pages)
    if first.one(SAMPLES, 1) != 1:
        raise ReadError(FaultKind.WRONG_VALUE, "one grey channel", f"{first.one(SAMPLES, 1)} channels")
    header = header_of((first.size.width, first.size.height, depth), first.dtype, None, None, None, IMAGE)
    return OpenVolume(
        header, lambda: (whole_plane(decode_page(data, tags)[..., 0]) for tags in read_pages(data, PAGE_TAGS))
    )


def _planes(header: VolumeHeader, voxels: VoxelBytes, slab_bytes: int) -> Iterator[Plane]:
    depth, height, width = header.geometry.shape
    row_bytes = width * header.dtype.itemsize
    per_slab = min(depth, max(1, slab_bytes // (height * row_bytes)))
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


# The image of a case, plane by plane: read from its file after comparing its header with the case table.

_BYTES_PER_VOXEL = 8
_HEADER_ALLOWANCE = 1 << 20


def case_geometry(case: CaseForm, dimensions: Dimensions) -> Geometry:
    """Return the geometry of a case's image; one of two dimensions has one plane. Raises `PhaseError`."""
    return geometry_of(case) if dimensions == 3 else plane_geometry_of(case)


def path_of(source: Source) -> str:
    """Return the path of an image. Raises `TypeError` for sources that are no files."""
    if not isinstance(source, FileSource):
        raise TypeError(f"no image can be read from {type(source).__name__}")
    return source.path


def case_planes(
    path: str,
    case: CaseForm,
    files: FileAccess,
    dimensions: Dimensions,
    slab_bytes: int = SLAB_BYTES,
    planes: str = "planes",
) -> Iterator[Plane]:
    """Yield the planes of a case's image in order, each valid until the next is read.

    Values have any numeric type. ``planes`` is the word for planes in messages. The size of an image of two
    dimensions, and size, spacing, origin and direction of a volume are compared with the case before pixels
    are decoded. Raises `FormFault`.
    """
    expected = case_geometry(case, dimensions)
    limit_bytes = _BYTES_PER_VOXEL * math.prod(expected.shape) + _HEADER_ALLOWANCE
    try:
        if dimensions == 2:
            size = Size(case.width, case.height)
            yield whole_plane(read_numbers(files.read(path, limit_bytes), path, size))
            return
        with files.open(path, limit_bytes) as stream:
            # As many pages as any axis is long: exchanged axes are still recognised.
            volume = open_volume(stream, path, slab_bytes, max(expected.shape))
            problems = check_geometry(volume.header.geometry, expected, planes)
            if problems:
                raise FormFault(problem.fault(path) for problem in problems)
            yield from volume.planes()
    except ReadError as error:
        raise FormFault(error.fault(path)) from None
