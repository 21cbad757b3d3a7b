"""Label maps: images and volumes in which each listed number names a structure.

Files hold numbers of any type. They are read losslessly and kept as 8-bit positions in the phase's list of
labels, cropped to the foreground.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, FormFault, PhaseError, ReadError, in_digits
from evaluation.core.field import Kind, Variant, varied
from evaluation.core.form import CaseForm
from evaluation.core.formats import Dimensions
from evaluation.core.sources import FileAccess
from evaluation.core.views import Objects, Regions
from evaluation.io import tiff, volumes
from evaluation.io.handover import Packed, pack_any, unpack_positions
from evaluation.io.kinds.objects import Space
from evaluation.io.kinds.points import PointSet, rows_of_points
from evaluation.io.kinds.volume import Volume
from evaluation.io.pixels import outside, values_in_words
from evaluation.io.volume_header import GEOMETRY_COLUMNS, UPRIGHT, Geometry
from evaluation.metrics.arrays import Bools, Floats, Integers
from evaluation.metrics.components import components_of
from evaluation.metrics.crops import (
    LARGE_VOXELS,
    Crop,
    Place,
    crop,
    packed_of,
    stack_of,
)
from evaluation.metrics.segmentation import has_any

# --- Labels that a phase lists, and their positions in that list, in values of any numeric type ---

LARGEST_LABEL = np.iinfo(np.uint16).max
MOST_LABELS = 254
_UNLISTED = 255


class ListedLabels:
    """Whole numbers that images may hold: the i-th label has position i, the background position 0.

    Others up to 65535 are read as the label ``unlisted_as``; None makes them a fault.
    """

    def __init__(self, labels: Sequence[int], background: int, unlisted_as: int | None = None) -> None:
        """Take 1 to 254 different labels from 0 to 65535. Raises `ValueError` for others."""
        listed = [background, *labels]
        if not 1 <= len(labels) <= MOST_LABELS or len(set(listed)) < len(listed):
            expected = f"1 to {MOST_LABELS} labels, all different and not the background"
            found = len(labels) if len(labels) > MOST_LABELS else ", ".join(map(str, labels)) or "none"
            raise ValueError(f"expected {expected}, found {found}")
        if min(listed) < 0 or max(listed) > LARGEST_LABEL:
            raise ValueError(f"expected labels from 0 to {LARGEST_LABEL}")
        self._values = np.array(listed, dtype=np.uint16)
        self._are_positions = unlisted_as is None and listed == list(range(len(listed)))
        self._set = np.uint8(next((label for label in (1, 255) if label in listed), 1))
        others = _UNLISTED if unlisted_as is None else listed.index(unlisted_as)
        self._positions = np.full(LARGEST_LABEL + 1, others, dtype=np.uint8)
        self._positions[self._values] = np.arange(len(listed), dtype=np.uint8)

    def positions(self, values: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the position of every value, possibly as a view. Raises `ReadError` for unlisted values."""
        if not values.size:
            return np.zeros(values.shape, dtype=np.uint8)
        if values.dtype == np.bool_:  # of an image of one bit
            values = values.view(np.uint8) * self._set
        if outside(values, 0, LARGEST_LABEL) is not None:
            raise self._unlisted(values)
        highest = values.max()
        small = highest < _UNLISTED
        whole: NDArray[np.unsignedinteger[Any]] = values.astype(np.uint8 if small else np.uint16, copy=False)
        if values.dtype.kind == "f" and (whole != values).any():
            raise self._unlisted(values)
        if self._are_positions:
            if highest >= len(self._values):
                raise self._unlisted(values)
            return whole.astype(np.uint8, copy=False)
        positions: NDArray[np.uint8] = self._positions.take(whole)
        if positions.max() == _UNLISTED:
            raise self._unlisted(values)
        return positions

    @property
    def values(self) -> NDArray[np.unsignedinteger[Any]]:
        """The listed values by position, as 8 bits if they fit."""
        fits = int(self._values.max()) <= np.iinfo(np.uint8).max
        return self._values.astype(np.uint8) if fits else self._values

    def in_words(self) -> str:
        """Return which values are listed, for example ``values 0, 1 or 4 only``."""
        listed = sorted(self._values.tolist())
        if len(listed) > 2 and listed[-1] - listed[0] == len(listed) - 1:
            return f"whole numbers from {listed[0]} to {listed[-1]} only"
        return f"values {', '.join(map(str, listed[:-1]))} or {listed[-1]} only"

    def _unlisted(self, values: NDArray[Any]) -> ReadError:
        listed = set(self._values.tolist())
        # Without counts it would import numpy.ma, for which a participant's message would wait.
        distinct, _ = np.unique(values, return_counts=True)
        found = [value for value in distinct.tolist() if value not in listed]
        hint = None
        if found[-1] == np.iinfo(np.uint8).max and max(listed) < found[-1]:
            hint = "grey values? Write the numbers of the labels"
        elif found[-1] <= len(listed) <= max(listed) and found[0] > 0:
            hint = "numbers of classes? Write the grey values of the format"
        words = values_in_words(
            [in_digits(value, *self._values) if isinstance(value, float) else value for value in found]
        )
        return ReadError(FaultKind.WRONG_VALUE, self.in_words(), words, hint=hint)


Shape = tuple[int, int, int]
Spacing = tuple[float, float, float]


def spacing_of(geometry: Geometry) -> Spacing | None:
    """Return the spacing in the order z, y, x."""
    spacing = geometry.spacing_mm
    return None if spacing is None else (spacing[2], spacing[1], spacing[0])


@dataclass(frozen=True, slots=True)
class MapValue:
    """The values of a map (z, y, x), cropped to those that are not 0; an image has one plane.

    crop: the values, packed if they are large. shape: of the whole image, (z, y, x). spacing_mm: (z, y, x),
    None where the phase gives none; an image of two dimensions has 1 along z.
    """

    crop: Crop
    shape: Shape
    spacing_mm: Spacing | None

    @property
    def corner(self) -> Place:
        """The corner of the crop."""
        return self.crop.corner

    @property
    def whole(self) -> NDArray[Any]:
        """The values in the whole image, shape ``shape``."""
        return self.crop.whole(self.shape)


@dataclass(frozen=True, slots=True)
class LabelMapValue(MapValue):
    """A label map; `whole` has the numbers of the labels. Metrics work on positions in the list of labels.

    crop: positions, 8-bit, 0 the background, i the i-th label of the phase. labels: the number at each
    position.
    """

    labels: NDArray[np.unsignedinteger[Any]] = field(
        default_factory=partial(np.arange, MOST_LABELS + 1, dtype=np.uint8), kw_only=True
    )

    @property
    def positions(self) -> NDArray[np.uint8]:
        """The positions in the box around the foreground, which are no numbers of labels."""
        return self.crop.values

    def region(self, *positions: int) -> Crop:
        """Return where an image of two dimensions has one of several labels, by their positions."""
        plane = self.positions.reshape(self.positions.shape[1:])
        return Crop(has_any(plane, positions), self.corner[1:])

    @property
    def whole_positions(self) -> NDArray[np.uint8]:
        """The positions in the whole image, shape ``shape``."""
        return self.crop.whole(self.shape)

    @property
    def whole(self) -> NDArray[np.unsignedinteger[Any]]:
        """The numbers of the labels in the whole image, shape ``shape``: those in files."""
        numbers: NDArray[np.unsignedinteger[Any]] = self.labels[self.whole_positions]
        return numbers


class MapKind(Kind):
    """An image of the case's geometry with a value for every pixel or voxel."""

    needs_size: ClassVar[bool] = True

    dimensions: Dimensions

    @property
    def image_axes(self) -> Dimensions:
        return self.dimensions

    @property
    def case_columns(self) -> tuple[str, ...]:
        return GEOMETRY_COLUMNS if self.dimensions == 3 else ()

    def geometry(self, case: CaseForm) -> Geometry:
        """Return the geometry that an image of a case has. Raises `PhaseError`."""
        return volumes.case_geometry(case, self.dimensions)

    def placed(self, case: CaseForm) -> tuple[Shape, Spacing | None]:
        """Return the shape and the spacing in mm of an image of a case, both in the order z, y, x."""
        geometry = self.geometry(case)
        return geometry.shape, spacing_of(geometry)

    @property
    def properties(self) -> str:
        """What a file shares with the image of its case, in words."""
        return "size" if self.dimensions == 2 else "size, spacing, origin and direction"

    @property
    def place(self) -> str:
        """What has a value of its own, in words."""
        return f"{'pixel' if self.dimensions == 2 else 'voxel'}, in the {self.properties} of the image"

    def pixels(self, case: CaseForm) -> int:
        return math.prod(self.geometry(case).shape)

    def parts(
        self, planes: Iterable[Crop], path: str, checked: Callable[[NDArray[Any]], Crop]
    ) -> Iterator[tuple[int, Crop]]:
        """Yield every part of a file in its place, and the plane that it is of, with ``checked`` values.

        Raises `FormFault` where ``checked`` raises `ReadError`, with the plane of a volume.
        """
        for number, part in enumerate(planes):
            z = number if self.dimensions == 3 else 0
            try:
                found = checked(part.values)
            except ReadError as error:
                place = f" in plane {z + 1}" if self.dimensions == 3 else ""
                told = ReadError(error.kind, error.expected, f"{error.found}{place}", hint=error.hint)
                raise FormFault(told.fault(path)) from None
            yield z, found.moved(part.corner)

    def pack(self, value: Any) -> Packed:
        return pack_any(value.crop)

    def writable(self, value: Any, case: CaseForm) -> Volume:
        return Volume(value.whole, self.geometry(case))

    def write_file(self, value: Volume, extension: str) -> bytes:
        return volumes.write_image(value.values, value.geometry, extension, self.dimensions)


@dataclass(frozen=True)
class LabelMap(MapKind):
    """An image of the case's geometry; ``labels`` names the listed numbers, ``background`` is elsewhere.

    Unlisted numbers are read as the label ``unlisted_as``; None makes them a fault. With ``nested`` the
    labels are listed from the inside out, each region includes the previous ones, and vertical diameters
    are measured by this definition.
    """

    labels: Mapping[int, str]
    background: int = 0
    dimensions: Dimensions = 3
    unlisted_as: int | None = None
    nested: Literal["column_count", "extent"] | None = None

    def __post_init__(self) -> None:
        """Check the labels. Raises `ValueError`."""
        _ = self.listed

    @cached_property
    def listed(self) -> ListedLabels:
        """The listed numbers and their positions."""
        return ListedLabels(tuple(self.labels), self.background, self.unlisted_as)

    def read_file(self, path: str, case: CaseForm, files: FileAccess) -> LabelMapValue:
        planes = volumes.case_planes(
            path, case, files, self.dimensions, background=self.background, in_parts=True
        )
        parts = self.parts(planes, path, lambda values: crop(self.listed.positions(values), 0))
        if self.pixels(case) >= (tiff.LARGE_PIXELS if self.dimensions == 2 else LARGE_VOXELS):
            return self._value(packed_of(parts, LARGE_VOXELS), case)
        return self._value(stack_of((part.copy() for _, part in parts), np.uint8), case)

    def _value(self, cropped: Crop, case: CaseForm) -> LabelMapValue:
        return LabelMapValue(cropped, *self.placed(case), labels=self.listed.values)

    def rehearse(self, reference: LabelMapValue, case: CaseForm, variant: Variant) -> LabelMapValue:
        """Return a map: unchanged, with one voxel more, empty, or inverted.

        Inverted is the first label wherever the reference is background, and background elsewhere.
        """
        if variant is Variant.PERFECT:
            return reference
        return self._of_planes(varied(reference.whole_positions, variant), case)

    def example(self, case: CaseForm, random: np.random.Generator) -> LabelMapValue:
        shape = self.geometry(case).shape
        planes = np.zeros(shape, np.uint8)
        sizes = np.reshape(shape, (3, 1, 1, 1))
        for position in range(1, len(self.labels) + 1):
            middles = random.uniform(0.3, 0.7, sizes.shape) * (sizes - 1)
            radii = np.maximum(random.uniform(0.15, 0.25, sizes.shape) * sizes, 0.5)
            planes[(((np.indices(shape) - middles) / radii) ** 2).sum(axis=0) <= 1] = position
        return self._of_planes(planes, case)

    @property
    def regions(self) -> Regions:
        names = tuple(self.labels.values())
        return Regions(names, self._regions, self._of_regions, self.dimensions, self.nested)

    def _regions(self, value: LabelMapValue) -> Iterator[Crop]:
        numbers = range(1, len(self.labels) + 1)
        if self.nested:
            return (value.crop.where(partial(_up_to, number)) for number in numbers)
        return (value.crop.where(partial(np.equal, number)) for number in numbers)

    def _of_regions(self, masks: Sequence[Crop], case: CaseForm) -> LabelMapValue:
        """Return the map; of structures that overlap the last one wins, of nested ones the inner one."""
        planes = np.zeros(self.geometry(case).shape, np.uint8)
        in_order = list(enumerate(masks, start=1))
        for position, mask in reversed(in_order) if self.nested else in_order:
            planes[mask.box.slices][mask.values] = position
        return self._of_planes(planes, case)

    def _of_planes(self, planes: NDArray[np.uint8], case: CaseForm) -> LabelMapValue:
        return self._value(stack_of((crop(plane, 0) for plane in planes), np.uint8), case)

    def unpack(self, packed: Packed, case: CaseForm) -> LabelMapValue:
        shape = self.geometry(case).shape
        return self._value(unpack_positions(packed, shape, len(self.labels)), case)

    def describe(self) -> str:
        return (
            f"whole numbers of any type in the {self.properties} of the image: {self.named}, "
            f"{self.background} = elsewhere"
        )

    @property
    def named(self) -> str:
        """The labels in words."""
        return ", ".join(f"{value} = {name}" for value, name in self.labels.items())


def _up_to(number: int, positions: NDArray[np.uint8]) -> Bools:
    found: Bools = (positions > 0) & (positions <= number)
    return found


# --- Lesions of a label map, as the reference of points ---


@dataclass(frozen=True, slots=True, eq=False)
class LesionPoints(PointSet):
    """The lesions of a case's map: one voxel of each as its point, and the maps to measure distances in.

    lesions: 1 for the first lesion and so on, 0 elsewhere, in the crop of ``mask``. mask: the label map that
    was read. grid: spacing, origin and direction by which a position falls into a voxel.
    """

    lesions: NDArray[np.int32]
    mask: LabelMapValue
    grid: Geometry

    def voxels_of(self, positions: Floats) -> Integers:
        """Return the voxel (z, y, x) of each position, shape (points, 3); it may lie outside the image."""
        spacing, origin, axes = _matrices(self.grid)
        padded = np.zeros((len(positions), 3))
        padded[:, : positions.shape[1]] = positions - origin[: positions.shape[1]]
        inside = np.linalg.solve(axes, padded.T).T / spacing
        return np.floor(inside + 0.5).astype(np.int64)[:, ::-1]


@dataclass(frozen=True)
class LesionMap(MapKind):
    """A label map whose connected components of the labels in ``lesions`` points can hit.

    ``others`` are further numbers of the map. Diagonal neighbours are connected. Positions are in ``space``:
    world millimetres of a volume, millimetres from the corner of an image, or pixels, of which the first has
    its centre at 0.5.
    """

    lesions: tuple[int, ...]
    space: Space
    others: tuple[int, ...] = ()
    dimensions: Dimensions = 3

    @cached_property
    def labels(self) -> LabelMap:
        """The kind of the files, with the lesions first."""
        numbers = {number: str(number) for number in (*self.lesions, *self.others)}
        return LabelMap(numbers, 0, self.dimensions)

    def read_file(self, path: str, case: CaseForm, files: FileAccess) -> LesionPoints:
        """Return the lesions of a file. Raises `FormFault`, and `PhaseError` without a spacing or origin."""
        return self._lesions(self.labels.read_file(path, case, files), case)

    def example(self, case: CaseForm, random: np.random.Generator) -> LesionPoints:
        return self._lesions(self.labels.example(case, random), case)

    def writable(self, value: LesionPoints, case: CaseForm) -> Volume:
        return self.labels.writable(value.mask, case)

    @property
    def objects(self) -> Objects:
        return Objects("point", rows_of_points, axes=self.space.axes, unit=self.space.unit)

    def describe(self) -> str:
        return self.labels.describe()

    def _lesions(self, mask: LabelMapValue, case: CaseForm) -> LesionPoints:
        grid = self._grid(case)
        wanted = (mask.positions > 0) & (mask.positions <= len(self.lesions))
        lesions, count = components_of(wanted)
        if count > LARGEST_LABEL:
            raise PhaseError(f"{case.name}: expected at most {LARGEST_LABEL} lesions, found {count}")
        voxels = np.argwhere(lesions)
        of_lesion = lesions[tuple(voxels.T)]
        # The middle one of a lesion's voxels in their order, which is one of its own even if it is bent.
        order, ends = np.argsort(of_lesion, kind="stable"), np.cumsum(np.bincount(of_lesion)[1:])
        middles = order[(np.concatenate([[0], ends[:-1]]) + ends) // 2] if count else order
        spacing, origin, axes = _matrices(grid)
        centres = (voxels[middles] + mask.corner)[:, ::-1] * spacing @ axes.T + origin
        positions, unknown = centres[:, : self.space.axes], np.full(count, np.nan)
        classes, probabilities = np.zeros(count, np.int64), np.ones(count)
        return LesionPoints(positions, classes, probabilities, unknown, lesions, mask, grid)

    def _grid(self, case: CaseForm) -> Geometry:
        if self.space.unit == "pixels":
            return Geometry((1, 1, 1), (1.0, 1.0, 1.0), (0.5, 0.5, 0.5))
        geometry = self.geometry(case)
        if geometry.spacing_mm is None:
            raise PhaseError(f"cases.csv, {case.name}, spacing_mm: expected two lengths, found none")
        if self.dimensions == 2:
            return replace(geometry, origin_mm=tuple(length / 2 for length in geometry.spacing_mm))  # type: ignore[arg-type]  # three
        if geometry.origin_mm is None:
            raise PhaseError(f"cases.csv, {case.name}, origin_mm: expected three numbers, found none")
        return geometry


def _matrices(grid: Geometry) -> tuple[Floats, Floats, Floats]:
    """Return spacing and origin, shape (3,), and the matrix of directions, all in the order x, y, z."""
    direction = np.reshape(grid.direction or UPRIGHT, (3, 3))
    return np.asarray(grid.spacing_mm, float), np.asarray(grid.origin_mm, float), direction.astype(float)
