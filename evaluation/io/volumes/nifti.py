"""Compressed NIfTI-1 volumes (`.nii.gz`): a binary header and the voxels in one gzip stream.

Source: https://nifti.nimh.nih.gov/pub/dist/src/niftilib/nifti1.h. NIfTI's axes point to the right, forwards
and up, those of all other formats here to the left, backwards and up: x and y change their signs.
"""

from __future__ import annotations

import math
import struct
from typing import Literal

import numpy as np

from evaluation.core.fault import FaultKind, ReadError
from evaluation.core.source import ByteStream
from evaluation.io.volumes.header import UPRIGHT, VolumeHeader, header_of
from evaluation.io.volumes.voxels import GZIP, VoxelBytes

VOLUME = "a compressed NIfTI volume"
_HEADER_BYTES = 348
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
_UNIT_MM = {0: 1.0, 1: 1000.0, 2: 1.0, 3: 0.001}
_SIGNS = (-1.0, -1.0, 1.0)
_MAX_OFFSET = 1 << 20


def open_nifti(stream: ByteStream) -> tuple[VolumeHeader, VoxelBytes]:
    """Return the header of a compressed NIfTI-1 volume in one file and its voxels. Raises `ReadError`."""
    voxels = VoxelBytes(stream, VOLUME, GZIP)
    data = bytearray(_HEADER_BYTES)
    voxels.fill(memoryview(data))
    order: Literal["<", ">"] = "<" if struct.unpack_from("<i", data)[0] == _HEADER_BYTES else ">"
    if struct.unpack_from(f"{order}i", data)[0] != _HEADER_BYTES or data[344:348] != b"n+1\0":
        raise ReadError(FaultKind.UNREADABLE, VOLUME, "another header")
    axes, *sizes = struct.unpack_from(f"{order}8h", data, 40)
    if not 3 <= axes <= 7 or any(size != 1 for size in sizes[3:axes]):
        raise ReadError(FaultKind.WRONG_SIZE, "a volume of three axes", f"{axes} axes")
    (code,) = struct.unpack_from(f"{order}h", data, 70)
    offset, slope, intercept = struct.unpack_from(f"{order}3f", data, 108)
    if not (slope == 0 or math.isnan(slope) or (slope == 1 and intercept == 0)):
        raise ReadError(FaultKind.WRONG_VALUE, "values without a scale", f"the scale {slope:g}")
    spacing, origin, direction = _place(data, order)
    dtype = np.dtype(_TYPES[code]).newbyteorder(order) if code in _TYPES else None
    header = header_of(sizes[:3], dtype, spacing, origin, direction, VOLUME)
    if not _HEADER_BYTES <= offset <= _MAX_OFFSET:
        raise ReadError(FaultKind.UNREADABLE, VOLUME, "an invalid offset of its voxels")
    voxels.fill(memoryview(bytearray(int(offset) - _HEADER_BYTES)))
    return header, voxels


def _place(data: bytearray, order: str) -> tuple[list[float], list[float], list[float]]:
    """Return spacing, origin and direction cosines, from the rotation if given, else from the matrix."""
    unit = _UNIT_MM.get(data[123] & 7, 1.0)
    factor, *spacing = struct.unpack_from(f"{order}4f", data, 76)
    by_rotation, by_matrix = struct.unpack_from(f"{order}2h", data, 252)
    if by_rotation > 0:
        b, c, d, *origin = struct.unpack_from(f"{order}6f", data, 256)
        a = math.sqrt(max(0.0, 1.0 - b * b - c * c - d * d))
        handed = -1.0 if factor < 0 else 1.0
        rows = [
            [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), handed * 2 * (b * d + a * c)],
            [2 * (b * c + a * d), a * a + c * c - b * b - d * d, handed * 2 * (c * d - a * b)],
            [2 * (b * d - a * c), 2 * (c * d + a * b), handed * (a * a + d * d - b * b - c * c)],
        ]
    elif by_matrix > 0:
        matrix = [struct.unpack_from(f"{order}4f", data, 280 + 16 * row) for row in range(3)]
        spacing = [math.hypot(*(matrix[row][axis] for row in range(3))) for axis in range(3)]
        origin = [row[3] for row in matrix]
        rows = [[row[axis] / (spacing[axis] or math.nan) for axis in range(3)] for row in matrix]
    else:
        return [unit * abs(s) for s in spacing], [0.0, 0.0, 0.0], list(UPRIGHT)
    direction = [sign * cosine for sign, row in zip(_SIGNS, rows, strict=True) for cosine in row]
    return (
        [unit * abs(s) for s in spacing],
        [unit * sign * number for sign, number in zip(_SIGNS, origin, strict=True)],
        direction,
    )
