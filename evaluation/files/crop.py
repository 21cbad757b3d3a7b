"""Cutting a mask down to the part that is not background, in about one pass over memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.files.size import Size


@dataclass(frozen=True, slots=True)
class CroppedMask:
    """The bounding box of a mask's foreground: values (y, x), its corner and the size of the whole.

    A mask without foreground has values of shape (0, 0) at (0, 0).
    """

    values: NDArray[np.uint8]
    top: int
    left: int
    size: Size


def crop(image: NDArray[np.uint8], background: int) -> CroppedMask:
    """Return the bounding box of the pixels (y, x) that differ from `background`.

    The values are a view of `image`: nothing is copied, whatever the strides.
    """
    size = Size(width=image.shape[1], height=image.shape[0])
    rows = np.flatnonzero(_differs(image, background, axis=1))
    if not len(rows):
        return CroppedMask(image[:0, :0], 0, 0, size)
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    columns = np.flatnonzero(_differs(image[top:bottom], background, axis=0))
    left, right = int(columns[0]), int(columns[-1]) + 1
    return CroppedMask(image[top:bottom, left:right], top, left, size)


def _differs(image: NDArray[np.uint8], background: int, axis: int) -> NDArray[np.bool_]:
    """Return per row (axis 1) or column (axis 0) whether any pixel differs from the background.

    The two usual backgrounds need one vectorised reduction and no intermediate image.
    """
    found: NDArray[np.bool_]
    if background == 0:
        found = np.bitwise_or.reduce(image, axis=axis) != 0
    elif background == 255:
        found = np.bitwise_and.reduce(image, axis=axis) != 255
    else:
        found = (image != background).any(axis=axis)
    return found


def distinct_values(values: NDArray[np.uint8]) -> tuple[int, ...]:
    """Return the values that occur, ascending; none for an empty array.

    Masks consist of runs, so almost every group of eight pixels equals the one before it; only the
    groups that do not are counted.
    """
    flat = values.ravel()
    if not len(flat):
        return ()
    grouped = len(flat) // 8 * 8
    groups = flat[:grouped].view(np.uint64)
    changes = groups[1:][groups[1:] != groups[:-1]]
    counts = np.bincount(changes.view(np.uint8), minlength=256)
    for rest in (flat[:8], flat[grouped:]):
        counts += np.bincount(rest, minlength=256)
    return tuple(np.flatnonzero(counts).tolist())


def overlap_of_crops(
    prediction: NDArray[np.bool_],
    prediction_corner: tuple[int, int],
    reference: NDArray[np.bool_],
    reference_corner: tuple[int, int],
) -> int:
    """Return in how many pixels two cropped regions (y, x) are both true.

    A corner is (top, left) in the common image; only the intersection of the two boxes is looked at.
    """
    top = max(prediction_corner[0], reference_corner[0])
    left = max(prediction_corner[1], reference_corner[1])
    bottom = min(prediction_corner[0] + prediction.shape[0], reference_corner[0] + reference.shape[0])
    right = min(prediction_corner[1] + prediction.shape[1], reference_corner[1] + reference.shape[1])
    if bottom <= top or right <= left:
        return 0
    cut = [
        region[top - corner[0] : bottom - corner[0], left - corner[1] : right - corner[1]]
        for region, corner in ((prediction, prediction_corner), (reference, reference_corner))
    ]
    return int(np.count_nonzero(cut[0] & cut[1]))
