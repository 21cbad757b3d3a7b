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

Place = tuple[int, ...]
"""A position along each axis: (y, x) in an image, (z, y, x) in a volume."""


@dataclass(frozen=True, slots=True)
class Box:
    """A box of an image or a volume, ``corner ≤ position < end`` along each axis; it may be empty."""

    corner: Place
    end: Place

    @classmethod
    def whole(cls, shape: Place) -> Box:
        """Return the box of a whole image or volume."""
        return cls((0,) * len(shape), shape)

    @property
    def slices(self) -> tuple[slice, ...]:
        """The box as an index of the image or volume."""
        return tuple(map(slice, self.corner, self.end))

    def slices_in(self, outer: Box) -> tuple[slice, ...]:
        """Return the box as an index of the values of an outer one."""
        inside = zip(outer.corner, self.corner, self.end, strict=True)
        return tuple(slice(start - first, stop - first) for first, start, stop in inside)

    @property
    def shape(self) -> Place:
        """The number of pixels or voxels along each axis."""
        return tuple(max(0, stop - start) for start, stop in zip(self.corner, self.end, strict=True))

    @property
    def is_empty(self) -> bool:
        """Whether the box has no pixel."""
        return any(map(operator.ge, self.corner, self.end))

    def union(self, other: Box) -> Box:
        """Return the smallest box around both; an empty one adds nothing."""
        if other.is_empty:
            return self
        if self.is_empty:
            return other
        return Box(tuple(map(min, self.corner, other.corner)), tuple(map(max, self.end, other.end)))

    def intersection(self, other: Box) -> Box:
        """Return the box that both share, possibly an empty one."""
        corner = tuple(map(max, self.corner, other.corner))
        return Box(corner, tuple(map(max, corner, map(min, self.end, other.end))))


@dataclass(frozen=True, slots=True)
class Crop:
    """The values of an image (y, x) or a volume (z, y, x) from ``corner`` on; outside is the background.

    One that is all background has values of no pixel at the origin.
    """

    values: NDArray[Any]
    corner: Place

    @property
    def box(self) -> Box:
        """The position of the values."""
        return Box(self.corner, tuple(map(operator.add, self.corner, self.values.shape)))

    def copy(self) -> Crop:
        """Return a copy, which does not keep the whole image in memory as a view does."""
        return Crop(self.values.copy(), self.corner)

    def moved(self, by: Place) -> Crop:
        """Return the crop of the image of which this one's is the part that begins at a position."""
        return Crop(self.values, tuple(map(operator.add, self.corner, by))) if self.values.size else self

    def where(self, holds: Callable[[NDArray[Any]], Bools]) -> Crop:
        """Return where a condition holds, which it does not for 0."""
        return Crop(holds(self.values), self.corner)

    def any(self) -> bool:
        """Return whether any value is not 0."""
        return bool(self.values.any())

    def part(self, box: Box) -> Crop:
        """Return a view of the values in a box."""
        shared = self.box.intersection(box)
        return Crop(self.values[shared.slices_in(self.box)], shared.corner)

    def within(self, box: Box) -> NDArray[Any]:
        """Return the values in a box that contains this crop's; around it they are 0."""
        own = self.box
        if box == own:
            return self.values
        values = np.zeros(box.shape, dtype=self.values.dtype)
        if not own.is_empty:
            values[own.slices_in(box)] = self.values
        return values

    def whole(self, shape: Place) -> NDArray[Any]:
        """Return the whole image or volume, in which the background is 0."""
        return self.within(Box.whole(shape))


EMPTY = Crop(np.zeros((0, 0), dtype=np.uint8), (0, 0))


def crop(image: NDArray[np.uint8], background: int) -> Crop:
    """Return the bounding box of the values of an image or a volume that differ from `background`.

    The values are a view of `image`; nothing is copied.
    """
    corner, found = [], image
    for axis in range(image.ndim):
        others = tuple(other for other in range(image.ndim) if other != axis)
        places = np.flatnonzero(_differs(found, background, others))
        if not len(places):
            return Crop(image[(slice(0),) * image.ndim], (0,) * image.ndim)
        corner.append(int(places[0]))
        found = found[(slice(None),) * axis + (slice(corner[-1], int(places[-1]) + 1),)]
    return Crop(found, tuple(corner))


def _differs(image: NDArray[np.uint8], background: int, axes: tuple[int, ...]) -> Bools:
    """Return for each place on the remaining axis whether any value differs from the background.

    For the two usual backgrounds, one vectorised reduction suffices, without an intermediate image.
    """
    found: Bools
    if background == 0:
        found = np.bitwise_or.reduce(image, axis=axes) != 0
    elif background == 255:
        found = np.bitwise_and.reduce(image, axis=axes) != 255
    else:
        found = (image != background).any(axis=axes)
    return found


def content_of(image: NDArray[Any]) -> Crop:
    """Return a view of an image or a volume of any type in the smallest box outside which every bit is 0.

    Comparing bits instead of values takes one vectorised pass and treats NaN and −0.0 as content.
    """
    box = crop(image.view(f"u{image.dtype.itemsize}"), 0).box
    return Crop(image[box.slices], box.corner)


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


def stack_of(
    planes: Iterable[Crop], dtype: np.dtype[Any] | type[np.generic], *, of_one: bool = False
) -> Crop:
    """Return the volume whose planes those are, in order, or ``of_one`` plane the parts.

    The first is at z = 0.
    """
    filled = [(0 if of_one else z, plane) for z, plane in enumerate(planes) if not plane.box.is_empty]
    if not filled:
        return Crop(np.zeros((0, 0, 0), dtype=dtype), (0, 0, 0))
    box = around(*(plane for _, plane in filled))
    first, only = filled[0]
    if len(filled) == 1 and only.values.dtype == dtype:
        return Crop(only.values[np.newaxis], (first, *box.corner))
    values = np.zeros((filled[-1][0] + 1 - first, *box.shape), dtype=dtype)
    for z, plane in filled:
        values[z - first][plane.box.slices_in(box)] = plane.values
    return Crop(values, (first, *box.corner))


# --- Large images and volumes, packed piece by piece ---

LARGE_VOXELS = 1 << 28
"""More voxels than these stay packed, until a metric needs them side by side."""
_SLAB_VOXELS = 1 << 22


class PackedVolume(Crop):
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
    _opened: dict[int, Crop]

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
    def box(self) -> Box:
        """The smallest box around the pieces."""
        ends = self.table[:, :3] + self.table[:, 3:6]
        return Box(tuple(self.table[:, :3].min(axis=0).tolist()), tuple(ends.max(axis=0).tolist()))

    @property
    def corner(self) -> Place:
        """The corner of that box."""
        return self.box.corner

    @property
    def values(self) -> NDArray[Any]:
        """The values in that box."""
        return self.part(self.box).values

    def where(self, holds: Callable[[NDArray[Any]], Bools]) -> PackedVolume:
        """Return where a condition holds, which it does not for 0."""
        return PackedVolume(self.table, self.marks, self.content, self.highest, holds)

    def any(self) -> bool:
        """Return whether any value is not 0."""
        return any(self._piece(number).any() for number in range(len(self.table)))

    def part(self, box: Box) -> Crop:
        """Return the values in a box."""
        starts, stops = self.table[:, :3], self.table[:, :3] + self.table[:, 3:6]
        touched = np.flatnonzero(((starts < box.end) & (stops > box.corner)).all(axis=1)).tolist()
        # The next part mostly touches the same pieces.
        opened = {number: self._opened.get(number) or self._piece(number) for number in touched}
        self._opened.clear()
        self._opened.update(opened)
        values: NDArray[Any] = np.zeros(box.shape, np.uint8 if self._holds is None else np.bool_)
        for piece in opened.values():
            shared = piece.part(box)
            values[shared.box.slices_in(box)] = shared.values
        return Crop(values, box.corner)

    def within(self, box: Box) -> NDArray[Any]:
        """Return the values in a box that contains this crop's; around it they are 0."""
        return self.part(box).values

    def _piece(self, number: int) -> Crop:
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
        return Crop(values if self._holds is None else self._holds(values), (z, y, x))


def packed_of(pieces: Iterable[tuple[int, Crop]], large_voxels: int = LARGE_VOXELS) -> Crop:
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
        rows.append((z, *piece.corner, 1, *piece.values.shape, bits, len(found)))
        marks += np.packbits(planes != 0).data
        content += found.data
    if not rows:
        return stack_of((), np.uint8)
    marked, kept = (np.frombuffer(of, np.uint8) for of in (marks, content))
    packed = PackedVolume(np.array(rows, np.int64), marked, kept)
    return packed if math.prod(packed.box.shape) > large_voxels else packed.part(packed.box)


def inside(volume: Crop, mask: Crop) -> Crop:
    """Return the 8-bit values where a mask is not 0, piece by piece; a large volume stays packed."""

    def pieces() -> Iterator[tuple[int, Crop]]:
        (first, top, left), (last, bottom, right) = volume.box.corner, volume.box.end
        rows = max(1, _SLAB_VOXELS // max(1, right - left))
        for z, y in product(range(first, last), range(top, bottom, rows)):
            box = Box((z, y, left), (z + 1, min(y + rows, bottom), right))
            values, counted = (of.part(box).within(box)[0] for of in (volume, mask))
            yield z, crop(np.where(counted, values, np.uint8(0)), 0).moved((y, left))

    return packed_of(pieces())


def together(*crops: Crop) -> tuple[NDArray[Any], ...]:
    """Return crops of one image or volume in the smallest box around all of them."""
    box = around(*crops)
    return tuple(crop.within(box) for crop in crops)


def in_slabs(*crops: Crop, slab_voxels: int = _SLAB_VOXELS) -> Iterator[tuple[NDArray[Any], ...]]:
    """Yield the smallest box around crops of one volume in slabs, as `together` does the whole of it.

    A slab has whole planes, or of one plane whole rows: about ``slab_voxels``, or a single one of these.
    """
    box = around(*crops)
    axis = 0 if box.shape[0] > 1 else 1
    step = max(1, slab_voxels * box.shape[axis] // max(1, math.prod(box.shape)))
    for start in range(box.corner[axis], max(box.end[axis], box.corner[axis] + 1), step):
        first, last = list(box.corner), list(box.end)
        first[axis], last[axis] = start, min(start + step, box.end[axis])
        slab = Box(tuple(first), tuple(last))
        yield tuple(crop.part(slab).within(slab) for crop in crops)


def around(*crops: Crop) -> Box:
    """Return the smallest box around crops of one image or volume."""
    return reduce(Box.union, (crop.box for crop in crops))
