"""Decodes the values of a TIFF page after its tags have been checked.

Uncompressed strips are used in place and deflated ones are inflated here. Pillow decodes everything else
from a new file that contains only the encoded bytes, without tags that it could interpret differently.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io import tiff_pages as tiff
from evaluation.io.decoder import decode
from evaluation.io.pixels import NUMBERS, damaged
from evaluation.io.tiff_pages import IMAGE, Tags

_DEFLATES = (tiff.DEFLATE, tiff.OLD_DEFLATE)
_HEADER_BYTES = 8
_LONG, _LARGEST_LONG = 4, 0xFFFFFFFF


def decode_page(data: memoryview, tags: Tags) -> NDArray[Any]:
    """Return the values (y, x, channel) of a page, a view of `data` if they are contiguous there.

    ``tags`` holds all of `PAGE_TAGS`; several channels must have 8 bits each. Raises `ReadError` (unreadable
    or wrong value).
    """
    channels = tags.one(tiff.SAMPLES, 1)
    offsets, lengths = (len(tags.values.get(tag, ())) for tag in tags.places)
    # Only the length of a single strip may be missing.
    if offsets != lengths and (lengths or offsets > 1):
        raise damaged(IMAGE, f"{lengths} lengths of {offsets} strips or tiles")
    if channels == 1 or tags.one(tiff.PLANAR, 1) == 1:
        return _decode(data, tags, channels, slice(None))
    count = offsets // channels
    parts = [slice(plane * count, (plane + 1) * count) for plane in range(channels)]
    return np.moveaxis(np.stack([_decode(data, tags, 1, part)[..., 0] for part in parts]), 0, -1)


def _decode(data: memoryview, tags: Tags, channels: int, part: slice) -> NDArray[Any]:
    """Return the values of those strips or tiles."""
    dtype, width, height = tags.dtype, tags.size.width, tags.size.height
    if dtype is None:
        raise ReadError(FaultKind.WRONG_VALUE, NUMBERS, "another type of values")
    if {tiff.STRIP_OFFSETS, tiff.TILE_OFFSETS} <= tags.values.keys():
        raise damaged(IMAGE, "both strips and tiles")
    offsets, lengths = (tags.values.get(tag, ())[part] for tag in tags.places)
    if min(offsets, default=0) < _HEADER_BYTES:
        raise damaged(IMAGE, "pixels in the header of the file")
    compression, predictor = tags.one(tiff.COMPRESSION, tiff.NONE), tags.one(tiff.PREDICTOR, 1)
    pixel_bytes = channels * dtype.itemsize
    step = tags.one(tiff.TILE_WIDTH, width)
    columns = -(-width // step) * step
    tile_bytes = step * tags.one(tiff.TILE_HEIGHT, height) * tags.one(tiff.BITS, 1) * channels // 8
    if tags.is_tiled and compression == tiff.NONE and set(lengths) != {tile_bytes}:
        raise damaged(IMAGE, "tiles of another length than their rows")
    in_rows = not tags.is_tiled and tags.one(tiff.BITS, 1) > 1
    if in_rows and compression in (tiff.NONE, tiff.PACK_BITS, *_DEFLATES):
        found = np.frombuffer(_rows(data, tags, offsets, lengths, width * pixel_bytes), np.uint8)
    else:
        bare = _bare_file(_pieces(data, offsets, lengths), tags, columns, pixel_bytes)
        found = decode(bare, "TIFF", (height, columns * pixel_bytes)).astype(np.uint8, copy=False)
    blocks = found.reshape(height, columns // step, step * pixel_bytes)
    if compression not in (tiff.NONE, tiff.PACK_BITS) and predictor > 1:
        values = _of_differences(blocks, dtype, channels, predictor)
    else:
        values = blocks.view(dtype)
    return values.reshape(height, columns, channels)[:, :width]


def _of_differences(
    blocks: NDArray[np.uint8], dtype: np.dtype[Any], channels: int, kind: int
) -> NDArray[Any]:
    """Return values from bytes (row, tile, byte) that hold the differences of successive values.

    Source: TIFF 6.0, section 14, and for floating-point numbers (kind 3, the bytes of a row in planes with
    the most significant first) Adobe Photoshop TIFF Technical Note 3.
    """
    if kind == 3 and dtype.kind == "f":
        planes = np.cumsum(blocks, axis=2, dtype=np.uint8).reshape(*blocks.shape[:2], dtype.itemsize, -1)
        return np.ascontiguousarray(np.moveaxis(planes, 2, 3)).view(dtype.newbyteorder(">"))
    if kind != 2:
        raise damaged(IMAGE, f"predictor {kind}")
    whole = np.dtype(f"u{dtype.itemsize}")
    differences = blocks.view(whole.newbyteorder(dtype.byteorder)).reshape(*blocks.shape[:2], -1, channels)
    return np.cumsum(differences, axis=2, dtype=whole).view(dtype.newbyteorder("="))


def _rows(
    data: memoryview, tags: Tags, offsets: Sequence[int], lengths: Sequence[int], row_bytes: int
) -> memoryview | bytes:
    """Return the bytes of all rows of strips that are not compressed, deflated or packed."""
    height = tags.size.height
    rows = min(max(tags.one(tiff.ROWS_PER_STRIP, height), 1), height)
    if len(offsets) != -(-height // rows):
        raise damaged(IMAGE, f"{len(offsets)} strips")
    plain = [min(rows, height - first) * row_bytes for first in range(0, height, rows)]
    compression = tags.one(tiff.COMPRESSION, tiff.NONE)
    if compression == tiff.NONE and lengths and list(lengths) != plain:
        raise damaged(IMAGE, "strips of another length than their rows")
    strips = _pieces(data, offsets, plain if compression == tiff.NONE else lengths)
    if compression == tiff.PACK_BITS:
        return b"".join(
            _unpacked(strip, length, row_bytes) for strip, length in zip(strips, plain, strict=True)
        )
    if compression != tiff.NONE:
        return b"".join(map(_inflated, strips, plain))
    ends = [start + length for start, length in zip(offsets, plain, strict=True)]
    return data[offsets[0] : ends[-1]] if ends[:-1] == list(offsets[1:]) else b"".join(strips)


def _pieces(data: memoryview, offsets: Sequence[int], lengths: Sequence[int]) -> list[memoryview]:
    if len(offsets) != len(lengths):
        raise damaged(IMAGE, "damaged or incomplete image data")
    if any(start + length > len(data) for start, length in zip(offsets, lengths, strict=True)):
        raise damaged(IMAGE, "a file that ends before its pixels")
    if sum(lengths) > len(data):
        raise damaged(IMAGE, "strips or tiles that overlap")
    return [data[start : start + length] for start, length in zip(offsets, lengths, strict=True)]


def _inflated(strip: memoryview, length: int) -> bytes:
    """Return the expected bytes of a strip; at most one more byte is inflated."""
    inflater = zlib.decompressobj()
    try:
        found = inflater.decompress(strip, length + 1)
    except zlib.error:
        found = b""
    if len(found) != length or not inflater.eof:
        raise damaged(IMAGE, "damaged or incomplete image data")
    return found


def _unpacked(strip: memoryview, length: int, row_bytes: int) -> bytes:
    """Return the unpacked bytes of a strip; runs end with their row (TIFF 6.0, section 9)."""
    packed, found, position = bytes(strip), bytearray(), 0
    while len(found) < length and position < len(packed) - 1:
        count = packed[position]
        room = row_bytes - len(found) % row_bytes
        if count < 128:
            run = packed[position + 1 : position + 2 + count]
            position += 2 + count
        else:
            run = packed[position + 1 : position + 2] * (257 - count) if count > 128 else b""
            position += 2 if count > 128 else 1
        if len(run) > room:
            break
        found += run
    if len(found) != length or any(packed[position:]):
        raise damaged(IMAGE, "damaged or incomplete image data")
    return bytes(found)


def _bare_file(pieces: Sequence[memoryview], tags: Tags, columns: int, pixel_bytes: int) -> bytes:
    """Return a TIFF file of one page with the encoded strips or tiles; each byte is a pixel."""
    order = "<" if tags.little_endian else ">"
    body = bytearray(8)
    starts = []
    for piece in pieces:
        starts.append(len(body))
        body += piece
    kept = (tiff.HEIGHT, tiff.COMPRESSION, tiff.ROWS_PER_STRIP, tiff.TILE_HEIGHT)
    values: dict[int, Sequence[int]] = {tag: tags.values[tag][:1] for tag in kept if tag in tags.values}
    values |= {tiff.WIDTH: (columns * pixel_bytes,), tiff.BITS: (1 if tags.one(tiff.BITS, 1) == 1 else 8,)}
    if tags.is_tiled:
        values[tiff.TILE_WIDTH] = (tags.one(tiff.TILE_WIDTH, 0) * pixel_bytes,)
    values |= {tiff.PHOTOMETRIC: (tiff.BLACK_IS_ZERO,), tiff.SAMPLES: (1,)}
    values |= {tags.places[0]: starts, tags.places[1]: [*map(len, pieces)]}
    entries = []
    for tag, numbers in sorted(values.items()):
        content = struct.pack(f"{order}{len(numbers)}I", *(min(number, _LARGEST_LONG) for number in numbers))
        if len(numbers) > 1:
            body += content
            content = struct.pack(f"{order}I", len(body) - len(content))
        entries.append(struct.pack(f"{order}HHI", tag, _LONG, len(numbers)) + content)
    body[:8] = struct.pack(f"{order}2sHI", b"II" if tags.little_endian else b"MM", 42, len(body))
    return bytes(body + struct.pack(f"{order}H", len(entries)) + b"".join(entries) + bytes(4))
