"""MetaImage images (`.mha`) of one plane, the format in which the platform keeps images."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from evaluation.files.pixels import check_size, damaged
from evaluation.files.size import Size
from evaluation.model.fault import FaultKind, ReadError

MAGIC = b"ObjectType"

_IMAGE = "a MetaImage"
_LONGEST_HEADER = 1 << 16
_LAST_KEY = "ElementDataFile"


def read_metaimage(data: memoryview, size: Size | None) -> NDArray[np.uint8]:
    """Return the grey values (y, x) of an 8-bit MetaImage of one plane; plain pixels yield a view of `data`.

    Two dimensions, or three of which the last is 1; pixels in the same file, plain or deflated.

    Raises `ReadError` (unreadable, wrong size, wrong value, forbidden or too large).
    """
    header, start = _read_header(data)
    sizes = _numbers(header, "DimSize")
    if len(sizes) < 2 or header.get("NDims") != str(len(sizes)):
        raise damaged(_IMAGE, "an invalid header")
    if any(count != 1 for count in sizes[2:]):
        raise ReadError(FaultKind.WRONG_VALUE, "an image of one plane", f"{sizes[2]} planes")
    found = Size(sizes[0], sizes[1])
    check_size(found, size)
    _check_kind(header)
    pixels = found.width * found.height
    content = data[start:]
    if header.get("CompressedData", "False").casefold() == "true":
        content = _inflate(content, pixels)
    if len(content) != pixels:
        raise damaged(_IMAGE, f"{len(content)} of {pixels} pixels")
    return np.frombuffer(content, np.uint8).reshape(found.height, found.width)


def write_metaimage(image: NDArray[np.uint8]) -> bytes:
    """Return grey values (y, x) as a deflated MetaImage."""
    height, width = image.shape
    content = zlib.compress(image.tobytes(), 9)
    header = (
        "ObjectType = Image\nNDims = 2\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
        f"CompressedData = True\nCompressedDataSize = {len(content)}\nTransformMatrix = 1 0 0 1\n"
        f"Offset = 0 0\nCenterOfRotation = 0 0\nElementSpacing = 1 1\nDimSize = {width} {height}\n"
        f"ElementType = MET_UCHAR\n{_LAST_KEY} = LOCAL\n"
    )
    return header.encode("ascii") + content


def _read_header(data: memoryview) -> tuple[dict[str, str], int]:
    """Return the keys of the header and where the pixels begin."""
    text = bytes(data[:_LONGEST_HEADER])
    header: dict[str, str] = {}
    start = 0
    while (end := text.find(b"\n", start)) >= 0:
        key, mark, value = text[start:end].decode("latin-1").partition("=")
        key = key.strip()
        if not mark or key in header:
            break
        header[key] = value.strip()
        start = end + 1
        if key == _LAST_KEY:
            return header, start
    raise damaged(_IMAGE, "an invalid header")


def _numbers(header: dict[str, str], key: str) -> list[int]:
    texts = header.get(key, "").split()
    if not all(text.isascii() and text.isdigit() and len(text) <= 9 for text in texts):
        raise damaged(_IMAGE, "an invalid header")
    return [int(text) for text in texts]


def _check_kind(header: dict[str, str]) -> None:
    if header[_LAST_KEY].upper() != "LOCAL":
        raise ReadError(FaultKind.FORBIDDEN, "pixels in the same file", "a reference to another file")
    if header.get("ElementType") != "MET_UCHAR":
        found = header.get("ElementType", "none")
        raise ReadError(FaultKind.WRONG_VALUE, "8 bits per channel (MET_UCHAR)", found)
    if header.get("ElementNumberOfChannels", "1") != "1":
        found = f"{header['ElementNumberOfChannels']} channels"
        raise ReadError(FaultKind.WRONG_VALUE, "one grey channel", found)
    if header.get("BinaryData", "True").casefold() != "true" or header.get("HeaderSize", "0") not in (
        "0",
        "-1",
    ):
        raise damaged(_IMAGE, "pixels written as text or at an offset")


def _inflate(content: memoryview, pixels: int) -> memoryview:
    """Return inflated pixels, one more at most than there should be."""
    inflater = zlib.decompressobj()
    try:
        inflated = inflater.decompress(content, pixels + 1)
    except zlib.error:
        raise damaged(_IMAGE, "damaged or incomplete image data") from None
    return memoryview(inflated)
