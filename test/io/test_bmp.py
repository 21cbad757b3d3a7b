"""Bitmaps, against Pillow and files packed by hand; `test_grey_images` reads what the tables hold."""

import struct

import numpy as np

from evaluation.core.fault import FaultKind
from evaluation.io.pixels import Size
from evaluation.io.volumes import read_numbers
from test.io.images import (
    BITS,
    COLOUR,
    GREY,
    MASK,
    REVERSED,
    RGB,
    of,
    palette_image,
    read_grey,
    saved,
    with_alpha,
)


def top_down_bmp():
    data = bytearray(of(GREY[::-1], "BMP"))
    struct.pack_into("<i", data, 22, -6)
    return bytes(data)


def core_header_bmp():
    rows = np.zeros((6, 8), dtype=np.uint8)
    rows[:, :7] = GREY[::-1]
    palette = np.repeat(np.arange(256, dtype=np.uint8), 3).tobytes()
    start = 14 + 12 + len(palette)
    return (
        struct.pack("<2sI4xI", b"BM", start + rows.nbytes, start)
        + struct.pack("<IHHHH", 12, 7, 6, 1, 8)
        + palette
        + rows.tobytes()
    )


def bmp_with(offset, layout, value):
    data = bytearray(of(GREY, "BMP"))
    struct.pack_into(layout, data, offset, value)
    return bytes(data)


def bit_fields_bmp(last):
    """Return a bitmap of 32 bits that tells where its channels are, the last one by a mask."""
    data = of(with_alpha(RGB, 255), "BMP")
    masks = struct.pack("<III", 0xFF0000, 0xFF00, last)
    data = bytearray(data[:54] + masks + data[-4 * GREY.size :])
    struct.pack_into("<I", data, 10, 66)
    struct.pack_into("<I", data, 30, 3)
    return bytes(data)


READABLE = {
    "bmp with bit fields": (bit_fields_bmp(0xFF), GREY),
    "bmp": (of(GREY, "BMP"), GREY),
    "bmp of even width": (of(GREY[:, :4].copy(), "BMP"), GREY[:, :4]),
    "bmp top-down": (top_down_bmp(), GREY),
    "bmp with an OS/2 header": (core_header_bmp(), GREY),
    "bmp 1 bit": (of(BITS, "BMP", "1"), BITS),
    "bmp 24 bits": (of(RGB, "BMP"), GREY),
    "bmp 32 bits": (of(with_alpha(RGB, 255), "BMP"), GREY),
    "bmp with a permuted palette": (saved(palette_image(GREY, REVERSED), "BMP"), GREY),
    "bmp with a short palette": (saved(palette_image(MASK // 127, np.arange(256), 3), "BMP"), MASK // 127),
}

REFUSED = {
    "bmp magic only": (b"BM", FaultKind.UNREADABLE, "an incomplete header"),
    "bmp header only": (of(GREY, "BMP")[:30], FaultKind.UNREADABLE, "an incomplete header"),
    "bmp truncated": (of(GREY, "BMP")[:-1], FaultKind.UNREADABLE, "1125 of 1126 bytes"),
    "bmp palette truncated": (bmp_with(10, "<I", 100), FaultKind.UNREADABLE, "an incomplete palette"),
    "bmp far away": (bmp_with(10, "<I", 0xFFFFFFFF), FaultKind.UNREADABLE, "1126 of 4294967343 bytes"),
    "bmp odd header": (bmp_with(14, "<I", 13), FaultKind.UNREADABLE, "a header of 13 bytes"),
    "bmp rle": (bmp_with(30, "<I", 1), FaultKind.WRONG_VALUE, "compression 1"),
    "bmp of 300 colours": (bmp_with(46, "<I", 300), FaultKind.UNREADABLE, "a palette of 300 colours"),
    "bmp of other bit fields": (bit_fields_bmp(0xFF000000), FaultKind.WRONG_VALUE, "other bit fields"),
    "bmp 16 bits": (bmp_with(28, "<H", 16), FaultKind.WRONG_VALUE, "16"),
    "bmp negative width": (bmp_with(18, "<i", -7), FaultKind.WRONG_SIZE, "-7 × 6 pixels"),
    "bmp bomb": (bmp_with(18, "<i", 2**31 - 1), FaultKind.TOO_LARGE, "2147483647 × 6 pixels"),
    "bmp coloured": (of(COLOUR, "BMP"), FaultKind.WRONG_VALUE, "the colour (1, 2, 3)"),
    "bmp coloured palette": (
        bmp_with(14 + 40 + 4 * int(GREY[0, 0]), "<I", 0x00010203),
        FaultKind.WRONG_VALUE,
        "the colour (1, 2, 3)",
    ),
    "bmp index beyond palette": (
        bmp_with(46, "<I", int(GREY.max())),
        FaultKind.MALFORMED,
        f"index {int(GREY.max())}",
    ),
}


def test_bmp_of_four_bits():
    palette = b"".join(bytes([value * 17] * 3 + [0]) for value in range(16))
    header = struct.pack("<2sI4xI", b"BM", 0, 118) + struct.pack(
        "<IiiHHIIiiII", 40, 3, 2, 1, 4, 0, 8, 0, 0, 0, 0
    )
    data = header + palette + bytes([0x12, 0x30, 0, 0]) + bytes([0x4F, 0xA0, 0, 0])
    expected = np.array([[4, 15, 10], [1, 2, 3]], dtype=np.uint8) * 17
    np.testing.assert_array_equal(read_grey(memoryview(data), "x", Size(3, 2)), expected)


def test_one_bit_is_off_or_on_as_in_other_formats():
    data = of(BITS, "BMP", "1")
    np.testing.assert_array_equal(read_numbers(memoryview(data), "x.bmp", None), BITS > 0)
    np.testing.assert_array_equal(read_grey(memoryview(data), "x.bmp", None), BITS)
