"""PNG images, against Pillow and files packed by hand; `test_grey_images` reads what the tables hold."""

import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from PIL import Image

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.pixels import Size
from evaluation.io.volumes import read_numbers
from test.faults import faulted
from test.io.images import (
    BIG,
    BITS,
    COLOUR,
    GREY,
    MASK,
    REVERSED,
    RGB,
    SIXTEEN_BITS,
    damaged_in_the_middle,
    of,
    palette_image,
    read_grey,
    saved,
    with_alpha,
)
from test.repository import REPOSITORY


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


def spliced(plain, kind, content):
    return plain[:33] + png_chunk(kind, content) + plain[33:]


def png_with_chunk(kind, content):
    return spliced(of(GREY, "PNG"), kind, content)


ROWS = b"".join(b"\0" + row.tobytes() for row in GREY)
WRONG_ADLER = zlib.compress(ROWS)[:-1] + bytes([zlib.compress(ROWS)[-1] ^ 1])
ROTATED = Image.Exif()
ROTATED[274] = 6
END = (b"IEND", b"")
DEFLATED = zlib.compress(ROWS)
PIXELS = (b"IDAT", DEFLATED)
TEXT = (b"tEXt", b"k\0v")
RAMP = (b"PLTE", bytes(np.repeat(np.arange(256, dtype=np.uint8), 3)))
OPAQUE = (b"tRNS", b"\xff" * 256)
GREY_HEADER = png_header(7, 6)
WRONG_TEXT = png_with_chunk(*TEXT)[:-1].replace(b"k\0v", b"k\0w") + of(GREY, "PNG")[-1:]
DAMAGED = "damaged or incomplete image data"
NO_PALETTE, NO_TRANSPARENCY = "no valid palette", "no valid transparency"
UNKNOWN, PARTED = "an unknown critical chunk", "pixels that other chunks interrupt"
PARTS = ((b"IDAT", DEFLATED[:9]), (b"IDAT", DEFLATED[9:]))
ALPHA = of(with_alpha(RGB, 255), "PNG")
ONE_BIT = png_header(7, 6, 1, 3)


def grey_file(*chunks):
    return png_file(GREY_HEADER, *chunks)


def palette_file(*chunks):
    return png_file(png_header(7, 6, 8, 3), *chunks, END)


def with_header_end(end):
    return png_file(GREY_HEADER[:-3] + end, PIXELS, END)


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
    "png with pixels in two chunks": (grey_file(*PARTS, END), GREY),
    "png with an empty chunk of pixels": (grey_file((b"IDAT", b""), PIXELS, END), GREY),
    "png with all bits significant": (grey_file((b"sBIT", b"\x08"), PIXELS, END), GREY),
    "png with an opaque palette": (palette_file(RAMP, OPAQUE, PIXELS), GREY),
    "png with an unknown ancillary chunk": (grey_file((b"abCd", b"x"), PIXELS, (b"abCd", b"y"), END), GREY),
    "png upright by its metadata": (of(GREY, "PNG", exif=b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0"), GREY),
}

UNREADABLE = {
    "magic only": (of(GREY, "PNG")[:8], "an incomplete header"),
    "half": (of(BIG, "PNG")[:2000], "a file that ends before its end mark"),
    "without end": (of(GREY, "PNG")[:-12], "a file that ends before its end mark"),
    "wrong checksum": (damaged_in_the_middle(of(BIG, "PNG"), 2000, 2001), "a wrong checksum"),
    "too few rows": (grey_file((b"IDAT", zlib.compress(ROWS[:-1])), END), DAMAGED),
    "without pixels": (grey_file(END), "no pixels"),
    "unknown filter": (grey_file((b"IDAT", zlib.compress(ROWS.replace(ROWS[:1], b"\x09", 1))), END), DAMAGED),
    "wrong inner checksum": (grey_file((b"IDAT", WRONG_ADLER), END), DAMAGED),
    "chunk of 4 GB": (
        of(GREY, "PNG")[:33] + b"\xff\xff\xff\xffIDAT" + bytes(99),
        "a file that ends before its end mark",
    ),
    "colour type 5": (png_file(png_header(7, 6, colour_type=5), END), "an invalid header"),
    "palette missing": (palette_file(PIXELS), NO_PALETTE),
    "of another compression": (with_header_end(b"\1\0\0"), "an invalid header"),
    "of another filter": (with_header_end(b"\0\1\0"), "an invalid header"),
    "of another interlace": (with_header_end(b"\0\0\2"), "an invalid header"),
    "with a long header": (png_file(GREY_HEADER + b"\0", PIXELS, END), "an invalid header"),
    "with two headers": (grey_file((b"IHDR", GREY_HEADER), PIXELS, END), "several chunks IHDR"),
    "with a late header": (grey_file(PIXELS, (b"IHDR", GREY_HEADER), END), "several chunks IHDR"),
    "with two palettes": (palette_file(RAMP, RAMP, PIXELS), "several chunks PLTE"),
    "with a late palette": (palette_file(PIXELS, RAMP), "a chunk PLTE after the pixels"),
    "with tRNS, then PLTE": (palette_file(OPAQUE, RAMP, PIXELS), "a chunk tRNS before the palette"),
    "of grey with a palette": (grey_file(RAMP, PIXELS, END), NO_PALETTE),
    "with an empty palette": (palette_file((b"PLTE", b""), PIXELS), NO_PALETTE),
    "with a broken palette": (palette_file((b"PLTE", bytes(4)), PIXELS), NO_PALETTE),
    "with 257 colours": (palette_file((b"PLTE", bytes(771)), PIXELS), NO_PALETTE),
    "with 3 colours for a bit": (png_file(ONE_BIT, (b"PLTE", bytes(9)), PIXELS, END), NO_PALETTE),
    "with two tRNS": (palette_file(RAMP, OPAQUE, OPAQUE, PIXELS), "several chunks tRNS"),
    "with a late tRNS": (palette_file(RAMP, PIXELS, OPAQUE), "a chunk tRNS after the pixels"),
    "with a long tRNS": (palette_file(RAMP, (b"tRNS", bytes(257)), PIXELS), NO_TRANSPARENCY),
    "with an empty tRNS": (palette_file(RAMP, (b"tRNS", b""), PIXELS), NO_TRANSPARENCY),
    "with an odd tRNS": (grey_file((b"tRNS", b"\0"), PIXELS, END), NO_TRANSPARENCY),
    "with tRNS of a colour": (grey_file((b"tRNS", bytes(6)), PIXELS, END), NO_TRANSPARENCY),
    "with tRNS out of range": (grey_file((b"tRNS", b"\1\0"), PIXELS, END), NO_TRANSPARENCY),
    "with alpha and tRNS": (spliced(ALPHA, b"tRNS", bytes(6)), NO_TRANSPARENCY),
    "with parted pixels": (grey_file(PARTS[0], TEXT, PARTS[1], END), PARTED),
    "with an unknown critical chunk": (grey_file((b"ABCD", b""), PIXELS, END), f"{UNKNOWN} ABCD"),
    "with an impossible chunk": (grey_file((b"ab1D", b""), PIXELS, END), f"{UNKNOWN} ab1D"),
    "with a wrong checksum of its text": (WRONG_TEXT, "a wrong checksum"),
    "with a wrong checksum of its end": (of(GREY, "PNG")[:-1] + b"x", "a wrong checksum"),
}
WRONG_VALUE = {
    "16 bits rgb": (png_file(png_header(7, 6, 16, 2), END), "16"),
    "coloured": (of(COLOUR, "PNG"), "the colour (1, 2, 3)"),
    "transparent": (of(with_alpha(RGB, 254), "PNG"), "transparent ones"),
    "transparent grey": (of(with_alpha(GREY[..., np.newaxis], 0), "PNG"), "transparent ones"),
    "one transparent value": (of(GREY, "PNG", transparency=int(GREY[1, 1])), "transparent ones"),
    "transparent palette": (
        saved(palette_image(GREY, REVERSED), "PNG", transparency=int(REVERSED[GREY[1, 1]])),
        "transparent ones",
    ),
    "with fewer significant bits": (grey_file((b"sBIT", b"\4"), PIXELS, END), "fewer"),
    "rotated": (of(GREY, "PNG", exif=ROTATED), "orientation 6"),
}
HUGE = png_file(png_header(2**31 - 1, 2**31 - 1), END)
REFUSED = {
    **{f"png {name}": (data, FaultKind.UNREADABLE, found) for name, (data, found) in UNREADABLE.items()},
    **{f"png {name}": (data, FaultKind.WRONG_VALUE, found) for name, (data, found) in WRONG_VALUE.items()},
    "png bomb": (HUGE, FaultKind.TOO_LARGE, "2147483647 × 2147483647 pixels"),
    "png of no width": (png_file(png_header(0, 6), END), FaultKind.WRONG_SIZE, "0 × 6 pixels"),
}


def wide(*chunks):
    """Return `SIXTEEN_BITS` as a grey image with other chunks before its pixels."""
    height, width = SIXTEEN_BITS.shape
    raw = b"".join(b"\0" + row.astype(">u2").tobytes() for row in SIXTEEN_BITS)
    return png_file(png_header(width, height, 16), *chunks, (b"IDAT", zlib.compress(raw)), END)


@pytest.mark.parametrize("data", [wide(), wide((b"tRNS", b"\0\1")), of(SIXTEEN_BITS, "PNG")])
def test_numbers_of_16_bits_are_read_as_they_are(data):
    found = read_numbers(memoryview(data), "x", Size(7, 6))
    assert found.dtype == np.uint16
    np.testing.assert_array_equal(found, SIXTEEN_BITS)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (wide((b"tRNS", SIXTEEN_BITS[1, 2].astype(">u2").tobytes())), "transparent ones"),
        (wide((b"sBIT", b"\x0c")), "fewer"),
        (png_file(png_header(1, 1, 16, 2), END), "16"),
        (png_file(png_header(1, 1, 3), END), "3"),
    ],
)
def test_numbers_that_are_refused(data, found):
    with faulted(ReadError, found, kind=FaultKind.WRONG_VALUE):
        read_numbers(memoryview(data), "x", None)


BOMB = """
import resource, sys, zlib
import numpy as np
from evaluation.io.volumes import read_numbers
from evaluation.io.pixels import Size
from test.io.test_png import END, of, png_file, png_header

read_numbers(memoryview(of(np.zeros((2, 2), np.uint8), "PNG")), "x", None)  # imports the decoder
deflate = zlib.compressobj(1)
pixels = b"".join(deflate.compress(bytes(1 << 24)) for _ in range(16)) + deflate.flush()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for depth in (8, 16):
    data = png_file(png_header(7, 6, depth), (b"IDAT", pixels), END)
    assert not read_numbers(memoryview(data), "x", Size(7, 6)).any()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_pixels_behind_those_of_the_header_take_no_memory():
    done = subprocess.run(
        [sys.executable, "-c", BOMB], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 64 << 10  # in kB, of the 256 MB that the chunk holds


@pytest.mark.parametrize("bits", [2, 4])
def test_grey_png_of_few_bits_is_spread_over_the_range(bits):
    values = np.array([[0, 1, 2, 3], [3, 2, 1, 0]], dtype=np.uint8)
    packed = [sum(int(v) << (8 - bits * (i + 1)) for i, v in enumerate(row[: 8 // bits])) for row in values]
    width = 8 // bits
    raw = b"".join(b"\0" + bytes([byte]) for byte in packed)
    data = png_file(png_header(width, 2, bits), (b"IDAT", zlib.compress(raw)), (b"IEND", b""))
    scale = {2: 85, 4: 17}[bits]
    np.testing.assert_array_equal(read_grey(memoryview(data), "x", None), values[:, :width] * scale)
