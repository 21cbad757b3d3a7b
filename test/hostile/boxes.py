"""Hostile and odd boxes and channels, in place of the first image's in a good submission to EDD2020."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import tifffile
from PIL import Image

from .algorithm import converted, data
from .images import tiff, zeros_compressed
from .submissions import AS_BEFORE, Row, replaced
from .volumes import stack

FIRST = "detection_bbox/E00001.txt"
CHANNELS = "semantic_masks/E00001_mask.tif"


def text(change: Callable[[bytes], bytes]) -> Row:
    return Row(converted(change, FIRST))


def channels(make: Callable[[np.ndarray], bytes], expected: object | None = None) -> Row:
    """Return a change that replaces the first image by a file made of its channels (class, y, x)."""

    def spoil(folder: Path) -> None:
        (folder / CHANNELS).write_bytes(make(tifffile.imread(folder / CHANNELS)))

    return Row(spoil, expected)


def written(values: np.ndarray, **options: object) -> bytes:
    file = io.BytesIO()
    tifffile.imwrite(file, values, photometric="minisblack", **options)
    return file.getvalue()


def pillow_pages(values: np.ndarray, compression: str) -> bytes:
    first, *others = map(Image.fromarray, values)
    file = io.BytesIO()
    first.save(file, "TIFF", save_all=True, append_images=others, compression=compression)
    return file.getvalue()


def one_strip(width: int, height: int, content: bytes, **changed: tuple[int, int, int]) -> bytes:
    tags = {256: (4, 1, width), 257: (4, 1, height), 258: (3, 1, 8), 259: (3, 1, 8), 262: (3, 1, 1)}
    tags |= {273: (4, 1, 8), 277: (3, 1, 5), 278: (4, 1, height), 279: (4, 1, len(content))}
    return tiff(tags | {int(name.removeprefix("tag_")): value for name, value in changed.items()}, content)


ROWS = {
    # Boxes.
    "ten thousand wrong lines": text(lambda content: b"x\n" * 10_000),
    "a million wrong lines": text(lambda content: b"x\n" * 1_000_000),
    "a million blank lines of boxes": Row(converted(lambda content: content + b"\n" * 1_000_000, FIRST)),
    "a class of a megabyte": text(lambda content: b"B" * 1_000_000 + b" 0.5 1 2 3 4"),
    "boxes of three megabytes": text(lambda content: content + b" " * 3_000_000),
    "link to other boxes": Row(replaced(lambda path: path.symlink_to("E00009.txt"), FIRST)),
    "boxes of Windows, with a mark and tabs": Row(
        converted(
            lambda content: b"\xef\xbb\xbf" + content.replace(b" ", b"\t").replace(b"\n", b"\r\n\r\n"), FIRST
        ),
        AS_BEFORE,
    ),
    # Channels.
    "channels that go on for 1 GB": channels(
        lambda values: one_strip(160, 128, zeros_compressed(1000, np.moveaxis(values, 0, -1).tobytes()))
    ),
    "channels of four gigapixels": channels(lambda values: one_strip(65_535, 65_535, b"x" * 99)),
    "channels of 10,000 pages": Row(data(stack(10_000), CHANNELS)),
    "channels with 60,000 values on each page": Row(
        data(stack(2_000, tag_258=(3, 60_000, 8)), CHANNELS),
    ),
    "channels in a circle": Row(data(stack(3, in_circle=True), CHANNELS)),
    "channels in the header": channels(
        lambda values: one_strip(160, 128, bytes(160 * 128 * 5), tag_259=(3, 1, 1), tag_273=(4, 1, 0))
    ),
    "channels of one bit": channels(lambda values: pillow_pages(values > 0, "tiff_deflate"), AS_BEFORE),
    "channels as a JPEG": channels(lambda values: pillow_pages(values, "jpeg")),
    "interleaved channels": channels(
        lambda values: written(np.ascontiguousarray(np.moveaxis(values, 0, -1)), planarconfig="contig"),
        AS_BEFORE,
    ),
    "tiled channels": channels(lambda values: written(values, tile=(32, 48), compression="zlib"), AS_BEFORE),
    "channels of a big TIFF": channels(
        lambda values: written(values, bigtiff=True, byteorder=">"), AS_BEFORE
    ),
}
