"""Small images and their files, for the tests of the readers of every format."""

import io

import numpy as np
import tifffile
from PIL import Image

from evaluation.io.volume_header import Geometry
from evaluation.io.volumes import read_numbers, write_image

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


def read_grey(data, path, size):
    """Return the values of an image, those of one bit as 0 and 255."""
    values = read_numbers(data, path, size)
    return values.view(np.uint8) * np.uint8(255) if values.dtype == np.bool_ else values


def write_grey(image, extension):
    """Return grey values (y, x) as a file of the format with that extension."""
    return write_image(image[np.newaxis], Geometry((1, *image.shape)), extension, dimensions=2)


def tiff(values, **options):
    """Return the file of an array as tifffile writes it, by default of grey values without a description."""
    file = io.BytesIO()
    tifffile.imwrite(file, values, **{"photometric": "minisblack", "metadata": None} | options)
    return file.getvalue()
