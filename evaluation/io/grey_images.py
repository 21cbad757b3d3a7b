"""Images of grey values in any of the accepted formats."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io import bmp, metaimage, png, tiff_pages
from evaluation.io.bmp import read_bmp
from evaluation.io.buffer import expected_format
from evaluation.io.metaimage import read_metaimage
from evaluation.io.pixels import Size
from evaluation.io.png import read_png, write_png
from evaluation.io.tiff import read_tiff, write_tiff
from evaluation.metrics.crop import Crop, crop

EXTENSIONS = (".bmp", ".png", ".tif", ".tiff", ".mha")

_OTHER_CONTENTS = (
    (b"\xff\xd8\xff", "a JPEG image (lossy: its values are not exact)"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a WebP image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"PK\x03\x04", "a zip archive"),
    (b"%PDF", "a PDF document"),
)

_MAX_REMEMBERED_BYTES = 1 << 16
_MAX_REMEMBERED = 32
_known_empty: dict[tuple[bytes, Size, int], None] = {}


def read_cropped(data: memoryview, path: str, size: Size, background: int) -> Crop:
    """Return a copy of an image cropped to the box of its foreground.

    Small files without foreground are remembered, so that each such content is decoded once: in many phases
    most masks are empty, and equal bytes.

    Raises `ReadError` as `read_grey` does.
    """
    key = (bytes(data), size, background) if len(data) <= _MAX_REMEMBERED_BYTES else None
    if key in _known_empty:
        return Crop(np.empty((0, 0), dtype=np.uint8))
    mask = crop(read_grey(data, path, size), background)
    if key is not None and not mask.values.size:
        if len(_known_empty) == _MAX_REMEMBERED:
            del _known_empty[next(iter(_known_empty))]
        _known_empty[key] = None
    # A copy of the box, since the image may lie in a buffer that the next file overwrites.
    return replace(mask, values=mask.values.copy())


def read_grey(data: memoryview, path: str, size: Size | None) -> NDArray[np.uint8]:
    """Return the grey values (y, x) of a BMP, PNG, TIFF or MetaImage file, possibly as a view of `data`.

    The format is recognised by the content, not by the extension of `path`. The size in the header is
    compared with `size` before any pixel is decoded; without a `size`, the number of pixels is limited.

    Raises `ReadError` (unreadable, wrong size, wrong value, malformed or too large).
    """
    return _read(data, path, size, any_type=False)


def read_numbers(data: memoryview, path: str, size: Size | None) -> NDArray[Any]:
    """Return the values (y, x) of an image that may also have 16 bits (PNG) or any type (TIFF, MetaImage)."""
    return _read(data, path, size, any_type=True)


def _read(data: memoryview, path: str, size: Size | None, any_type: bool) -> NDArray[Any]:
    if data[:2] == bmp.MAGIC:
        return read_bmp(data, size)
    if data[:8] == png.MAGIC:
        return read_png(data, size, any_type)
    if bytes(data[:4]) in tiff_pages.MAGICS:
        return read_tiff(data, size, any_type)
    if data[: len(metaimage.MAGIC)] == metaimage.MAGIC:
        return read_metaimage(data, size, any_type)
    found = next((name for magic, name in _OTHER_CONTENTS if data[: len(magic)] == magic), "other content")
    is_image = os.path.splitext(path)[1].lower() in EXTENSIONS  # noqa: PTH122
    expected = expected_format(path) if is_image else "a BMP, PNG or TIFF image or a MetaImage"
    raise ReadError(FaultKind.UNREADABLE, expected, found)


def write_grey(image: NDArray[np.uint8], extension: str) -> bytes:
    """Return grey values (y, x) as a file of the format with that extension (one of `EXTENSIONS`).

    The same array gives the same bytes. Raises `ValueError` for any other extension.
    """
    if extension not in EXTENSIONS:
        raise ValueError(f"expected one of {', '.join(EXTENSIONS)}, found {extension}")
    image = np.ascontiguousarray(image)
    if extension == ".png":
        return write_png(image)
    if extension == ".mha":
        return write_with_simpleitk(image, extension)
    if extension != ".bmp":
        return write_tiff(image[np.newaxis])
    from PIL import Image  # needed by writers only

    file = io.BytesIO()
    Image.fromarray(image).save(file, "BMP")
    return file.getvalue()


def write_with_simpleitk(values: NDArray[Any], extension: str, **place: Sequence[float]) -> bytes:
    """Return an image (y, x) or a volume (z, y, x) as a compressed file of a format that SimpleITK writes.

    ``place`` holds the spacing, origin and direction to write, in the order x, y, z.
    """
    import SimpleITK  # needed by writers only

    image = SimpleITK.GetImageFromArray(values)
    for name, numbers in place.items():
        getattr(image, f"Set{name.capitalize()}")(numbers)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"image{extension}")
        SimpleITK.WriteImage(image, path, useCompression=True)
        return path.read_bytes()
