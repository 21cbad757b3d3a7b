import io
import struct

import numpy as np
import pytest
import tifffile

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.pixels import Size
from evaluation.io.tiff import KIND_TAGS, ORIENTATION, check_pages, read_page, read_pages
from test.faults import faulted


def pages(*arrays, **options):
    file = io.BytesIO()
    with tifffile.TiffWriter(file, **options) as writer:
        for array in arrays:
            writer.write(array, photometric="minisblack", metadata=None)
    return bytearray(file.getvalue())


GREY = np.zeros((3, 4), np.uint8)


@pytest.mark.parametrize("bigtiff", [False, True])
@pytest.mark.parametrize("byteorder", ["<", ">"])
@pytest.mark.parametrize("dtype", ["u1", "u2", "i4", "f4"])
def test_what_the_tags_say(bigtiff, byteorder, dtype):
    data = memoryview(pages(GREY.astype(dtype), GREY.astype(dtype), bigtiff=bigtiff, byteorder=byteorder))
    first, second = read_pages(data, KIND_TAGS)
    assert first.size == second.size == Size(4, 3)
    assert first.dtype == np.dtype(f"{byteorder}{dtype}")
    assert first.following > 0 == second.following
    tags, count = check_pages(data, (1,), max_pages=2)
    assert (tags, count) == (first, 2)


def test_only_wanted_tags_are_read():
    assert read_page(memoryview(pages(GREY)), (ORIENTATION,)).values == {}


def in_a_circle(page):
    """Return a file whose second page says that it is followed by itself."""
    data = pages(page, page)
    second = read_page(memoryview(data), ()).following
    (entries,) = struct.unpack_from("<H", data, second)
    struct.pack_into("<I", data, second + 2 + 12 * entries, second)
    return bytes(data)


def test_pages_in_a_circle():
    with faulted(ReadError, "pages that form a cycle", kind=FaultKind.UNREADABLE):
        list(read_pages(memoryview(in_a_circle(GREY)), ()))


@pytest.mark.parametrize("other", [GREY[:, :3], GREY.astype(np.uint16), GREY.astype(np.int8), GREY > 0])
def test_pages_unlike_the_first(other):
    data = memoryview(pages(GREY, GREY, np.ascontiguousarray(other)))
    with faulted(ReadError, "another at page 3", kind=FaultKind.WRONG_VALUE):
        check_pages(data, (1,), max_pages=9)


def test_too_many_pages():
    with faulted(ReadError, "more", kind=FaultKind.TOO_LARGE):
        check_pages(memoryview(pages(GREY, GREY, GREY)), (1,), max_pages=2)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "other content"),
        (b"II*", "an invalid header"),
        (b"II*\0", "a header that points outside the file"),
        (b"MM\0*\0\0\0\x08\0\2" + bytes(12), "an incomplete header"),
    ],
)
def test_what_is_no_page(content, found):
    with pytest.raises(ReadError) as caught:
        read_page(memoryview(content), KIND_TAGS)
    assert caught.value.found == found
