"""TIFF masks as other programs write them: one bit, left-out blocks, pyramids, whole slides."""

import io
from functools import reduce

import numpy as np
import pytest
import tifffile
from PIL import Image

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io import tiff
from evaluation.io.kinds.label_map import ListedLabels
from evaluation.io.pixels import Size
from evaluation.io.volumes import read_numbers
from evaluation.metrics.crops import Box
from test.faults import faulted
from test.io.images import BITS, GREY, of, read_grey
from test.io.test_tiff_decoder import by_hand

LARGE = np.zeros((300, 400), np.uint8)
LARGE[40:170, 90:333] = np.random.default_rng(1).integers(0, 3, (130, 243))


def size_of(values):
    return Size(values.shape[1], values.shape[0])


def tiff_of(values, **options):
    file = io.BytesIO()
    tifffile.imwrite(file, values, photometric="minisblack", **options)
    return file.getvalue()


ONE_BIT = {
    "tifffile": tiff_of(BITS > 0),
    "tifffile, deflated": tiff_of(BITS > 0, compression="zlib"),
    "Pillow": of(BITS, "TIFF", "1"),
    **{
        f"Pillow, {compression}": of(BITS, "TIFF", "1", compression=compression)
        for compression in ("group3", "group4", "tiff_lzw", "packbits", "tiff_adobe_deflate")
    },
}


@pytest.mark.parametrize("data", ONE_BIT.values(), ids=ONE_BIT)
def test_one_bit_is_off_or_on(data):
    np.testing.assert_array_equal(read_grey(memoryview(data), "x.tif", size_of(BITS)), BITS)
    np.testing.assert_array_equal(read_numbers(memoryview(data), "x.tif", size_of(BITS)), BITS > 0)


@pytest.mark.parametrize(("labels", "position"), [([1], 1), ([255], 1), ([7, 255], 2), ([2, 1], 2)])
def test_on_is_the_listed_label(labels, position):
    found = ListedLabels(labels, 0).positions(np.array([[False, True]]))
    assert found.tolist() == [[0, position]]
    with faulted(ReadError, "1", kind=FaultKind.WRONG_VALUE):
        ListedLabels([7], 0).positions(np.array([[False, True]]))


def without_block(data, number):
    """Return a TIFF whose block of that number is left out, as GDAL's SPARSE_OK leaves it."""
    changed = bytearray(data)
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        tags = file.pages[0].tags
        for name in ("StripOffsets", "StripByteCounts", "TileOffsets", "TileByteCounts"):
            if name in tags:
                tag = tags[name]
                width = {3: 2, 4: 4, 16: 8}[tag.dtype]
                place = tag.valueoffset + width * number
                changed[place : place + width] = bytes(width)
    return bytes(changed)


@pytest.mark.parametrize("options", [{"tile": (64, 64)}, {"rowsperstrip": 64}], ids=["tiles", "strips"])
@pytest.mark.parametrize("compression", [None, "zlib"])
def test_blocks_that_are_left_out_are_0(options, compression):
    data = without_block(tiff_of(LARGE, compression=compression, **options), 2)
    expected = LARGE.copy()
    expected[(slice(0, 64), slice(128, 192)) if "tile" in options else slice(128, 192)] = 0
    np.testing.assert_array_equal(read_grey(memoryview(data), "x.tif", size_of(LARGE)), expected)


def lzw_tiles(values, size):
    """Return a TIFF of LZW tiles, each encoded by Pillow as a strip of a file of its own."""
    pieces = []
    for top in range(0, values.shape[0], size):
        for left in range(0, values.shape[1], size):
            tile = np.zeros((size, size), np.uint8)
            part = values[top : top + size, left : left + size]
            tile[: part.shape[0], : part.shape[1]] = part
            file = io.BytesIO()
            Image.fromarray(tile).save(file, "TIFF", compression="tiff_lzw", tiffinfo={278: size})
            file.seek(0)
            with tifffile.TiffFile(file) as opened:
                page = opened.pages[0]
                (start,), (count,) = page.dataoffsets, page.databytecounts
            pieces.append(file.getvalue()[start : start + count])
    tags = {256: [values.shape[1]], 257: [values.shape[0]], 258: [8], 259: [5], 262: [1], 277: [1]}
    return by_hand({**tags, 322: [size], 323: [size]}, pieces)


WHOLE_SLIDES = {
    "tiles": tiff_of(LARGE, tile=(64, 64)),
    "deflated tiles": tiff_of(LARGE, tile=(64, 64), compression="zlib"),
    "LZW tiles": lzw_tiles(LARGE, 64),
    "LZW strips": of(LARGE, "TIFF", compression="tiff_lzw"),
    "strips": tiff_of(LARGE, rowsperstrip=7),
    "one strip": tiff_of(LARGE, rowsperstrip=300),
    "16-bit tiles": tiff_of(LARGE.astype(np.uint16), tile=(64, 64)),
}


@pytest.mark.parametrize("background", [0, 1])
@pytest.mark.parametrize("name", WHOLE_SLIDES)
def test_a_large_mask_is_read_tile_by_tile(name, background, counts_as_large, monkeypatch):
    counts_as_large("io.tiff.LARGE_PIXELS")
    monkeypatch.setattr(tiff, "BATCH_BYTES", 5000)  # of rows without compression, too
    whole, boxes = np.full(LARGE.shape, background, LARGE.dtype), []
    for part in tiff.read_parts(memoryview(WHOLE_SLIDES[name]), size_of(LARGE), background):
        whole[part.box.slices] = part.values
        boxes.append(part.box)
    np.testing.assert_array_equal(whole, LARGE)
    assert len(boxes) > 1
    if background == 0:
        assert reduce(Box.union, boxes).slices == (slice(40, 170), slice(90, 333))


@pytest.mark.parametrize("compression", ["tiff_lzw", "tiff_adobe_deflate", "raw"])
def test_pillow_s_limit_of_pixels_is_none_of_ours(compression):
    """A mask of 14,000 × 14,000 pixels, beyond 2 × 89 million."""
    values = np.zeros((14_000, 14_000), np.uint8)
    values[9_000:9_100, 13_900:] = 255
    data = memoryview(of(values, "TIFF", compression=compression))
    found = [part.copy() for part in tiff.read_parts(data, size_of(values), 0)]
    assert sum(part.values.size for part in found) == 100 * 100
    assert all(part.corner[1] == 13_900 and (part.values == 255).all() for part in found)


def pyramid(levels, flagged=True, sub_pages=False):
    file = io.BytesIO()
    with tifffile.TiffWriter(file) as writer:
        first, *others = levels
        options = {"photometric": "minisblack", "tile": (16, 16), "metadata": None}
        writer.write(first, subifds=len(others) if sub_pages else None, **options)
        for level in others:
            writer.write(level, subfiletype=int(flagged), **options)
    return file.getvalue()


@pytest.mark.parametrize("sub_pages", [False, True], ids=["pages", "OME-TIFF's sub-pages"])
def test_of_a_pyramid_the_largest_level_is_read(sub_pages):
    data = pyramid([LARGE, LARGE[::2, ::2], LARGE[::4, ::4]], sub_pages=sub_pages)
    np.testing.assert_array_equal(read_grey(memoryview(data), "x.tif", size_of(LARGE)), LARGE)


@pytest.mark.parametrize(
    "data",
    [pyramid([GREY, GREY], flagged=False), pyramid([LARGE[::2, ::2], LARGE])],
    ids=["pages", "upside down"],
)
def test_other_pages_are_refused(data):
    with faulted(ReadError, "several pages", kind=FaultKind.WRONG_VALUE):
        read_grey(memoryview(data), "x.tif", None)


BLOCKS = {
    "tiles": lambda image: tiff_of(image, compression="zlib", tile=(16, 16)),
    "strips": lambda image: tiff_of(image, compression="zlib", rowsperstrip=16),
    "plain": lambda image: tiff_of(image, tile=(16, 16)),
    "LZW": lambda image: lzw_tiles(image, 16),
}


@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("background", [0, 7])
def test_equal_empty_blocks_are_left_out_and_nothing_else(blocks, background, monkeypatch):
    """Among empty blocks: some that differ in a pixel, and the last ones, which are cut by the edge."""
    image = np.full((90, 100), background, np.uint8)
    image[40, 70] = image[89, 99] = image[17, 33] = 3
    monkeypatch.setattr(tiff, "LARGE_PIXELS", 1)
    whole = np.full_like(image, background)
    for part in tiff.read_parts(memoryview(BLOCKS[blocks](image)), size_of(image), background):
        whole[part.box.slices] = part.values
    np.testing.assert_array_equal(whole, image)


def test_an_empty_block_of_fewer_rows_is_not_taken_for_a_whole_one():
    """The last strip has the bytes of the others, which are too many for its rows."""
    data = bytearray(tiff_of(np.zeros((32, 64), np.uint8), compression="zlib", rowsperstrip=16))
    tags = tiff.read_page(memoryview(data), tiff.PAGE_TAGS)
    tags.values[tiff.HEIGHT] = (20,)
    with pytest.raises(ReadError):
        list(tiff.decode_parts(memoryview(data), tags, 0))
