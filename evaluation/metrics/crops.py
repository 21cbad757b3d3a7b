"""Images and volumes cropped to the box of their content, which saves memory and time for empty space."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.arrays import Bools

Three = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of an image, ``top ≤ y < bottom``, ``left ≤ x < right``; it may be empty."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def slices(self) -> tuple[slice, slice]:
        """The rectangle as an index of an image (y, x)."""
        return slice(self.top, self.bottom), slice(self.left, self.right)

    def slices_in(self, outer: Box) -> tuple[slice, slice]:
        """Return the rectangle as an index of the pixels (y, x) of an outer one."""
        rows = slice(self.top - outer.top, self.bottom - outer.top)
        return rows, slice(self.left - outer.left, self.right - outer.left)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width in pixels."""
        return self.bottom - self.top, self.right - self.left

    @property
    def is_empty(self) -> bool:
        """Whether the rectangle has no pixel."""
        return self.top >= self.bottom or self.left >= self.right

    def union(self, other: Box) -> Box:
        """Return the smallest rectangle around both; an empty one adds nothing."""
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        return Box(
            min(self.top, other.top),
            max(self.bottom, other.bottom),
            min(self.left, other.left),
            max(self.right, other.right),
        )

    def intersection(self, other: Box) -> Box:
        """Return the rectangle that both share, possibly an empty one."""
        return Box(
            max(self.top, other.top),
            min(self.bottom, other.bottom),
            max(self.left, other.left),
            min(self.right, other.right),
        )


NOTHING = Box(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Crop:
    """The values (y, x) of an image inside a box with the corner (top, left); outside is the background.

    An image that is all background has values of shape (0, 0) at (0, 0).
    """

    values: NDArray[Any]
    top: int = 0
    left: int = 0

    @property
    def box(self) -> Box:
        """The position of the values in the image."""
        height, width = self.values.shape
        return Box(self.top, self.top + height, self.left, self.left + width)

    def copy(self) -> Crop:
        """Return a copy, which does not keep the whole image in memory as a view does."""
        return Crop(self.values.copy(), self.top, self.left)

    def within(self, box: Box) -> NDArray[Any]:
        """Return the values in a rectangle that contains this crop's box; around it they are 0."""
        own = self.box
        if box == own:
            return self.values
        values = np.zeros(box.shape, dtype=self.values.dtype)
        if not own.is_empty:
            values[own.slices_in(box)] = self.values
        return values

    def in_image(self, height: int, width: int) -> NDArray[Any]:
        """Return the whole image (y, x), in which the background is 0."""
        return self.within(Box(0, height, 0, width))


EMPTY = Crop(np.zeros((0, 0), dtype=np.uint8))


def crop(image: NDArray[np.uint8], background: int) -> Crop:
    """Return the bounding box of the pixels (y, x) that differ from `background`.

    The values are a view of `image`; nothing is copied.
    """
    rows = np.flatnonzero(_differs(image, background, axis=1))
    if not len(rows):
        return Crop(image[:0, :0])
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    columns = np.flatnonzero(_differs(image[top:bottom], background, axis=0))
    left, right = int(columns[0]), int(columns[-1]) + 1
    return Crop(image[top:bottom, left:right], top, left)


def _differs(image: NDArray[np.uint8], background: int, axis: int) -> Bools:
    """Return per row (axis 1) or column (axis 0) whether any pixel differs from the background.

    For the two usual backgrounds, one vectorised reduction suffices, without an intermediate image.
    """
    found: Bools
    if background == 0:
        found = np.bitwise_or.reduce(image, axis=axis) != 0
    elif background == 255:
        found = np.bitwise_and.reduce(image, axis=axis) != 255
    else:
        found = (image != background).any(axis=axis)
    return found


def box_of_content(plane: NDArray[Any]) -> Box:
    """Return the smallest box of a plane (y, x) of any type outside which every bit is 0.

    Comparing bits instead of values takes one vectorised pass and treats NaN and −0.0 as content.
    """
    return crop(plane.view(f"u{plane.dtype.itemsize}"), 0).box


def distinct_values(values: NDArray[np.uint8]) -> tuple[int, ...]:
    """Return the values that occur, ascending; none for an empty array.

    Masks consist of runs, so almost every group of eight pixels equals the one before it. Only groups that
    differ are counted.
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


def intersection_of(prediction: Crop, reference: Crop) -> int:
    """Return in how many pixels two boolean crops of one image are both true.

    Only the intersection of the two boxes is read.
    """
    shared = prediction.box.intersection(reference.box)
    if shared.is_empty:
        return 0
    first, second = (region.values[shared.slices_in(region.box)] for region in (prediction, reference))
    return int(np.count_nonzero(first & second))


@dataclass(frozen=True, slots=True)
class VolumeCrop:
    """The values (z, y, x) of a volume from ``corner`` (z, y, x) on; everything else is 0.

    A volume of zeros has values of shape (0, 0, 0) at (0, 0, 0).
    """

    values: NDArray[Any]
    corner: Three

    @property
    def end(self) -> Three:
        """The corner opposite to ``corner``, just behind the last voxel."""
        z, y, x = self.corner
        planes, rows, columns = self.values.shape
        return z + planes, y + rows, x + columns

    def where(self, holds: Callable[[NDArray[Any]], Bools]) -> VolumeCrop:
        """Return where a condition holds, which it does not for 0."""
        return VolumeCrop(holds(self.values), self.corner)

    def any(self) -> bool:
        """Return whether any value is not 0."""
        return bool(self.values.any())

    def part(self, corner: Three, end: Three) -> VolumeCrop:
        """Return a view of the values in a box."""
        low = _three(map(max, zip(corner, self.corner, strict=True)))
        high = _three(map(min, zip(end, self.end, strict=True)))
        inside = zip(self.corner, low, high, strict=True)
        values = self.values[tuple(slice(start - own, max(start, stop) - own) for own, start, stop in inside)]
        return VolumeCrop(values, low)

    def within(self, corner: Three, end: Three) -> NDArray[Any]:
        """Return the values in a box that contains this crop; around it they are 0."""
        if (corner, end) == (self.corner, self.end):
            return self.values
        shape = tuple(stop - start for start, stop in zip(corner, end, strict=True))
        values = np.zeros(shape, dtype=self.values.dtype)
        if self.values.size:
            inside = zip(corner, self.corner, self.end, strict=True)
            values[tuple(slice(start - first, stop - first) for first, start, stop in inside)] = self.values
        return values


def stack_of(
    planes: Iterable[Crop], dtype: np.dtype[Any] | type[np.generic], *, of_one: bool = False
) -> VolumeCrop:
    """Return the volume whose planes those are, in order, or ``of_one`` plane the parts.

    The first is at z = 0.
    """
    filled = [(0 if of_one else z, plane) for z, plane in enumerate(planes) if not plane.box.is_empty]
    if not filled:
        return VolumeCrop(np.zeros((0, 0, 0), dtype=dtype), (0, 0, 0))
    box = reduce(Box.union, (plane.box for _, plane in filled), NOTHING)
    first, only = filled[0]
    if len(filled) == 1 and only.values.dtype == dtype:
        return VolumeCrop(only.values[np.newaxis], (first, box.top, box.left))
    values = np.zeros((filled[-1][0] + 1 - first, *box.shape), dtype=dtype)
    for z, plane in filled:
        values[z - first][plane.box.slices_in(box)] = plane.values
    return VolumeCrop(values, (first, box.top, box.left))


# --- Large images and volumes, packed piece by piece ---

LARGE_VOXELS = 1 << 28
"""More voxels than these stay packed, until a metric needs them side by side."""
_SLAB_VOXELS = 1 << 22


class PackedVolume(VolumeCrop):
    """The 8-bit values (z, y, x) of a large image or volume in packed pieces; everything else is 0.

    ``values`` alone takes the memory of the whole.

    table: shape (pieces, 8), of each piece its corner (z, y, x), its shape (z, y, x), the bits of its values
    and the number of its bytes that are not 0. A piece has a plane for each bit, its voxels eight to a byte;
    every byte is the difference from the one before it (exclusive or), so that regions and their surroundings
    are 0. marks: of all pieces which of these bytes are not 0, eight to a byte. content: those that are not.
    highest: the largest value that may occur; larger ones become it. holds: see `where`.
    """

    table: NDArray[np.int64]
    marks: NDArray[np.uint8]
    content: NDArray[np.uint8]
    highest: int
    _holds: Callable[[NDArray[Any]], Bools] | None
    _opened: dict[int, VolumeCrop]

    def __init__(
        self,
        table: NDArray[np.int64],
        marks: NDArray[np.uint8],
        content: NDArray[np.uint8],
        highest: int = 255,
        holds: Callable[[NDArray[Any]], Bools] | None = None,
    ) -> None:
        # The class above sets no attributes.
        vars(self).update(table=table, marks=marks, content=content, highest=highest)
        vars(self).update(_holds=holds, _opened={})

    def check(self) -> None:
        """Raise ValueError unless the parts fit each other."""
        sizes = self.table[:, 3:]
        if not len(sizes) or sizes.min() < 0 or sizes[:, :4].min() < 1 or sizes[:, 3].max() > 8:
            raise ValueError("expected pieces with voxels of 1 to 8 bits")
        most = self._mark_ends[-1], sizes[:, 4].sum()
        if most != (len(self.marks), len(self.content)):
            raise ValueError(f"expected {most} bytes, found {len(self.marks)} and {len(self.content)}")
        for number, (start, stop) in enumerate(pairwise([0, *self._mark_ends.tolist()])):
            if np.bitwise_count(self.marks[start:stop]).sum() != sizes[number, 4]:
                raise ValueError("expected as many bytes as are marked")

    @cached_property
    def _mark_ends(self) -> NDArray[np.int64]:
        ends: NDArray[np.int64] = np.cumsum(-(-self._plane_bytes * self.table[:, 6] // 8))
        return ends

    @cached_property
    def _content_ends(self) -> NDArray[np.int64]:
        ends: NDArray[np.int64] = np.cumsum(self.table[:, 7])
        return ends

    @property
    def _plane_bytes(self) -> NDArray[np.int64]:
        count: NDArray[np.int64] = -(-self.table[:, 3:6].prod(axis=1) // 8)
        return count

    @property
    def corner(self) -> Three:
        """The corner of the smallest box around the pieces."""
        return _three(self.table[:, :3].min(axis=0).tolist())

    @property
    def end(self) -> Three:
        """The corner opposite to ``corner``, just behind the last voxel."""
        return _three((self.table[:, :3] + self.table[:, 3:6]).max(axis=0).tolist())

    @property
    def values(self) -> NDArray[Any]:
        """The values in the smallest box around the pieces."""
        return self.part(self.corner, self.end).values

    def where(self, holds: Callable[[NDArray[Any]], Bools]) -> PackedVolume:
        """Return where a condition holds, which it does not for 0."""
        return PackedVolume(self.table, self.marks, self.content, self.highest, holds)

    def any(self) -> bool:
        """Return whether any value is not 0."""
        return any(self._piece(number).any() for number in range(len(self.table)))

    def part(self, corner: Three, end: Three) -> VolumeCrop:
        """Return the values in a box."""
        starts, stops = self.table[:, :3], self.table[:, :3] + self.table[:, 3:6]
        touched = np.flatnonzero(((starts < end) & (stops > corner)).all(axis=1)).tolist()
        # The next part mostly touches the same pieces.
        opened = {number: self._opened.get(number) or self._piece(number) for number in touched}
        self._opened.clear()
        self._opened.update(opened)
        shape = tuple(max(0, stop - start) for start, stop in zip(corner, end, strict=True))
        values: NDArray[Any] = np.zeros(shape, np.uint8 if self._holds is None else np.bool_)
        for piece in opened.values():
            shared = piece.part(corner, end)
            inside = zip(corner, shared.corner, shared.end, strict=True)
            values[tuple(slice(start - low, stop - low) for low, start, stop in inside)] = shared.values
        return VolumeCrop(values, corner)

    def within(self, corner: Three, end: Three) -> NDArray[Any]:
        """Return the values in a box that contains this crop; around it they are 0."""
        return self.part(corner, end).values

    def _piece(self, number: int) -> VolumeCrop:
        z, y, x, *shape, bits, count = self.table[number].tolist()
        last, end = int(self._mark_ends[number]), int(self._content_ends[number])
        plane_bytes = int(self._plane_bytes[number])
        first = last - -(-bits * plane_bytes // 8)
        marked = np.unpackbits(self.marks[first:last], count=bits * plane_bytes).view(np.bool_)
        packed = np.zeros(bits * plane_bytes, np.uint8)
        packed[marked] = self.content[end - count : end]
        planes = np.bitwise_xor.accumulate(packed).reshape(bits, plane_bytes)
        values = np.unpackbits(planes[0], count=math.prod(shape))
        for bit in range(1, bits):
            values |= np.unpackbits(planes[bit], count=values.size) << np.uint8(bit)
        values = np.minimum(values, np.uint8(self.highest)).reshape(shape)
        return VolumeCrop(values if self._holds is None else self._holds(values), (z, y, x))


def packed_of(pieces: Iterable[tuple[int, Crop]], large_voxels: int = LARGE_VOXELS) -> VolumeCrop:
    """Return the volume of 8-bit pieces, each with its z; it stays packed if the box around them is large.

    That is one of more than ``large_voxels``. At most a piece is in memory besides. Pieces do not overlap;
    each is valid until the next one.
    """
    rows: list[tuple[int, ...]] = []
    marks, content = bytearray(), bytearray()
    for z, piece in pieces:
        if piece.box.is_empty:
            continue
        bits = max(1, int(piece.values.max()).bit_length())
        planes = np.concatenate([np.packbits(piece.values & np.uint8(1 << bit)) for bit in range(bits)])
        planes[1:] ^= planes[:-1].copy()
        found = planes[planes != 0]
        rows.append((z, piece.top, piece.left, 1, *piece.values.shape, bits, len(found)))
        marks += np.packbits(planes != 0).data
        content += found.data
    if not rows:
        return stack_of((), np.uint8)
    marked, kept = (np.frombuffer(of, np.uint8) for of in (marks, content))
    packed = PackedVolume(np.array(rows, np.int64), marked, kept)
    box = packed.corner, packed.end
    is_large = math.prod(stop - start for start, stop in zip(*box, strict=True)) > large_voxels
    return packed if is_large else packed.part(*box)


def inside(volume: VolumeCrop, mask: VolumeCrop) -> VolumeCrop:
    """Return the 8-bit values where a mask is not 0, piece by piece; a large volume stays packed."""

    def pieces() -> Iterator[tuple[int, Crop]]:
        (first, top, left), (last, bottom, right) = volume.corner, volume.end
        rows = max(1, _SLAB_VOXELS // max(1, right - left))
        for z, y in product(range(first, last), range(top, bottom, rows)):
            box = (z, y, left), (z + 1, min(y + rows, bottom), right)
            values, counted = (of.part(*box).within(*box)[0] for of in (volume, mask))
            found = crop(np.where(counted, values, np.uint8(0)), 0)
            yield z, Crop(found.values, y + found.top, left + found.left)

    return packed_of(pieces())


def together(*crops: VolumeCrop) -> tuple[NDArray[Any], ...]:
    """Return crops of one volume in the smallest box around all of them."""
    box = around(*crops)
    return tuple(crop.within(*box) for crop in crops)


def in_slabs(*crops: VolumeCrop, slab_voxels: int = _SLAB_VOXELS) -> Iterator[tuple[NDArray[Any], ...]]:
    """Yield the smallest box around crops of one volume in slabs, as `together` does the whole of it.

    A slab has whole planes, or of one plane whole rows: about ``slab_voxels``, or a single one of these.
    """
    corner, end = around(*crops)
    axis = 0 if end[0] - corner[0] > 1 else 1
    voxels = math.prod(stop - start for start, stop in zip(corner, end, strict=True))
    length = end[axis] - corner[axis]
    step = max(1, slab_voxels * length // max(1, voxels))
    for start in range(corner[axis], max(end[axis], corner[axis] + 1), step):
        first, last = list(corner), list(end)
        first[axis], last[axis] = start, min(start + step, end[axis])
        box = _three(first), _three(last)
        yield tuple(crop.part(*box).within(*box) for crop in crops)


def around(*crops: VolumeCrop) -> tuple[Three, Three]:
    """Return the corner and the end of the smallest box around crops of one volume."""
    filled = [one for one in crops if all(map(operator.lt, one.corner, one.end))] or crops[:1]
    corner = _three(map(min, zip(*(crop.corner for crop in filled), strict=True)))
    return corner, _three(map(max, zip(*(crop.end for crop in filled), strict=True)))


def _three(numbers: Iterable[int]) -> Three:
    z, y, x = numbers
    return z, y, x
