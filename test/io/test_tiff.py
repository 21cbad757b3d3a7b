"""TIFF images of one page and of several channels, against Pillow and tifffile.

`test_grey_images` reads the images of one page in `READABLE` and `REFUSED`.
"""

import io
import struct

import numpy as np
import pytest
import tifffile
from PIL import Image

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.pixels import Size
from evaluation.io.tiff import read_channels
from test.faults import faulted
from test.io.images import (
    BIG,
    COLOUR,
    GREY,
    REVERSED,
    RGB,
    damaged_in_the_middle,
    of,
    palette_image,
    saved,
    with_alpha,
)

DEFLATED = "tiff_adobe_deflate"


def tiff(values, **options):
    file = io.BytesIO()
    tifffile.imwrite(file, values, **options)
    return file.getvalue()


def tiff_of(array, **options):
    return tiff(array, metadata=None, **options)


def place_of(data, tag):
    """Return where the entry of a tag stands in a file of Pillow."""
    (start,) = struct.unpack_from("<I", data, 4)
    (entries,) = struct.unpack_from("<H", data, start)
    places = range(start + 2, start + 2 + 12 * entries, 12)
    return next(place for place in places if struct.unpack_from("<H", data, place)[0] == tag)


def with_tag(old, new, value, data=b""):
    """Put another tag in the place of one."""
    changed = bytearray(data or of(GREY, "TIFF", software="x" * 9))
    struct.pack_into("<HHII", changed, place_of(changed, old), new, 3, 1, value)
    return bytes(changed)


def tiff_with(tag, value, data=b"", count=1):
    """Change the value of one tag that stands in the directory itself."""
    changed = bytearray(data or of(GREY, "TIFF"))
    place = place_of(changed, tag)
    short = struct.unpack_from("<H", changed, place + 2) == (3,)
    struct.pack_into("<IH" if short else "<II", changed, place + 4, count, value)
    return bytes(changed)


def two_widths_tiff():
    data = bytearray(of(GREY, "TIFF", compression=DEFLATED))
    (start,) = struct.unpack_from("<I", data, 4)
    data[start + 14 : start + 26] = data[start + 2 : start + 14]
    return bytes(data)


def overlapping_tiff():
    """Say of each of six strips that it is a third of the file."""
    data = bytearray(tiff_of(GREY, rowsperstrip=1, compression="zlib"))
    _, kind, count, place = struct.unpack_from("<HHII", data, place_of(data, 279))
    struct.pack_into(f"<{count}{'H' if kind == 3 else 'I'}", data, place, *[len(data) // 3] * count)
    _, _, count, place = struct.unpack_from("<HHII", data, place_of(data, 273))
    struct.pack_into(f"<{count}I", data, place, *[8] * count)
    return bytes(data)


READABLE = {
    "tiff palette": (saved(palette_image(GREY, REVERSED), "TIFF"), GREY),
    "tiff": (of(GREY, "TIFF"), GREY),
    "tiff lzw": (of(GREY, "TIFF", compression="tiff_lzw"), GREY),
    "tiff deflate": (of(GREY, "TIFF", compression=DEFLATED), GREY),
    "tiff packbits": (of(GREY, "TIFF", compression="packbits"), GREY),
    "tiff rgb": (of(RGB, "TIFF"), GREY),
    "tiff rgb deflate": (of(RGB, "TIFF", compression=DEFLATED), GREY),
    "tiff rgba": (of(with_alpha(RGB, 255), "TIFF"), GREY),
    "tiff big-endian": (tiff_of(GREY, byteorder=">"), GREY),
    "tiff big": (tiff_of(GREY, bigtiff=True), GREY),
    "tiff of many strips": (tiff_of(GREY, rowsperstrip=4), GREY),
    "tiff tiled": (tiff_of(GREY, tile=(16, 16)), GREY),
    "tiff tiled deflate": (tiff_of(GREY, tile=(16, 16), compression="zlib"), GREY),
    "tiff with a predictor": (tiff_of(GREY, compression="zlib", predictor=True), GREY),
}

DAMAGED = "damaged or incomplete image data"
TILED = tiff_of(GREY, tile=(16, 16), software="x" * 9)
UNREADABLE = {
    "of reversed bits": (with_tag(305, 266, 2), "an invalid tag 266"),
    "of an unknown layout": (tiff_with(284, 3), "an invalid tag 284"),
    "without photometric": (with_tag(262, 305, 1), "no tag 262 (photometric interpretation)"),
    "RGB of one channel": (tiff_with(262, 2), "1 channels of RGB"),
    "of short strips": (tiff_with(279, 41), "strips of another length than their rows"),
    "of a predictor 3": (tiff_with(317, 3, tiff_of(GREY, compression="zlib", predictor=True)), "predictor 3"),
    "of no tile width": (tiff_with(322, 0, TILED), "tiles without pixels"),
    "of no tile height": (tiff_with(323, 0, TILED), "tiles without pixels"),
    "of a strip of no bytes": (tiff_with(279, 0), "strips or tiles of no bytes"),
    "of a mask": (with_tag(305, 254, 4), "an invalid tag 254"),
    "of a tile's length in strips": (with_tag(305, 325, 54), "tiles without pixels"),
    "of tiles and a strip": (with_tag(305, 273, 8, TILED), "both strips and tiles"),
    "of two lengths": (tiff_with(279, 0, count=2), "2 lengths of 1 strips or tiles"),
    "of a strip too few": (tiff_with(278, 2), "1 strips"),
    "of a palette of none": (tiff_with(262, 3), "no palette of 8-bit indices"),
    "of a small stream": (with_tag(259, 259, 8), DAMAGED),
    "of a run beyond its row": (with_tag(259, 259, 32773), DAMAGED),
    "of a strip without length": (with_tag(279, 305, 1, of(GREY, "TIFF", compression=DEFLATED)), DAMAGED),
    "of strips that overlap": (overlapping_tiff(), "strips or tiles that overlap"),
    "in its header": (tiff_with(273, 4), "pixels in the header of the file"),
    "magic only": (b"II*\0", "a header that points outside the file"),
    "directory outside": (b"II*\0\xff\xff\xff\xff" + bytes(99), "a header that points outside the file"),
    "too many entries": (b"II*\0\x08\0\0\0\xff\xff" + bytes(99), "an incomplete header"),
    "truncated": (tiff_of(GREY)[:-1], "a file that ends before its pixels"),
    "strip outside": (tiff_with(273, 0xFFFFFFF0), "a file that ends before its pixels"),
    "two widths": (two_widths_tiff(), "an invalid tag 256"),
    **{
        f"damaged {compression}": (
            damaged_in_the_middle(of(BIG, "TIFF", compression=compression), 3000, 3300),
            DAMAGED,
        )
        for compression in ("tiff_lzw", DEFLATED)
    },
}
FOUR = with_alpha(RGB, 255)
PLANES = np.moveaxis(RGB, 2, 0).copy()
WRONG_VALUE = {
    "grey and alpha": (
        of(with_alpha(GREY[..., np.newaxis], 255), "TIFF", compression=DEFLATED),
        "2 channels",
    ),
    "pages": (tiff_of(np.stack((GREY, GREY)), photometric="minisblack"), "several pages"),
    "jpeg": (of(RGB, "TIFF", compression="jpeg"), "compression 7"),
    "cmyk": (of(RGB, "TIFF", "CMYK"), "CMYK"),
    "inverted": (tiff_of(GREY, photometric="miniswhite"), "inverted grey (white is zero)"),
    "coloured": (of(COLOUR, "TIFF"), "the colour (1, 2, 3)"),
    "with another channel": (tiff_of(FOUR, photometric="rgb", extrasamples=["unspecified"]), "another one"),
    "of complex numbers": (tiff_of(GREY.astype("c8"), photometric="minisblack"), "64 bits of another type"),
    "planar": (tiff_of(PLANES, photometric="rgb", planarconfig="separate"), "separate planes"),
    "rotated": (of(GREY, "TIFF", tiffinfo={274: 6}), "orientation 6"),
}
REFUSED = {
    **{f"tiff {name}": (data, FaultKind.UNREADABLE, found) for name, (data, found) in UNREADABLE.items()},
    **{f"tiff {name}": (data, FaultKind.WRONG_VALUE, found) for name, (data, found) in WRONG_VALUE.items()},
    "tiff of many values": (tiff_with(273, 8, count=1 << 24), FaultKind.TOO_LARGE, "more"),
    "tiff bomb": (tiff_with(256, 65535 * 1000), FaultKind.TOO_LARGE, "65535000 × 6 pixels"),
}


CHANNELS, HEIGHT, WIDTH = 5, 6, 8
SIZE = Size(WIDTH, HEIGHT)
VALUES = np.random.default_rng(0).integers(0, 2, (CHANNELS, HEIGHT, WIDTH)).astype(np.uint8) * 255


def pages_of(compression, values=VALUES):
    file = io.BytesIO()
    first, *others = (Image.fromarray(page) for page in values)
    first.save(file, "TIFF", save_all=True, append_images=others, compression=compression)
    return file.getvalue()


def read(data):
    return read_channels(memoryview(data), CHANNELS, SIZE)


interleaved = np.ascontiguousarray(np.moveaxis(VALUES, 0, -1))
ROW = {"planarconfig": "contig", "photometric": "minisblack"}
LAYOUTS = {
    "pages": tiff(VALUES, photometric="minisblack"),
    "deflated pages": tiff(VALUES, photometric="minisblack", compression="zlib"),
    "PackBits pages": pages_of("packbits"),
    "LZW pages": pages_of("tiff_lzw"),
    "interleaved": tiff(interleaved, **ROW),
    "interleaved as RGB": tiff(interleaved, planarconfig="contig", photometric="rgb"),
    "interleaved and deflated": tiff(interleaved, compression="zlib", **ROW),
    "planar": tiff(VALUES, planarconfig="separate", photometric="minisblack"),
    "tiled": tiff(VALUES, photometric="minisblack", tile=(16, 16)),
    "big-endian": tiff(VALUES, photometric="minisblack", byteorder=">"),
    "BigTIFF": tiff(VALUES, photometric="minisblack", bigtiff=True),
    "ImageJ": tiff(VALUES, imagej=True),
    "one page a row": tiff(interleaved, photometric="minisblack"),
}


@pytest.mark.parametrize("data", LAYOUTS.values(), ids=LAYOUTS)
def test_layouts(data):
    np.testing.assert_array_equal(read(data), VALUES)


WRONG = FaultKind.WRONG_VALUE
BAD = {
    "four pages": (tiff(VALUES[:4], photometric="minisblack"), WRONG, "4"),
    "one page": (tiff(VALUES[0], photometric="minisblack"), WRONG, "1"),
    "six channels": (tiff(np.repeat(interleaved[..., :1], 6, -1), **ROW), WRONG, "6"),
    "another size": (
        tiff(VALUES[:, :, :7], photometric="minisblack", metadata=None),
        FaultKind.WRONG_SIZE,
        "7 × 6 pixels",
    ),
    "16 bits": (tiff(VALUES.astype(np.uint16), photometric="minisblack"), WRONG, "16"),
    "cut": (LAYOUTS["deflated pages"][:-40], FaultKind.UNREADABLE, ""),
    "PNG": (b"\x89PNG\r\n\x1a\n", FaultKind.UNREADABLE, "a PNG image"),
}


@pytest.mark.parametrize(("data", "kind", "found"), BAD.values(), ids=BAD)
def test_what_is_refused(data, kind, found):
    with faulted(ReadError, found, kind=kind):
        read(data)
