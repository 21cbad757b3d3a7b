"""Deceptive images, byte by byte."""

import io
import struct
import zlib

import numpy as np
from PIL import Image

SIZE = 160


def mask() -> np.ndarray:
    """Return a valid mask (y, x): a disc with a cup."""
    y, x = np.mgrid[:SIZE, :SIZE]
    distance = np.hypot(y - 80, x - 60)
    return np.where(distance < 15, 0, np.where(distance < 30, 128, 255)).astype(np.uint8)


def saved(image: Image.Image | np.ndarray, image_format: str, **options: object) -> bytes:
    """Return an image as Pillow writes it."""
    buffer = io.BytesIO()
    picture = image if isinstance(image, Image.Image) else Image.fromarray(image)
    picture.save(buffer, image_format, **options)
    return buffer.getvalue()


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(
    data: bytes | None = None, *, width=SIZE, height=SIZE, depth=8, colour=0, before=b"", after=b""
) -> bytes:
    """Return a PNG file of a header and compressed data, by default those of the valid mask."""
    if data is None:
        data = zlib.compress(b"".join(b"\0" + row.tobytes() for row in mask()))
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    end = chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + header + before + chunk(b"IDAT", data) + end + after


def zeros_compressed(megabytes: int, start: bytes = b"") -> bytes:
    """Return bytes and zeros after them in one stream, the zeros a thousand times smaller.

    A megabyte of zeros is compressed once and repeated. Zeros leave the first sum of Adler-32 as it is, and
    each adds it to the second.
    """
    compressor = zlib.compressobj(9, wbits=-15)
    head = compressor.compress(start) + compressor.flush(zlib.Z_FULL_FLUSH)
    block = compressor.compress(bytes(1 << 20)) + compressor.flush(zlib.Z_FULL_FLUSH)
    second, first = divmod(zlib.adler32(start), 1 << 16)
    checksum = (second + first * (megabytes << 20)) % 65521 << 16 | first
    return b"\x78\xda" + head + block * megabytes + compressor.flush() + struct.pack(">I", checksum)


def endless() -> bytes:
    """Return the compressed rows of the valid mask, and a gigabyte of zeros after them in the same stream."""
    return zeros_compressed(1000, b"".join(b"\0" + row.tobytes() for row in mask()))


def tiff(tags: dict[int, tuple[int, int, int]], pixels: bytes = b"", following: int = 0) -> bytes:
    """Return a little-endian TIFF of tags {tag: (type, count, value or offset)}; pixels begin at byte 8."""
    start = 8 + len(pixels)
    entries = b"".join(struct.pack("<HHII", tag, *values) for tag, values in sorted(tags.items()))
    return (
        struct.pack("<4sI", b"II*\0", start)
        + pixels
        + struct.pack("<H", len(tags))
        + entries
        + struct.pack("<I", following)
    )


def grey_tiff(pixels: bytes, following: int = 0, **changed: tuple[int, int, int]) -> bytes:
    """Return a TIFF of 8-bit grey in one strip; ``tag_259=(3, 1, 5)`` changes a tag."""
    tags = {
        256: (4, 1, SIZE),
        257: (4, 1, SIZE),
        258: (3, 1, 8),
        259: (3, 1, 1),
        262: (3, 1, 1),
        273: (4, 1, 8),
        277: (3, 1, 1),
        278: (4, 1, SIZE),
        279: (4, 1, len(pixels)),
    }
    tags.update({int(name.removeprefix("tag_")): value for name, value in changed.items()})
    return tiff(tags, pixels, following)


def bmp(*, width=SIZE, height=SIZE, bits=8, compression=0, start=1078, colours=256, pixels=None) -> bytes:
    """Return a bitmap with a grey palette; every number in the header can be a lie."""
    rows = mask()[::-1].tobytes() if pixels is None else pixels
    palette = b"".join(bytes((value, value, value, 0)) for value in range(256))
    header = struct.pack("<2sI4xI", b"BM", 1078 + len(rows), start)
    header += struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, 0, 0, 0, colours, 0)
    return header + palette + rows
