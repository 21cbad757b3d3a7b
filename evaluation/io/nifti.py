"""NIfTI volumes: a binary header and the voxels, in one file (`.nii`) or one gzip stream (`.nii.gz`).

Source: https://nifti.nimh.nih.gov/pub/dist/src/niftilib/nifti1.h, and nifti2.h for headers of longer numbers.
NIfTI's axes point to the right, forwards and up, the axes of all other formats here to the left, backwards
and up: x and y change their signs.
"""

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError, in_digits
from evaluation.core.formats import GZIP, NIFTI, format_of_content
from evaluation.io.volume_header import Geometry, header_of, skew_of
from evaluation.io.voxels import GZIPPED, BegunStream, OpenVolume, VoxelBytes, volume_of, write_with_simpleitk


@dataclass(frozen=True)
class _Layout:
    """Where the fields of a header of ``length`` bytes lie; ``word`` is at ``magic``, ``real`` a number."""

    length: int
    word: bytes
    magic: int
    real: str
    sizes: tuple[str, int]
    type: int
    start: tuple[str, int]
    scale: tuple[str, int]
    spacing: int
    codes: tuple[str, int]
    rotation: int
    matrix: int
    units: tuple[str, int]


_FIRST = _Layout(
    length=348,
    word=b"n+1\0",
    magic=344,
    real="f",
    sizes=("8h", 40),
    type=70,
    start=("f", 108),
    scale=("2f", 112),
    spacing=76,
    codes=("2h", 252),
    rotation=256,
    matrix=280,
    units=("B", 123),
)
_SECOND = _Layout(
    length=540,
    word=b"n+2\0",
    magic=4,
    real="d",
    sizes=("8q", 16),
    type=12,
    start=("q", 168),
    scale=("2d", 176),
    spacing=104,
    codes=("2i", 344),
    rotation=352,
    matrix=400,
    units=("i", 500),
)
_ORDERS: tuple[Literal["<", ">"], ...] = ("<", ">")
_SCALED = "save the values themselves, a mask as integers"

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
_OTHER_UNITS = {1: "metres", 3: "micrometres"}
_SIGNS = (-1.0, -1.0, 1.0)
_MAX_OFFSET = 1 << 20
_TOLERANCE = 1e-3
"""Tolerance between two descriptions of a position (float32), in voxels and cosines."""


def open_volume(stream: BegunStream, slab_bytes: int, max_pages: int, components: int = 1) -> OpenVolume:
    """Return a NIfTI-1 or NIfTI-2 volume in one file, compressed or not; it has no pages.

    With several ``components`` of every voxel, the planes of each follow those of the one before.

    Raises `ReadError`, also for a header that readers could understand differently: with two positions in
    space, another unit than mm, a scale, or a type that contradicts the number of bits.
    """
    voxels = VoxelBytes(stream, NIFTI.name, GZIPPED if GZIP.begins(stream.head) else None)
    layout, order, data = _header(voxels, GZIP.begins(stream.head))

    def values(letters: str, offset: int) -> tuple[Any, ...]:
        return struct.unpack_from(order + letters, data, offset)

    axes, *sizes = values(*layout.sizes)
    further = sizes[3:axes] if 3 <= axes <= 7 else [0]
    if max(further, default=1) != components or math.prod(further) != components:
        of_second = "a NIfTI-2 header of " * (layout is _SECOND)
        expected = "a volume of three axes" + f", and a last one of {components}" * (components > 1)
        found = f"{axes} axes" + f" of {' × '.join(map(str, sizes[:axes]))}" * (components > 1 and axes > 3)
        raise ReadError(FaultKind.WRONG_SIZE, expected, f"{of_second}{found}")
    code, bits = values("2h", layout.type)
    (offset,), (slope, intercept) = values(*layout.start), values(*layout.scale)
    if not (slope in (0, 1) or math.isnan(slope)) or not (intercept == 0 or math.isnan(intercept)):
        is_scaled = slope != 0 and not math.isnan(slope)
        scale = f" × {in_digits(slope, 1, digits=3)}" if is_scaled else ""
        added = f" + {intercept:g}" if intercept != 0 else ""
        found = f"voxels stored as value{scale}{added}"
        raise ReadError(FaultKind.WRONG_VALUE, "values without a scale", found, hint=_SCALED)
    (units,) = values(*layout.units)
    if units & 7 not in _UNITS_OF_MM:
        found = _OTHER_UNITS.get(units & 7, f"the unit {units & 7}")
        raise ReadError(FaultKind.WRONG_VALUE, "lengths in mm", f"{found} (xyzt_units)")
    dtype = np.dtype(_TYPES[code]).newbyteorder(order) if code in _TYPES else None
    if dtype is not None and bits != 8 * dtype.itemsize:
        raise ReadError(FaultKind.UNREADABLE, NIFTI.name, f"{bits} bits of a type of {8 * dtype.itemsize}")
    header = header_of(sizes[:3], dtype, *_place(layout, values), NIFTI.name)
    depth, height, width = header.geometry.shape
    header = replace(header, geometry=replace(header.geometry, shape=(components * depth, height, width)))
    if not (layout.length + 4 <= offset <= _MAX_OFFSET and offset == int(offset)):
        raise ReadError(FaultKind.UNREADABLE, NIFTI.name, "an invalid offset of its voxels")
    voxels.fill(memoryview(bytearray(int(offset) - layout.length)))
    return volume_of(header, voxels, slab_bytes)


def write(values: NDArray[Any], geometry: Geometry | None, extension: str) -> bytes:
    """Return a volume (z, y, x) as a file, compressed if its extension says so."""
    return write_with_simpleitk(values, extension, geometry or Geometry(values.shape))


def write_components(values: NDArray[Any]) -> bytes:
    """Return the components of every voxel, (component, z, y, x), as a file without a position in space.

    values: little-endian, of a type that NIfTI has.
    """
    components, depth, height, width = values.shape
    code = next(code for code, name in _TYPES.items() if np.dtype(f"<{name}") == values.dtype)
    header = bytearray(_FIRST.length + 4)
    struct.pack_into("<i", header, 0, _FIRST.length)
    struct.pack_into("<8h", header, _FIRST.sizes[1], 4, width, height, depth, components, 1, 1, 1)
    struct.pack_into("<2h", header, _FIRST.type, code, 8 * values.itemsize)
    struct.pack_into("<8f", header, _FIRST.spacing, *(1.0,) * 8)
    struct.pack_into("<f", header, _FIRST.start[1], len(header))
    header[_FIRST.magic : _FIRST.magic + len(_FIRST.word)] = _FIRST.word
    return bytes(header) + values.tobytes()


def _header(voxels: VoxelBytes, compressed: bool) -> tuple[_Layout, Literal["<", ">"], bytes]:
    """Return the layout, the byte order and the bytes of a header. Raises `ReadError` for other content."""
    view = bytearray(_FIRST.length)
    try:
        voxels.fill(memoryview(view))
    except ReadError as error:
        raise _other_content(bytes(view), compressed) or error from None
    data = bytes(view)
    for layout, order in product((_FIRST, _SECOND), _ORDERS):
        word = data[layout.magic : layout.magic + len(layout.word)]
        if struct.unpack_from(f"{order}i", data)[0] != layout.length:
            continue
        if word == layout.word:
            rest = bytearray(layout.length - len(data))
            voxels.fill(memoryview(rest))
            return layout, order, data + rest
        if word in (b"ni1\0", b"ni2\0"):
            raise ReadError(FaultKind.FORBIDDEN, "values in the same file", "a header of another file")
    other = ReadError(FaultKind.UNREADABLE, NIFTI.name, "another header")
    raise _other_content(data, compressed) or other


def _other_content(data: bytes, compressed: bool) -> ReadError | None:
    """Return the error that names what a gzip archive holds in place of a volume, None if it is not known."""
    content = format_of_content(data) if compressed else None
    if content is None or content is NIFTI:
        return None
    return ReadError(FaultKind.UNREADABLE, NIFTI.name, f"a gzip archive of {content.name}")


def _place(
    layout: _Layout, values: Callable[[str, int], tuple[Any, ...]]
) -> tuple[Numbers, Numbers | None, Numbers | None]:
    """Return spacing, origin and direction cosines, from the rotation, the matrix or both if they agree.

    Without either, the file gives a spacing alone.

    The matrix is the more exact one: the cosines of a small rotation as float32 can be wrong by 5e-4.
    """
    real = layout.real
    factor, *spacing = values(f"4{real}", layout.spacing)
    if factor not in (-1, 0, 1):
        raise ReadError(FaultKind.UNREADABLE, NIFTI.name, "an invalid orientation (pixdim[0])")
    by_rotation, by_matrix = values(*layout.codes)
    places = []
    if by_rotation > 0:
        b, c, d, *origin = values(f"6{real}", layout.rotation)
        places.append((spacing, origin, _rotation(b, c, d, -1.0 if factor < 0 else 1.0)))
    if by_matrix > 0:
        numbers = values(f"12{real}", layout.matrix)
        matrix = [numbers[row : row + 4] for row in (0, 4, 8)]
        lengths = [math.hypot(*(matrix[row][axis] for row in range(3))) for axis in range(3)]
        rows = [[row[axis] / (lengths[axis] or math.nan) for axis in range(3)] for row in matrix]
        if all(map(math.isfinite, chain(*rows))) and (skewed := skew_of(tuple(chain(*rows)))):
            raise skewed
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
        return spacing, None, None
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
