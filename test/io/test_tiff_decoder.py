"""Layouts of TIFF pages, against tifffile, Pillow and values encoded by hand; and what must not swell."""

import io
import struct
import zlib

import numpy as np
import pytest
import tifffile
from PIL import Image

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.tiff import (
    PAGE_TAGS,
    check_pages,
    decode_page,
    read_page,
    read_pages,
)
from test.faults import faulted
from test.io.images import tiff

RANDOM = np.random.default_rng(0)
CHANNELS = RANDOM.integers(0, 256, (21, 37, 5), dtype=np.uint8)
GREY = CHANNELS[..., 0].copy()


def by_hand(tags, strips, order="<"):
    """Return a file of one page out of (tag, numbers), with the strips behind the header."""
    places = [8 + sum(map(len, strips[:number])) for number in range(len(strips))]
    offsets, lengths = (324, 325) if 322 in tags else (273, 279)
    tags = {**tags, offsets: places, lengths: [len(strip) for strip in strips]}
    start = 8 + sum(map(len, strips))
    behind, extra = start + 2 + 12 * len(tags) + 4, b""
    entries = b""
    for tag, numbers in sorted(tags.items()):
        content = struct.pack(f"{order}{len(numbers)}I", *numbers)
        if len(content) > 4:
            content, extra = struct.pack(f"{order}I", behind + len(extra)), extra + content
        entries += struct.pack(f"{order}HHI", tag, 4, len(numbers)) + content
    head = struct.pack(f"{order}2sHI", b"II" if order == "<" else b"MM", 42, start)
    return head + b"".join(strips) + struct.pack(f"{order}H", len(tags)) + entries + bytes(4) + extra


def read(data):
    (tags,) = read_pages(memoryview(data), PAGE_TAGS)
    return decode_page(memoryview(data), tags)


@pytest.mark.parametrize("tile", [None, (16, 16)], ids=["strips", "tiles"])
@pytest.mark.parametrize("predictor", [False, True], ids=["values", "differences"])
@pytest.mark.parametrize("compression", [None, "zlib"], ids=["plain", "deflated"])
@pytest.mark.parametrize("layout", ["contig", "separate"])
@pytest.mark.parametrize("byteorder", ["<", ">"])
def test_channels_in_every_layout(tile, predictor, compression, layout, byteorder):
    values = CHANNELS if layout == "contig" else np.moveaxis(CHANNELS, -1, 0).copy()
    options = {"predictor": predictor} if compression else {}
    rows = {} if tile else {"rowsperstrip": 4}
    data = tiff(
        values,
        planarconfig=layout,
        compression=compression,
        tile=tile,
        byteorder=byteorder,
        **options,
        **rows,
    )
    np.testing.assert_array_equal(read(data), CHANNELS)


@pytest.mark.parametrize("compression", [None, "zlib"], ids=["plain", "deflated"])
@pytest.mark.parametrize("byteorder", ["<", ">"])
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "f4", "f8"])
def test_types_of_values(dtype, byteorder, compression):
    values = (GREY.astype(float) - 50 * (np.dtype(dtype).kind != "u")).astype(dtype)
    for options in ({}, {"tile": (16, 16)}, {"tile": (16, 16), "predictor": True}, {"predictor": True}):
        if "predictor" in options and (compression is None or dtype[0] == "f"):
            continue
        found = read(tiff(values, byteorder=byteorder, compression=compression, **options))
        np.testing.assert_array_equal(found[..., 0], values)


@pytest.mark.parametrize("tile", [None, 16])
@pytest.mark.parametrize("order", ["<", ">"])
def test_differences_of_floating_point_numbers(order, tile):
    """Technical Note 3: bytes of a row from the most significant to the least, then differences of bytes."""
    values = RANDOM.random((3, 32)).astype(np.float32)
    step = tile or 32
    blocks = [values[:, start : start + step] for start in range(0, 32, step)]
    encoded = []
    for block in blocks:
        rows = b""
        for row in block:
            planes = [struct.pack(">f", value)[byte] for byte in range(4) for value in row.tolist()]
            rows += bytes((new - old) % 256 for old, new in zip([0, *planes], planes, strict=False))
        encoded.append(zlib.compress(rows + bytes(13 * 4 * step if tile else 0)))
    tags = {256: [32], 257: [3], 258: [32], 259: [8], 262: [1], 317: [3], 339: [3]}
    tags |= {322: [16], 323: [16]} if tile else {278: [3]}
    np.testing.assert_array_equal(read(by_hand(tags, encoded, order))[..., 0], values)


@pytest.mark.parametrize("compression", ["tiff_lzw", "packbits", "tiff_adobe_deflate"])
def test_channels_that_pillow_encoded_as_columns(compression):
    """Without differences, rows of interleaved channels are encoded as rows of so many more columns are."""
    file = io.BytesIO()
    Image.fromarray(CHANNELS.reshape(21, 37 * 5)).save(file, "TIFF", compression=compression)
    with tifffile.TiffFile(io.BytesIO(file.getvalue())) as encoded:
        page = encoded.pages[0]
        strips = [
            file.getvalue()[o : o + n] for o, n in zip(page.dataoffsets, page.databytecounts, strict=True)
        ]
        tags = {256: [37], 257: [21], 258: [8] * 5, 259: [int(page.compression)], 262: [1], 277: [5]}
        data = by_hand({**tags, 278: [page.rowsperstrip]}, strips)
    np.testing.assert_array_equal(read(data), CHANNELS)


PAGE = {256: [4], 257: [2], 258: [8], 259: [8], 262: [1], 278: [1]}


def test_deflated_strips_by_hand():
    data = by_hand(PAGE, [zlib.compress(b"abcd"), zlib.compress(b"efgh")], order=">")
    assert read(data).tobytes() == b"abcdefgh"
    # Any larger number of rows of a strip stands for all of them.
    assert read(by_hand({**PAGE, 278: [2**32 - 1]}, [zlib.compress(b"abcdefgh")])).tobytes() == b"abcdefgh"


@pytest.mark.parametrize(
    ("tags", "strips"),
    [
        (PAGE, [zlib.compress(b"abcd")]),
        (PAGE, [zlib.compress(b"abcd"), zlib.compress(b"efg")]),
        (PAGE, [zlib.compress(b"abcd"), zlib.compress(b"efghi")]),
        (PAGE, [zlib.compress(b"abcd"), zlib.compress(b"efgh")[:-1]]),
        (PAGE, [zlib.compress(b"abcd"), zlib.compress(b"efgh")[:-1] + b"?"]),
        (PAGE, [zlib.compress(b"abcd"), zlib.compress(bytes(1 << 26))]),
        ({**PAGE, 317: [2]}, [zlib.compress(b"abcd"), zlib.compress(b"efg")]),
        ({**PAGE, 258: [8, 8], 277: [2], 284: [2]}, [zlib.compress(b"abcd")]),
    ],
    ids=[
        "strip missing",
        "short",
        "long",
        "cut",
        "checksum",
        "bomb",
        "short with differences",
        "plane missing",
    ],
)
def test_strips_that_do_not_hold_what_the_tags_say(tags, strips):
    with pytest.raises(ReadError) as caught:
        read(by_hand(tags, strips))
    assert caught.value.kind == FaultKind.UNREADABLE


def pages(*arrays, **options):
    file = io.BytesIO()
    with tifffile.TiffWriter(file, **options) as writer:
        for array in arrays:
            writer.write(array, photometric="minisblack", metadata=None)
    return bytearray(file.getvalue())


GREY_PAGES = np.zeros((3, 4), np.uint8)


def in_a_circle(page):
    """Return a file whose second page says that it is followed by itself."""
    data = pages(page, page)
    second = read_page(memoryview(data), ()).following
    (entries,) = struct.unpack_from("<H", data, second)
    struct.pack_into("<I", data, second + 2 + 12 * entries, second)
    return bytes(data)


def test_pages_in_a_circle():
    with faulted(ReadError, "pages that form a cycle", kind=FaultKind.UNREADABLE):
        list(read_pages(memoryview(in_a_circle(GREY_PAGES)), ()))


@pytest.mark.parametrize(
    "other", [GREY_PAGES[:, :3], GREY_PAGES.astype(np.uint16), GREY_PAGES.astype(np.int8), GREY_PAGES > 0]
)
def test_pages_unlike_the_first(other):
    data = memoryview(pages(GREY_PAGES, GREY_PAGES, np.ascontiguousarray(other)))
    with faulted(ReadError, "another at page 3", kind=FaultKind.WRONG_VALUE):
        check_pages(data, (1,), max_pages=9)


def test_too_many_pages():
    with faulted(ReadError, "more", kind=FaultKind.TOO_LARGE):
        check_pages(memoryview(pages(GREY_PAGES, GREY_PAGES, GREY_PAGES)), (1,), max_pages=2)
