"""The format of values between processes without trust: numbers, texts and arrays.

A document holds the length of a JSON text in eight bytes, the text, and the bytes of all arrays. Reading it
runs no code of its writer and touches no memory outside it: every type, length and offset is checked.
"""

import json
import math
import operator
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.crops import Crop, PackedVolume

Packed = Any
"""None, a bool, int, float or str, an array of `DTYPES`, or a list, tuple or str-keyed dict of these.

An array has at most `MOST_AXES` axes and is no subclass, whose further content would be lost. A scalar of
NumPy's is an array without axes. Arrays keep type and byte order.
"""

MOST_AXES = 8
_NUMBERS = [np.dtype(code) for code in "?bBhHiIlLqQefdgFDG"]
DTYPES = frozenset(of.str for dtype in _NUMBERS for of in (dtype, dtype.newbyteorder("S")))
"""NumPy's numbers: booleans, whole, floating and complex numbers of every size, in either byte order."""

_ARRAY = "\0array"
_LENGTH = struct.Struct("<Q")
_ALIGNMENT = 8
# In memory, each part of a text takes up to a hundred bytes, so that three bytes could become as many.
_MOST_PARTS = 1 << 20


class HandoverError(ValueError):
    """Raised for bytes that are no document, or a value that is not of its kind."""


def encode(value: Packed) -> list[bytes | memoryview]:
    """Return the parts of a document, which `decode` takes joined.

    Raises `TypeError` for what `Packed` does not name.
    """
    parts: list[bytes | memoryview] = []
    offset = 0

    def plain(value: object) -> object:
        nonlocal offset
        item = require_numbers(value)
        data = np.ascontiguousarray(item).reshape(-1).view(np.uint8)
        padding = -len(data) % _ALIGNMENT
        if len(data):
            parts.append(data.data)
            parts.append(bytes(padding))
        entry = {_ARRAY: [item.dtype.str, list(item.shape), offset]}
        offset += len(data) + padding
        return entry

    text = json.dumps(value, default=plain, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % _ALIGNMENT)
    return [_LENGTH.pack(len(text)), text, *parts]


_BYTES_PER_PART = 32


def size_of(packed: Packed) -> float:
    """Return the approximate size of a packed value in bytes. Raises `TypeError` as `encode` does."""
    if isinstance(packed, np.ndarray | np.generic) and type(packed) is not np.float64:
        require_numbers(packed)
        return packed.nbytes + 2 * _BYTES_PER_PART
    if isinstance(packed, list | tuple):
        return _BYTES_PER_PART + math.fsum(map(size_of, packed))
    if isinstance(packed, dict):
        return _BYTES_PER_PART + math.fsum(map(size_of, packed.values()))
    if packed is not None and not isinstance(packed, str | int | float):
        raise TypeError(f"a value of the type {type(packed).__name__} cannot be handed over")
    return len(packed) if isinstance(packed, str) else _BYTES_PER_PART


def require_numbers(item: object) -> NDArray[Any]:
    """Return an array, of a scalar one without axes. Raises `TypeError` with the type of what is no such."""
    if not isinstance(item, np.ndarray | np.generic) or type(item) not in (np.ndarray, item.dtype.type):
        raise TypeError(f"a value of the type {type(item).__name__} cannot be handed over")
    if item.dtype.str not in DTYPES:
        raise TypeError(f"an array of the type {item.dtype} cannot be handed over")
    if item.ndim > MOST_AXES:
        raise TypeError(f"an array of {item.ndim} axes cannot be handed over: at most {MOST_AXES}")
    return np.asarray(item)


def decode(document: bytes | bytearray | memoryview) -> Packed:
    """Return the value of a document; its arrays are read-only views. Raises `HandoverError`."""
    view = memoryview(document).toreadonly()
    if len(view) < _LENGTH.size:
        raise HandoverError("cut short")
    (length,) = _LENGTH.unpack(view[: _LENGTH.size])
    start = _LENGTH.size + length
    if start > len(view):
        raise HandoverError("cut short")
    arrays = view[start:]

    def array(pairs: list[tuple[str, Any]]) -> Any:
        return _array(pairs[0][1], arrays) if len(pairs) == 1 and pairs[0][0] == _ARRAY else dict(pairs)

    text = bytes(view[_LENGTH.size : start])
    if sum(map(text.count, (b",", b"[", b"{"))) > _MOST_PARTS:
        raise HandoverError(f"expected at most {_MOST_PARTS} parts")
    try:
        return json.loads(text, object_pairs_hook=array)
    except (ValueError, TypeError, RecursionError) as error:
        raise HandoverError(f"no document: {type(error).__name__}") from None


def _array(entry: Any, arrays: memoryview) -> NDArray[Any]:
    dtype, shape, offset = entry
    if dtype not in DTYPES or not isinstance(shape, list) or len(shape) > MOST_AXES:
        raise HandoverError("an unknown kind of array")
    if any(type(number) is not int or not 0 <= number < 1 << 40 for number in (*shape, offset)):
        raise HandoverError("an array of an impossible shape")
    count = math.prod(shape)
    size = np.dtype(dtype).itemsize * count
    if offset % _ALIGNMENT or offset + size > len(arrays):
        raise HandoverError("an array outside of its document")
    found = np.frombuffer(arrays[offset : offset + size], dtype=dtype, count=count)
    return found.reshape(shape) if shape else found[0]


def array_of(packed: Packed, dtypes: Sequence[str], dimensions: int) -> NDArray[Any]:
    """Return an array after checking its type and number of dimensions. Raises `HandoverError`."""
    if not isinstance(packed, np.ndarray) or packed.dtype.str not in dtypes or packed.ndim != dimensions:
        raise HandoverError(f"expected an array of {' or '.join(dtypes)} in {dimensions} dimensions")
    return packed


def list_of(packed: Packed, length: int | None = None) -> list[Packed]:
    """Return a list after checking its length. Raises `HandoverError`."""
    if not isinstance(packed, list) or (length is not None and len(packed) != length):
        raise HandoverError(f"expected a list of {'any length' if length is None else length}")
    return packed


def whole_number(packed: Packed, limit: int) -> int:
    """Return a whole number from 0 to a limit. Raises `HandoverError`."""
    if type(packed) is not int or not 0 <= packed <= limit:
        raise HandoverError(f"expected a whole number from 0 to {limit}")
    return packed


def number_within(packed: Packed, low: float, high: float) -> float:
    """Return a finite float between two bounds. Raises `HandoverError`."""
    if type(packed) is not float or not math.isfinite(packed) or not low <= packed <= high:
        raise HandoverError(f"expected a number from {low:g} to {high:g}")
    return packed


def text_of(packed: Packed) -> str:
    """Return a text. Raises `HandoverError`."""
    if not isinstance(packed, str):
        raise HandoverError("expected a text")
    return packed


# --- Crops of images as they are handed to another process (`evaluation.io.handover`) ---


def pack_crop(crop: Crop) -> list[Packed]:
    """Return a crop as its corner and values; booleans are packed, eight to a byte."""
    if crop.values.dtype == np.bool_:
        return [*crop.corner, *crop.values.shape, np.packbits(crop.values)]
    return [*crop.corner, crop.values]


def unpack_crop(packed: Packed, dtypes: Sequence[str], shape: tuple[int, ...]) -> Crop:
    """Return a crop that lies in an image or a volume of a shape. Raises `HandoverError` for any other."""
    *corner, values = list_of(packed, len(shape) + 1)
    return _placed(Crop(array_of(values, dtypes, len(shape)), tuple(corner)), shape)


def unpack_region(packed: Packed, height: int, width: int) -> Crop:
    """Return a crop of booleans. Raises `HandoverError` as `unpack_crop` does."""
    top, left, rows, columns, bits = list_of(packed, 5)
    count = whole_number(rows, height) * whole_number(columns, width)
    if len(array_of(bits, ["|u1"], 1)) != (count + 7) // 8:
        raise HandoverError("expected a bit for each pixel")
    values = np.unpackbits(bits, count=count).view(np.bool_).reshape(rows, columns)
    return _placed(Crop(values, (top, left)), (height, width))


def _placed(crop: Crop, shape: tuple[int, ...]) -> Crop:
    for start, count, limit in zip(crop.corner, crop.values.shape, shape, strict=True):
        if whole_number(start, limit) + count > limit:
            raise HandoverError(f"expected a crop within {' × '.join(map(str, shape[::-1]))} pixels")
    return crop


def pack_any(crop: Crop) -> list[Packed]:
    """Return a crop of a volume, or the pieces of a packed one."""
    return [crop.table, crop.marks, crop.content] if isinstance(crop, PackedVolume) else pack_crop(crop)


def unpack_positions(packed: Packed, shape: tuple[int, int, int], highest: int) -> Crop:
    """Return 8-bit numbers up to ``highest`` in a volume of shape (z, y, x). Raises `HandoverError`."""
    if not isinstance(packed, list) or len(packed) != 3:
        crop = unpack_crop(packed, ["|u1"], shape)
        if crop.values.size and crop.values.max() > highest:
            raise HandoverError(f"expected numbers up to {highest}")
        return crop
    table, marks, content = packed
    marks, content = (array_of(part, ["|u1"], 1) for part in (marks, content))
    found = PackedVolume(array_of(table, ["<i8"], 2), marks, content, highest)
    if table.shape[1] != 8 or (np.abs(table) > 8 * math.prod(shape)).any():
        raise HandoverError("expected eight numbers of a piece")
    try:
        found.check()
    except ValueError as error:
        raise HandoverError(str(error)) from None
    if min(found.corner) < 0 or any(map(operator.gt, found.box.end, shape)):
        raise HandoverError(f"expected pieces within {' × '.join(map(str, shape[::-1]))} voxels")
    return found
