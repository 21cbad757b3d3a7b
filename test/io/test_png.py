"""PNG images, against Pillow and files packed by hand."""

import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.grey_images import read_grey, write_grey
from evaluation.io.pixels import Size
from test.io.images import (
    BIG,
    BITS,
    COLOUR,
    GREY,
    MASK,
    REVERSED,
    RGB,
    SIXTEEN_BITS,
    check_damaged,
    check_pillow_reads_the_same,
    check_read,
    check_refused,
    damaged_in_the_middle,
    of,
    palette_image,
    saved,
    with_alpha,
)


def png_chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png_file(header, *chunks):
    return b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(*chunk) for chunk in ((b"IHDR", header), *chunks))


def png_header(width, height, depth=8, colour_type=0, interlace=0):
    return struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, interlace)


def interlaced_png():
    """Adam7 by hand: every pass is an image of its own."""
    passes = (
        (0, 0, 8, 8),
        (0, 4, 8, 8),
        (4, 0, 8, 4),
        (0, 2, 4, 4),
        (2, 0, 4, 2),
        (0, 1, 2, 2),
        (1, 0, 2, 1),
    )
    rows = b""
    for y, x, step_y, step_x in passes:
        for row in GREY[y::step_y, x::step_x]:
            rows += b"\0" + row.tobytes() if len(row) else b""
    return png_file(png_header(7, 6, interlace=1), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))


def png_with_chunk(kind, content):
    plain = of(GREY, "PNG")
    return plain[:33] + png_chunk(kind, content) + plain[33:]


ROWS = b"".join(b"\0" + row.tobytes() for row in GREY)
WRONG_ADLER = zlib.compress(ROWS)[:-1] + bytes([zlib.compress(ROWS)[-1] ^ 1])
ROTATED = Image.Exif()
ROTATED[274] = 6
END = (b"IEND", b"")

READABLE = {
    "png": (of(GREY, "PNG"), GREY),
    "png 1 bit": (of(BITS, "PNG", "1"), BITS),
    "png interlaced": (interlaced_png(), GREY),
    "png rgb": (of(RGB, "PNG"), GREY),
    "png rgba": (of(with_alpha(RGB, 255), "PNG"), GREY),
    "png grey and alpha": (of(with_alpha(GREY[..., np.newaxis], 255), "PNG"), GREY),
    "png with a palette": (saved(palette_image(GREY, REVERSED), "PNG"), GREY),
    "png with a 2-bit palette": (
        saved(palette_image(MASK // 127, np.arange(256), 3), "PNG", bits=2),
        MASK // 127,
    ),
    "png followed by rubbish": (of(GREY, "PNG") + b"rubbish" * 99, GREY),
    "png with a bomb in its metadata": (
        png_with_chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(10**7))),
        GREY,
    ),
    "png animated": (
        saved(Image.fromarray(GREY), "PNG", save_all=True, append_images=[Image.fromarray(255 - GREY)]),
        GREY,
    ),
    "png upright by its metadata": (of(GREY, "PNG", exif=b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0"), GREY),
}

REFUSED = {
    "png magic only": (of(GREY, "PNG")[:8], FaultKind.UNREADABLE, "an incomplete header"),
    "png half": (
        of(BIG, "PNG")[:2000],
        FaultKind.UNREADABLE,
        "a file that ends before its end mark",
    ),
    "png without end": (of(GREY, "PNG")[:-12], FaultKind.UNREADABLE, "a file that ends before its end mark"),
    "png wrong checksum": (
        damaged_in_the_middle(of(BIG, "PNG"), 2000, 2001),
        FaultKind.UNREADABLE,
        "a wrong checksum",
    ),
    "png too few rows": (
        png_file(png_header(7, 6), (b"IDAT", zlib.compress(ROWS[:-1])), END),
        FaultKind.UNREADABLE,
        "damaged or incomplete image data",
    ),
    "png without pixels": (
        png_file(png_header(7, 6), END),
        FaultKind.UNREADABLE,
        "damaged or incomplete image data",
    ),
    "png unknown filter": (
        png_file(png_header(7, 6), (b"IDAT", zlib.compress(ROWS.replace(ROWS[:1], b"\x09", 1))), END),
        FaultKind.UNREADABLE,
        "damaged or incomplete image data",
    ),
    "png wrong inner checksum": (
        png_file(png_header(7, 6), (b"IDAT", WRONG_ADLER), END),
        FaultKind.UNREADABLE,
        "damaged or incomplete image data",
    ),
    "png chunk of 4 GB": (
        of(GREY, "PNG")[:33] + b"\xff\xff\xff\xffIDAT" + bytes(99),
        FaultKind.UNREADABLE,
        "a file that ends before its end mark",
    ),
    "png colour type 5": (
        png_file(png_header(7, 6, colour_type=5), END),
        FaultKind.UNREADABLE,
        "an invalid header",
    ),
    "png 16 bits": (of(SIXTEEN_BITS, "PNG"), FaultKind.WRONG_VALUE, "16"),
    "png 16 bits rgb": (png_file(png_header(7, 6, 16, 2), END), FaultKind.WRONG_VALUE, "16"),
    "png bomb": (
        png_file(png_header(2**31 - 1, 2**31 - 1), END),
        FaultKind.TOO_LARGE,
        "2147483647 × 2147483647 pixels",
    ),
    "png of no width": (png_file(png_header(0, 6), END), FaultKind.WRONG_SIZE, "0 × 6 pixels"),
    "png coloured": (of(COLOUR, "PNG"), FaultKind.WRONG_VALUE, "the colour (1, 2, 3)"),
    "png transparent": (of(with_alpha(RGB, 254), "PNG"), FaultKind.WRONG_VALUE, "transparent ones"),
    "png transparent grey": (
        of(with_alpha(GREY[..., np.newaxis], 0), "PNG"),
        FaultKind.WRONG_VALUE,
        "transparent ones",
    ),
    "png one transparent value": (
        of(GREY, "PNG", transparency=int(GREY[1, 1])),
        FaultKind.WRONG_VALUE,
        "transparent ones",
    ),
    "png transparent palette": (
        saved(palette_image(GREY, REVERSED), "PNG", transparency=int(REVERSED[GREY[1, 1]])),
        FaultKind.WRONG_VALUE,
        "transparent ones",
    ),
    "png palette missing": (
        png_file(png_header(7, 6, 8, 3), (b"IDAT", zlib.compress(ROWS)), END),
        FaultKind.UNREADABLE,
        "no valid palette",
    ),
    "png rotated": (of(GREY, "PNG", exif=ROTATED), FaultKind.WRONG_VALUE, "orientation 6"),
}


@pytest.mark.parametrize(("data", "expected"), READABLE.values(), ids=READABLE)
def test_reads_the_pixels_that_were_written(data, expected):
    check_read(data, expected)


# Pillow refuses the large metadata, which need not be looked at.
@pytest.mark.parametrize("name", [name for name in READABLE if "bomb" not in name])
def test_pillow_reads_the_same(name):
    check_pillow_reads_the_same(*READABLE[name])


@pytest.mark.parametrize(("data", "kind", "found"), REFUSED.values(), ids=REFUSED)
def test_refuses(data, kind, found, capfd):
    check_refused(data, kind, found, capfd)


@settings(max_examples=60)
@given(
    st.sampled_from(sorted(READABLE)),
    st.lists(st.tuples(st.integers(0, 399), st.integers(0, 255)), min_size=1, max_size=4),
    st.floats(0.5, 1),
)
def test_damage_is_a_read_error_or_an_image(name, changes, kept):
    """No byte of a file can make the reader fail in another way."""
    check_damaged(*READABLE[name], changes, kept)


def test_the_size_is_checked_before_the_pixels():
    """The header alone is enough to see that the size is wrong, and a size is told as the phase says it."""
    data = write_grey(np.zeros((1634, 1633), dtype=np.uint8), ".png")
    with pytest.raises(ReadError) as caught:
        read_grey(memoryview(data[:60]), "x", Size(1634, 1634))
    assert caught.value.kind == FaultKind.WRONG_SIZE
    assert str(caught.value) == "expected 1634 × 1634 pixels, found 1633 × 1634 pixels"


@pytest.mark.parametrize("bits", [2, 4])
def test_grey_png_of_few_bits_is_spread_over_the_range(bits):
    values = np.array([[0, 1, 2, 3], [3, 2, 1, 0]], dtype=np.uint8)
    packed = [sum(int(v) << (8 - bits * (i + 1)) for i, v in enumerate(row[: 8 // bits])) for row in values]
    width = 8 // bits
    raw = b"".join(b"\0" + bytes([byte]) for byte in packed)
    data = png_file(png_header(width, 2, bits), (b"IDAT", zlib.compress(raw)), (b"IEND", b""))
    scale = {2: 85, 4: 17}[bits]
    np.testing.assert_array_equal(read_grey(memoryview(data), "x", None), values[:, :width] * scale)
