"""TIFF images of one page: raw pixels are used where they lie, the rest is decoded."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.decoder import decode
from evaluation.io.pixels import MOST_PIXELS, check_size, damaged, grey_of_channels, not_upright, require_bits
from evaluation.io.size import Size
from evaluation.io.tiff_tags import ORIENTATION, Tags, read_tags

_IMAGE = "a TIFF image"
_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _PHOTOMETRIC, _FILL_ORDER = 256, 257, 258, 259, 262, 266
_STRIP_OFFSETS, _SAMPLES, _ROWS_PER_STRIP, _STRIP_BYTES = 273, 277, 278, 279
_PLANAR, _TILE_WIDTH, _TILE_HEIGHT, _SAMPLE_FORMAT = 284, 322, 323, 339
_WANTED = frozenset(
    {
        *(_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _PHOTOMETRIC, _FILL_ORDER),
        *(_STRIP_OFFSETS, _SAMPLES, _ROWS_PER_STRIP, _STRIP_BYTES),
        *(_PLANAR, _TILE_WIDTH, _TILE_HEIGHT, _SAMPLE_FORMAT, ORIENTATION),
    }
)
_NONE, _LZW, _DEFLATE, _OLD_DEFLATE, _PACK_BITS = 1, 5, 8, 32946, 32773
_LOSSLESS = (_NONE, _LZW, _DEFLATE, _OLD_DEFLATE, _PACK_BITS)
_BLACK_IS_ZERO, _RGB = 1, 2
_SHORT, _LONG = 3, 4


def read_tiff(data: memoryview, size: Size | None) -> NDArray[np.uint8]:
    """Return the grey values (y, x) of an 8-bit TIFF image of one page; raw grey yields a view of `data`.

    Accepted are grey and RGB with equal channels, each with or without an opaque alpha channel; strips or
    tiles; uncompressed, LZW, deflate or PackBits.

    Raises `ReadError` (unreadable, wrong size, wrong value or too large).
    """
    tags = read_tags(data, _WANTED)
    found = Size(tags.one(_WIDTH, 0), tags.one(_HEIGHT, 0))
    check_size(found, size)
    channels = tags.one(_SAMPLES, 1)
    _check_kind(tags, channels)
    pixels = _raw_pixels(data, tags, found, channels)
    if pixels is None:
        pixels = decode(data, "TIFF", found, channels, pillow=channels == 2 or _TILE_WIDTH in tags.values)
    return grey_of_channels(pixels.reshape(found.height, found.width, channels))


def write_tiff(image: NDArray[np.uint8]) -> bytes:
    """Return grey values (y, x) as a small TIFF image: one strip, deflated, no metadata."""
    height, width = image.shape
    strip = zlib.compress(image.tobytes(), 9)
    entries = (
        (_WIDTH, _LONG, width),
        (_HEIGHT, _LONG, height),
        (_BITS, _SHORT, 8),
        (_COMPRESSION, _SHORT, _DEFLATE),
        (_PHOTOMETRIC, _SHORT, _BLACK_IS_ZERO),
        (_STRIP_OFFSETS, _LONG, 8),
        (_SAMPLES, _SHORT, 1),
        (_ROWS_PER_STRIP, _LONG, height),
        (_STRIP_BYTES, _LONG, len(strip)),
    )
    padding = bytes(len(strip) % 2)  # the tags begin at an even offset
    tags = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in entries)
    start = 8 + len(strip) + len(padding)
    return (
        struct.pack("<4sI", b"II*\0", start)
        + strip
        + padding
        + struct.pack("<H", len(entries))
        + tags
        + bytes(4)
    )


def _check_kind(tags: Tags, channels: int) -> None:
    """Refuse whatever other programs could show differently, or what is not 8-bit grey."""
    if tags.more_pages:
        raise ReadError(FaultKind.WRONG_VALUE, "one page", "several pages")
    for bits in tags.values.get(_BITS, (1,)):
        require_bits(bits, (8,))
    compression = tags.one(_COMPRESSION, _NONE)
    if compression not in _LOSSLESS:
        expected = "no compression, LZW, deflate or PackBits"
        raise ReadError(FaultKind.WRONG_VALUE, expected, f"compression {compression}")
    photometric = tags.one(_PHOTOMETRIC, _BLACK_IS_ZERO)
    if photometric not in (_BLACK_IS_ZERO, _RGB):
        names = {0: "inverted grey (white is zero)", 3: "a palette", 5: "CMYK", 6: "YCbCr"}
        raise ReadError(
            FaultKind.WRONG_VALUE,
            "grey (black is zero) or RGB values",
            names.get(photometric, str(photometric)),
        )
    if channels not in ((1, 2) if photometric == _BLACK_IS_ZERO else (3, 4)):
        raise ReadError(FaultKind.WRONG_VALUE, "one grey channel or RGB", f"{channels} channels")
    if any(kind != 1 for kind in tags.values.get(_SAMPLE_FORMAT, (1,))):
        raise ReadError(FaultKind.WRONG_VALUE, "unsigned integers", "another sample format")
    if tags.one(_TILE_WIDTH, 1) * tags.one(_TILE_HEIGHT, 1) > MOST_PIXELS:
        raise ReadError(FaultKind.TOO_LARGE, f"tiles of at most {MOST_PIXELS} pixels", "larger tiles")
    if channels > 1 and tags.one(_PLANAR, 1) != 1:
        raise ReadError(FaultKind.WRONG_VALUE, "channels stored pixel by pixel", "separate planes")
    if tags.one(ORIENTATION, 1) != 1:
        raise not_upright(tags.one(ORIENTATION, 1))


def _raw_pixels(data: memoryview, tags: Tags, size: Size, channels: int) -> NDArray[np.uint8] | None:
    """Return the pixels of an uncompressed image in strips, else nothing; adjoining strips are not copied."""
    if tags.one(_COMPRESSION, _NONE) != _NONE or _TILE_WIDTH in tags.values or tags.one(_FILL_ORDER, 1) != 1:
        return None
    offsets = tags.values.get(_STRIP_OFFSETS, ())
    row_bytes = size.width * channels
    rows_per_strip = min(max(tags.one(_ROWS_PER_STRIP, size.height), 1), size.height)
    if len(offsets) != -(-size.height // rows_per_strip):
        raise damaged(_IMAGE, f"{len(offsets)} strips")
    starts = np.array(offsets, dtype=np.uint64)
    lengths = np.full(len(offsets), rows_per_strip * row_bytes, dtype=np.uint64)
    lengths[-1] = (size.height - rows_per_strip * (len(offsets) - 1)) * row_bytes
    if (starts > len(data)).any() or (starts + lengths > len(data)).any():
        raise damaged(_IMAGE, "a file that ends before its pixels")
    if (starts[1:] == starts[:-1] + lengths[:-1]).all():
        return np.frombuffer(data, np.uint8, size.height * row_bytes, int(starts[0]))
    strips = zip(starts.tolist(), lengths.tolist(), strict=True)
    return np.frombuffer(b"".join(data[start : start + length] for start, length in strips), np.uint8)
