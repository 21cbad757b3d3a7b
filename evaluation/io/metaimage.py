"""MetaImage images (`.mha`) of one plane, the format in which the platform keeps images."""

from __future__ import annotations

import io
import zlib

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.metaimage_header import LONGEST_HEADER, read_header, write_header
from evaluation.io.pixels import check_size, damaged
from evaluation.io.size import Size

MAGIC = b"ObjectType"

_IMAGE = "a MetaImage"
_GREY = "MET_UCHAR"


def read_metaimage(data: memoryview, size: Size | None) -> NDArray[np.uint8]:
    """Return the grey values (y, x) of an 8-bit MetaImage of one plane; plain pixels yield a view of `data`.

    Two dimensions, or three of which the last is 1; pixels in the same file, plain or deflated.

    Raises `ReadError` (unreadable, wrong size, wrong value, forbidden or too large).
    """
    stream = io.BytesIO(data[:LONGEST_HEADER])
    header = read_header(stream.read, _IMAGE)
    if any(count != 1 for count in header.size[2:]):
        raise ReadError(FaultKind.WRONG_VALUE, "an image of one plane", f"{header.size[2]} planes")
    found = Size(header.size[0], header.size[1])
    check_size(found, size)
    if header.element_type != _GREY:
        raise ReadError(FaultKind.WRONG_VALUE, f"8 bits per channel ({_GREY})", header.element_type)
    pixels = found.width * found.height
    content = data[stream.tell() :]
    if header.deflated:
        content = _inflate(content, pixels)
    if len(content) != pixels:
        raise damaged(_IMAGE, f"{len(content)} of {pixels} pixels")
    return np.frombuffer(content, np.uint8).reshape(found.height, found.width)


def write_metaimage(image: NDArray[np.uint8]) -> bytes:
    """Return grey values (y, x) as a deflated MetaImage."""
    height, width = image.shape
    content = zlib.compress(image.tobytes(), 9)
    return write_header((width, height), _GREY, len(content), (1, 1), (0, 0), (1, 0, 0, 1)) + content


def _inflate(content: memoryview, pixels: int) -> memoryview:
    """Return inflated pixels, one more at most than there should be."""
    inflater = zlib.decompressobj()
    try:
        inflated = inflater.decompress(content, pixels + 1)
    except zlib.error:
        raise damaged(_IMAGE, "damaged or incomplete image data") from None
    return memoryview(inflated)
