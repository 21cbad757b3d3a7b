"""The tags of the pages of a TIFF file (and of EXIF metadata), checked before any pixel is decoded."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.pixels import MAX_PIXELS, Size, damaged, not_upright

MAGICS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
IMAGE = "a TIFF image"

WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC, FILL_ORDER = 256, 257, 258, 259, 262, 266
STRIP_OFFSETS, ORIENTATION, SAMPLES, ROWS_PER_STRIP, STRIP_BYTES = 273, 274, 277, 278, 279
PLANAR, PREDICTOR, TILE_WIDTH, TILE_HEIGHT, TILE_OFFSETS, TILE_BYTES = 284, 317, 322, 323, 324, 325
EXTRA_SAMPLES, SAMPLE_FORMAT = 338, 339
KIND_TAGS = frozenset(
    {
        *(WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC, FILL_ORDER, ORIENTATION, SAMPLES),
        *(ROWS_PER_STRIP, PLANAR, PREDICTOR, TILE_WIDTH, TILE_HEIGHT, EXTRA_SAMPLES, SAMPLE_FORMAT),
    }
)
_SINGLE = KIND_TAGS - {BITS, EXTRA_SAMPLES, SAMPLE_FORMAT}
_MIN_SAMPLES = {2: 3, 5: 4, 6: 3}
_ALLOWED = {FILL_ORDER: (1,), PLANAR: (1, 2), PREDICTOR: (1, 2, 3)}
_ALIKE = (WIDTH, HEIGHT, BITS, PHOTOMETRIC, SAMPLE_FORMAT, SAMPLES, PLANAR)
PAGE_TAGS = KIND_TAGS | {STRIP_OFFSETS, STRIP_BYTES, TILE_OFFSETS, TILE_BYTES}

NONE, LZW, DEFLATE, OLD_DEFLATE, PACK_BITS = 1, 5, 8, 32946, 32773
BLACK_IS_ZERO, RGB, SEPARATED = 1, 2, 5
ALPHA = (1, 2)

_MAX_VALUES = 4_000_000
"""The largest number of values of all tags and pages of a file together."""
_TYPE_LETTERS = {3: "H", 4: "I", 16: "Q"}
_PHOTOMETRICS = {0: "inverted grey (white is zero)", 2: "RGB", 3: "a palette", 5: "CMYK", 6: "YCbCr"}
_TYPES = {(1, 1): "u1", (1, 8): "u1", (1, 16): "u2", (1, 32): "u4", (2, 8): "i1", (2, 16): "i2"}
_TYPES |= {(1, 64): "u8", (2, 32): "i4", (2, 64): "i8", (3, 32): "f4", (3, 64): "f8"}


@dataclass(frozen=True, slots=True)
class Tags:
    """The wanted tags of a page, and the position of the next page (0 after the last page)."""

    values: Mapping[int, tuple[int, ...]]
    following: int
    little_endian: bool

    def one(self, tag: int, default: int) -> int:
        """Return the first value of a tag."""
        return self.values[tag][0] if tag in self.values else default

    @property
    def is_tiled(self) -> bool:
        """Whether the page is stored in tiles rather than in strips."""
        return TILE_WIDTH in self.values

    @property
    def places(self) -> tuple[int, int]:
        """The tags of the offsets and the lengths of its tiles or strips."""
        return (TILE_OFFSETS, TILE_BYTES) if self.is_tiled else (STRIP_OFFSETS, STRIP_BYTES)

    @property
    def size(self) -> Size:
        """Width and height; 0 if the tag is missing."""
        return Size(self.one(WIDTH, 0), self.one(HEIGHT, 0))

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The type of the values, byte order included; None if it is not supported."""
        bits, formats = (set(self.values.get(tag, (1,))) for tag in (BITS, SAMPLE_FORMAT))
        code = _TYPES.get((formats.pop(), bits.pop())) if len(bits) == len(formats) == 1 else None
        return np.dtype(code).newbyteorder("<" if self.little_endian else ">") if code else None


def read_page(
    data: memoryview, wanted: Collection[int], start: int | None = None, max_values: int = _MAX_VALUES
) -> Tags:
    """Return the wanted integer tags of the page at ``start``, by default of the first page.

    Classic and big TIFF. Raises `ReadError` (unreadable or too large), also for positions outside the data.
    """
    if bytes(data[:4]) not in MAGICS:
        raise damaged(IMAGE, "an invalid header" if bytes(data[:2]) in (b"II", b"MM") else "other content")
    order = "<" if data[0] == ord("I") else ">"
    big = ord("+") in (data[2], data[3])
    offset, count_letter, entry_bytes = ("Q", "Q", 20) if big else ("I", "H", 12)
    try:
        if start is None:
            (start,) = struct.unpack_from(f"{order}{offset}", data, 8 if big else 4)
        (entries,) = struct.unpack_from(f"{order}{count_letter}", data, start)
        start += struct.calcsize(f"={count_letter}")
        if start + entries * entry_bytes > len(data):
            raise damaged(IMAGE, "an incomplete header")
        values: dict[int, tuple[int, ...]] = {}
        for position in range(start, start + entries * entry_bytes, entry_bytes):
            tag, kind, count = struct.unpack_from(f"{order}HH{offset}", data, position)
            if tag not in wanted:
                continue
            if tag in values or kind not in _TYPE_LETTERS or count < 1:
                raise damaged(IMAGE, f"an invalid tag {tag}")
            max_values -= count
            if max_values < 0:
                raise ReadError(FaultKind.TOO_LARGE, f"at most {_MAX_VALUES} values of tags", "more")
            layout = f"{order}{count}{_TYPE_LETTERS[kind]}"
            place = position + entry_bytes - struct.calcsize(f"={offset}")
            if struct.calcsize(layout) > struct.calcsize(f"={offset}"):
                (place,) = struct.unpack_from(f"{order}{offset}", data, place)
            values[tag] = struct.unpack_from(layout, data, place)
        # A file may end without the position of the next page.
        end = bytes(data[start + entries * entry_bytes :][: struct.calcsize(f"={offset}")])
    except (struct.error, OverflowError, IndexError):
        raise damaged(IMAGE, "a header that points outside the file") from None
    return Tags(values, int.from_bytes(end, "little" if order == "<" else "big"), order == "<")


def read_pages(data: memoryview, wanted: Collection[int]) -> Iterator[Tags]:
    """Yield the wanted tags of every page. Raises `ReadError`, also if the pages form a cycle."""
    seen: set[int] = set()
    start: int | None = None
    max_values = _MAX_VALUES
    while start != 0:
        page = read_page(data, wanted, start, max_values)
        max_values -= sum(map(len, page.values.values()))
        yield page
        start = page.following
        if start in seen:
            raise damaged(IMAGE, "pages that form a cycle")
        seen.add(start)


def check_page(tags: Tags, photometrics: Collection[int]) -> None:
    """Raise `ReadError` for a page that is lossy, too large, or that programs could show differently."""
    for tag, values in tags.values.items():
        if (tag in _SINGLE and len(values) > 1) or not set(values) <= set(_ALLOWED.get(tag, values)):
            raise damaged(IMAGE, f"an invalid tag {tag}")
    if PHOTOMETRIC not in tags.values:  # some programs then take white for zero
        raise damaged(IMAGE, f"no tag {PHOTOMETRIC} (photometric interpretation)")
    compression, photometric = tags.one(COMPRESSION, NONE), tags.one(PHOTOMETRIC, BLACK_IS_ZERO)
    if compression not in (NONE, LZW, DEFLATE, OLD_DEFLATE, PACK_BITS):
        expected = "no compression, LZW, deflate or PackBits"
        raise ReadError(FaultKind.WRONG_VALUE, expected, f"compression {compression}")
    if tags.one(SAMPLES, 1) < _MIN_SAMPLES.get(photometric, 1):
        raise damaged(IMAGE, f"{tags.one(SAMPLES, 1)} channels of {_PHOTOMETRICS.get(photometric, 'grey')}")
    if photometric not in photometrics:
        found = _PHOTOMETRICS.get(photometric, str(photometric))
        raise ReadError(FaultKind.WRONG_VALUE, "channels in which black is zero", found)
    if 0 in (tags.one(TILE_WIDTH, 1), tags.one(TILE_HEIGHT, 1)):
        raise damaged(IMAGE, "tiles without pixels")
    if tags.one(TILE_WIDTH, 1) * tags.one(TILE_HEIGHT, 1) > MAX_PIXELS:
        raise ReadError(FaultKind.TOO_LARGE, f"tiles of at most {MAX_PIXELS} pixels", "larger tiles")
    if tags.one(ORIENTATION, 1) != 1:
        raise not_upright(tags.one(ORIENTATION, 1))


def check_pages(data: memoryview, photometrics: Collection[int], max_pages: int) -> tuple[Tags, int]:
    """Return the tags of the first page and the number of pages, after checking that all are alike.

    Raises `ReadError`.
    """
    first: Tags | None = None
    number = 0
    for number, page in enumerate(read_pages(data, KIND_TAGS), start=1):
        if number > max_pages:
            raise ReadError(FaultKind.TOO_LARGE, f"at most {max_pages} pages", "more")
        check_page(page, photometrics)
        first = first or page
        if any(page.values.get(tag) != first.values.get(tag) for tag in _ALIKE):
            raise ReadError(FaultKind.WRONG_VALUE, "pages of one size and type", f"another at page {number}")
    if first is None:
        raise damaged(IMAGE, "no page")
    return first, number
