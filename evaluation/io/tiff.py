"""TIFF images: tags are checked before any pixel is decoded.

tifffile would replace little of it. It decodes as fast (0.7 to 1.1 of the time with zlib-ng, up to 3 times
with its own inflater), but corrects or drops tags in place of refusing them, inflates without a limit, and
needs imagecodecs, 79 MB of an image, for LZW, fax codes and differences of floating-point numbers. Every
refusal here would stay, and each reader would take 25 ms to import it.
"""

import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.core.formats import HEAD_BYTES, TIFF, other_content
from evaluation.core.sources import FileContent
from evaluation.io.pixels import (
    MAX_PIXELS,
    NUMBERS,
    Size,
    check_size,
    damaged,
    decode,
    grey_of_channels,
    grey_of_palette,
    not_upright,
    require_bits,
    write_with_pillow,
)
from evaluation.io.volume_header import header_of
from evaluation.io.voxels import BegunStream, OpenVolume, whole_plane
from evaluation.metrics.crops import Crop, crop

# --- The tags of the pages of a TIFF file (and of EXIF metadata), checked before any pixel is decoded ---

IMAGE = TIFF.name

WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC, FILL_ORDER = 256, 257, 258, 259, 262, 266
STRIP_OFFSETS, ORIENTATION, SAMPLES, ROWS_PER_STRIP, STRIP_BYTES = 273, 274, 277, 278, 279
PLANAR, PREDICTOR, TILE_WIDTH, TILE_HEIGHT, TILE_OFFSETS, TILE_BYTES = 284, 317, 322, 323, 324, 325
EXTRA_SAMPLES, SAMPLE_FORMAT = 338, 339
SOFTWARE, COLOURS = 305, 320
REDUCED, _FAX_OPTIONS = 254, (292, 293)
KIND_TAGS = frozenset(
    {
        *(WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC, FILL_ORDER, ORIENTATION, SAMPLES),
        *(ROWS_PER_STRIP, PLANAR, PREDICTOR, TILE_WIDTH, TILE_HEIGHT, EXTRA_SAMPLES, SAMPLE_FORMAT),
        *(REDUCED, *_FAX_OPTIONS, SOFTWARE),
    }
)
_SINGLE = KIND_TAGS - {BITS, EXTRA_SAMPLES, SAMPLE_FORMAT, SOFTWARE}
_MIN_SAMPLES = {2: 3, 5: 4, 6: 3}
# A page is not a smaller copy of another one, nor its mask.
_ALLOWED = {REDUCED: (0, 2), FILL_ORDER: (1,), PLANAR: (1, 2), PREDICTOR: (1, 2, 3)}
_ALIKE = (WIDTH, HEIGHT, BITS, PHOTOMETRIC, SAMPLE_FORMAT, SAMPLES, PLANAR)
PAGE_TAGS = KIND_TAGS | {COLOURS, STRIP_OFFSETS, STRIP_BYTES, TILE_OFFSETS, TILE_BYTES}

NONE, LZW, DEFLATE, OLD_DEFLATE, PACK_BITS = 1, 5, 8, 32946, 32773
FAXES = (2, 3, 4)
"""CCITT's codes for images of one bit."""
WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE, SEPARATED = 0, 1, 2, 3, 5
ALPHA = (1, 2)

_MAX_VALUES = 4_000_000
"""The largest number of values of all tags and pages of a file together."""
_TYPE_LETTERS = {3: "H", 4: "I", 16: "Q"}
_TEXT, _TIFFFILE = 2, b"tifffile.py"
_PHOTOMETRICS = {0: "inverted grey (white is zero)", 2: "RGB", 3: "a palette", 5: "CMYK", 6: "YCbCr"}
_TYPES = {(1, 1): "?", (1, 8): "u1", (1, 16): "u2", (1, 32): "u4", (2, 8): "i1", (2, 16): "i2"}
_TYPES |= {(1, 64): "u8", (2, 32): "i4", (2, 64): "i8", (3, 16): "f2", (3, 32): "f4"}
_TYPES |= {(3, 64): "f8"}


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
        return not self.values.keys().isdisjoint((TILE_WIDTH, TILE_HEIGHT, TILE_OFFSETS, TILE_BYTES))

    @property
    def places(self) -> tuple[int, int]:
        """The tags of the offsets and the lengths of its tiles or strips."""
        return (TILE_OFFSETS, TILE_BYTES) if self.is_tiled else (STRIP_OFFSETS, STRIP_BYTES)

    @property
    def size(self) -> Size:
        """Width and height; 0 if the tag is missing."""
        return Size(self.one(WIDTH, 0), self.one(HEIGHT, 0))

    @property
    def photometric(self) -> int:
        """What values mean; tifffile stores booleans as if white were zero, and reads them as they were."""
        found = self.one(PHOTOMETRIC, BLACK_IS_ZERO)
        is_own = bytes(self.values.get(SOFTWARE, ())).startswith(_TIFFFILE)
        is_bit = self.one(BITS, 1) == 1 and self.one(COMPRESSION, NONE) not in FAXES
        return BLACK_IS_ZERO if found == WHITE_IS_ZERO and is_own and is_bit else found

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The type of the values, byte order included; None if it is not supported."""
        bits, formats = (set(self.values.get(tag, (1,))) for tag in (BITS, SAMPLE_FORMAT))
        code = _TYPES.get((formats.pop(), bits.pop())) if len(bits) == len(formats) == 1 else None
        return np.dtype(code).newbyteorder("<" if self.little_endian else ">") if code else None


def read_page(
    data: FileContent, wanted: Collection[int], start: int | None = None, max_values: int = _MAX_VALUES
) -> Tags:
    """Return the wanted integer tags of the page at ``start``, by default of the first page.

    Classic and big TIFF. Raises `ReadError` (unreadable or too large), also for positions outside the data.
    """
    head = bytes(data[:4])
    if not TIFF.begins(head):
        raise other_content(bytes(data[:HEAD_BYTES]), IMAGE)
    order = "<" if head.startswith(b"I") else ">"
    big = b"+" in head
    offset, count_letter, entry_bytes = ("Q", "Q", 20) if big else ("I", "H", 12)
    offset_bytes = struct.calcsize(f"={offset}")

    def numbers(layout: str, place: int) -> tuple[Any, ...]:
        return struct.unpack(order + layout, data[place : place + struct.calcsize(f"={layout}")])

    try:
        if start is None:
            (start,) = numbers(offset, 8 if big else 4)
        (entries,) = numbers(count_letter, start)
        start += struct.calcsize(f"={count_letter}")
        if start + entries * entry_bytes > len(data):
            raise damaged(IMAGE, "an incomplete header")
        table = bytes(data[start : start + entries * entry_bytes + offset_bytes])
        values: dict[int, tuple[int, ...]] = {}
        for entry in (table[at : at + entry_bytes] for at in range(0, entries * entry_bytes, entry_bytes)):
            tag, kind, count = struct.unpack_from(f"{order}HH{offset}", entry)
            if tag not in wanted or (tag == SOFTWARE and kind != _TEXT):
                continue
            letter = "B" if tag == SOFTWARE else _TYPE_LETTERS.get(kind)
            if tag in values or letter is None or count < 1:
                raise damaged(IMAGE, f"an invalid tag {tag}")
            max_values -= count
            if max_values < 0:
                raise ReadError(FaultKind.TOO_LARGE, f"at most {_MAX_VALUES} values of tags", "more")
            layout = f"{count}{letter}"
            if struct.calcsize(f"={layout}") <= offset_bytes:
                values[tag] = struct.unpack_from(order + layout, entry, entry_bytes - offset_bytes)
            else:
                (place,) = struct.unpack_from(order + offset, entry, entry_bytes - offset_bytes)
                values[tag] = numbers(layout, place)
    except (struct.error, OverflowError):
        raise damaged(IMAGE, "a header that points outside the file") from None
    # A file may end without the position of the next page.
    following = int.from_bytes(table[entries * entry_bytes :], "little" if order == "<" else "big")
    return Tags(values, following, order == "<")


def read_pages(data: FileContent, wanted: Collection[int]) -> Iterator[Tags]:
    """Yield the wanted tags of every page. Raises `ReadError`, also if the pages form a cycle."""
    seen: set[int] = set()
    start: int | None = None
    max_values = _MAX_VALUES
    of_file: dict[int, tuple[int, ...]] = {}
    while start != 0:
        page = read_page(data, wanted, start, max_values)
        max_values -= sum(map(len, page.values.values()))
        # The first page alone names the program that wrote them all.
        of_file = of_file or {SOFTWARE: page.values.get(SOFTWARE, ())}
        page = replace(page, values={**of_file, **page.values})
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
    compression, photometric = tags.one(COMPRESSION, NONE), tags.photometric
    faxes = FAXES if tags.one(BITS, 1) == tags.one(SAMPLES, 1) == 1 else ()
    if compression not in (NONE, LZW, DEFLATE, OLD_DEFLATE, PACK_BITS, *faxes):
        expected = "no compression, LZW, deflate or PackBits"
        raise ReadError(FaultKind.WRONG_VALUE, expected, f"compression {compression}")
    if tags.one(SAMPLES, 1) < _MIN_SAMPLES.get(photometric, 1):
        raise damaged(IMAGE, f"{tags.one(SAMPLES, 1)} channels of {_PHOTOMETRICS.get(photometric, 'grey')}")
    if photometric not in photometrics:
        found = _PHOTOMETRICS.get(photometric, str(photometric))
        raise ReadError(FaultKind.WRONG_VALUE, "channels in which black is zero", found)
    if tags.is_tiled and 0 in (tags.one(TILE_WIDTH, 0), tags.one(TILE_HEIGHT, 0)):
        raise damaged(IMAGE, "tiles without pixels")
    if tags.one(TILE_WIDTH, 1) * tags.one(TILE_HEIGHT, 1) > MAX_PIXELS:
        raise ReadError(FaultKind.TOO_LARGE, f"tiles of at most {MAX_PIXELS} pixels", "larger tiles")
    if tags.one(ORIENTATION, 1) != 1:
        raise not_upright(tags.one(ORIENTATION, 1))


def check_pages(data: FileContent, photometrics: Collection[int], max_pages: int) -> tuple[Tags, int]:
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


# --- Decodes the values of a TIFF page after its tags have been checked ---

_HEADER_BYTES = 8
_LONG, _LARGEST_LONG = 4, 0xFFFFFFFF
BATCH_BYTES = 1 << 24
_MOST_LEFT_OUT, _LONGEST_LEFT_OUT = 32, 1 << 16


def decode_page(data: FileContent, tags: Tags) -> NDArray[Any]:
    """Return the values (y, x, channel) of a page, a view of `data` if they are contiguous there.

    ``tags`` holds all of `PAGE_TAGS`; several channels must have 1 or 8 bits each. Raises `ReadError`
    (unreadable or wrong value).
    """
    channels = tags.one(SAMPLES, 1)
    if channels == 1 or tags.one(PLANAR, 1) == 1:
        return _decode(data, tags, channels, slice(None))
    count = len(tags.values.get(tags.places[0], ())) // channels
    parts = [slice(plane * count, (plane + 1) * count) for plane in range(channels)]
    return np.moveaxis(np.stack([_decode(data, tags, 1, part)[..., 0] for part in parts]), 0, -1)


def _decode(data: FileContent, tags: Tags, channels: int, part: slice) -> NDArray[Any]:
    """Return the values of those strips or tiles."""
    segments = _Segments(data, tags, channels, part)
    if (rows := segments.whole()) is not None:
        return rows
    values = np.zeros((tags.size.height, tags.size.width, channels), segments.dtype.newbyteorder("="))
    for top, left, block in segments:
        space = values[top : top + len(block), left : left + block.shape[1]]
        space[...] = block[: len(space), : space.shape[1]]
    return values


def decode_parts(data: FileContent, tags: Tags, background: int) -> Iterator[Crop]:
    """Yield what is not the background of the tiles or strips of a page of one channel, cropped to it.

    Each is valid until the next one. Raises `ReadError` as `decode_page` does.
    """
    segments = _Segments(data, tags, 1, slice(None))
    for top, left, block in segments:
        inside = block[: tags.size.height - top, : tags.size.width - left, 0]
        differs = inside != background
        box = crop(differs.view(np.uint8), 0).box
        if not box.is_empty:
            yield Crop(inside[box.slices], box.corner).moved((top, left))
        elif (block == background).all():
            segments.leave_out_such()


class _Segments:
    """The tiles or strips of a page or of one of its channels; iterating yields top, left and the values.

    Values are (y, x, channel) and may reach beyond the right and the lower edge. A segment without bytes, as
    GDAL leaves it out, is 0. Pillow decodes LZW and fax codes from new files that contain some encoded
    segments only, without tags that it could interpret differently.
    """

    def __init__(self, data: FileContent, tags: Tags, channels: int, part: slice) -> None:
        """Check where they lie. Raises `ReadError`."""
        dtype, size = tags.dtype, tags.size
        if dtype is None:
            raise ReadError(FaultKind.WRONG_VALUE, NUMBERS, "another type of values")
        if tags.is_tiled and not tags.values.keys().isdisjoint((STRIP_OFFSETS, STRIP_BYTES)):
            raise damaged(IMAGE, "both strips and tiles")
        offsets, lengths = (tags.values.get(tag, ()) for tag in tags.places)
        # Only the length of a single strip may be missing.
        if len(offsets) != len(lengths) and (lengths or tags.is_tiled or len(offsets) > 1):
            raise damaged(IMAGE, f"{len(lengths)} lengths of {len(offsets)} strips or tiles")
        offsets, lengths = offsets[part], lengths[part]
        self.dtype: np.dtype[Any] = dtype
        self._data, self._tags, self._channels = data, tags, channels
        self._compression = tags.one(COMPRESSION, NONE)
        self._predictor = 1 if self._compression in (NONE, PACK_BITS) else tags.one(PREDICTOR, 1)
        self._bits = tags.one(BITS, 1)
        self._step = tags.one(TILE_WIDTH, size.width)
        tall = tags.one(TILE_HEIGHT, 0) if tags.is_tiled else tags.one(ROWS_PER_STRIP, size.height)
        self._tall = tall if tags.is_tiled else min(max(tall, 1), size.height)
        self._across = -(-size.width // self._step)
        self._row_bytes = (self._step * channels * self._bits + 7) // 8
        wanted = self._across * -(-size.height // self._tall)
        if len(offsets) != wanted:
            raise damaged(IMAGE, f"{len(offsets)} {'tiles' if tags.is_tiled else 'strips'}")
        plain = [self._rows(number) * self._row_bytes for number in range(wanted)]
        lengths = lengths or (tuple(plain) if self._compression == NONE else ())
        if len(offsets) != len(lengths):
            raise damaged(IMAGE, "damaged or incomplete image data")
        present = [(start, count) for start, count in zip(offsets, lengths, strict=True) if start or count]
        if not all(count for _, count in present):  # some programs work them out, others read zeros
            raise damaged(IMAGE, "strips or tiles of no bytes")
        if any(start < _HEADER_BYTES for start, _ in present):
            raise damaged(IMAGE, "pixels in the header of the file")
        if any(start + count > len(data) for start, count in present):
            raise damaged(IMAGE, "a file that ends before its pixels")
        if sum(count for _, count in present) > len(data):
            raise damaged(IMAGE, "strips or tiles that overlap")
        if self._compression == NONE and any(
            count != whole for count, whole in zip(lengths, plain, strict=True) if count
        ):
            kind = "tiles" if tags.is_tiled else "strips"
            raise damaged(IMAGE, f"{kind} of another length than their rows")
        self._places = list(zip(offsets, lengths, strict=True))
        self._number = 0
        self._left_out: set[tuple[int, bytes]] = set()
        if self._are_plain_rows():
            self._divide_rows()

    def _rows(self, number: int) -> int:
        """Return how many rows are stored for a segment; the last strip may be shorter, a tile is not."""
        return (
            self._tall
            if self._tags.is_tiled
            else min(self._tall, self._tags.size.height - number * self._tall)
        )

    def _are_plain_rows(self) -> bool:
        """Return whether strips lie one after the other without compression."""
        starts = [start for start, _ in self._places]
        ends = [start + count for start, count in self._places]
        is_plain = not self._tags.is_tiled and self._compression == NONE
        return is_plain and ends[:-1] == starts[1:] and all(count for _, count in self._places)

    def _divide_rows(self) -> None:
        """Divide such strips anew, since one of them may be the whole image."""
        self._tall = max(1, min(BATCH_BYTES // self._row_bytes, self._tags.size.height))
        start, height = self._places[0][0], self._tags.size.height
        tops = range(0, height, self._tall)
        self._places = [(start + top * self._row_bytes, 0) for top in tops]
        self._places = [
            (place, self._rows(number) * self._row_bytes) for number, (place, _) in enumerate(self._places)
        ]

    def whole(self) -> NDArray[Any] | None:
        """Return the values of an image in memory that is stored row by row, as a view; None for others."""
        if not isinstance(self._data, memoryview) or self._bits == 1 or not self._are_plain_rows():
            return None
        (start, _), (last, count) = self._places[0], self._places[-1]
        found = np.frombuffer(self._data[start : last + count], self.dtype)
        return found.reshape(self._tags.size.height, self._tags.size.width, self._channels)

    def __iter__(self) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Yield the segments from left to right and from top to bottom. Raises `ReadError`."""
        for number, rows in self._decoded():
            self._number = number
            line, column = divmod(number, self._across)
            yield line * self._tall, column * self._step, self._values(rows)

    def leave_out_such(self) -> None:
        """Yield no more segments whose encoded bytes are those of the last one: most of a slide is empty."""
        if len(self._left_out) < _MOST_LEFT_OUT and self._places[self._number][1] <= _LONGEST_LEFT_OUT:
            self._left_out.add(self._key(self._number))

    def _key(self, number: int) -> tuple[int, bytes]:
        start, count = self._places[number]
        return self._rows(number), bytes(self._data[start : start + min(count, _LONGEST_LEFT_OUT + 1)])

    def _values(self, rows: NDArray[np.uint8]) -> NDArray[Any]:
        """Return the values (y, x, channel) of the bytes (y, byte) of a segment."""
        if self._predictor > 1:
            rows = rows.reshape(len(rows), 1, -1)
            return _of_differences(rows, self.dtype, self._channels, self._predictor).reshape(
                len(rows), self._step, self._channels
            )
        if self._bits == 1:
            bits = rows if self._compression in FAXES else np.unpackbits(rows, axis=1)
            rows = bits[:, : self._step * self._channels]
        return np.ascontiguousarray(rows).view(self.dtype).reshape(len(rows), self._step, self._channels)

    def _decoded(self) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """Yield the number and the bytes (y, byte) of every segment, several of which are decoded at once."""
        width = self._step if self._compression in FAXES else self._row_bytes
        together = max(1, BATCH_BYTES // (self._tall * width))
        for first in range(0, len(self._places), together):
            places = dict(enumerate(self._places[first : first + together], start=first))
            if self._left_out:
                places = {one: place for one, place in places.items() if self._key(one) not in self._left_out}
            pieces = {number: self._data[at : at + count] for number, (at, count) in places.items() if count}
            decoded = self._decode(pieces, width)
            for number in places:
                rows = decoded.get(number)
                yield number, np.zeros((self._rows(number), width), np.uint8) if rows is None else rows

    def _decode(
        self, pieces: Mapping[int, bytes | memoryview], width: int
    ) -> Mapping[int, NDArray[np.uint8]]:
        """Return the bytes of successive segments; for Pillow they become the strips of one file."""
        if self._compression not in (LZW, *FAXES):
            return {number: self._decoded_here(piece, number, width) for number, piece in pieces.items()}
        if not pieces:
            return {}
        ends = np.cumsum([self._rows(number) for number in pieces])
        bare = _bare_file(list(pieces.values()), self._tags, width, int(ends[-1]), self._tall)
        rows = decode(bare, "TIFF", (int(ends[-1]), width)).astype(np.uint8, copy=False)
        return dict(zip(pieces, np.split(rows, ends[:-1]), strict=True))

    def _decoded_here(self, piece: bytes | memoryview, number: int, width: int) -> NDArray[np.uint8]:
        size = self._rows(number) * width
        if self._compression == PACK_BITS:
            piece = _unpacked(piece, size, width)
        elif self._compression != NONE:
            piece = _inflated(piece, size)
        return np.frombuffer(piece, np.uint8).reshape(-1, width)


def _of_differences(
    blocks: NDArray[np.uint8], dtype: np.dtype[Any], channels: int, kind: int
) -> NDArray[Any]:
    """Return values from bytes (row, tile, byte) that hold the differences of successive values.

    Source: TIFF 6.0, section 14, and for floating-point numbers (kind 3, the bytes of a row in planes with
    the most significant first) Adobe Photoshop TIFF Technical Note 3.
    """
    if kind == 3 and dtype.kind == "f":
        planes = np.cumsum(blocks, axis=2, dtype=np.uint8).reshape(*blocks.shape[:2], dtype.itemsize, -1)
        return np.ascontiguousarray(np.moveaxis(planes, 2, 3)).view(dtype.newbyteorder(">"))
    if kind != 2:
        raise damaged(IMAGE, f"predictor {kind}")
    whole = np.dtype(f"u{dtype.itemsize}")
    differences = blocks.view(whole.newbyteorder(dtype.byteorder)).reshape(*blocks.shape[:2], -1, channels)
    return np.cumsum(differences, axis=2, dtype=whole).view(dtype.newbyteorder("="))


def _inflated(strip: bytes | memoryview, length: int) -> bytes:
    """Return the expected bytes of a strip; at most one more byte is inflated."""
    from zlib_ng import zlib_ng  # it inflates masks many times as fast as zlib

    library: Any = zlib_ng
    inflater = library.decompressobj()
    try:
        found: bytes = inflater.decompress(strip, length + 1)
    except library.error:
        found = b""
    if len(found) != length or not inflater.eof:
        raise damaged(IMAGE, "damaged or incomplete image data")
    return found


def _unpacked(strip: bytes | memoryview, length: int, row_bytes: int) -> bytes:
    """Return the unpacked bytes of a strip; runs end with their row (TIFF 6.0, section 9)."""
    packed, found, position = bytes(strip), bytearray(), 0
    while len(found) < length and position < len(packed) - 1:
        count = packed[position]
        room = row_bytes - len(found) % row_bytes
        if count < 128:
            run = packed[position + 1 : position + 2 + count]
            position += 2 + count
        else:
            run = packed[position + 1 : position + 2] * (257 - count) if count > 128 else b""
            position += 2 if count > 128 else 1
        if len(run) > room:
            break
        found += run
    if len(found) != length or any(packed[position:]):
        raise damaged(IMAGE, "damaged or incomplete image data")
    return bytes(found)


def _bare_file(pieces: Sequence[bytes | memoryview], tags: Tags, width: int, height: int, tall: int) -> bytes:
    """Return a TIFF file of one page with encoded segments as strips.

    Each byte is a pixel, of a fax each bit.
    """
    order = "<" if tags.little_endian else ">"
    body = bytearray(8)
    starts = []
    for piece in pieces:
        starts.append(len(body))
        body += piece
    kept = (COMPRESSION, *_FAX_OPTIONS)
    values: dict[int, Sequence[int]] = {tag: tags.values[tag][:1] for tag in kept if tag in tags.values}
    values |= {WIDTH: (width,), HEIGHT: (height,), ROWS_PER_STRIP: (tall,)}
    values |= {BITS: (1 if tags.one(COMPRESSION, NONE) in FAXES else 8,)}
    values |= {PHOTOMETRIC: (BLACK_IS_ZERO,), SAMPLES: (1,)}
    values |= {STRIP_OFFSETS: starts, STRIP_BYTES: [*map(len, pieces)]}
    entries = []
    for tag, numbers in sorted(values.items()):
        content = struct.pack(f"{order}{len(numbers)}I", *(min(number, _LARGEST_LONG) for number in numbers))
        if len(numbers) > 1:
            body += content
            content = struct.pack(f"{order}I", len(body) - len(content))
        entries.append(struct.pack(f"{order}HHI", tag, _LONG, len(numbers)) + content)
    body[:8] = struct.pack(f"{order}2sHI", b"II" if tags.little_endian else b"MM", 42, len(body))
    return bytes(body + struct.pack(f"{order}H", len(entries)) + b"".join(entries) + bytes(4))


LARGE_PIXELS = 1 << 26
"""Images of so many pixels are read tile by tile."""
_IS_REDUCED, _MOST_LEVELS = 1, 32
_IN_MEMORY_BYTES = 1 << 26

# --- TIFF images: one page of grey values or numbers, and several channels of 8 bits in any layout ---


def read_image(data: FileContent, size: Size | None) -> NDArray[Any]:
    """Return the values (y, x) of a TIFF image of one page, a view of `data` if not compressed.

    Accepted are grey, a palette of grey values, and RGB with equal channels with or without an opaque alpha
    channel; strips or tiles; uncompressed, LZW, deflate, PackBits or fax. Channels have 8 bits; a single one
    has 8, 16, 32 or 64, integers or floating-point numbers, and values of one bit are booleans. Of a pyramid
    the largest level is read.

    Raises `ReadError` (unreadable, wrong size, wrong value or too large).
    """
    tags = _tags_of_image(data, size)
    values = grey_of_channels(decode_page(data, tags))
    if tags.photometric == PALETTE:
        return grey_of_palette(values, _palette_of(tags))
    return values


def is_large(size: Size) -> bool:
    """Return whether an image is read tile by tile."""
    return size.width * size.height >= LARGE_PIXELS


def read_parts(data: FileContent, size: Size, background: int) -> Iterator[Crop] | None:
    """Return the tiles or strips of an image, cropped to what is not the background.

    Each is valid until the next one. None for another format, or not one channel: `read_image` reads that.
    Raises `ReadError`.
    """
    if not TIFF.begins(bytes(data[:4])):
        return None
    tags = _tags_of_image(data, size)
    if tags.photometric != BLACK_IS_ZERO:
        return None
    return decode_parts(data, tags, background)


def _tags_of_image(data: FileContent, size: Size | None) -> Tags:
    """Return the tags of the page of an image, all checked. Raises `ReadError`."""
    tags = _largest_level(data)
    check_size(tags.size, size)
    channels = tags.one(SAMPLES, 1)
    if channels > 1:
        _require_bytes(tags)
    elif tags.dtype is None:
        raise ReadError(FaultKind.WRONG_VALUE, NUMBERS, f"{tags.one(BITS, 1)} bits of another type")
    check_page(tags, (BLACK_IS_ZERO, RGB, PALETTE))
    # Some programs read grey with alpha as rows of another length.
    if channels not in ((3, 4) if tags.photometric == RGB else (1,)):
        raise ReadError(FaultKind.WRONG_VALUE, "one grey channel or RGB", f"{channels} channels")
    extra = tags.values.get(EXTRA_SAMPLES, ())
    if len(extra) != (channels == 4) or not set(extra) <= set(ALPHA):
        raise ReadError(FaultKind.WRONG_VALUE, "an extra channel that is declared as alpha", "another one")
    if channels > 1 and tags.one(PLANAR, 1) != 1:
        raise ReadError(FaultKind.WRONG_VALUE, "channels stored pixel by pixel", "separate planes")
    return tags


def _palette_of(tags: Tags) -> NDArray[np.uint8]:
    """Return the colours (entry, channel) of 8-bit indices. Raises `ReadError`."""
    if tags.dtype != np.uint8 or len(colours := tags.values.get(COLOURS, ())) != 3 << 8:
        raise damaged(IMAGE, "no palette of 8-bit indices")
    return (np.reshape(colours, (3, -1)).T >> 8).astype(np.uint8)


def _largest_level(data: FileContent) -> Tags:
    """Return the tags of the only page, or of a pyramid's first and largest one. Raises `ReadError`."""
    first = read_page(data, PAGE_TAGS)
    levels = read_pages(data, (WIDTH, HEIGHT, REDUCED)) if first.following else ()
    for number, level in enumerate(levels):
        is_smaller = level.size.width <= first.size.width and level.size.height <= first.size.height
        is_level = level.one(REDUCED, 0) & _IS_REDUCED and is_smaller and number <= _MOST_LEVELS
        if number and not is_level:
            raise ReadError(FaultKind.WRONG_VALUE, "one page, or the levels of a pyramid", "several pages")
    return first


def read_channels(data: FileContent, channels: int, size: Size) -> NDArray[np.uint8]:
    """Return the values (channel, y, x) of an 8-bit TIFF image with channels in any layout.

    Uncompressed, LZW, deflate or PackBits. Number of channels, size, depth and encoding are checked before
    any pixel is decoded.

    Raises `ReadError` (unreadable, wrong size, wrong value or too large).
    """
    photometrics = (BLACK_IS_ZERO, RGB, SEPARATED)
    first, pages = check_pages(data, photometrics, max_pages=max(channels, size.height))
    _require_bytes(first)
    samples = first.one(SAMPLES, 1)
    # An array (y, x, channel) may have been written as if y were the pages.
    rows_as_pages = samples == 1 and pages == size.height and first.size == Size(channels, size.width) != size
    if not rows_as_pages:
        check_size(first.size, size)
        if channels not in (samples, pages) or 1 not in (samples, pages):
            raise ReadError(FaultKind.WRONG_VALUE, f"{channels} channels", str(samples * pages))
    # Kept channel by channel: interleaving them first would take longer than decoding.
    decoded = [np.moveaxis(decode_page(data, tags), -1, 0) for tags in read_pages(data, PAGE_TAGS)]
    if first.one(BITS, 1) == 1:
        decoded = [channel * np.uint8(255) for channel in decoded]
    if rows_as_pages:
        return np.ascontiguousarray(np.moveaxis(np.concatenate(decoded), -1, 0))
    return np.ascontiguousarray(decoded[0] if len(decoded) == 1 else np.concatenate(decoded))


def open_volume(stream: BegunStream, max_pages: int) -> OpenVolume:
    """Return a volume with one page per plane; its pages are read and decoded one by one.

    It has no spacing, origin or direction. The tags of all pages are checked here.
    """
    # Small reads of a file cost more than its copy.
    data: FileContent = stream if stream.size > _IN_MEMORY_BYTES else memoryview(stream.read(stream.size))
    first, depth = check_pages(data, (BLACK_IS_ZERO,), max_pages)
    if first.one(SAMPLES, 1) != 1:
        raise ReadError(FaultKind.WRONG_VALUE, "one grey channel", f"{first.one(SAMPLES, 1)} channels")
    header = header_of((first.size.width, first.size.height, depth), first.dtype, None, None, None, IMAGE)
    return OpenVolume(
        header, lambda: (whole_plane(decode_page(data, tags)[..., 0]) for tags in read_pages(data, PAGE_TAGS))
    )


write = partial(write_with_pillow, "TIFF", compression="tiff_adobe_deflate")


def _require_bytes(tags: Tags) -> None:
    for bits in tags.values.get(BITS, (1,)):
        require_bits(bits, (1, 8))
    if any(kind != 1 for kind in tags.values.get(SAMPLE_FORMAT, (1,))):
        raise ReadError(FaultKind.WRONG_VALUE, "unsigned integers", "another sample format")
