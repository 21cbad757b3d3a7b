"""MetaImage files (`.mha`): a text header, then the values, plain or as a zlib stream; images and volumes."""

import io
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError, shorten
from evaluation.core.formats import META_IMAGE
from evaluation.core.sources import ByteStream
from evaluation.io.pixels import NUMBERS, Size, check_size, damaged
from evaluation.io.volume_header import (
    LONGEST_HEADER,
    UPRIGHT,
    Geometry,
    header_of,
    lines_of_header,
    numbers_of,
)
from evaluation.io.voxels import (
    ZLIB,
    BegunStream,
    OpenVolume,
    VoxelBytes,
    volume_of,
    write_with_simpleitk,
)

_IMAGE = META_IMAGE.name
_VOLUME = "a MetaImage volume"
_TYPES = {
    "MET_CHAR": "i1",
    "MET_UCHAR": "u1",
    "MET_SHORT": "i2",
    "MET_USHORT": "u2",
    "MET_INT": "i4",
    "MET_UINT": "u4",
    # Not MET_LONG, which has 4 or 8 bytes.
    "MET_LONG_LONG": "i8",
    "MET_ULONG_LONG": "u8",
    "MET_FLOAT": "f4",
    "MET_DOUBLE": "f8",
}
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_COUNT = re.compile("[0-9]{1,9}")
_BLANKS = " \t\r"
_LAST_KEY = "ElementDataFile"
_LINE_ENDS = (b"\n", b"\r\n")
_BEFORE_THE_NUMBER_OF_AXES = {"Comment", "ObjectType", "ObjectSubType"}
_FLAGS = ("BinaryData", "CompressedData", "BinaryDataByteOrderMSB", "ElementByteOrderMSB")
_NO_SCALE = {"ElementToIntensityFunctionSlope": "1", "ElementToIntensityFunctionOffset": "0"}

write = write_with_simpleitk


@dataclass(frozen=True, slots=True)
class MetaImageHeader:
    """The content of a header: ``size`` is (x, y) or (x, y, z), ``element_type`` for example "MET_UCHAR".

    With ``deflated`` the values are a zlib stream. ``ends``: what may follow the values, a line end for
    example; empty for anything. ``keys`` holds every line, ``image`` names the file in
    messages.
    """

    size: tuple[int, ...]
    element_type: str
    deflated: bool
    ends: tuple[bytes, ...]
    keys: Mapping[str, str]
    image: str

    def one_of(self, *names: str) -> str:
        """Return the value of keys that mean the same, an empty text without any.

        Raises `ReadError` if several exist and differ.
        """
        given = [name for name in names if name in self.keys]
        if len({_as_numbers(self.keys[name]) for name in given}) > 1:
            raise damaged(self.image, f"a header with contradictory {' and '.join(given)}")
        return self.keys[given[0]] if given else ""

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The type of the values, byte order included; None if it is not supported.

        Raises `ReadError` where the header gives two byte orders.
        """
        big_endian = self.one_of("BinaryDataByteOrderMSB", "ElementByteOrderMSB").casefold() == "true"
        code = _TYPES.get(self.element_type)
        return None if code is None else np.dtype(code).newbyteorder(">" if big_endian else "<")


def read_image(data: memoryview, size: Size | None) -> NDArray[Any]:
    """Return the values (y, x) of a MetaImage of one plane.

    Sizes are (x, y) or (x, y, 1); pixels lie in the same file, plain or deflated.

    Raises `ReadError` (unreadable, wrong size, wrong value, forbidden or too large).
    """
    stream = io.BytesIO(data[:LONGEST_HEADER])
    header = read_header(stream.read, len(data), _IMAGE)
    if any(count != 1 for count in header.size[2:]):
        raise ReadError(FaultKind.WRONG_VALUE, "an image of one plane", f"{header.size[2]} planes")
    found = Size(header.size[0], header.size[1])
    check_size(found, size)
    if header.dtype is None:
        raise ReadError(FaultKind.WRONG_VALUE, NUMBERS, header.element_type)
    values = np.zeros((found.height, found.width), header.dtype)
    content = BegunStream(data[stream.tell() :], None)
    voxels = VoxelBytes(content, _IMAGE, ZLIB if header.deflated else None, header.ends)
    voxels.fill(values.view(np.uint8).reshape(-1).data)
    voxels.finish()
    return values


def read_plane_geometry(stream: ByteStream, size: int) -> Geometry:
    """Return the geometry of an image of one plane, of ``size`` bytes, from its header alone.

    Its shape is (1, y, x), and the spacing along z is 1. Raises `ReadError`.
    """
    fields = read_header(stream.read, size, _IMAGE)
    if any(count != 1 for count in fields.size[2:]):
        raise ReadError(FaultKind.WRONG_VALUE, "an image of one plane", f"{fields.size[2]} planes")
    try:
        spacing = numbers_of(fields.one_of("ElementSpacing", "ElementSize"))[:2]
    except ValueError:
        raise damaged(_IMAGE, "a header with invalid numbers") from None
    three = [*spacing, 1.0] if spacing else None
    return header_of((*fields.size[:2], 1), fields.dtype, three, None, None, _IMAGE).geometry


def open_volume(stream: BegunStream, max_pages: int) -> OpenVolume:
    """Return a MetaImage volume in one file; it has no pages. Raises `ReadError`, and `ValueError`."""
    fields = read_header(stream.read, stream.size, _VOLUME)
    # A row of the matrix is the direction of an axis; elsewhere an axis is a column.
    matrix = numbers_of(fields.one_of("TransformMatrix", "Rotation", "Orientation")) or list(UPRIGHT)
    header = header_of(
        fields.size,
        fields.dtype,
        numbers_of(fields.one_of("ElementSpacing", "ElementSize")) or [1.0, 1.0, 1.0],
        numbers_of(fields.one_of("Offset", "Position", "Origin")) or [0.0, 0.0, 0.0],
        [*matrix[::3], *matrix[1::3], *matrix[2::3]],
        _VOLUME,
    )
    voxels = VoxelBytes(stream, _VOLUME, ZLIB if fields.deflated else None, fields.ends)
    return volume_of(header, voxels)


def plain(values: NDArray[Any], geometry: Geometry, dimensions: int) -> bytes:
    """Return a volume (z, y, x), or an image of its one plane, as a file that is not compressed."""
    shape, three = values.shape[::-1][:dimensions], (1.0, 1.0, 1.0)
    direction = geometry.direction or UPRIGHT
    lines = {
        "ObjectType": "Image",
        "NDims": dimensions,
        "BinaryData": True,
        "ElementByteOrderMSB": values.dtype.byteorder == ">",
        "DimSize": _joined(shape),
        "ElementSpacing": _joined((geometry.spacing_mm or three)[:dimensions]),
    }
    if dimensions == len(three):
        lines["Offset"] = _joined(geometry.origin_mm or (0.0, 0.0, 0.0))
        lines["TransformMatrix"] = _joined([*direction[::3], *direction[1::3], *direction[2::3]])
    code = f"{values.dtype.kind}{values.dtype.itemsize}"
    lines["ElementType"] = next(name for name, known in _TYPES.items() if known == code)
    lines[_LAST_KEY] = "LOCAL"
    return "".join(f"{key} = {value}\n" for key, value in lines.items()).encode() + values.tobytes()


def _joined(numbers: Iterable[float]) -> str:
    return " ".join(map(repr, numbers))


def read_header(read: Callable[[int], bytes], file_bytes: int, image: str) -> MetaImageHeader:
    """Return the header of a file with one channel and its values in the same file.

    ``read`` returns the next bytes of the file, ``file_bytes`` in all; afterwards it is at the first value.
    ``image`` names the file in messages, for example "a MetaImage". An ambiguous header is refused. Raises
    `ReadError` (unreadable, forbidden or wrong value).
    """
    keys, header_bytes = _read_keys(read, image)
    if keys.get("ObjectType") != "Image":
        raise damaged(image, "an invalid header")
    if keys[_LAST_KEY].upper() != "LOCAL":
        raise ReadError(FaultKind.FORBIDDEN, "values in the same file", "a reference to another file")
    # Some readers look at the first letter of a flag only.
    if any(keys.get(flag, "True").casefold() not in ("true", "false") for flag in _FLAGS):
        raise damaged(image, "a header with a flag that is neither True nor False")
    # −1: the values are the last bytes of the file; they follow the header here all the same.
    if not _is_true(keys, "BinaryData", "True") or keys.get("HeaderSize", "0") not in ("0", "-1"):
        raise damaged(image, "values written as text or at an offset")
    if any(_as_numbers(keys.get(key, neutral)) != _as_numbers(neutral) for key, neutral in _NO_SCALE.items()):
        raise ReadError(FaultKind.WRONG_VALUE, "values without a scale", "a scale of the intensity")
    channels = keys.get("ElementNumberOfChannels", "1")
    if channels != "1":
        raise ReadError(FaultKind.WRONG_VALUE, "one channel", f"{channels} channels")
    counts = re.split(r"[ \t]+", keys.get("DimSize", ""))
    if len(counts) < 2 or keys.get("NDims") != str(len(counts)) or not all(map(_COUNT.fullmatch, counts)):
        raise damaged(image, "an invalid header")
    deflated = _is_true(keys, "CompressedData")
    if deflated and keys.get("HeaderSize") == "-1":
        raise damaged(image, "compressed values at an offset from its end")
    found_bytes = file_bytes - header_bytes if deflated else 0
    ends: dict[str, tuple[bytes, ...]] = {}
    if deflated:
        ends = {str(found_bytes - len(end)): (end,) for end in _LINE_ENDS}
    ends[str(found_bytes)] = () if deflated else (b"", *_LINE_ENDS)
    if (size := keys.get("CompressedDataSize", "0")) not in ends:
        raise damaged(image, f"{found_bytes} compressed bytes, unlike its CompressedDataSize")
    # Other programs would take the line end for the last value.
    of_end = ends[size] if keys.get("HeaderSize") != "-1" else ends[size][:1]
    element_type = keys.get("ElementType", "none")
    return MetaImageHeader(tuple(map(int, counts)), element_type, deflated, of_end, keys, image)


def _read_keys(read: Callable[[int], bytes], image: str) -> tuple[dict[str, str], int]:
    """Return the keys and the number of bytes of the header."""
    keys: dict[str, str] = {}
    seen: set[str] = set()
    position = 0
    for line in lines_of_header(read, image):
        position += len(line) + 1
        key, equals, value = line.partition("=")
        key, value = key.strip(_BLANKS), value.strip(_BLANKS)
        # In the library that most programs use, a colon or NUL ends a key as well.
        plain = key.isascii() and key.isprintable() and ":" not in key and _CONTROL.search(value) is None
        if not equals or not plain or key.casefold() in seen:
            break
        seen.add(key.casefold())
        keys[key] = value
        # The library reads numbers of as many axes as it knows of by then.
        if "NDims" not in keys and key not in _BEFORE_THE_NUMBER_OF_AXES:
            raise damaged(image, f"a header with {shorten(key, 40)} before NDims")
        if key == _LAST_KEY:
            return keys, position
    raise damaged(image, "an invalid header")


def _as_numbers(text: str) -> tuple[float, ...] | str:
    """Return the numbers of a value, so that 0.70 is 0.7; a text that has others stays as it is."""
    try:
        return tuple(numbers_of(text))
    except ValueError:
        return text


def _is_true(keys: Mapping[str, str], key: str, default: str = "False") -> bool:
    return keys.get(key, default).casefold() == "true"
