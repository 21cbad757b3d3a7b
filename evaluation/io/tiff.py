"""TIFF images: one page of grey values or numbers, and several channels of 8 bits in any layout."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io import tiff_pages as tiff
from evaluation.io.pixels import NUMBERS, Size, check_size, grey_of_channels, require_bits
from evaluation.io.tiff_decoder import decode_page
from evaluation.io.tiff_pages import PAGE_TAGS, Tags, check_page, check_pages, read_page, read_pages


def read_tiff(data: memoryview, size: Size | None, any_type: bool = False) -> NDArray[Any]:
    """Return the values (y, x) of a TIFF image of one page, a view of `data` if not compressed.

    Accepted are grey, and RGB with equal channels with or without an opaque alpha channel; strips or tiles;
    uncompressed, LZW, deflate or PackBits. Channels have 8 bits; with ``any_type`` a single one has 8, 16,
    32 or 64, integers or floating-point numbers.

    Raises `ReadError` (unreadable, wrong size, wrong value or too large).
    """
    tags = read_page(data, PAGE_TAGS)
    check_size(tags.size, size)
    if tags.following:
        raise ReadError(FaultKind.WRONG_VALUE, "one page", "several pages")
    channels = tags.one(tiff.SAMPLES, 1)
    if any_type and channels == 1:
        _require_numbers(tags)
    else:
        _require_bytes(tags)
    check_page(tags, (tiff.BLACK_IS_ZERO, tiff.RGB))
    is_grey = tags.one(tiff.PHOTOMETRIC, tiff.BLACK_IS_ZERO) == tiff.BLACK_IS_ZERO
    # Some programs read grey with alpha as rows of another length.
    if channels not in ((1,) if is_grey else (3, 4)):
        raise ReadError(FaultKind.WRONG_VALUE, "one grey channel or RGB", f"{channels} channels")
    extra = tags.values.get(tiff.EXTRA_SAMPLES, ())
    if len(extra) != (channels == 4) or not set(extra) <= set(tiff.ALPHA):
        raise ReadError(FaultKind.WRONG_VALUE, "an extra channel that is declared as alpha", "another one")
    if channels > 1 and tags.one(tiff.PLANAR, 1) != 1:
        raise ReadError(FaultKind.WRONG_VALUE, "channels stored pixel by pixel", "separate planes")
    return grey_of_channels(decode_page(data, tags))


def read_channels(data: memoryview, channels: int, size: Size) -> NDArray[np.uint8]:
    """Return the values (channel, y, x) of an 8-bit TIFF image with channels in any layout.

    Uncompressed, LZW, deflate or PackBits. Number of channels, size, depth and encoding are checked before
    any pixel is decoded.

    Raises `ReadError` (unreadable, wrong size, wrong value or too large).
    """
    photometrics = (tiff.BLACK_IS_ZERO, tiff.RGB, tiff.SEPARATED)
    first, pages = check_pages(data, photometrics, max_pages=max(channels, size.height))
    _require_bytes(first)
    samples = first.one(tiff.SAMPLES, 1)
    # An array (y, x, channel) may have been written as if y were the pages.
    rows_as_pages = samples == 1 and pages == size.height and first.size == Size(channels, size.width) != size
    if not rows_as_pages:
        check_size(first.size, size)
        if channels not in (samples, pages) or 1 not in (samples, pages):
            raise ReadError(FaultKind.WRONG_VALUE, f"{channels} channels", str(samples * pages))
    # Kept channel by channel: interleaving them first would take longer than decoding.
    decoded = [np.moveaxis(decode_page(data, tags), -1, 0) for tags in read_pages(data, PAGE_TAGS)]
    if rows_as_pages:
        return np.ascontiguousarray(np.moveaxis(np.concatenate(decoded), -1, 0))
    return np.ascontiguousarray(decoded[0] if len(decoded) == 1 else np.concatenate(decoded))


def write_tiff(pages: NDArray[Any]) -> bytes:
    """Return pages (page, y, x) of 8 or 32 bits as a deflated file; the same array gives the same bytes."""
    from PIL import Image  # needed by writers only

    first, *others = map(Image.fromarray, pages)
    file = io.BytesIO()
    first.save(file, "TIFF", save_all=True, append_images=others, compression="tiff_adobe_deflate")
    return file.getvalue()


def _require_numbers(tags: Tags) -> None:
    # Some programs read the values of one bit as 0 and 1, others as 0 and 255.
    if tags.dtype is None or tags.one(tiff.BITS, 1) == 1:
        raise ReadError(FaultKind.WRONG_VALUE, NUMBERS, f"{tags.one(tiff.BITS, 1)} bits of another type")


def _require_bytes(tags: Tags) -> None:
    for bits in tags.values.get(tiff.BITS, (1,)):
        require_bits(bits, (8,))
    if any(kind != 1 for kind in tags.values.get(tiff.SAMPLE_FORMAT, (1,))):
        raise ReadError(FaultKind.WRONG_VALUE, "unsigned integers", "another sample format")
