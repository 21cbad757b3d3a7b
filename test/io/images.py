"""Small images and their files, for the tests of the readers of every format."""

import contextlib
import io

import numpy as np
import pytest
from hypothesis import strategies as st
from PIL import Image

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.grey_images import read_grey, write_grey
from evaluation.io.pixels import Size

RANDOM = np.random.default_rng(20180916)
# An odd width, so that BMP rows are padded; no symmetry, so that a flip or a shift shows.
GREY = RANDOM.integers(0, 256, (6, 7), dtype=np.uint8)
RGB = np.repeat(GREY[:, :, np.newaxis], 3, axis=2)
COLOUR = RGB.copy()
COLOUR[2, 3] = (1, 2, 3)
MASK = np.array([[0, 128, 255, 255, 0], [255, 255, 128, 0, 0], [0, 0, 0, 128, 255]], dtype=np.uint8)
BIG = RANDOM.integers(0, 3, (200, 200), dtype=np.uint8) * 127
BITS = (GREY > 127).astype(np.uint8) * 255
SIXTEEN_BITS = (GREY.astype(np.uint16) * 257).astype(np.uint16)
REVERSED = np.arange(256)[::-1]


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


def damaged_in_the_middle(data, start, stop):
    return data[:start] + b"\xa5" * (stop - start) + data[stop:]


# The bytes of a file that are changed, and the share of it that is kept.
CHANGES = st.lists(st.tuples(st.integers(0, 399), st.integers(0, 255)), min_size=1, max_size=4)
KEPT = st.floats(0.5, 1)


def check_read(data, expected):
    found = read_grey(memoryview(data), "x", Size(expected.shape[1], expected.shape[0]))
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, expected)


def check_pillow_reads_the_same(data, expected):
    with Image.open(io.BytesIO(data)) as image:
        np.testing.assert_array_equal(np.asarray(image.convert("RGBA"))[..., 1], expected)


def check_refused(data, kind, found, capfd):
    with pytest.raises(ReadError) as caught:
        read_grey(memoryview(data), "x", None)
    assert (caught.value.kind, caught.value.found) == (kind, found)
    assert capfd.readouterr() == ("", "")


def check_size_comes_first(extension, header_bytes=None):
    """Check that a wrong size is told as the phase says it, from the header alone if that is all there is."""
    data = write_grey(np.zeros((1634, 1633), dtype=np.uint8), extension)
    with pytest.raises(ReadError) as caught:
        read_grey(memoryview(data[:header_bytes]), "x", Size(1634, 1634))
    assert caught.value.kind == FaultKind.WRONG_SIZE
    assert str(caught.value) == "expected 1634 × 1634 pixels, found 1633 × 1634 pixels"


def check_damaged(data, expected, changes, kept):
    """Check that a file with changed bytes, cut to a share, is a `ReadError` or an image of its size."""
    height, width = expected.shape
    changed = bytearray(data)
    for position, value in changes:
        changed[position % min(len(data), 400)] = value
    with contextlib.suppress(ReadError):
        cut = bytes(changed[: int(kept * len(data))])
        image = read_grey(memoryview(cut), "x", Size(width, height))
        assert (image.shape, image.dtype) == ((height, width), np.uint8)
