"""Windows bitmaps: the pixels are used where they lie, without a copy where that is possible."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.pixels import check_size, damaged, grey_of_channels, grey_of_palette, require_bits
from evaluation.io.size import Size

MAGIC = b"BM"

_IMAGE = "a BMP image"
_FILE_HEADER_BYTES = 14
_CORE_HEADER_BYTES = 12
_INFO_HEADER_BYTES = 40
_UNCOMPRESSED, _BIT_FIELDS = 0, 3
_BLUE_GREEN_RED_MASKS = (0xFF0000, 0xFF00, 0xFF)


@dataclass(frozen=True, slots=True)
class _Header:
    size: Size
    top_down: bool
    bits: int
    compression: int
    colours: int
    bytes_per_colour: int
    palette_start: int
    pixels_start: int


def read_bmp(data: memoryview, size: Size | None) -> NDArray[np.uint8]:
    """Return the grey values (y, x) of an uncompressed bitmap of 1, 4, 8, 24 or 32 bits.

    Eight bits with the identity palette yield a view of `data`; with the rows bottom-up, as usual, its
    first stride is negative. The unused fourth byte of 32-bit pixels is ignored.

    Raises `ReadError` (unreadable, wrong size, wrong value or too large).
    """
    header = _read_header(data)
    check_size(header.size, size)
    require_bits(header.bits, (1, 4, 8, 24, 32))
    _check_compression(data, header)
    width, height = header.size.width, header.size.height
    stride = (width * header.bits + 31) // 32 * 4
    if header.pixels_start + stride * height > len(data):
        raise damaged(_IMAGE, f"{len(data)} of {header.pixels_start + stride * height} bytes")
    rows = np.frombuffer(data, np.uint8, stride * height, header.pixels_start).reshape(height, stride)
    if not header.top_down:
        rows = rows[::-1]
    if header.bits > 8:
        channels = header.bits // 8
        return grey_of_channels(rows[:, : width * channels].reshape(height, width, channels)[..., 2::-1])
    return grey_of_palette(_indices(rows, header.bits)[:, :width], _palette(data, header))


def write_bmp(image: NDArray[np.uint8]) -> bytes:
    """Return grey values (y, x) as an 8-bit bitmap, bottom-up, with the identity palette."""
    height, width = image.shape
    rows = np.zeros((height, (width + 3) // 4 * 4), dtype=np.uint8)
    rows[:, :width] = image[::-1]
    palette = np.zeros((256, 4), dtype=np.uint8)
    palette[:, :3] = np.arange(256)[:, np.newaxis]
    start = _FILE_HEADER_BYTES + _INFO_HEADER_BYTES + palette.nbytes
    header = struct.pack("<2sI4xI", MAGIC, start + rows.nbytes, start)
    header += struct.pack(
        "<IiiHHIIiiII", _INFO_HEADER_BYTES, width, height, 1, 8, _UNCOMPRESSED, rows.nbytes, 0, 0, 256, 0
    )
    return header + palette.tobytes() + rows.tobytes()


def _read_header(data: memoryview) -> _Header:
    try:
        pixels_start, header_bytes = struct.unpack_from("<II", data, 10)
        if header_bytes == _CORE_HEADER_BYTES:
            width, height, _, bits = struct.unpack_from("<HHHH", data, 18)
            compression, used, bytes_per_colour = _UNCOMPRESSED, 0, 3
        elif header_bytes >= _INFO_HEADER_BYTES:
            width, height, _, bits, compression, _, _, _, used = struct.unpack_from("<iiHHIIiiI", data, 18)
            bytes_per_colour = 4
        else:
            raise damaged(_IMAGE, f"a header of {header_bytes} bytes")
    except struct.error:
        raise damaged(_IMAGE, "an incomplete header") from None
    most_colours = 1 << bits if bits <= 8 else 0
    return _Header(
        size=Size(width, abs(height)),
        top_down=height < 0,
        bits=bits,
        compression=compression,
        colours=min(used, most_colours) or most_colours,
        bytes_per_colour=bytes_per_colour,
        palette_start=_FILE_HEADER_BYTES + header_bytes,
        pixels_start=pixels_start,
    )


def _check_compression(data: memoryview, header: _Header) -> None:
    if header.compression == _UNCOMPRESSED:
        return
    if header.compression == _BIT_FIELDS and header.bits == 32 and len(data) >= 66:
        # The masks follow the 40 bytes that all headers share, inside a longer header or behind it.
        if struct.unpack_from("<III", data, _FILE_HEADER_BYTES + _INFO_HEADER_BYTES) == _BLUE_GREEN_RED_MASKS:
            return
        raise ReadError(FaultKind.WRONG_VALUE, "channels of 8 bits in the usual order", "other bit fields")
    raise ReadError(FaultKind.WRONG_VALUE, "an uncompressed BMP image", f"compression {header.compression}")


def _indices(rows: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Return one palette index per pixel of rows (y, byte); the first pixel is in the highest bits."""
    if bits == 8:
        return rows
    if bits == 1:
        return np.unpackbits(rows, axis=1)
    return np.stack((rows >> 4, rows & 15), axis=-1).reshape(len(rows), -1)


def _palette(data: memoryview, header: _Header) -> NDArray[np.uint8]:
    """Return the palette as (entry, 3), red, green, blue."""
    length = header.colours * header.bytes_per_colour
    if header.palette_start + length > min(header.pixels_start, len(data)):
        raise damaged(_IMAGE, "an incomplete palette")
    entries = np.frombuffer(data, np.uint8, length, header.palette_start)
    return entries.reshape(-1, header.bytes_per_colour)[:, 2::-1]
