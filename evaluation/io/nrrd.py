"""NRRD volumes (`.nrrd`), the format of 3D Slicer: a text header, then the voxels, plain or as a gzip stream.

Source: https://teem.sourceforge.net/nrrd/format.html. An ambiguous header is refused.
The header is compared with the case before a voxel is read, which SimpleITK cannot do without a path.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from evaluation.core.fault import FaultKind, ReadError
from evaluation.core.formats import NRRD
from evaluation.io.pixels import damaged
from evaluation.io.volume_header import header_of, lines_of_header, numbers_of
from evaluation.io.voxels import GZIPPED, BegunStream, OpenVolume, VoxelBytes, volume_of, write_with_simpleitk

_TYPES = {
    **dict.fromkeys(("signed char", "int8", "int8_t"), "i1"),
    **dict.fromkeys(("uchar", "unsigned char", "uint8", "uint8_t"), "u1"),
    **dict.fromkeys(("short", "short int", "signed short", "signed short int", "int16", "int16_t"), "i2"),
    **dict.fromkeys(("ushort", "unsigned short", "unsigned short int", "uint16", "uint16_t"), "u2"),
    **dict.fromkeys(("int", "signed int", "int32", "int32_t"), "i4"),
    **dict.fromkeys(("uint", "unsigned int", "uint32", "uint32_t"), "u4"),
    **dict.fromkeys(("longlong", "long long", "long long int", "signed long long", "int64", "int64_t"), "i8"),
    **dict.fromkeys(
        ("ulonglong", "unsigned long long", "unsigned long long int", "uint64", "uint64_t"), "u8"
    ),
    "float": "f4",
    "double": "f8",
}
_SIGNS = {
    "left-posterior-superior": (1.0, 1.0, 1.0),
    "right-anterior-superior": (-1.0, -1.0, 1.0),
    "left-anterior-superior": (1.0, -1.0, 1.0),
}
_SIGNS |= {"lps": _SIGNS["left-posterior-superior"], "ras": _SIGNS["right-anterior-superior"]}
_SIGNS |= {"las": _SIGNS["left-anterior-superior"]}
_ENCODINGS: Mapping[str, int | None] = {"raw": None, "gzip": GZIPPED, "gz": GZIPPED}
_VECTOR = re.compile(r"\(([^()]*)\)")

write = write_with_simpleitk


def open_volume(stream: BegunStream, max_pages: int) -> OpenVolume:
    """Return an NRRD volume in one file; it has no pages. Raises `ReadError`, and `ValueError`."""
    fields = _read_fields(stream)
    if "datafile" in fields:
        raise ReadError(FaultKind.FORBIDDEN, "values in the same file", "a reference to another file")
    if any(fields.get(name, "0") != "0" for name in ("lineskip", "byteskip")):
        raise damaged(NRRD.name, "values at an offset")
    if (encoding := fields.get("encoding", "").lower()) not in _ENCODINGS:
        raise ReadError(FaultKind.WRONG_VALUE, "the encoding raw or gzip", encoding or "none")
    sizes = [int(size) for size in fields.get("sizes", "").split() if size.isascii() and size.isdigit()]
    if fields.get("dimension") != str(len(sizes)) or len(sizes) != len(fields["sizes"].split()):
        raise damaged(NRRD.name, "an invalid header")
    header = header_of(sizes, _type_of(fields), *_place(fields), NRRD.name)
    return volume_of(header, VoxelBytes(stream, NRRD.name, _ENCODINGS[encoding]))


def _read_fields(stream: BegunStream) -> dict[str, str]:
    """Return the fields of the header, their names in lower case without spaces.

    The next byte of the stream is the first value.
    """
    fields: dict[str, str] = {}
    lines = lines_of_header(stream.read, NRRD.name)
    next(lines)  # the name of the format
    for line in lines:
        text = line.removesuffix("\r")
        if not text:
            return fields
        name, colon, value = text.partition(": ")
        plain = re.sub("[ _]", "", name.lower())
        if text.startswith("#") or ":=" in name:
            continue
        if not colon or plain in fields:
            break
        fields[plain] = value.strip()
    raise damaged(NRRD.name, "an invalid header")


def _type_of(fields: Mapping[str, str]) -> np.dtype[Any] | None:
    """Return the type of the values, byte order included; None if it is not supported. Raises `ReadError`."""
    code = _TYPES.get(" ".join(fields.get("type", "").lower().split()))
    orders: Mapping[str, Literal["<", ">"]] = {"little": "<", "big": ">"}
    order = orders.get(fields.get("endian", "").lower())
    if code is None:
        return None
    if order is None and not code.endswith("1"):
        raise damaged(NRRD.name, "no byte order (endian)")
    return np.dtype(code).newbyteorder(order or "<")


def _place(
    fields: Mapping[str, str],
) -> tuple[Sequence[float], Sequence[float] | None, Sequence[float] | None]:
    """Return spacing, origin and direction cosines, those that the file gives.

    Raises `ReadError`, and `ValueError` for no numbers.
    """
    units = set(re.findall('"([^"]*)"', fields.get("spaceunits", "")))
    if units - {"mm", ""}:
        raise ReadError(FaultKind.WRONG_VALUE, "lengths in mm", f"the unit {sorted(units)[0]}")
    if "spacedirections" not in fields:
        return numbers_of(fields.get("spacings", "1 1 1")), None, None
    if (signs := _SIGNS.get(fields.get("space", "").lower())) is None or "spacings" in fields:
        raise ReadError(FaultKind.WRONG_VALUE, "the space LPS, RAS or LAS", fields.get("space", "none"))
    vectors = [numbers_of(text, ",") for text in _VECTOR.findall(fields["spacedirections"])]
    (origin,) = [numbers_of(text, ",") for text in _VECTOR.findall(fields.get("spaceorigin", "(0,0,0)"))]
    if [*map(len, (*vectors, origin))] != [3, 3, 3, 3]:
        raise damaged(NRRD.name, "an invalid direction")
    spacing = [math.hypot(*vector) for vector in vectors]
    axes = [
        [sign * number / (length or math.nan) for sign, number in zip(signs, vector, strict=True)]
        for vector, length in zip(vectors, spacing, strict=True)
    ]
    direction = [axis[row] for row in range(3) for axis in axes]
    return spacing, [sign * number for sign, number in zip(signs, origin, strict=True)], direction
