"""Instance maps, in which each object, such as a cell, has a number of its own, and their classes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, FormFault, ReadError, in_digits
from evaluation.core.field import Variant, varied
from evaluation.core.form import CaseForm
from evaluation.core.formats import PNG
from evaluation.core.sources import CellsSource, FileAccess, FileSource, JsonSource, fault_at
from evaluation.core.views import Objects, Regions
from evaluation.io import volumes
from evaluation.io.handover import HandoverError, Packed, array_of, list_of, pack_crop, unpack_crop
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.io.kinds.probability_map import rows_of_components
from evaluation.io.kinds.volume import Volume
from evaluation.io.pixels import Size, outside
from evaluation.io.volume_header import Geometry
from evaluation.metrics.arrays import Bools, Floats
from evaluation.metrics.crops import Crop, content_of, stack_of
from evaluation.metrics.matching import in_order, overlaps_of

LARGEST_NUMBER = int(np.iinfo(np.uint32).max)
Numbered = NDArray[np.unsignedinteger[Any]]
_Form = TypeVar("_Form", CellsSource, JsonSource)


@dataclass(frozen=True, slots=True)
class InstanceMapValue(LabelMapValue):
    """The objects of an image, and in ``whole`` the classes of their voxels.

    objects: 16 or 32 bits, in the shape of ``positions``, 0 = none, i = the i-th object. numbers: of the
    objects in the file, shape (objects,), rising. classes: of the objects, 8 bits, i the i-th label of the
    phase, 0 where it has none.
    """

    objects: Numbered
    numbers: NDArray[np.uint32]
    classes: NDArray[np.uint8]

    @property
    def whole_objects(self) -> NDArray[np.uint32]:
        """The numbers of the objects in the whole image, shape ``shape``: those in the file, 0 = none."""
        return _with_none(self.numbers)[self._whole_places]

    @property
    def _whole_places(self) -> Numbered:
        places: Numbered = Crop(self.objects, self.corner).whole(self.shape)
        return places

    def of_classes(self, classes: NDArray[np.uint8]) -> "InstanceMapValue":
        """Return the same objects with other classes."""
        positions = _with_none(classes)[self.objects]
        return replace(self, crop=Crop(positions, self.corner), classes=classes)

    def among(self, stay: Bools) -> "InstanceMapValue":
        """Return some of the objects, shape (objects,)."""
        places = np.cumsum(stay) * stay
        objects = _with_none(places.astype(self.objects.dtype))[self.objects]
        kept = replace(self, objects=objects, numbers=self.numbers[stay])
        return kept.of_classes(self.classes[stay])


def _with_none(values: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([np.zeros(1, values.dtype), values])


def _whole_numbers(values: NDArray[Any]) -> Crop:
    """Return the numbers of objects, cropped to those. Raises `ReadError` for others."""
    bad = outside(values, 0, LARGEST_NUMBER)
    if bad is None and values.dtype.kind == "f" and (broken := values % 1 != 0).any():
        bad = values[broken].flat[0]
    if bad is not None:
        found = in_digits(float(bad), 0, 1, LARGEST_NUMBER) if values.dtype.kind == "f" else str(bad)
        raise ReadError(FaultKind.WRONG_VALUE, f"whole numbers from 0 to {LARGEST_NUMBER}", found)
    kept = content_of(values)
    return Crop(kept.values.astype(np.uint32), kept.corner)


@dataclass(frozen=True)
class InstanceMap(LabelMap):
    """The number of an object for every pixel of an image of the case's geometry, 0 elsewhere.

    The classes are ``labels``. A file of two dimensions may have them as numbers in a second plane
    (``class_plane``). ``ranges`` are the first and the last number of the objects of each class, by the
    number of the class. Without both, all objects are of the only class, or of classes yet to be found.
    """

    class_plane: bool = False
    ranges: Mapping[int, tuple[int, int]] | None = None

    def read_file(self, path: str, case: CaseForm, files: FileAccess) -> InstanceMapValue:
        if not self.class_plane:
            planes = volumes.case_planes(path, case, files, self.dimensions, in_parts=True)
            return self._found(self._numbers(planes, path), case, path)
        size = Size(case.width, case.height)
        try:
            data = files.read(path, volumes.limit_bytes(case, 2) * 2)
            volume = volumes.open_planes(data, path, size, 2, "two planes: numbers and classes")
            first, second = (plane.values.copy() for plane in volume.planes())
            classes = self.listed.positions(second)
        except ReadError as error:
            raise FormFault(error.fault(path)) from None
        value = self._found(self._numbers([Crop(first, (0, 0))], path), case, path)
        return value.of_classes(self._classes_in(classes, value, path))

    def _numbers(self, planes: Iterable[Crop], path: str) -> Crop:
        parts = (part for _, part in self.parts(planes, path, _whole_numbers))
        return stack_of(parts, np.uint32, of_one=self.dimensions == 2)

    def _classes_in(
        self, classes: NDArray[np.uint8], value: InstanceMapValue, path: str
    ) -> NDArray[np.uint8]:
        """Return the class of most pixels of each object. Raises `FormFault` for one without a class."""
        part = classes[np.newaxis][value.crop.box.slices]
        found = class_of_most(value, part, len(self.labels))
        if not found.all():
            expected = "a class for each instance, in the second plane"
            raise fault_at(FileSource(path), expected, f"none for {value.numbers[found == 0][0]}")
        return found

    def _found(self, numbers: Crop, case: CaseForm, path: str) -> InstanceMapValue:
        objects, listed = in_order(numbers.values)
        classes = np.full(len(listed), len(self.labels) == 1, np.uint8)
        for place, of in enumerate(self.labels, start=1):
            if self.ranges is not None:
                first, last = self.ranges[of]
                classes[(listed >= first) & (listed <= last)] = place
        if self.ranges is not None and not classes.all():
            spans = ", ".join(f"{first} to {last}" for first, last in self.ranges.values())
            raise fault_at(FileSource(path), f"instances {spans}", str(listed[classes == 0][0]))
        return self._instances(Crop(objects, numbers.corner), listed, classes, case)

    def _instances(
        self, objects: Crop, numbers: NDArray[Any], classes: NDArray[np.uint8], case: CaseForm
    ) -> InstanceMapValue:
        return InstanceMapValue(
            Crop(_with_none(classes)[objects.values], objects.corner),
            *self.placed(case),
            objects.values,
            numbers.astype(np.uint32),
            classes,
            labels=self.listed.values,
        )

    def pack(self, value: InstanceMapValue) -> Packed:
        return [*pack_crop(Crop(value.objects, value.corner)), value.numbers, value.classes]

    def unpack(self, packed: Packed, case: CaseForm) -> InstanceMapValue:
        *placed, numbers, classes = list_of(packed, 6)
        numbers, classes = array_of(numbers, ["<u4"], 1), array_of(classes, ["|u1"], 1)
        dtype = "<u2" if len(numbers) <= np.iinfo(np.uint16).max else "<u4"
        objects = unpack_crop(placed, [dtype], self.geometry(case).shape)
        fits = objects.values.max(initial=0) <= len(numbers) == len(classes)
        if not fits or classes.max(initial=0) > len(self.labels):
            raise HandoverError(f"expected {len(numbers)} instances of {len(self.labels)} classes")
        return self._instances(objects, numbers, classes, case)

    def rehearse(self, reference: LabelMapValue, case: CaseForm, variant: Variant) -> InstanceMapValue:
        """Return a map: unchanged, an object larger by a voxel, empty, or one object wherever none is."""
        assert isinstance(reference, InstanceMapValue)
        if variant is Variant.PERFECT:
            return reference
        if variant is Variant.EMPTY:
            return reference.among(np.zeros(len(reference.numbers), np.bool_))
        objects = varied(reference._whole_places, variant)
        numbers, classes = reference.numbers, reference.classes
        if variant is Variant.INVERTED:
            objects = objects.astype(np.uint16)
            # The first number of the first class stands for the whole.
            first = next(iter((self.ranges or {0: (1, 1)}).values()))[0]
            numbers, classes = np.full(objects.max(), first, np.uint32), np.ones(objects.max(), np.uint8)
        return self._instances(Crop(objects, (0, 0, 0)), numbers, classes, case)

    def example(self, case: CaseForm, random: np.random.Generator) -> InstanceMapValue:
        shape = self.geometry(case).shape
        sides = [max(1, size // parts) for size, parts in zip(shape, (3, 6, 6), strict=True)]
        places = [np.arange(size) // side for size, side in zip(shape, sides, strict=True)]
        inside = [np.arange(size) % side < max(1, side - 1) for size, side in zip(shape, sides, strict=True)]
        counts = [int(place[-1]) + 1 for place in places]
        cells = np.ravel_multi_index(np.ix_(*places), counts) + 1
        z, y, x = inside
        cells = np.where(z[:, None, None] & y[:, None] & x, cells, 0)
        chosen = random.random(cells.max() + 1) < random.uniform(0.1, 1)
        chosen[: len(self.labels) + 1] = True
        objects, numbers = in_order(cells * chosen[cells])
        classes = (np.arange(len(numbers)) % len(self.labels) + 1).astype(np.uint8)
        value = self._instances(Crop(objects, (0, 0, 0)), numbers, classes, case)
        if self.ranges is None:
            return value
        # One object of each class, with the first of its numbers.
        first = [span[0] for span in self.ranges.values()]
        value = value.among(np.arange(len(numbers)) < len(first))
        order = np.argsort(first)
        ordered = replace(value, numbers=np.sort(first).astype(np.uint32))
        return ordered.of_classes((order + 1).astype(np.uint8))

    def writable(self, value: LabelMapValue, case: CaseForm) -> Volume:
        """Return the numbers in the whole image, ready to be written; above them the classes of a plane."""
        assert isinstance(value, InstanceMapValue)
        whole = value._whole_places
        numbers: NDArray[Any] = value.numbers
        if numbers.max(initial=0) > np.iinfo(np.int32).max:  # not every format has more
            numbers = np.arange(1, len(numbers) + 1)
        small = numbers.max(initial=0) <= np.iinfo(np.uint16).max
        values = _with_none(numbers.astype(np.uint16 if small else np.int32))[whole]
        if self.class_plane:
            values = values.astype(np.int64) + (value.whole.astype(np.int64) << 32)
        return Volume(values, self.geometry(case))

    def write_file(self, value: Volume, extension: str) -> bytes:
        if not self.class_plane:
            if extension in PNG.extensions and value.values.dtype != np.uint16:
                objects, _ = in_order(value.values)  # as far as PNG goes
                value = replace(value, values=objects)
            return super().write_file(value, extension)
        planes = np.concatenate([value.values & LARGEST_NUMBER, value.values >> 32]).astype(np.int32)
        return volumes.write_volume(planes, Geometry(planes.shape), extension)

    @property
    def regions(self) -> Regions:
        """The classes: the voxels of all their objects. Of classes yet to be found: those of any object."""
        if self._knows_classes:
            return replace(super().regions, value=None)
        return Regions(
            ("instance",),
            lambda value: iter([Crop(value.objects > 0, value.corner)]),
            None,
            self.dimensions,
        )

    @property
    def _knows_classes(self) -> bool:
        return len(self.labels) == 1 or self.class_plane or self.ranges is not None

    @property
    def objects(self) -> Objects:
        return Objects(
            "component",
            self._rows,
            classes=tuple(self.labels.values()) if self._knows_classes else (),
            axes=self.dimensions,
            sizes=lambda value: np.bincount(value.objects.ravel(), minlength=1)[1:].astype(np.float64),
            numbered=lambda value: Crop(value.objects, value.corner),
            of_numbered=self._of_numbered,
        )

    def _of_numbered(self, numbered: NDArray[np.integer], rows: Floats, case: CaseForm) -> InstanceMapValue:
        """Return a map with the objects, of each class as many as its numbers allow."""
        spans = list((self.ranges or {0: (1, LARGEST_NUMBER)}).values())
        left = [iter(range(first, last + 1)) for first, last in spans]
        given = [next(left[int(label) % len(spans)], 0) for label in rows[:, 0]]
        objects, numbers = in_order(_with_none(np.array(given, np.uint32))[numbered])
        classes = np.zeros(len(numbers), np.uint8)
        if self._knows_classes:
            classes[np.searchsorted(numbers, given)] = rows[:, 0] + 1
        return self._instances(Crop(objects, (0, 0, 0)), numbers, classes, case)

    def _rows(self, value: InstanceMapValue) -> Floats:
        rows = rows_of_components(value.objects, value.corner, np.ones(len(value.numbers)), self.dimensions)
        rows[:, 0] = np.maximum(value.classes, 1) - 1.0
        return rows

    def describe(self) -> str:
        says = f"a whole number for each instance in the {self.properties} of the image, 0 = elsewhere"
        if self.class_plane:
            return f"{says}; in a second plane or page the classes: {self.named}"
        if self.ranges is not None:
            spans = (
                f"{first} to {last}" if first < last else str(first) for first, last in self.ranges.values()
            )
            return f"{says}: " + ", ".join(
                f"{span} = {name}" for span, name in zip(spans, self.labels.values(), strict=True)
            )
        return says


def class_of_most(value: InstanceMapValue, classes: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    """Return the class that most voxels of each object have, in a map of that shape; 0 for none."""
    overlaps = overlaps_of(classes, value.objects, count, len(value.numbers))
    most = overlaps.matched(0, strict=True, matching="most_overlap")
    found = np.zeros(len(value.numbers), np.uint8)
    found[most.pair_reference] = most.pair_prediction + 1
    return found
