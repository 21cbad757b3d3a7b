"""Images of every format: what is read as it was written, what is refused, and what is damaged."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io import volumes
from evaluation.io.pixels import Size, check_size
from evaluation.io.volume_header import Geometry
from evaluation.io.volumes import read_cropped, read_numbers
from evaluation.metrics.crops import crop
from test.faults import faulted
from test.io import test_png
from test.io.formats import READABLE, REFUSED
from test.io.images import GREY, MASK, RANDOM, of, read_grey, write_grey
from test.systems.features import WINDOWS, imitate

OTHERS = {
    "nothing": (b"", FaultKind.UNREADABLE, "other content"),
    "text": (b"disc,cup\n", FaultKind.UNREADABLE, "other content"),
    "jpeg": (of(GREY, "JPEG"), FaultKind.UNREADABLE, "a JPEG image (lossy: its values are not exact)"),
    "gif": (of(GREY, "GIF"), FaultKind.UNREADABLE, "a GIF image"),
}


def check_read(data, expected):
    found = read_grey(memoryview(data), "x", Size(expected.shape[1], expected.shape[0]))
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", READABLE)
def test_reads_the_pixels_that_were_written_as_pillow_does(name):
    data, expected = READABLE[name]
    check_read(data, expected)
    if "bomb" not in name:  # Pillow refuses the large metadata, which need not be looked at
        with Image.open(io.BytesIO(data)) as image:
            np.testing.assert_array_equal(np.asarray(image.convert("RGBA"))[..., 1], expected)


@pytest.mark.parametrize(("data", "expected"), test_png.READABLE.values(), ids=test_png.READABLE)
def test_without_memory_files_the_pixels_are_the_same(data, expected, monkeypatch):
    imitate(WINDOWS, monkeypatch)
    check_read(data, expected)


@pytest.mark.parametrize(("data", "kind", "found"), (OTHERS | REFUSED).values(), ids=OTHERS | REFUSED)
def test_refuses(data, kind, found, capfd):
    with pytest.raises(ReadError) as caught:
        read_grey(memoryview(data), "x", None)
    assert (caught.value.kind, caught.value.found) == (kind, found)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["bmp", "bmp top-down", "tiff", "tiff of many strips"])
def test_raw_pixels_are_not_copied(name):
    data = bytearray(READABLE[name][0])
    image = read_grey(memoryview(data), "x", None)
    assert np.shares_memory(image, np.frombuffer(data, dtype=np.uint8))


@pytest.mark.parametrize(("extension", "header_bytes"), [(".png", 60), (".bmp", 60), (".tif", None)])
def test_the_size_is_checked_before_the_pixels(extension, header_bytes):
    """From the header alone, where that is at the start of the file."""
    data = write_grey(np.zeros((1634, 1633), dtype=np.uint8), extension)[:header_bytes]
    with faulted(ReadError, "1633 × 1634 pixels", kind=FaultKind.WRONG_SIZE) as caught:
        read_grey(memoryview(data), "x", Size(1634, 1634))
    assert caught.value.expected == "1634 × 1634 pixels"


def test_decoded_pixels_outlive_the_decoder():
    image = RANDOM.integers(0, 256, (300, 400), dtype=np.uint8)
    data = memoryview(write_grey(image, ".png"))
    decoded = [read_grey(data, "a.png", None) for _ in range(5)]
    for _ in range(20):  # would take over the memory of images that nobody holds
        read_grey(memoryview(write_grey(255 - image, ".png")), "b.png", None)
    for grey in decoded:
        np.testing.assert_array_equal(grey, image)
        assert not grey.flags.writeable


@settings(max_examples=40)
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


def test_writing_another_format_is_refused():
    with pytest.raises(ValueError, match=r"found \.jpg"):
        write_grey(MASK, ".jpg")


@settings(max_examples=40)
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
        assert mask.corner == expected.corner


@pytest.fixture
def decoded(monkeypatch):
    """Return the paths of the masks that are decoded, in their order."""
    paths = []

    def counting(data, path, size):
        paths.append(path)
        return read_numbers(data, path, size)

    monkeypatch.setattr(volumes, "read_numbers", counting)
    return paths


def test_the_same_empty_mask_is_decoded_once_for_each_size_and_background(decoded):
    white, dotted = np.full((11, 9), 255, dtype=np.uint8), np.full((11, 9), 255, dtype=np.uint8)
    dotted[1, 1] = 0
    empty, full = (memoryview(write_grey(image, ".png")) for image in (white, dotted))
    for name in "abc":
        assert not read_cropped(empty, name, Size(9, 11), 255).values.size
        assert read_cropped(full, name, Size(9, 11), 255).values.shape == (1, 1)
    assert decoded == ["a", "a", "b", "c"]
    assert read_cropped(empty, "black", Size(9, 11), 0).values.shape == (11, 9)
    for _ in range(2):
        with faulted(ReadError, "9 × 11 pixels", kind=FaultKind.WRONG_SIZE):
            read_cropped(empty, "size", Size(6, 11), 255)


def test_an_empty_image_keeps_the_type_of_its_values(decoded):
    data = memoryview(volumes.write_image(np.zeros((1, 2, 3), np.float32), Geometry((1, 2, 3)), ".tif", 2))
    found = [read_cropped(data, "a.tif", Size(3, 2), 0).values for _ in range(2)]
    assert [(values.dtype, values.size) for values in found] == [(np.float32, 0)] * 2
    assert len(decoded) == 1


def test_few_empty_masks_and_only_small_ones_are_remembered(decoded):
    def is_decoded(width, height, extension=".png"):
        image = np.full((height, width), 255, dtype=np.uint8)
        before = len(decoded)
        read_cropped(memoryview(write_grey(image, extension)), "a", Size(width, height), 255)
        return len(decoded) > before

    widths = range(1, 41)
    assert all(is_decoded(width, 3) for width in widths)
    latest_first = [is_decoded(width, 3) for width in widths[::-1][:20]]
    assert not any(latest_first)
    assert is_decoded(1, 3)
    assert [is_decoded(300, 300, ".bmp") for _ in range(2)] == [True, True]


RESAMPLED = "resampled to {} times its size? A mask has the size of the original image"


@pytest.mark.parametrize(
    ("found", "hint"),
    [
        (Size(2056, 2124), "width and height are exchanged: the image is transposed or rotated"),
        (Size(1062, 1028), RESAMPLED.format("0.5")),
        (Size(512, 496), RESAMPLED.format("0.241")),  # rounded to whole pixels
        (Size(4248, 4112), RESAMPLED.format("2")),
        (Size(512, 512), None),  # not of the same shape
        (Size(0, 0), None),
    ],
)
def test_what_a_wrong_size_probably_is(found, hint):
    with pytest.raises(ReadError) as raised:
        check_size(found, Size(2124, 2056))
    assert raised.value.hint == hint
    assert raised.value.fault("a.png").hint == hint
