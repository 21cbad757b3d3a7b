"""Windows bitmaps (BMP): 8-bit pixels are used in place, without a copy."""

import struct
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.pixels import (
    Size,
    check_size,
    damaged,
    grey_of_channels,
    grey_of_palette,
    require_bits,
    write_with_pillow,
)

_IMAGE = "a BMP image"
_FILE_HEADER_BYTES = 14
_CORE_HEADER_BYTES = 12
_INFO_HEADER_BYTES = 40
_INFO_HEADERS = (_INFO_HEADER_BYTES, 52, 56, 64, 108, 124)
_UNCOMPRESSED, _BIT_FIELDS = 0, 3
_BLUE_GREEN_RED_MASKS = (0xFF0000, 0xFF00, 0xFF)

write = partial(write_with_pillow, "BMP")


def read_image(data: memoryview, size: Size | None) -> NDArray[Any]:
    """Return the grey values (y, x) of an uncompressed bitmap of 1, 4, 8, 24 or 32 bits.

    With 8 bits and the identity palette the result is a view of `data`; its first stride is negative if the
    rows are stored bottom-up, as usual. The unused fourth byte of 32-bit pixels is ignored.
    Black and white of one bit are booleans.

    Raises `ReadError` (unreadable, wrong size, wrong value or too large).
    """
    try:
        pixels_start, header_bytes = struct.unpack_from("<II", data, 10)
        if header_bytes == _CORE_HEADER_BYTES:
            width, height, _, bits = struct.unpack_from("<HHHH", data, 18)
            compression, used, bytes_per_colour = _UNCOMPRESSED, 0, 3
        elif header_bytes in _INFO_HEADERS:
            width, height, _, bits, compression, _, _, _, used = struct.unpack_from("<iiHHIIiiI", data, 18)
            bytes_per_colour = 4
        else:
            raise damaged(_IMAGE, f"a header of {header_bytes} bytes")
    except struct.error:
        raise damaged(_IMAGE, "an incomplete header") from None
    found = Size(width, abs(height))
    check_size(found, size)
    require_bits(bits, (1, 4, 8, 24, 32))
    _check_compression(data, compression, bits)
    if bits <= 8 and used > 1 << bits:
        raise damaged(_IMAGE, f"a palette of {used} colours")
    stride = (width * bits + 31) // 32 * 4
    stop = pixels_start + stride * found.height
    if stop > len(data):
        raise damaged(_IMAGE, f"{len(data)} of {stop} bytes")
    rows = np.frombuffer(data[pixels_start:stop], np.uint8).reshape(found.height, stride)
    # A negative height means that the rows go from the top to the bottom.
    rows = rows if height < 0 else rows[::-1]
    if bits > 8:
        channels = bits // 8
        return grey_of_channels(rows[:, : width * channels].reshape(-1, width, channels)[..., 2::-1])
    palette_start = _FILE_HEADER_BYTES + header_bytes
    palette_stop = palette_start + (min(used, 1 << bits) or 1 << bits) * bytes_per_colour
    if palette_stop > min(pixels_start, len(data)):
        raise damaged(_IMAGE, "an incomplete palette")
    palette = np.frombuffer(data[palette_start:palette_stop], np.uint8).reshape(-1, bytes_per_colour)
    values = grey_of_palette(_indices(rows, bits)[:, :width], palette[:, 2::-1])
    return values != 0 if bits == 1 and set(palette[:, 0].tolist()) <= {0, 255} else values


def _check_compression(data: memoryview, compression: int, bits: int) -> None:
    if compression == _UNCOMPRESSED:
        return
    if compression == _BIT_FIELDS and bits == 32 and len(data) >= 66:
        # The masks follow the 40 bytes that all headers share, inside a longer header or after it.
        if struct.unpack_from("<III", data, _FILE_HEADER_BYTES + _INFO_HEADER_BYTES) == _BLUE_GREEN_RED_MASKS:
            return
        raise ReadError(FaultKind.WRONG_VALUE, "channels of 8 bits in the usual order", "other bit fields")
    raise ReadError(FaultKind.WRONG_VALUE, "an uncompressed BMP image", f"compression {compression}")


def _indices(rows: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Return one palette index per pixel of rows (y, byte); the first pixel is in the highest bits."""
    if bits == 8:
        return rows
    if bits == 1:
        return np.unpackbits(rows, axis=1)
    return np.stack((rows >> 4, rows & 15), axis=-1).reshape(len(rows), -1)
