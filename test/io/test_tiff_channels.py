import io

import numpy as np
import pytest
import tifffile
from PIL import Image

from evaluation.core.fault import ReadError
from evaluation.io.size import Size
from evaluation.io.tiff_channels import read_channels, write_channels

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
    data = write_channels(VALUES)
    assert data == write_channels(VALUES.copy())
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
        "expected 8 bits per channel, found values of type uint16",
    ),
    "floats": (
        tiff(VALUES.astype(np.float32), photometric="minisblack"),
        "expected 8 bits per channel, found values of type float32",
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
    "header alone": (b"II*\0\x08\0\0\0", "expected a TIFF image, found damaged or incomplete image data"),
}


@pytest.mark.parametrize(("data", "message"), BAD.values(), ids=BAD)
def test_what_is_refused(data, message):
    with pytest.raises(ReadError) as caught:
        read(data)
    assert message is None or str(caught.value) == message


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
