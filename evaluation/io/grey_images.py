"""Images of grey values in any of the accepted formats, and the modules of all formats."""

import importlib
from collections.abc import Mapping
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from evaluation.core.formats import (
    FORMATS,
    HEAD_BYTES,
    Format,
    extensions_of,
    format_of_content,
    format_of_name,
    image_formats,
    other_content,
)
from evaluation.io.pixels import Size
from evaluation.io.volume_header import Geometry
from evaluation.io.voxels import BegunStream, OpenVolume, whole_plane
from evaluation.metrics.crops import Crop, crop

EXTENSIONS = extensions_of(image_formats(2))


class Codec(Protocol):
    """The functions of a format's module: of images, of volumes or of both, as its row in `FORMATS` says."""

    def read_image(self, data: memoryview, size: Size | None) -> NDArray[Any]:
        """Return the values (y, x) of any type, those of one bit as booleans. Raises `ReadError`.

        The size in the header is compared with ``size`` before any value is decoded.
        """

    def open_volume(self, stream: BegunStream, slab_bytes: int, max_pages: int) -> OpenVolume:
        """Return a volume whose header has been read. Raises `ReadError`, `ValueError` for no numbers."""

    def write(self, values: NDArray[Any], geometry: Geometry | None, extension: str) -> bytes:
        """Return a volume (z, y, x), without a ``geometry`` an image of its one plane, as a file."""


# A confined reader must have them: they are imported here, and not when the first file is read.
CODECS: Mapping[Format, Codec] = {
    row: cast(Codec, importlib.import_module(row.module)) for row in FORMATS if row.module
}

_MAX_REMEMBERED_BYTES = 1 << 16
_MAX_REMEMBERED = 32
_known_empty: dict[tuple[bytes, Size, int], None] = {}


def read_cropped(data: memoryview, path: str, size: Size, background: int) -> Crop:
    """Return the values of an image of any type, cropped to those that are not the background.

    Small files without foreground are remembered, so that each such content is decoded once: in many phases
    most masks are empty, and equal bytes.

    Values of other types than 8 bits are cropped for a background of 0 alone. Raises `ReadError` as
    `read_numbers` does.
    """
    key = (bytes(data), size, background) if len(data) <= _MAX_REMEMBERED_BYTES else None
    if key in _known_empty:
        return Crop(np.empty((0, 0), dtype=np.uint8))
    values = read_numbers(data, path, size)
    if values.dtype == np.uint8:
        mask = crop(values, background)
    else:
        mask = Crop(values) if background else whole_plane(values).crop
    if key is not None and not mask.values.size:
        if len(_known_empty) == _MAX_REMEMBERED:
            del _known_empty[next(iter(_known_empty))]
        _known_empty[key] = None
    return mask


def read_numbers(data: memoryview, path: str, size: Size | None) -> NDArray[Any]:
    """Return the values (y, x) of a BMP, PNG, TIFF or MetaImage file, possibly as a view of `data`.

    They have 8 bits, in PNG also 16 and in TIFF and MetaImage any type; those of one bit are booleans.
    The format is recognised by the content, not by the extension of `path`. The size in the header is
    compared with `size` before any pixel is decoded; without a `size`, the number of pixels is limited.

    Raises `ReadError` (unreadable, wrong size, wrong value, malformed or too large).
    """
    content = format_of_content(bytes(data[:HEAD_BYTES]))
    if content is not None and 2 in content.dimensions:
        return CODECS[content].read_image(data, size)
    wanted = format_of_name(path)
    possible = [wanted] if wanted is not None and 2 in wanted.dimensions else image_formats(2)
    expected = " or ".join(row.name for row in possible)
    raise other_content(bytes(data[:HEAD_BYTES]), expected)


def write_grey(image: NDArray[Any], extension: str) -> bytes:
    """Return grey values (y, x) as a file of the format with that extension (one of `EXTENSIONS`).

    The same array gives the same bytes. Raises `ValueError` for any other extension.
    """
    if extension not in EXTENSIONS:
        raise ValueError(f"expected one of {', '.join(EXTENSIONS)}, found {extension}")
    return write_values(image[np.newaxis], None, extension)


def write_values(values: NDArray[Any], geometry: Geometry | None, extension: str) -> bytes:
    """Return values as `Codec.write` in the format with that extension."""
    row = format_of_name(extension)
    assert row is not None
    return CODECS[row].write(values, geometry, extension)
