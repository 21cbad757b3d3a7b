"""NIfTI volumes: a binary header and the voxels, in one file (`.nii`) or one gzip stream (`.nii.gz`).

Source: https://nifti.nimh.nih.gov/pub/dist/src/niftilib/nifti1.h, and nifti2.h for headers of longer numbers.
NIfTI's axes point to the right, forwards and up, the axes of all other formats here to the left, backwards
and up: x and y change their signs.
"""

import math
from dataclasses import replace
from itertools import chain, product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError, in_digits
from evaluation.core.formats import GZIP, NIFTI, format_of_content
from evaluation.io.volume_header import header_of, skew_of
from evaluation.io.voxels import GZIPPED, BegunStream, OpenVolume, VoxelBytes, volume_of, write_with_simpleitk

_FIELDS = (
    *("length", "word", "sizes", "type", "bits", "start", "scale", "spacing"),
    *("codes", "rotation", "matrix", "units"),
)
_FIRST = np.dtype(
    {
        "names": _FIELDS,
        "formats": [
            *("i4", "S4", "8i2", "i2", "i2", "f4", "2f4", "8f4"),
            *("2i2", "6f4", "(3,4)f4", "u1"),
        ],
        "offsets": [0, 344, 40, 70, 72, 108, 112, 76, 252, 256, 280, 123],
        "itemsize": 348,
    }
)
_SECOND = np.dtype(
    {
        "names": _FIELDS,
        "formats": [
            *("i4", "S4", "8i8", "i2", "i2", "i8", "2f8", "8f8"),
            *("2i4", "6f8", "(3,4)f8", "i4"),
        ],
        "offsets": [0, 4, 16, 12, 14, 168, 176, 104, 344, 352, 400, 500],
        "itemsize": 540,
    }
)
_WORDS = ((_FIRST, b"n+1"), (_SECOND, b"n+2"))
_OF_TWO_FILES = (b"ni1", b"ni2")
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

write = write_with_simpleitk


def open_volume(stream: BegunStream, max_pages: int, components: int = 1) -> OpenVolume:
    """Return a NIfTI-1 or NIfTI-2 volume in one file, compressed or not; it has no pages.

    With several ``components`` of every voxel, the planes of each follow those of the one before.

    Raises `ReadError`, also for a header that readers could understand differently: with two positions in
    space, another unit than mm, a scale, or a type that contradicts the number of bits.
    """
    voxels = VoxelBytes(stream, NIFTI.name, GZIPPED if GZIP.begins(stream.head) else None)
    fields, order = _header(voxels, GZIP.begins(stream.head))
    axes, *sizes = fields["sizes"].tolist()
    further = sizes[3:axes] if 3 <= axes <= 7 else [0]
    if max(further, default=1) != components or math.prod(further) != components:
        of_second = "a NIfTI-2 header of " * (fields.nbytes == _SECOND.itemsize)
        expected = "a volume of three axes" + f", and a last one of {components}" * (components > 1)
        found = f"{axes} axes" + f" of {' × '.join(map(str, sizes[:axes]))}" * (components > 1 and axes > 3)
        raise ReadError(FaultKind.WRONG_SIZE, expected, f"{of_second}{found}")
    code, bits, offset = (fields[name].item() for name in ("type", "bits", "start"))
    slope, intercept = fields["scale"].tolist()
    if not (slope in (0, 1) or math.isnan(slope)) or not (intercept == 0 or math.isnan(intercept)):
        is_scaled = slope != 0 and not math.isnan(slope)
        scale = f" × {in_digits(slope, 1, digits=3)}" if is_scaled else ""
        added = f" + {intercept:g}" if intercept != 0 else ""
        found = f"voxels stored as value{scale}{added}"
        raise ReadError(FaultKind.WRONG_VALUE, "values without a scale", found, hint=_SCALED)
    unit = fields["units"].item() & 7
    if unit not in _UNITS_OF_MM:
        found = _OTHER_UNITS.get(unit, f"the unit {unit}")
        raise ReadError(FaultKind.WRONG_VALUE, "lengths in mm", f"{found} (xyzt_units)")
    dtype = np.dtype(_TYPES[code]).newbyteorder(order) if code in _TYPES else None
    if dtype is not None and bits != 8 * dtype.itemsize:
        raise ReadError(FaultKind.UNREADABLE, NIFTI.name, f"{bits} bits of a type of {8 * dtype.itemsize}")
    header = header_of(sizes[:3], dtype, *_place(fields), NIFTI.name)
    depth, height, width = header.geometry.shape
    header = replace(header, geometry=replace(header.geometry, shape=(components * depth, height, width)))
    if not (fields.nbytes + 4 <= offset <= _MAX_OFFSET and offset == int(offset)):
        raise ReadError(FaultKind.UNREADABLE, NIFTI.name, "an invalid offset of its voxels")
    voxels.fill(memoryview(bytearray(int(offset) - fields.nbytes)))
    return volume_of(header, voxels)


def write_components(values: NDArray[Any]) -> bytes:
    """Return the components of every voxel, (component, z, y, x), as a file without a position in space.

    values: little-endian, of a type that NIfTI has.
    """
    components, depth, height, width = values.shape
    code = next(code for code, name in _TYPES.items() if np.dtype(f"<{name}") == values.dtype)
    fields = np.zeros((), _FIRST.newbyteorder("<"))
    fields["length"], fields["word"], fields["start"] = _FIRST.itemsize, b"n+1", _FIRST.itemsize + 4
    fields["sizes"] = 4, width, height, depth, components, 1, 1, 1
    fields["type"], fields["bits"], fields["spacing"] = code, 8 * values.itemsize, 1.0
    return fields.tobytes() + bytes(4) + values.tobytes()


def _header(voxels: VoxelBytes, compressed: bool) -> tuple[np.void, Literal["<", ">"]]:
    """Return the fields of a header, and its byte order. Raises `ReadError` for other content."""
    view = bytearray(_FIRST.itemsize)
    try:
        voxels.fill(memoryview(view))
    except ReadError as error:
        raise _other_content(bytes(view), compressed) or error from None
    data = bytes(view)
    for (layout, word), order in product(_WORDS, _ORDERS):
        fields = np.frombuffer(data.ljust(layout.itemsize, b"\0"), layout.newbyteorder(order))[0]
        if fields["length"] != layout.itemsize:
            continue
        if fields["word"] == word:
            rest = bytearray(layout.itemsize - len(data))
            voxels.fill(memoryview(rest))
            return np.frombuffer(data + rest, layout.newbyteorder(order))[0], order
        if fields["word"] in _OF_TWO_FILES:
            raise ReadError(FaultKind.FORBIDDEN, "values in the same file", "a header of another file")
    other = ReadError(FaultKind.UNREADABLE, NIFTI.name, "another header")
    raise _other_content(data, compressed) or other


def _other_content(data: bytes, compressed: bool) -> ReadError | None:
    """Return the error that names what a gzip archive holds in place of a volume, None if it is not known."""
    content = format_of_content(data) if compressed else None
    if content is None or content is NIFTI:
        return None
    return ReadError(FaultKind.UNREADABLE, NIFTI.name, f"a gzip archive of {content.name}")


def _place(fields: np.void) -> tuple[Numbers, Numbers | None, Numbers | None]:
    """Return spacing, origin and direction cosines, from the rotation, the matrix or both if they agree.

    Without either, the file gives a spacing alone.

    The matrix is the more exact one: the cosines of a small rotation as float32 can be wrong by 5e-4.
    """
    factor, *spacing = fields["spacing"].tolist()[:4]
    if factor not in (-1, 0, 1):
        raise ReadError(FaultKind.UNREADABLE, NIFTI.name, "an invalid orientation (pixdim[0])")
    by_rotation, by_matrix = fields["codes"].tolist()
    places = []
    if by_rotation > 0:
        b, c, d, *origin = fields["rotation"].tolist()
        places.append((spacing, origin, _rotation(b, c, d, -1.0 if factor < 0 else 1.0)))
    if by_matrix > 0:
        matrix = fields["matrix"].tolist()
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
