"""Volumes of submitted confidences, reference volumes, and masks of classes that may overlap.

A submitted volume is decoded in slabs while it is read, and completely checked before any label is opened.
Every B-scan is kept cropped to its content, with at most 4 bytes per voxel. Reference volumes are not kept:
their planes are read one by one, and checked and digested while reading.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, FormFault, ReadError, in_digits
from evaluation.core.field import CaseColumns, Kind, Reference, Variant, grow_by_a_pixel, varied
from evaluation.core.form import CaseForm
from evaluation.core.formats import HEAD_BYTES, META_IMAGE
from evaluation.core.sources import FileAccess, FileSource, Source, fault_at
from evaluation.core.views import Regions, Voxels
from evaluation.io.handover import HandoverError, Packed, list_of, pack_crop, unpack_crop, unpack_region
from evaluation.io.pixels import Size, outside, values_in_words
from evaluation.io.tiff import read_channels
from evaluation.io.volume_header import Geometry, geometry_of
from evaluation.io.volumes import case_planes, open_planes, write_volume
from evaluation.metrics.crops import EMPTY, Crop, content_of, crop, distinct_values

_LEVELS = 5
"""Confidences are often given in as many levels."""


@dataclass(frozen=True)
class Volume:
    """A volume (z, y, x) and its position in space, ready to be written."""

    values: NDArray[Any]
    geometry: Geometry

    @classmethod
    def of_image(cls, values: NDArray[Any]) -> "Volume":
        """Return an image (y, x) without a spacing as a volume of one plane."""
        return cls(values[np.newaxis], Geometry((1, *values.shape)))


class VolumeKind(Kind):
    """A volume in a file, written from a `Volume`."""

    needs_size: ClassVar[bool] = True

    def write_file(self, value: Volume, extension: str) -> bytes:
        return write_volume(value.values, value.geometry, extension)


@dataclass(frozen=True)
class NoValue(Kind):
    """The reference of a field that other labels judge: always None."""

    def read(self, source: Source, case: CaseForm, files: FileAccess) -> None:
        """Return None."""

    def write_cells(self, value: None) -> tuple[str, ...]:
        return ()

    def describe(self) -> str:
        return "nothing"


NO_REFERENCE = Reference(NoValue(), CaseColumns(()))


@dataclass(frozen=True)
class ConfidenceVolume(VolumeKind):
    """A confidence in [0, 1] for every voxel, or a binary mask; float64 is read as float32.

    ``level_values``: what the levels of confidence are worth in the reference, if participants may know it.
    """

    highest = 1.0
    level_values: tuple[float, ...] = ()

    def read_file(self, path: str, case: CaseForm, files: FileAccess) -> tuple[Crop, ...]:
        stored = ReferenceVolume(0.0, 1.0, False).read_file(path, case, files)
        return tuple(Crop(_compact(plane.values), plane.corner) for plane in stored.planes())

    def pack(self, value: tuple[Crop, ...]) -> Packed:
        return [pack_crop(plane) for plane in value]

    def unpack(self, packed: Packed, case: CaseForm) -> tuple[Crop, ...]:
        depth, *size = geometry_of(case).shape
        planes = tuple(unpack_crop(plane, ["|u1", "<f4"], tuple(size)) for plane in list_of(packed, depth))
        for plane in planes:
            values = plane.values
            if outside(values, 0, 1) is not None:
                raise HandoverError("expected confidences from 0 to 1")
        return planes

    def rehearse(self, reference: "StoredVolume", case: CaseForm, variant: Variant) -> tuple[Crop, ...]:
        """Return the B-scans of a volume of confidences.

        Near-perfect has one voxel more, empty has none; inverted is 1 wherever the reference is 0.
        """
        if variant is Variant.EMPTY:
            return (EMPTY,) * geometry_of(case).shape[0]
        planes = []
        grown = variant is not Variant.NEAR
        for plane in reference.planes():
            image = plane.whole((case.height, case.width))
            if variant is Variant.INVERTED:
                image = (image == 0).view(np.uint8)
            elif not grown and image.any():
                image = image.copy()
                grow_by_a_pixel(image, 0)
                grown = True
            planes.append(_cropped(image))
        return tuple(planes)

    @property
    def voxels(self) -> Voxels:
        return Voxels(tuple, lambda array, case: tuple(map(_cropped, array.astype(np.float32))), marks=True)

    def writable(self, value: tuple[Crop, ...], case: CaseForm) -> Volume:
        geometry = geometry_of(case)
        return Volume(np.stack([plane.whole(geometry.shape[1:]) for plane in value]), geometry)

    def pixels(self, case: CaseForm) -> int:
        return math.prod(geometry_of(case).shape)

    def describe(self) -> str:
        told = ", ".join(f"{level}: {value:g}" for level, value in enumerate(self.level_values, start=1))
        return (
            "a volume of the size, spacing, origin and direction of the OCT volume, "
            "each voxel a confidence from 0 (no cyst) to 1"
            + (f"; the values of the levels of confidence in the reference are {told}" if told else "")
        )


@dataclass(frozen=True)
class ReferenceVolume(VolumeKind):
    """Values 0 or from ``minimum`` to ``maximum``; with ``whole`` only whole numbers."""

    minimum: float
    maximum: float
    whole: bool

    def read_file(self, path: str, case: CaseForm, files: FileAccess) -> "StoredVolume":
        """Return the volume without reading it."""
        return StoredVolume(self, path, case, files)

    @property
    def voxels(self) -> Voxels:
        levels = int(self.maximum) if self.whole else None
        return Voxels(StoredVolume.planes, marks=True, levels=levels)

    def describe(self) -> str:
        return f"a volume of {self.values()}"

    def values(self) -> str:
        """Return which values may occur, without the volume."""
        if self.whole:
            return f"whole numbers from 0 to {self.maximum:g}"
        return f"values {'0 or ' * bool(self.minimum)}from {self.minimum:g} to {self.maximum:g}"


@dataclass(frozen=True)
class StoredVolume:
    """A volume in a file that is decoded at every call of `planes`; ``kind`` tells its values."""

    kind: ReferenceVolume
    path: str
    case: CaseForm
    files: FileAccess

    def planes(self) -> Iterator[Crop]:
        """Yield the planes in order, cropped to their content, each valid until the next is read.

        The header is compared with the case's form before the first plane, and the values of every plane are
        checked. Raises `FormFault`.
        """
        planes = case_planes(self.path, self.case, self.files, 3, plane="B-scan")
        for z, plane in enumerate(planes):
            if plane.values.size:
                self._check_values(plane.values, z)
            yield plane

    def _check_values(self, values: NDArray[Any], z: int) -> None:
        """Check that all values are allowed; NaN is not."""
        minimum, maximum = self.kind.minimum, self.kind.maximum
        bad = outside(values, 0, maximum)
        if bad is None and minimum > 0:
            bad = next(iter(values[(values > 0) & (values < minimum)]), None)
        if bad is None and self.kind.whole and values.dtype.kind == "f":
            bad = next(iter(values[values != np.floor(values)]), None)
        if bad is not None:
            near = (minimum, maximum, *((round(bad),) if self.kind.whole and np.isfinite(bad) else ()))
            found = f"{in_digits(float(bad), *near)} in B-scan {z + 1}"
            levels = f"levels from 1 to {_LEVELS}? Divide them by {_LEVELS}"
            hint = levels if maximum == 1 and bad in range(2, _LEVELS + 1) else None
            raise fault_at(FileSource(self.path), self.kind.values(), found, hint=hint)


def _cropped(plane: NDArray[Any]) -> Crop:
    found = content_of(plane)
    return Crop(_compact(found.values), found.corner)


def _compact(values: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of values in [0, 1] as float32 or, if they are integers, uint8."""
    return values.astype(np.float32 if values.dtype.kind == "f" else np.uint8)


# --- Masks of classes that may overlap: one channel of 0 and 255 per class ---

_ON = 255
_HEADER_ALLOWANCE = 1 << 20


def _in_a_plane(region: Crop) -> Crop:
    return Crop(region.values[np.newaxis], (0, *region.corner))


def _region_of(mask: Crop) -> Crop:
    return Crop(mask.values != 0, mask.corner)


@dataclass(frozen=True)
class MultilabelMask(Kind):
    """A mask of the case's size with one channel per class, 255 in its region and 0 elsewhere.

    Its value is one region per class, each cropped to its bounding box.
    """

    classes: tuple[str, ...]

    def read_file(self, path: str, case: CaseForm, files: FileAccess) -> tuple[Crop, ...]:
        size = Size(case.width, case.height)
        try:
            limit = 2 * len(self.classes) * size.width * size.height + _HEADER_ALLOWANCE
            data = files.read(path, limit)
            if META_IMAGE.begins(bytes(data[:HEAD_BYTES])):
                channels = self._planes(data, size)
            else:
                channels = read_channels(data, len(self.classes), size)
        except ReadError as error:
            raise FormFault(error.fault(path)) from None
        regions, faults = [], []
        for name, channel in zip(self.classes, channels, strict=True):
            cropped = crop(channel, 0)
            others = [value for value in distinct_values(cropped.values) if value not in (0, _ON)]
            if others:
                hint = f"a 0/1 mask? Write {_ON} for 1" if others == [1] else None
                found = values_in_words(others)
                problem = ReadError(FaultKind.WRONG_VALUE, f"values 0 or {_ON} only", found, hint=hint)
                faults.append(problem.fault(path, f"channel {name}"))
            regions.append(_region_of(cropped))
        FormFault.raise_all(faults)
        return tuple(regions)

    def _planes(self, data: memoryview, size: Size) -> NDArray[np.uint8]:
        """Return the channels of a MetaImage, one in each plane. Raises `ReadError`."""
        count = len(self.classes)
        volume = open_planes(data, META_IMAGE.extensions[0], size, count, f"{count} channels")
        if volume.header.dtype != np.uint8:
            expected, found = "8 bits per channel (MET_UCHAR)", str(volume.header.dtype)
            raise ReadError(FaultKind.WRONG_VALUE, expected, found)
        return np.stack([plane.values.copy() for plane in volume.planes()])

    def rehearse(self, reference: tuple[Crop, ...], case: CaseForm, variant: Variant) -> tuple[Crop, ...]:
        """Return the classes: unchanged, each with one pixel more, none anywhere, or each inverted."""
        images = (varied(region.whole((case.height, case.width)), variant) for region in reference)
        return tuple(_region_of(crop(image.view(np.uint8), 0)) for image in images)

    def pack(self, value: tuple[Crop, ...]) -> Packed:
        return [pack_crop(region) for region in value]

    def unpack(self, packed: Packed, case: CaseForm) -> tuple[Crop, ...]:
        regions = list_of(packed, len(self.classes))
        return tuple(unpack_region(region, case.height, case.width) for region in regions)

    def pixels(self, case: CaseForm) -> int:
        return len(self.classes) * case.width * case.height

    @property
    def regions(self) -> Regions:
        return Regions(self.classes, lambda value: list(map(_in_a_plane, value)), self._of_regions)

    def _of_regions(self, masks: Sequence[Crop], case: CaseForm) -> tuple[Crop, ...]:
        images = (mask.whole((1, case.height, case.width))[0] for mask in masks)
        return tuple(_region_of(crop(image.view(np.uint8), 0)) for image in images)

    def writable(self, value: tuple[Crop, ...], case: CaseForm) -> NDArray[np.bool_]:
        return np.stack([region.whole((case.height, case.width)) for region in value])

    def write_file(self, value: NDArray[np.bool_], extension: str) -> bytes:
        values = value.astype(np.uint8) * np.uint8(_ON)
        return write_volume(values, Geometry(values.shape), extension)

    def describe(self) -> str:
        return (
            f"an 8-bit TIFF of the image's size with {len(self.classes)} channels (pages, interleaved or "
            f"planar) {self._in_order()}"
        )

    def describe_image(self) -> str:
        return (
            f"an 8-bit image of the image's size with {len(self.classes)} channels (the planes of a "
            f"MetaImage or the pages of a TIFF) {self._in_order()}"
        )

    def _in_order(self) -> str:
        order = ", ".join(self.classes)
        return f"in the order {order}: 255 = the class, 0 = elsewhere; classes may overlap"
