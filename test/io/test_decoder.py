"""Decoding by the two libraries, with and without files in memory."""

import numpy as np
import pytest

from evaluation.io.grey_images import read_grey, write_grey
from test.io.images import (
    RANDOM,
    check_read,
)
from test.io.test_png import READABLE
from test.systems.features import WINDOWS, imitate


@pytest.mark.parametrize(("data", "expected"), READABLE.values(), ids=READABLE)
def test_without_memory_files_the_pixels_are_the_same(data, expected, monkeypatch):
    imitate(WINDOWS, monkeypatch)
    check_read(data, expected)


def test_decoded_pixels_outlive_the_decoder():
    image = RANDOM.integers(0, 256, (300, 400), dtype=np.uint8)
    data = memoryview(write_grey(image, ".png"))
    decoded = [read_grey(data, "a.png", None) for _ in range(5)]
    for _ in range(20):  # would take over the memory of images that nobody holds
        read_grey(memoryview(write_grey(255 - image, ".png")), "b.png", None)
    for grey in decoded:
        np.testing.assert_array_equal(grey, image)
        assert not grey.flags.writeable
