"""PNG images: the structure is checked here, then a decoder gets the pixels only."""

import struct
import zlib
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.pixels import (
    PNG_MAGIC,
    Size,
    check_size,
    damaged,
    decode,
    grey_of_channels,
    grey_of_palette,
    not_upright,
    png_file,
    require_bits,
    write_with_pillow,
)
from evaluation.io.tiff import ORIENTATION, read_page

_IMAGE = "a PNG image"
_MAX_CHUNKS = 100_000
_HEADER_BYTES = 13
_GREY, _COLOUR, _PALETTE, _GREY_ALPHA, _COLOUR_ALPHA = 0, 2, 3, 4, 6
_CHANNELS = {_GREY: 1, _COLOUR: 3, _GREY_ALPHA: 2, _COLOUR_ALPHA: 4}
_DEPTHS = {_GREY: (1, 2, 4, 8, 16), _PALETTE: (1, 2, 4, 8)}
_CRITICAL = (b"IHDR", b"PLTE", b"IDAT", b"IEND")
_ONCE = (b"IHDR", b"PLTE", b"tRNS", b"eXIf", b"sBIT")
_BEFORE_PIXELS = (b"IHDR", b"PLTE", b"tRNS", b"sBIT")
_KEPT_CHUNKS = (*_ONCE, b"IDAT")

_Chunks = dict[bytes, list[memoryview]]

write = partial(write_with_pillow, "PNG", compress_level=9)


def read_image(data: memoryview, size: Size | None) -> NDArray[Any]:
    """Return the grey values (y, x) of a PNG image.

    Channels have at most 8 bits; a single grey channel may have 16, which are not scaled, and of one bit it
    is boolean. Grey of 2 and 4 bits is spread over 0–255, as PNG defines it; a palette, RGB and alpha are
    accepted if they show opaque grey. Metadata, animation and trailing bytes are ignored. Ambiguous content
    is refused: chunks in an order or number that the standard forbids, unknown critical chunks, and
    transparency that does not fit the image.

    Raises `ReadError` (unreadable, wrong size, wrong value or too large).
    """
    try:
        values = struct.unpack_from(">IIBBBBB", data, 16)
    except struct.error:
        raise damaged(_IMAGE, "an incomplete header") from None
    width, height, depth, colour_type, compression, filtering, interlace = values
    valid = compression == filtering == 0 and interlace <= 1 and colour_type in (*_CHANNELS, _PALETTE)
    if not valid or bytes(data[8:16]) != struct.pack(">I4s", _HEADER_BYTES, b"IHDR"):
        raise damaged(_IMAGE, "an invalid header")
    found = Size(width, height)
    check_size(found, size)
    require_bits(depth, _DEPTHS.get(colour_type, (8,)))
    chunks = _read_chunks(data)
    _check_palette(chunks, depth, colour_type)
    _check_transparency(chunks, depth, colour_type)
    if any(bits != depth for bits in _first(chunks, b"sBIT")):
        raise ReadError(FaultKind.WRONG_VALUE, f"all {depth} bits significant (sBIT)", "fewer")
    _require_upright(chunks)

    # A palette image is decoded as grey, which yields its indices; no other chunk reaches the decoder.
    decoded_type = _GREY if colour_type == _PALETTE else colour_type
    header = struct.pack(">IIBBBBB", width, height, depth, decoded_type, *values[4:])
    bare = png_file(header, b"".join(chunks.get(b"IDAT", [])))
    channels = _CHANNELS[decoded_type]
    shape = (height, width, channels) if channels > 1 else (height, width)
    dtype = np.uint16 if depth == 16 else np.uint8
    pixels = decode(bare, "PNG", shape, dtype, pillow=colour_type == _GREY_ALPHA)
    if colour_type == _PALETTE:
        return _through_palette(pixels, depth, chunks)
    _require_opaque(pixels, depth, chunks)
    if depth == 1 and colour_type == _GREY:
        return pixels.astype(np.bool_)
    return pixels if pixels.ndim == 2 else grey_of_channels(pixels)


def _read_chunks(data: memoryview) -> _Chunks:
    """Return the kept chunks before IEND, by kind. Raises `ReadError` for violations of the standard."""
    chunks: _Chunks = {}
    start = len(PNG_MAGIC)
    before = b""
    for _ in range(_MAX_CHUNKS):
        if start + 12 > len(data):
            raise damaged(_IMAGE, "a file that ends before its end mark")
        (length,) = struct.unpack_from(">I", data, start)
        kind = bytes(data[start + 4 : start + 8])
        stop = start + 8 + length
        if stop + 4 > len(data):
            raise damaged(_IMAGE, "a file that ends before its end mark")
        if zlib.crc32(data[start + 4 : stop]) != struct.unpack_from(">I", data, stop)[0]:
            raise damaged(_IMAGE, "a wrong checksum")
        _check_order(kind, before, chunks)
        if kind == b"IEND":
            return chunks
        if kind in _KEPT_CHUNKS:
            chunks.setdefault(kind, []).append(data[start + 8 : stop])
        start, before = stop + 4, kind
    raise ReadError(FaultKind.TOO_LARGE, f"at most {_MAX_CHUNKS} chunks", "more")


def _check_order(kind: bytes, before: bytes, chunks: _Chunks) -> None:
    """Raise `ReadError` for a chunk that must not follow those before it."""
    name = kind.decode("latin-1")
    if not (kind.isalpha() and (kind in _CRITICAL or kind[:1].islower())):
        raise damaged(_IMAGE, f"an unknown critical chunk {name}")
    if kind in _ONCE and kind in chunks:
        raise damaged(_IMAGE, f"several chunks {name}")
    if b"IDAT" in chunks and kind in _BEFORE_PIXELS:
        raise damaged(_IMAGE, f"a chunk {name} after the pixels")
    if kind == b"PLTE" and b"tRNS" in chunks:
        raise damaged(_IMAGE, "a chunk tRNS before the palette")
    if kind == b"IDAT" and kind in chunks and before != kind:
        raise damaged(_IMAGE, "pixels that other chunks interrupt")
    if kind == b"IEND" and b"IDAT" not in chunks:
        raise damaged(_IMAGE, "no pixels")


def _check_palette(chunks: _Chunks, depth: int, colour_type: int) -> None:
    """Raise `ReadError` for a palette that does not belong to the type of the image."""
    entries, rest = divmod(len(_first(chunks, b"PLTE")), 3)
    allowed = {_PALETTE: 1 << depth, _COLOUR: 256, _COLOUR_ALPHA: 256}.get(colour_type, 0)
    needed = colour_type == _PALETTE or b"PLTE" in chunks
    if rest or (needed and not 1 <= entries <= allowed):
        raise damaged(_IMAGE, "no valid palette")


def _check_transparency(chunks: _Chunks, depth: int, colour_type: int) -> None:
    """Raise `ReadError` for transparency of a length or values that do not fit the type of the image."""
    if b"tRNS" not in chunks:
        return
    content = chunks[b"tRNS"][0]
    if colour_type == _PALETTE:
        valid = 1 <= len(content) <= len(_first(chunks, b"PLTE")) // 3
    else:
        channels = {_GREY: 1, _COLOUR: 3}.get(colour_type, 0)
        valid = channels > 0 and len(content) == 2 * channels
        valid = valid and all(value >> depth == 0 for value in np.frombuffer(content, ">u2").tolist())
    if not valid:
        raise damaged(_IMAGE, "no valid transparency")


def _first(chunks: _Chunks, kind: bytes) -> memoryview:
    return chunks[kind][0] if kind in chunks else memoryview(b"")


def _require_upright(chunks: _Chunks) -> None:
    if b"eXIf" not in chunks:
        return
    try:
        orientation = read_page(chunks[b"eXIf"][0], (ORIENTATION,)).one(ORIENTATION, 1)
    except ReadError:
        return  # unreadable metadata is ignored
    if orientation != 1:
        raise not_upright(orientation)


def _through_palette(pixels: NDArray[np.uint8], depth: int, chunks: _Chunks) -> NDArray[np.uint8]:
    palette = np.frombuffer(_first(chunks, b"PLTE"), dtype=np.uint8)
    opacity = np.frombuffer(_first(chunks, b"tRNS"), dtype=np.uint8)
    indices = pixels // np.uint8(255 // ((1 << depth) - 1)) if depth < 8 else pixels
    if (opacity < 255).any() and (np.append(opacity, np.full(256, 255, np.uint8))[indices] < 255).any():
        raise ReadError(FaultKind.WRONG_VALUE, "opaque pixels", "transparent ones")
    return grey_of_palette(indices, palette.reshape(-1, 3))


def _require_opaque(pixels: NDArray[Any], depth: int, chunks: _Chunks) -> None:
    """Refuse pixels of the one grey value or colour that the file declares transparent."""
    declared = np.frombuffer(_first(chunks, b"tRNS"), dtype=">u2").astype(np.int64)
    if not len(declared):
        return
    planes = pixels[..., np.newaxis] if pixels.ndim == 2 else pixels
    values = declared * max(1, 255 // ((1 << depth) - 1))
    if (planes == values).all(axis=2).any():
        raise ReadError(FaultKind.WRONG_VALUE, "opaque pixels", "transparent ones")
