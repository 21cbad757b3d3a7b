"""Crops of images as they are handed to another process (`evaluation.io.handover`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluation.io.handover import HandoverError, Packed, array_of, list_of, whole_number
from evaluation.metrics.crop import Crop
from evaluation.metrics.volume_crop import VolumeCrop


def pack_crop(crop: Crop) -> list[Packed]:
    """Return a crop as its corner and values; booleans are packed, eight to a byte."""
    if crop.values.dtype == np.bool_:
        height, width = crop.values.shape
        return [crop.top, crop.left, height, width, np.packbits(crop.values)]
    return [crop.top, crop.left, crop.values]


def unpack_crop(packed: Packed, dtypes: Sequence[str], height: int, width: int) -> Crop:
    """Return a crop that lies in an image of the given size. Raises `HandoverError` for any other."""
    top, left, values = list_of(packed, 3)
    return _placed(Crop(array_of(values, dtypes, 2), top, left), height, width)


def unpack_region(packed: Packed, height: int, width: int) -> Crop:
    """Return a crop of booleans. Raises `HandoverError` as `unpack_crop` does."""
    top, left, rows, columns, bits = list_of(packed, 5)
    count = whole_number(rows, height) * whole_number(columns, width)
    if len(array_of(bits, ["|u1"], 1)) != (count + 7) // 8:
        raise HandoverError("expected a bit for each pixel")
    values = np.unpackbits(bits, count=count).view(np.bool_).reshape(rows, columns)
    return _placed(Crop(values, top, left), height, width)


def _placed(crop: Crop, height: int, width: int) -> Crop:
    rows, columns = crop.values.shape
    if whole_number(crop.top, height) + rows > height or whole_number(crop.left, width) + columns > width:
        raise HandoverError(f"expected a crop within {width} × {height} pixels")
    return crop


def pack_volume(crop: VolumeCrop) -> list[Packed]:
    """Return a crop of a volume as its corner and values."""
    return [*crop.corner, crop.values]


def unpack_volume(packed: Packed, dtype: str, shape: tuple[int, int, int]) -> VolumeCrop:
    """Return a crop that lies in a volume of shape (z, y, x). Raises `HandoverError` for any other."""
    *corner, values = list_of(packed, 4)
    crop = VolumeCrop(array_of(values, [dtype], 3), (corner[0], corner[1], corner[2]))
    for start, count, limit in zip(crop.corner, crop.values.shape, shape, strict=True):
        if whole_number(start, limit) + count > limit:
            raise HandoverError(f"expected a crop within {' × '.join(map(str, shape[::-1]))} voxels")
    return crop
