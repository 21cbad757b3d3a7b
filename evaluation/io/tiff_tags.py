"""The tags of a TIFF image (and of EXIF metadata, which has the same form)."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.pixels import damaged

MAGICS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")

ORIENTATION = 274

_IMAGE = "a TIFF image"
_MOST_VALUES = 1_000_000
_TYPE_LETTERS = {1: "B", 3: "H", 4: "I", 16: "Q"}


@dataclass(frozen=True, slots=True)
class Tags:
    """The values of the tags asked for, of the first page, and whether there is another page."""

    values: Mapping[int, tuple[int, ...]]
    more_pages: bool
    little_endian: bool

    def one(self, tag: int, default: int) -> int:
        """Return the first value of a tag."""
        return self.values[tag][0] if tag in self.values else default


def read_tags(data: memoryview, wanted: Collection[int]) -> Tags:
    """Return the wanted integer tags of the first page of a classic or big TIFF.

    Raises `ReadError` (unreadable or too large) where the structure points outside the data.
    """
    if bytes(data[:4]) not in MAGICS:
        raise damaged(_IMAGE, "an invalid header")
    order = "<" if data[0] == ord("I") else ">"
    big = ord("+") in (data[2], data[3])
    offset, count_letter, entry_bytes = ("Q", "Q", 20) if big else ("I", "H", 12)
    try:
        (start,) = struct.unpack_from(f"{order}{offset}", data, 8 if big else 4)
        (entries,) = struct.unpack_from(f"{order}{count_letter}", data, start)
        start += struct.calcsize(f"={count_letter}")
        if start + entries * entry_bytes > len(data):
            raise damaged(_IMAGE, "an incomplete header")
        values: dict[int, tuple[int, ...]] = {}
        for position in range(start, start + entries * entry_bytes, entry_bytes):
            tag, kind, count = struct.unpack_from(f"{order}HH{offset}", data, position)
            if tag not in wanted:
                continue
            if tag in values or kind not in _TYPE_LETTERS or count < 1:
                raise damaged(_IMAGE, f"an invalid tag {tag}")
            if count > _MOST_VALUES:
                raise ReadError(FaultKind.TOO_LARGE, f"at most {_MOST_VALUES} values in a tag", str(count))
            layout = f"{order}{count}{_TYPE_LETTERS[kind]}"
            place = position + entry_bytes - struct.calcsize(f"={offset}")
            if struct.calcsize(layout) > struct.calcsize(f"={offset}"):
                (place,) = struct.unpack_from(f"{order}{offset}", data, place)
            values[tag] = struct.unpack_from(layout, data, place)
        following = data[start + entries * entry_bytes :][: struct.calcsize(f"={offset}")]
    except (struct.error, OverflowError, IndexError):
        raise damaged(_IMAGE, "a header that points outside the file") from None
    return Tags(values, any(following), order == "<")
