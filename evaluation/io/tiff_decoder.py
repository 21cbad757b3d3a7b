"""Decodes the values of a TIFF page whose tags have been checked.

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
from evaluation.io.pixels import damaged
from evaluation.io.tiff_pages import IMAGE, Tags

_DEFLATES = (tiff.DEFLATE, tiff.OLD_DEFLATE)
_LONG, _LARGEST_LONG = 4, 0xFFFFFFFF


def decode_page(data: memoryview, tags: Tags) -> NDArray[Any]:
    """Return the values (y, x, channel) of a page, a view of `data` if they are contiguous there.

    ``tags`` holds all of `PAGE_TAGS`; several channels must have 8 bits each. Raises `ReadError` (unreadable
    or wrong value).
    """
    channels = tags.one(tiff.SAMPLES, 1)
    if channels == 1 or tags.one(tiff.PLANAR, 1) == 1:
        return _decode(data, tags, channels, slice(None))
    count = len(tags.values.get(tags.places[0], ())) // channels
    parts = [slice(plane * count, (plane + 1) * count) for plane in range(channels)]
    return np.moveaxis(np.stack([_decode(data, tags, 1, part)[..., 0] for part in parts]), 0, -1)


def _decode(data: memoryview, tags: Tags, channels: int, part: slice) -> NDArray[Any]:
    """Return the values of those strips or tiles."""
    dtype, width, height = tags.dtype, tags.size.width, tags.size.height
    if dtype is None:
        raise ReadError(FaultKind.WRONG_VALUE, "integers or floating-point numbers", "another type of values")
    offsets, lengths = (tags.values.get(tag, ())[part] for tag in tags.places)
    compression, predictor = tags.one(tiff.COMPRESSION, tiff.NONE), tags.one(tiff.PREDICTOR, 1)
    pixel_bytes = channels * dtype.itemsize
    step = tags.one(tiff.TILE_WIDTH, width)
    columns = -(-width // step) * step
    in_rows = not tags.is_tiled and tags.one(tiff.BITS, 1) > 1 and tags.one(tiff.FILL_ORDER, 1) == 1
    if in_rows and compression in (tiff.NONE, *_DEFLATES):
        deflated = None if compression == tiff.NONE else lengths
        found = np.frombuffer(_rows(data, tags, offsets, deflated, width * pixel_bytes), np.uint8)
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
    """Return the values whose bytes (row, tile, byte) hold the difference of each from the one before it.

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
    data: memoryview, tags: Tags, offsets: Sequence[int], deflated: Sequence[int] | None, row_bytes: int
) -> memoryview | bytes:
    """Return the bytes of all rows; ``deflated`` holds the lengths of deflated strips."""
    height = tags.size.height
    rows = min(max(tags.one(tiff.ROWS_PER_STRIP, height), 1), height)
    if len(offsets) != -(-height // rows):
        raise damaged(IMAGE, f"{len(offsets)} strips")
    plain = [min(rows, height - first) * row_bytes for first in range(0, height, rows)]
    strips = _pieces(data, offsets, plain if deflated is None else deflated)
    if deflated is not None:
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


def _bare_file(pieces: Sequence[memoryview], tags: Tags, columns: int, pixel_bytes: int) -> bytes:
    """Return a file of one page with the encoded strips or tiles, in which each byte is a pixel."""
    order = "<" if tags.little_endian else ">"
    body = bytearray(8)
    starts = []
    for piece in pieces:
        starts.append(len(body))
        body += piece
    kept = (tiff.HEIGHT, tiff.COMPRESSION, tiff.FILL_ORDER, tiff.ROWS_PER_STRIP, tiff.TILE_HEIGHT)
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
