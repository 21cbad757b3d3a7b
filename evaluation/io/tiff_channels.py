"""TIFF images of several 8-bit channels: as pages, pixel by pixel or as separate planes."""

from __future__ import annotations

import io
import logging
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io import tiff_tags
from evaluation.io.pixels import MOST_PIXELS, damaged, not_upright
from evaluation.io.size import Size

if TYPE_CHECKING:
    import tifffile

_IMAGE = "a TIFF image"
_NONE, _LZW, _DEFLATE, _OLD_DEFLATE, _PACK_BITS = 1, 5, 8, 32946, 32773
_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _SEPARATED = 0, 1, 2, 5


def read_channels(data: memoryview, channels: int, size: Size) -> NDArray[np.uint8]:
    """Return the values (channel, y, x) of an 8-bit TIFF image, however its channels are laid out.

    Uncompressed, deflate or PackBits; LZW only as pages. Number of channels, size, depth and encoding are
    compared with what is expected before any pixel is decoded.

    Raises `ReadError` (unreadable, wrong size or wrong value).
    """
    if bytes(data[:4]) not in tiff_tags.MAGICS:
        raise damaged(_IMAGE, "other content")
    import tifffile  # 0.1 s that only these images need

    logging.getLogger("tifffile").disabled = True  # it reports what it thinks of damaged files
    try:
        with tifffile.TiffFile(io.BytesIO(data)) as file:
            series = file.series[0]
            _check_shape(file, tuple(series.shape), str(series.dtype), channels, size)
            for page in series.pages:
                _check_page(page.aspage())
            first = series.pages[0].aspage()
            if int(first.compression) == _LZW:
                values = _pages_with_pillow(data, len(file.pages), channels)
            else:
                values = series.asarray()
    except (ReadError, MemoryError):
        raise
    except Exception:  # on damaged data the library raises almost anything
        raise damaged(_IMAGE, "damaged or incomplete image data") from None
    pixels = np.asarray(values)
    if pixels.dtype != np.uint8:
        raise damaged(_IMAGE, "image data that contradict the header")
    if pixels.shape == (channels, size.height, size.width):
        return pixels
    if pixels.shape != (size.height, size.width, channels):
        raise damaged(_IMAGE, "image data that contradict the header")
    return np.ascontiguousarray(np.moveaxis(pixels, -1, 0))


def write_channels(values: NDArray[np.uint8]) -> bytes:
    """Return values (channel, y, x) as deflated pages; the same array gives the same bytes."""
    import tifffile

    file = io.BytesIO()
    with tifffile.TiffWriter(file) as writer:
        for page in values:
            writer.write(
                page,
                photometric="minisblack",
                compression="zlib",
                compressionargs={"level": 9},
                rowsperstrip=page.shape[0],
                metadata=None,
                software="",
                contiguous=False,
            )
    return file.getvalue()


def _check_shape(
    file: tifffile.TiffFile, shape: tuple[int, ...], dtype: str, channels: int, size: Size
) -> None:
    if len(file.series) > 1:
        raise ReadError(
            FaultKind.WRONG_VALUE, "pages of one size and kind", f"{len(file.series)} different kinds"
        )
    if dtype != "uint8":
        raise ReadError(FaultKind.WRONG_VALUE, "8 bits per channel", f"values of type {dtype}")
    if shape in ((channels, size.height, size.width), (size.height, size.width, channels)):
        return
    page = file.pages[0]
    found = Size(int(page.imagewidth), int(page.imagelength))
    if found != size:
        raise ReadError(FaultKind.WRONG_SIZE, str(size), str(found))
    held = int(page.samplesperpixel) * len(file.pages)
    raise ReadError(FaultKind.WRONG_VALUE, f"{channels} channels", str(held))


def _check_page(page: Any) -> None:
    """Refuse encodings that are not exact, that other programs show differently, or that are too large."""
    if int(page.compression) not in (_NONE, _LZW, _DEFLATE, _OLD_DEFLATE, _PACK_BITS):
        expected = "no compression, LZW, deflate or PackBits"
        raise ReadError(FaultKind.WRONG_VALUE, expected, f"compression {int(page.compression)}")
    if int(page.compression) == _LZW and int(page.samplesperpixel) != 1:
        expected = "one channel a page where LZW compresses them"
        raise ReadError(FaultKind.WRONG_VALUE, expected, f"{int(page.samplesperpixel)} channels in one page")
    if int(page.photometric) not in (_BLACK_IS_ZERO, _RGB, _SEPARATED):
        names = {_WHITE_IS_ZERO: "inverted grey (white is zero)", 3: "a palette", 6: "YCbCr"}
        found = names.get(int(page.photometric), str(int(page.photometric)))
        raise ReadError(FaultKind.WRONG_VALUE, "channels in which black is zero", found)
    if page.is_tiled and int(page.tilewidth) * int(page.tilelength) > MOST_PIXELS:
        raise ReadError(FaultKind.TOO_LARGE, f"tiles of at most {MOST_PIXELS} pixels", "larger tiles")
    orientation = page.tags.get(tiff_tags.ORIENTATION)
    if orientation is not None and int(orientation.value) != 1:
        raise not_upright(int(orientation.value))


def _pages_with_pillow(data: memoryview, pages: int, channels: int) -> NDArray[np.uint8]:
    """Return the pages (page, y, x) of an image; of these libraries only Pillow's knows LZW."""
    from PIL import Image

    if pages != channels:
        raise ReadError(FaultKind.WRONG_VALUE, f"{channels} pages", str(pages))
    decoded = []
    with Image.open(io.BytesIO(data)) as image:
        for page in range(pages):
            image.seek(page)
            decoded.append(np.array(image))
    return np.stack(decoded)
