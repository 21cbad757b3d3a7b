"""NIfTI-1 volumes: a binary header and the voxels, in one file (`.nii`) or one gzip stream (`.nii.gz`).

Source: https://nifti.nimh.nih.gov/pub/dist/src/niftilib/nifti1.h. NIfTI's axes point to the right, forwards
and up, the axes of all other formats here to the left, backwards and up: x and y change their signs.
"""

import math
import struct
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.core.formats import GZIP, NIFTI
from evaluation.io.volume_header import UPRIGHT, Geometry, header_of, skew_of
from evaluation.io.voxels import GZIPPED, BegunStream, OpenVolume, VoxelBytes, volume_of, write_with_simpleitk

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


def open_volume(stream: BegunStream, slab_bytes: int, max_pages: int) -> OpenVolume:
    """Return a NIfTI-1 volume in one file, compressed or not; it has no pages.

    Raises `ReadError`, also for a header that readers could understand differently: with two positions in
    space, another unit than mm, a scale, or a type that contradicts the number of bits.
    """
    voxels = VoxelBytes(stream, NIFTI.name, GZIPPED if GZIP.begins(stream.head) else None)
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
    return volume_of(header, voxels, slab_bytes)


def write(values: NDArray[Any], geometry: Geometry | None, extension: str) -> bytes:
    """Return a volume (z, y, x) as a file, compressed if its extension says so."""
    return write_with_simpleitk(values, extension, geometry or Geometry(values.shape))


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
