import contextlib
import io
import struct
import zlib

import numpy as np
import pytest
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io import decoder
from evaluation.io import grey_images as masks_module
from evaluation.io.grey_images import Size, read_cropped, read_grey, write_grey
from evaluation.metrics.crop import crop

RANDOM = np.random.default_rng(20180916)
# An odd width, so that BMP rows are padded; no symmetry, so that a flip or a shift shows.
GREY = RANDOM.integers(0, 256, (6, 7), dtype=np.uint8)
RGB = np.repeat(GREY[:, :, np.newaxis], 3, axis=2)
COLOUR = RGB.copy()
COLOUR[2, 3] = (1, 2, 3)
MASK = np.array([[0, 128, 255, 255, 0], [255, 255, 128, 0, 0], [0, 0, 0, 128, 255]], dtype=np.uint8)


def saved(image, kind, **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def of(array, kind, mode=None, **options):
    image = Image.fromarray(array)
    return saved(image.convert(mode) if mode else image, kind, **options)


def palette_image(array, order, entries=256):
    """Store grey value v as index order[v]."""
    image = Image.fromarray(np.asarray(order, dtype=np.uint8)[array])
    image = Image.frombytes("P", image.size, image.tobytes())
    colours = np.zeros((256, 3), dtype=np.uint8)
    colours[np.asarray(order)] = np.arange(256)[:, np.newaxis]
    image.putpalette(colours[:entries].tobytes())
    return image


def with_alpha(array, value):
    return np.concatenate((array, np.full((*array.shape[:2], 1), value, dtype=np.uint8)), axis=2)


def tiff_of(array, **options):
    file = io.BytesIO()
    tifffile.imwrite(file, array, metadata=None, **options)
    return file.getvalue()


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


REVERSED = np.arange(256)[::-1]
SIXTEEN_GREYS = (GREY // 16) * 17
BITS = (GREY > 127).astype(np.uint8) * 255
DEFLATED = "tiff_adobe_deflate"

READABLE = {
    "bmp": (of(GREY, "BMP"), GREY),
    "bmp of even width": (of(GREY[:, :4].copy(), "BMP"), GREY[:, :4]),
    "bmp top-down": (top_down_bmp(), GREY),
    "bmp with an OS/2 header": (core_header_bmp(), GREY),
    "bmp 1 bit": (of(BITS, "BMP", "1"), BITS),
    "bmp 24 bits": (of(RGB, "BMP"), GREY),
    "bmp 32 bits": (of(with_alpha(RGB, 255), "BMP"), GREY),
    "bmp with a permuted palette": (saved(palette_image(GREY, REVERSED), "BMP"), GREY),
    "bmp with a short palette": (saved(palette_image(MASK // 127, np.arange(256), 3), "BMP"), MASK // 127),
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
    "tiff": (of(GREY, "TIFF"), GREY),
    "tiff lzw": (of(GREY, "TIFF", compression="tiff_lzw"), GREY),
    "tiff deflate": (of(GREY, "TIFF", compression=DEFLATED), GREY),
    "tiff packbits": (of(GREY, "TIFF", compression="packbits"), GREY),
    "tiff rgb": (of(RGB, "TIFF"), GREY),
    "tiff rgb deflate": (of(RGB, "TIFF", compression=DEFLATED), GREY),
    "tiff rgba": (of(with_alpha(RGB, 255), "TIFF"), GREY),
    "tiff grey and alpha": (of(with_alpha(GREY[..., np.newaxis], 255), "TIFF", compression=DEFLATED), GREY),
    "tiff big-endian": (tiff_of(GREY, byteorder=">"), GREY),
    "tiff big": (tiff_of(GREY, bigtiff=True), GREY),
    "tiff of many strips": (tiff_of(GREY, rowsperstrip=4), GREY),
    "tiff tiled": (tiff_of(GREY, tile=(16, 16)), GREY),
    "tiff tiled deflate": (tiff_of(GREY, tile=(16, 16), compression="zlib"), GREY),
    "tiff with a predictor": (tiff_of(GREY, compression="zlib", predictor=True), GREY),
}


@pytest.mark.parametrize("name", READABLE)
def test_reads_the_pixels_that_were_written(name):
    data, expected = READABLE[name]
    found = read_grey(memoryview(data), "x", Size(expected.shape[1], expected.shape[0]))
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, expected)


# Pillow refuses the large metadata, which need not be looked at.
@pytest.mark.parametrize("name", [name for name in READABLE if "bomb" not in name])
def test_pillow_reads_the_same(name):
    data, expected = READABLE[name]
    with Image.open(io.BytesIO(data)) as image:
        np.testing.assert_array_equal(np.asarray(image.convert("RGB"))[..., 1], expected)


@pytest.mark.parametrize("name", [name for name in READABLE if name.startswith(("png", "tiff"))])
def test_without_memory_files_the_pixels_are_the_same(name, monkeypatch):
    monkeypatch.setattr(decoder, "_HAS_MEMORY_FILES", False)
    data, expected = READABLE[name]
    np.testing.assert_array_equal(read_grey(memoryview(data), "x", None), expected)


@pytest.mark.parametrize("bits", [2, 4])
def test_grey_png_of_few_bits_is_spread_over_the_range(bits):
    values = np.array([[0, 1, 2, 3], [3, 2, 1, 0]], dtype=np.uint8)
    packed = [sum(int(v) << (8 - bits * (i + 1)) for i, v in enumerate(row[: 8 // bits])) for row in values]
    width = 8 // bits
    raw = b"".join(b"\0" + bytes([byte]) for byte in packed)
    data = png_file(png_header(width, 2, bits), (b"IDAT", zlib.compress(raw)), (b"IEND", b""))
    scale = {2: 85, 4: 17}[bits]
    np.testing.assert_array_equal(read_grey(memoryview(data), "x", None), values[:, :width] * scale)


def test_bmp_of_four_bits():
    palette = b"".join(bytes([value * 17] * 3 + [0]) for value in range(16))
    header = struct.pack("<2sI4xI", b"BM", 0, 118) + struct.pack(
        "<IiiHHIIiiII", 40, 3, 2, 1, 4, 0, 8, 0, 0, 0, 0
    )
    data = header + palette + bytes([0x12, 0x30, 0, 0]) + bytes([0x4F, 0xA0, 0, 0])
    expected = np.array([[4, 15, 10], [1, 2, 3]], dtype=np.uint8) * 17
    np.testing.assert_array_equal(read_grey(memoryview(data), "x", Size(3, 2)), expected)


@pytest.mark.parametrize("name", ["bmp", "bmp top-down", "tiff", "tiff of many strips"])
def test_raw_pixels_are_not_copied(name):
    data = bytearray(READABLE[name][0])
    image = read_grey(memoryview(data), "x", None)
    assert np.shares_memory(image, np.frombuffer(data, dtype=np.uint8))


def bmp_with(offset, layout, value):
    data = bytearray(of(GREY, "BMP"))
    struct.pack_into(layout, data, offset, value)
    return bytes(data)


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


def turned(kind):
    exif = Image.Exif()
    exif[274] = 6
    return of(GREY, kind, exif=exif) if kind == "PNG" else of(GREY, kind, tiffinfo={274: 6})


def damaged_in_the_middle(data, start, stop):
    return data[:start] + b"\xa5" * (stop - start) + data[stop:]


BIG = RANDOM.integers(0, 3, (200, 200), dtype=np.uint8) * 127
ROWS = b"".join(b"\0" + row.tobytes() for row in GREY)
SIXTEEN_BITS = (GREY.astype(np.uint16) * 257).astype(np.uint16)
WRONG_ADLER = zlib.compress(ROWS)[:-1] + bytes([zlib.compress(ROWS)[-1] ^ 1])
END = (b"IEND", b"")

REFUSED = {
    "nothing": (b"", FaultKind.UNREADABLE, "other content"),
    "text": (b"disc,cup\n", FaultKind.UNREADABLE, "other content"),
    "jpeg": (of(GREY, "JPEG"), FaultKind.UNREADABLE, "a JPEG image (lossy: its values are not exact)"),
    "gif": (of(GREY, "GIF"), FaultKind.UNREADABLE, "a GIF image"),
    "bmp magic only": (b"BM", FaultKind.UNREADABLE, "an incomplete header"),
    "bmp header only": (of(GREY, "BMP")[:30], FaultKind.UNREADABLE, "an incomplete header"),
    "bmp truncated": (of(GREY, "BMP")[:-1], FaultKind.UNREADABLE, "1125 of 1126 bytes"),
    "bmp palette truncated": (bmp_with(10, "<I", 100), FaultKind.UNREADABLE, "an incomplete palette"),
    "bmp pixels far away": (
        bmp_with(10, "<I", 0xFFFFFFFF),
        FaultKind.UNREADABLE,
        "1126 of 4294967343 bytes",
    ),
    "bmp odd header": (bmp_with(14, "<I", 13), FaultKind.UNREADABLE, "a header of 13 bytes"),
    "bmp rle": (bmp_with(30, "<I", 1), FaultKind.WRONG_VALUE, "compression 1"),
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
    "png rotated": (turned("PNG"), FaultKind.WRONG_VALUE, "orientation 6"),
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
    "tiff bits": (of(BITS, "TIFF", "1"), FaultKind.WRONG_VALUE, "1"),
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
    "tiff palette": (saved(palette_image(GREY, REVERSED), "TIFF"), FaultKind.WRONG_VALUE, "a palette"),
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
    "tiff rotated": (turned("TIFF"), FaultKind.WRONG_VALUE, "orientation 6"),
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


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name, capfd):
    data, kind, found = REFUSED[name]
    with pytest.raises(ReadError) as caught:
        read_grey(memoryview(data), "x", None)
    assert (caught.value.kind, caught.value.found) == (kind, found)
    assert capfd.readouterr() == ("", "")


def test_what_was_expected_follows_the_extension():
    with pytest.raises(ReadError, match=r"^expected a PNG image, found other content$"):
        read_grey(memoryview(b"junk"), "disc/V0012.PNG", None)


@pytest.mark.parametrize("extension", [".bmp", ".png", ".tif"])
def test_the_size_is_checked_before_the_pixels(extension):
    """Half the file is enough to see that the size is wrong, and a size is told as the phase says it."""
    data = write_grey(np.zeros((1634, 1633), dtype=np.uint8), extension)
    broken = data if extension == ".tif" else data[:60]
    with pytest.raises(ReadError) as caught:
        read_grey(memoryview(broken), "x", Size(1634, 1634))
    assert caught.value.kind == FaultKind.WRONG_SIZE
    assert str(caught.value) == "expected 1634 × 1634 pixels, found 1633 × 1634 pixels"


def test_the_extension_does_not_matter():
    np.testing.assert_array_equal(read_grey(memoryview(write_grey(MASK, ".png")), "disc.bmp", None), MASK)


def test_a_padded_bottom_up_bmp_equals_the_png_of_the_same_array():
    bmp, png = (read_grey(memoryview(write_grey(GREY, name)), "x", None) for name in (".bmp", ".png"))
    np.testing.assert_array_equal(bmp, png)


@settings(max_examples=40, deadline=None)
@given(
    arrays(np.uint8, array_shapes(min_dims=2, max_dims=2, max_side=40)),
    st.sampled_from([".bmp", ".png", ".tif", ".tiff"]),
)
def test_what_is_written_is_read(image, extension):
    data = write_grey(image, extension)
    np.testing.assert_array_equal(read_grey(memoryview(data), "x", None), image)
    with Image.open(io.BytesIO(data)) as other:
        np.testing.assert_array_equal(np.asarray(other), image)
    assert write_grey(np.asfortranarray(image), extension) == data


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(READABLE)), st.data())
def test_damage_is_a_read_error_or_an_image(name, draw):
    """No byte of a file can make the reader fail in another way."""
    height, width = READABLE[name][1].shape
    data = bytearray(READABLE[name][0])
    for _ in range(draw.draw(st.integers(1, 4))):
        data[draw.draw(st.integers(0, min(len(data), 400) - 1))] = draw.draw(st.integers(0, 255))
    cut = draw.draw(st.integers(len(data) // 2, len(data)))
    with contextlib.suppress(ReadError):
        image = read_grey(memoryview(bytes(data[:cut])), "x", Size(width, height))
        assert (image.shape, image.dtype) == ((height, width), np.uint8)


def test_writing_another_format_is_refused():
    with pytest.raises(ValueError, match=r"found \.jpg"):
        write_grey(MASK, ".jpg")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(arrays(np.uint8, (2, 3), elements=st.sampled_from([0, 128, 255])), min_size=1, max_size=4),
    st.sampled_from([0, 128, 255]),
    st.sampled_from([".bmp", ".png", ".tif"]),
)
def test_a_cropped_mask_is_the_crop_of_the_image_however_often_it_is_read(images, background, extension):
    for image in images * 2:
        data = memoryview(write_grey(image, extension))
        mask = read_cropped(data, f"a{extension}", Size(3, 2), background)
        expected = crop(image, background)
        np.testing.assert_array_equal(mask.values, expected.values)
        assert (mask.top, mask.left) == (expected.top, expected.left)


def test_a_cropped_mask_does_not_hold_on_to_the_whole_image():
    image = np.full((50, 60), 255, dtype=np.uint8)
    image[20:23, 30:34] = 0
    for picture in (image, np.full_like(image, 255)):
        for extension in (".bmp", ".png"):
            buffer = bytearray(write_grey(picture, extension))
            values = read_cropped(memoryview(buffer), f"a{extension}", Size(60, 50), 255).values
            before = values.copy()
            buffer[:] = bytes(len(buffer))
            assert values.base is None
            np.testing.assert_array_equal(values, before)


def test_the_same_empty_mask_is_decoded_once_for_each_size_and_background(monkeypatch):
    decoded = []

    def counting(data, path, size):
        decoded.append(path)
        return read_grey(data, path, size)

    monkeypatch.setattr(masks_module, "read_grey", counting)
    monkeypatch.setattr(masks_module, "_known_empty", {})
    white, dotted = np.full((4, 5), 255, dtype=np.uint8), np.full((4, 5), 255, dtype=np.uint8)
    dotted[1, 1] = 0
    empty, full = (memoryview(write_grey(image, ".png")) for image in (white, dotted))
    for name in "abc":
        assert not read_cropped(empty, name, Size(5, 4), 255).values.size
        assert read_cropped(full, name, Size(5, 4), 255).values.shape == (1, 1)
    assert decoded == ["a", "a", "b", "c"]
    assert read_cropped(empty, "black", Size(5, 4), 0).values.shape == (4, 5)
    for _ in range(2):
        with pytest.raises(ReadError, match="expected 6 × 4 pixels, found 5 × 4 pixels"):
            read_cropped(empty, "size", Size(6, 4), 255)


def test_few_empty_masks_and_only_small_ones_are_remembered(monkeypatch):
    remembered = {}
    monkeypatch.setattr(masks_module, "_known_empty", remembered)
    monkeypatch.setattr(masks_module, "_MOST_REMEMBERED", 3)
    for width in range(1, 6):
        image = np.full((2, width), 255, dtype=np.uint8)
        read_cropped(memoryview(write_grey(image, ".png")), "a.png", Size(width, 2), 255)
    assert [size.width for _, size, _ in remembered] == [3, 4, 5]
    large = np.full((300, 300), 255, dtype=np.uint8)
    read_cropped(memoryview(write_grey(large, ".bmp")), "a.bmp", Size(300, 300), 255)
    assert [size.width for _, size, _ in remembered] == [3, 4, 5]


def test_decoded_pixels_outlive_the_decoder():
    image = RANDOM.integers(0, 256, (300, 400), dtype=np.uint8)
    data = memoryview(write_grey(image, ".png"))
    decoded = [read_grey(data, "a.png", None) for _ in range(5)]
    for _ in range(20):  # would take over the memory of images that nobody holds
        read_grey(memoryview(write_grey(255 - image, ".png")), "b.png", None)
    for pixels in decoded:
        np.testing.assert_array_equal(pixels, image)
        assert not pixels.flags.writeable
