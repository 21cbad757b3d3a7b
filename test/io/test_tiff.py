"""TIFF images of one page and of several channels, against Pillow and tifffile."""

import io
import struct

import numpy as np
import pytest
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.grey_images import read_grey, read_numbers
from evaluation.io.pixels import Size
from evaluation.io.tiff import read_channels, write_tiff
from test.faults import faulted
from test.io.images import (
    BIG,
    CHANGES,
    COLOUR,
    GREY,
    KEPT,
    REVERSED,
    RGB,
    SIXTEEN_BITS,
    check_damaged,
    check_pillow_reads_the_same,
    check_read,
    check_refused,
    check_size_comes_first,
    damaged_in_the_middle,
    of,
    palette_image,
    saved,
    with_alpha,
)

DEFLATED = "tiff_adobe_deflate"


def tiff_of(array, **options):
    file = io.BytesIO()
    tifffile.imwrite(file, array, metadata=None, **options)
    return file.getvalue()


def with_tag(old, new, value):
    """Put another tag in the place of one."""
    data = bytearray(of(GREY, "TIFF", software="x" * 9))
    (start,) = struct.unpack_from("<I", data, 4)
    (entries,) = struct.unpack_from("<H", data, start)
    for position in range(start + 2, start + 2 + 12 * entries, 12):
        if struct.unpack_from("<H", data, position)[0] == old:
            struct.pack_into("<HHII", data, position, new, 3, 1, value)
            return bytes(data)
    raise AssertionError(old)


def tiff_with(tag, value, **options):
    """Change the value of one tag that stands in the directory itself."""
    data = bytearray(of(GREY, "TIFF", **options))
    (start,) = struct.unpack_from("<I", data, 4)
    (entries,) = struct.unpack_from("<H", data, start)
    for position in range(start + 2, start + 2 + 12 * entries, 12):
        found, kind = struct.unpack_from("<HH", data, position)
        if found == tag:
            struct.pack_into("<H" if kind == 3 else "<I", data, position + 8, value)
            return bytes(data)
    raise LookupError(tag)


def two_widths_tiff():
    data = bytearray(of(GREY, "TIFF", compression=DEFLATED))
    (start,) = struct.unpack_from("<I", data, 4)
    data[start + 14 : start + 26] = data[start + 2 : start + 14]
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

REFUSED = {
    **{
        f"tiff {name}": (data, FaultKind.UNREADABLE, found)
        for name, data, found in (
            ("of reversed bits", with_tag(305, 266, 2), "an invalid tag 266"),
            ("of an unknown layout", tiff_with(284, 3), "an invalid tag 284"),
            ("without photometric", with_tag(262, 305, 1), "no tag 262 (photometric interpretation)"),
            ("RGB of one channel", tiff_with(262, 2), "1 channels of RGB"),
            ("of short strips", tiff_with(279, 41), "strips of another length than their rows"),
            ("in its header", tiff_with(273, 4), "pixels in the header of the file"),
        )
    },
    "tiff grey and alpha": (
        of(with_alpha(GREY[..., np.newaxis], 255), "TIFF", compression=DEFLATED),
        FaultKind.WRONG_VALUE,
        "2 channels",
    ),
    "tiff magic only": (b"II*\0", FaultKind.UNREADABLE, "a header that points outside the file"),
    "tiff directory outside": (
        b"II*\0\xff\xff\xff\xff" + bytes(99),
        FaultKind.UNREADABLE,
        "a header that points outside the file",
    ),
    "tiff too many entries": (
        b"II*\0\x08\0\0\0\xff\xff" + bytes(99),
        FaultKind.UNREADABLE,
        "an incomplete header",
    ),
    "tiff truncated": (tiff_of(GREY)[:-1], FaultKind.UNREADABLE, "a file that ends before its pixels"),
    "tiff strip outside": (
        tiff_with(273, 0xFFFFFFF0),
        FaultKind.UNREADABLE,
        "a file that ends before its pixels",
    ),
    "tiff bomb": (tiff_with(256, 65535 * 1000), FaultKind.TOO_LARGE, "65535000 × 6 pixels"),
    "tiff 16 bits": (of(SIXTEEN_BITS, "TIFF"), FaultKind.WRONG_VALUE, "16"),
    "tiff of floats": (tiff_of(GREY.astype(np.float32)), FaultKind.WRONG_VALUE, "32"),
    "tiff signed": (tiff_of(GREY.astype(np.int8)), FaultKind.WRONG_VALUE, "another sample format"),
    "tiff pages": (
        tiff_of(np.stack((GREY, GREY)), photometric="minisblack"),
        FaultKind.WRONG_VALUE,
        "several pages",
    ),
    "tiff jpeg": (of(RGB, "TIFF", compression="jpeg"), FaultKind.WRONG_VALUE, "compression 7"),
    "tiff cmyk": (of(RGB, "TIFF", "CMYK"), FaultKind.WRONG_VALUE, "CMYK"),
    "tiff inverted": (
        tiff_of(GREY, photometric="miniswhite"),
        FaultKind.WRONG_VALUE,
        "inverted grey (white is zero)",
    ),
    "tiff coloured": (of(COLOUR, "TIFF"), FaultKind.WRONG_VALUE, "the colour (1, 2, 3)"),
    "tiff planar": (
        tiff_of(np.moveaxis(RGB, 2, 0).copy(), photometric="rgb", planarconfig="separate"),
        FaultKind.WRONG_VALUE,
        "separate planes",
    ),
    "tiff rotated": (of(GREY, "TIFF", tiffinfo={274: 6}), FaultKind.WRONG_VALUE, "orientation 6"),
    "tiff two widths": (two_widths_tiff(), FaultKind.UNREADABLE, "an invalid tag 256"),
}
REFUSED |= {
    f"tiff damaged {compression}": (
        damaged_in_the_middle(of(BIG, "TIFF", compression=compression), 3000, 3300),
        FaultKind.UNREADABLE,
        "damaged or incomplete image data",
    )
    for compression in ("tiff_lzw", DEFLATED)
}


@pytest.mark.parametrize(("data", "expected"), READABLE.values(), ids=READABLE)
def test_reads_the_pixels_that_were_written(data, expected):
    check_read(data, expected)


@pytest.mark.parametrize(("data", "expected"), READABLE.values(), ids=READABLE)
def test_pillow_reads_the_same(data, expected):
    check_pillow_reads_the_same(data, expected)


@pytest.mark.parametrize(("data", "kind", "found"), REFUSED.values(), ids=REFUSED)
def test_refuses(data, kind, found, capfd):
    check_refused(data, kind, found, capfd)


@settings(max_examples=60)
@given(st.sampled_from(sorted(READABLE)), CHANGES, KEPT)
def test_damage_is_a_read_error_or_an_image(name, changes, kept):
    """No byte of a file can make the reader fail in another way."""
    check_damaged(*READABLE[name], changes, kept)


@pytest.mark.parametrize("name", ["tiff", "tiff of many strips"])
def test_raw_pixels_are_not_copied(name):
    data = bytearray(READABLE[name][0])
    image = read_grey(memoryview(data), "x", None)
    assert np.shares_memory(image, np.frombuffer(data, dtype=np.uint8))


def test_the_size_is_checked_before_the_pixels():
    check_size_comes_first(".tif")


CHANNELS, HEIGHT, WIDTH = 5, 6, 8
SIZE = Size(WIDTH, HEIGHT)
VALUES = np.random.default_rng(0).integers(0, 2, (CHANNELS, HEIGHT, WIDTH)).astype(np.uint8) * 255


def tiff(values, **arguments):
    file = io.BytesIO()
    tifffile.imwrite(file, values, **arguments)
    return file.getvalue()


def pages_of(compression, values=VALUES):
    file = io.BytesIO()
    first, *others = (Image.fromarray(page) for page in values)
    first.save(file, "TIFF", save_all=True, append_images=others, compression=compression)
    return file.getvalue()


def read(data):
    return read_channels(memoryview(data), CHANNELS, SIZE)


interleaved = np.ascontiguousarray(np.moveaxis(VALUES, 0, -1))
LAYOUTS = {
    "pages": tiff(VALUES, photometric="minisblack"),
    "pages without metadata": tiff(VALUES, photometric="minisblack", metadata=None),
    "deflated pages": tiff(VALUES, photometric="minisblack", compression="zlib"),
    "deflated with differences": tiff(VALUES, photometric="minisblack", compression="zlib", predictor=True),
    "PackBits pages": pages_of("packbits"),
    "LZW pages": pages_of("tiff_lzw"),
    "deflated pages of Pillow": pages_of("tiff_adobe_deflate"),
    "interleaved": tiff(interleaved, planarconfig="contig", photometric="minisblack"),
    "interleaved as RGB": tiff(interleaved, planarconfig="contig", photometric="rgb"),
    "interleaved and deflated": tiff(
        interleaved, planarconfig="contig", photometric="minisblack", compression="zlib"
    ),
    "planar": tiff(VALUES, planarconfig="separate", photometric="minisblack"),
    "planar and deflated": tiff(
        VALUES, planarconfig="separate", photometric="minisblack", compression="zlib", rowsperstrip=2
    ),
    "tiled": tiff(VALUES, photometric="minisblack", tile=(16, 16)),
    "big-endian": tiff(VALUES, photometric="minisblack", byteorder=">"),
    "BigTIFF": tiff(VALUES, photometric="minisblack", bigtiff=True),
    "ImageJ": tiff(VALUES, imagej=True),
    "one page a row": tiff(interleaved, photometric="minisblack"),
}


@pytest.mark.parametrize("data", LAYOUTS.values(), ids=LAYOUTS)
def test_layouts(data):
    np.testing.assert_array_equal(read(data), VALUES)


def test_written_images_are_read_back_and_always_the_same():
    data = write_tiff(VALUES)
    assert data == write_tiff(VALUES.copy())
    np.testing.assert_array_equal(read(data), VALUES)
    np.testing.assert_array_equal(tifffile.imread(io.BytesIO(data)), VALUES)


BAD = {
    "four pages": (tiff(VALUES[:4], photometric="minisblack"), "expected 5 channels, found 4"),
    "one page": (tiff(VALUES[0], photometric="minisblack"), "expected 5 channels, found 1"),
    "six channels": (
        tiff(np.repeat(interleaved[..., :1], 6, -1), planarconfig="contig", photometric="minisblack"),
        "expected 5 channels, found 6",
    ),
    "another size": (
        tiff(VALUES[:, :, :7], photometric="minisblack", metadata=None),
        "expected 8 × 6 pixels, found 7 × 6 pixels",
    ),
    "transposed": (
        tiff(VALUES.transpose(0, 2, 1), photometric="minisblack", metadata=None),
        "expected 8 × 6 pixels, found 6 × 8 pixels",
    ),
    "16 bits": (
        tiff(VALUES.astype(np.uint16), photometric="minisblack"),
        "expected 8 bits per channel, found 16",
    ),
    "floats": (
        tiff(VALUES.astype(np.float32), photometric="minisblack"),
        "expected 8 bits per channel, found 32",
    ),
    "inverted": (
        tiff(VALUES, photometric="miniswhite"),
        "expected channels in which black is zero, found inverted grey (white is zero)",
    ),
    "rotated": (
        tiff(VALUES, photometric="minisblack", metadata=None, extratags=[(274, 3, 1, 3, True)]),
        "expected an image stored upright (orientation 1), found orientation 3",
    ),
    "JPEG inside": (
        pages_of("jpeg"),
        "expected no compression, LZW, deflate or PackBits, found compression 7",
    ),
    "cut": (LAYOUTS["deflated pages"][:-40], None),
    "PNG": (b"\x89PNG\r\n\x1a\n", "expected a TIFF image, found other content"),
    "empty": (b"", "expected a TIFF image, found other content"),
    "header alone": (
        b"II*\0\x08\0\0\0",
        "expected a TIFF image, found a header that points outside the file",
    ),
}


@pytest.mark.parametrize(("data", "message"), BAD.values(), ids=BAD)
def test_what_is_refused(data, message):
    with pytest.raises(ReadError) as caught:
        read(data)
    assert message is None or str(caught.value) == message


@pytest.mark.parametrize("kind", ["u1", "i1", ">u2", "i2", "u4", ">i4", "u8", "i8", "f2", "f4", ">f8"])
@pytest.mark.parametrize("options", [{}, {"compression": "zlib"}, {"tile": (16, 16)}])
def test_numbers_of_any_type_are_read_as_they_are(kind, options):
    dtype = np.dtype(kind)
    values = np.arange(-12, 30).reshape(6, 7).astype(dtype)
    data = tiff(values, photometric="minisblack", byteorder=">" if kind[0] == ">" else "<", **options)
    found = read_numbers(memoryview(data), "x.tif", Size(7, 6))
    assert (found.dtype.kind, found.itemsize) == (dtype.kind, dtype.itemsize)
    np.testing.assert_array_equal(found, values)


def test_complex_numbers_are_refused():
    data = tiff(np.ones((6, 7), "c8"), photometric="minisblack")
    with faulted(ReadError, "64 bits of another type", kind=FaultKind.WRONG_VALUE):
        read_numbers(memoryview(data), "x.tif", Size(7, 6))


@pytest.mark.parametrize("name", ["pages", "interleaved and deflated", "LZW pages", "tiled"])
def test_damaged_files_raise_nothing_else(name):
    generator = np.random.default_rng(1)
    for _ in range(60):
        data = bytearray(LAYOUTS[name])
        for position in generator.integers(0, len(data), 3):
            data[position] = generator.integers(0, 256)
        try:
            pixels = read(bytes(data))
        except ReadError:
            continue
        assert pixels.shape == VALUES.shape
