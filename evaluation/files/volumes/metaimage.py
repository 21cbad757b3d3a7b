"""MetaImage volumes (`.mha`): a text header, then the voxels, plain or as a zlib stream."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.files.volumes.header import UPRIGHT, Geometry, VolumeHeader, header_of
from evaluation.files.volumes.voxels import ZLIB, InflatedBytes, PlainBytes, VoxelBytes
from evaluation.model.fault import FaultKind, ReadError
from evaluation.model.source import ByteStream

VOLUME = "a MetaImage volume"
_LONGEST_HEADER = 1 << 16
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
    fields = _read_fields(stream)
    if fields.get("ElementDataFile", "").upper() != "LOCAL":
        raise ReadError(FaultKind.FORBIDDEN, "voxels in the file itself", "a reference to another file")
    if fields.get("BinaryData", "True").casefold() != "true" or int(fields.get("HeaderSize", "0")) != 0:
        raise ReadError(FaultKind.UNREADABLE, VOLUME, "voxels written as text or at an offset")
    if fields.get("ElementNumberOfChannels", "1") != "1":
        raise ReadError(
            FaultKind.WRONG_VALUE, "one value a voxel", f"{fields['ElementNumberOfChannels']} channels"
        )
    big_endian = _first(fields, ("BinaryDataByteOrderMSB", "ElementByteOrderMSB")).casefold() == "true"
    code = _TYPES.get(fields.get("ElementType", ""))
    # A row of the matrix is the direction of an axis; elsewhere an axis is a column.
    matrix = _numbers(_first(fields, ("TransformMatrix", "Rotation", "Orientation"))) or list(UPRIGHT)
    header = header_of(
        [int(number) for number in fields.get("DimSize", "").split()],
        None if code is None else np.dtype(code).newbyteorder(">" if big_endian else "<"),
        _numbers(_first(fields, ("ElementSpacing", "ElementSize"))) or [1.0, 1.0, 1.0],
        _numbers(_first(fields, ("Offset", "Position", "Origin"))) or [0.0, 0.0, 0.0],
        [matrix[axis * 3 + row] for row in range(3) for axis in range(3)] if len(matrix) == 9 else matrix,
        VOLUME,
    )
    deflated = fields.get("CompressedData", "False").casefold() == "true"
    return header, InflatedBytes(stream, ZLIB, VOLUME) if deflated else PlainBytes(stream, VOLUME)


def write_metaimage(values: NDArray[Any], geometry: Geometry, compress: bool = True) -> bytes:
    """Return a volume (z, y, x) as a MetaImage file; the same volume gives the same bytes."""
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    data = zlib.compress(little.data, 1) if compress else little.tobytes()
    kind = next(name for name, code in _TYPES.items() if np.dtype(code) == values.dtype)
    direction = geometry.direction or UPRIGHT
    z, y, x = values.shape
    lines = [
        "ObjectType = Image",
        "NDims = 3",
        "BinaryData = True",
        "BinaryDataByteOrderMSB = False",
        f"CompressedData = {compress}",
        *([f"CompressedDataSize = {len(data)}"] if compress else []),
        "TransformMatrix = "
        + " ".join(f"{direction[row * 3 + axis]:.15g}" for axis in range(3) for row in range(3)),
        "Offset = " + " ".join(f"{number:.15g}" for number in geometry.origin_mm or (0, 0, 0)),
        "CenterOfRotation = 0 0 0",
        "ElementSpacing = " + " ".join(f"{number:.15g}" for number in geometry.spacing_mm or (1, 1, 1)),
        f"DimSize = {x} {y} {z}",
        f"ElementType = {kind}",
        "ElementDataFile = LOCAL",
    ]
    return "\n".join([*lines, ""]).encode("ascii") + data


def _read_fields(stream: ByteStream) -> dict[str, str]:
    """Return the header's fields; the stream is left at the first byte behind the last line."""
    fields: dict[str, str] = {}
    line = bytearray()
    for _ in range(_LONGEST_HEADER):
        byte = stream.read(1)
        if byte not in (b"", b"\n"):
            line += byte
            continue
        name, equals, value = line.decode("latin-1").partition("=")
        if not equals or not byte:
            break
        fields[name.strip()] = value.strip()
        if name.strip() == "ElementDataFile":
            return fields
        line.clear()
    raise ReadError(FaultKind.UNREADABLE, VOLUME, "another header")


def _first(fields: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((fields[name] for name in names if name in fields), "")


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.split()]
