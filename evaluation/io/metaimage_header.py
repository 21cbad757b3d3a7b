"""The text header of MetaImage files (`.mha`), of images and volumes alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.pixels import damaged

LONGEST_HEADER = 1 << 16
_LAST_KEY = "ElementDataFile"


@dataclass(frozen=True, slots=True)
class MetaImageHeader:
    """What a header says: ``size`` is (x, y) or (x, y, z), ``element_type`` such as "MET_UCHAR".

    ``deflated`` tells whether the values are a zlib stream; ``keys`` holds every line.
    """

    size: tuple[int, ...]
    element_type: str
    deflated: bool
    keys: Mapping[str, str]

    def first(self, *names: str) -> str:
        """Return the value of the first of these keys that is there, else an empty text."""
        return next((self.keys[name] for name in names if name in self.keys), "")


def read_header(read: Callable[[int], bytes], image: str) -> MetaImageHeader:
    """Return the header of a file whose values follow it in the same file, one for each element.

    ``read`` gives the next bytes of the file and is left at the first value; ``image`` says what it is, for
    example "a MetaImage". Raises `ReadError` (unreadable, forbidden or wrong value).
    """
    keys = _read_keys(read, image)
    if keys[_LAST_KEY].upper() != "LOCAL":
        raise ReadError(FaultKind.FORBIDDEN, "values in the same file", "a reference to another file")
    if not _is_true(keys, "BinaryData", "True") or keys.get("HeaderSize", "0") not in ("0", "-1"):
        raise damaged(image, "values written as text or at an offset")
    channels = keys.get("ElementNumberOfChannels", "1")
    if channels != "1":
        raise ReadError(FaultKind.WRONG_VALUE, "one channel", f"{channels} channels")
    counts = keys.get("DimSize", "").split()
    if len(counts) < 2 or keys.get("NDims") != str(len(counts)) or not all(map(_is_count, counts)):
        raise damaged(image, "an invalid header")
    return MetaImageHeader(
        tuple(map(int, counts)), keys.get("ElementType", "none"), _is_true(keys, "CompressedData"), keys
    )


def write_header(
    size: Sequence[int],
    element_type: str,
    deflated_bytes: int | None,
    spacing: Sequence[float],
    origin: Sequence[float],
    matrix: Sequence[float],
) -> bytes:
    """Return the header of a file; ``deflated_bytes`` is that of a zlib stream, None for plain values.

    Sizes and lengths are in the order x, y, z; a row of ``matrix`` is the direction of an axis.
    """
    lines = [
        "ObjectType = Image",
        f"NDims = {len(size)}",
        "BinaryData = True",
        "BinaryDataByteOrderMSB = False",
        f"CompressedData = {deflated_bytes is not None}",
        *([] if deflated_bytes is None else [f"CompressedDataSize = {deflated_bytes}"]),
        f"TransformMatrix = {_text(matrix)}",
        f"Offset = {_text(origin)}",
        f"CenterOfRotation = {_text([0] * len(size))}",
        f"ElementSpacing = {_text(spacing)}",
        f"DimSize = {_text(size)}",
        f"ElementType = {element_type}",
        f"{_LAST_KEY} = LOCAL",
    ]
    return "\n".join([*lines, ""]).encode("ascii")


def _read_keys(read: Callable[[int], bytes], image: str) -> dict[str, str]:
    keys: dict[str, str] = {}
    line = bytearray()
    for _ in range(LONGEST_HEADER):
        byte = read(1)
        if byte not in (b"", b"\n"):
            line += byte
            continue
        key, equals, value = line.decode("latin-1").partition("=")
        key = key.strip()
        if not equals or not byte or key in keys:
            break
        keys[key] = value.strip()
        if key == _LAST_KEY:
            return keys
        line.clear()
    raise damaged(image, "an invalid header")


def _is_true(keys: Mapping[str, str], key: str, default: str = "False") -> bool:
    return keys.get(key, default).casefold() == "true"


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9


def _text(numbers: Sequence[float]) -> str:
    return " ".join(f"{number:.15g}" for number in numbers)
