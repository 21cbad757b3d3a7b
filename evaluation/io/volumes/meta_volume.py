"""MetaImage volumes (`.mha`): a text header, then the voxels, plain or as a zlib stream."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.source import ByteStream
from evaluation.io.metaimage_header import read_header, write_header
from evaluation.io.volumes.header import UPRIGHT, Geometry, VolumeHeader, header_of
from evaluation.io.volumes.voxels import ZLIB, InflatedBytes, PlainBytes, VoxelBytes

VOLUME = "a MetaImage volume"
_TYPES = {
    "MET_CHAR": "i1",
    "MET_UCHAR": "u1",
    "MET_SHORT": "i2",
    "MET_USHORT": "u2",
    "MET_INT": "i4",
    "MET_UINT": "u4",
    "MET_LONG": "i8",
    "MET_ULONG": "u8",
    "MET_LONG_LONG": "i8",
    "MET_ULONG_LONG": "u8",
    "MET_FLOAT": "f4",
    "MET_DOUBLE": "f8",
}


def open_metaimage(stream: ByteStream) -> tuple[VolumeHeader, VoxelBytes]:
    """Return the header of a MetaImage volume in one file and its voxels. Raises `ReadError`."""
    fields = read_header(stream.read, VOLUME)
    big_endian = fields.first("BinaryDataByteOrderMSB", "ElementByteOrderMSB").casefold() == "true"
    code = _TYPES.get(fields.element_type)
    # A row of the matrix is the direction of an axis; elsewhere an axis is a column.
    matrix = _numbers(fields.first("TransformMatrix", "Rotation", "Orientation")) or list(UPRIGHT)
    header = header_of(
        fields.size,
        None if code is None else np.dtype(code).newbyteorder(">" if big_endian else "<"),
        _numbers(fields.first("ElementSpacing", "ElementSize")) or [1.0, 1.0, 1.0],
        _numbers(fields.first("Offset", "Position", "Origin")) or [0.0, 0.0, 0.0],
        _transposed(matrix) if len(matrix) == 9 else matrix,
        VOLUME,
    )
    return header, InflatedBytes(stream, ZLIB, VOLUME) if fields.deflated else PlainBytes(stream, VOLUME)


def write_metaimage(values: NDArray[Any], geometry: Geometry, compress: bool = True) -> bytes:
    """Return a volume (z, y, x) as a MetaImage file; the same volume gives the same bytes."""
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    data = zlib.compress(little.data, 1) if compress else little.tobytes()
    header = write_header(
        values.shape[::-1],
        next(name for name, code in _TYPES.items() if np.dtype(code) == values.dtype),
        len(data) if compress else None,
        geometry.spacing_mm or (1, 1, 1),
        geometry.origin_mm or (0, 0, 0),
        _transposed(geometry.direction or UPRIGHT),
    )
    return header + data


def _transposed(matrix: Sequence[float]) -> list[float]:
    return [matrix[axis * 3 + row] for row in range(3) for axis in range(3)]


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.split()]
