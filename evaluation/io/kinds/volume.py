"""Volumes: submitted confidences, and reference volumes.

A submitted volume is decoded in slabs while it is read, and completely checked before any label is opened.
Every B-scan is kept cropped to its content, with at most 4 bytes per voxel. Reference volumes are not kept:
their planes are read one by one, and checked and digested while reading.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import in_digits
from evaluation.core.field import CaseColumns, Kind, Reference, Variant, grow_by_a_pixel
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileAccess, FileSource, Source, fault_at
from evaluation.core.views import Voxels
from evaluation.io.handover import HandoverError, Packed, list_of, pack_crop, unpack_crop
from evaluation.io.kinds.masks import oddities_of_labels
from evaluation.io.pixels import outside
from evaluation.io.volume_header import Geometry, geometry_of
from evaluation.io.volumes import case_planes, write_volume
from evaluation.metrics.crops import EMPTY, Crop, box_of_content

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
        return tuple(Crop(_compact(plane.values), plane.top, plane.left) for plane in stored.planes())

    def oddities(self, value: tuple[Crop, ...], case: CaseForm) -> Iterator[str]:
        """Yield whether every confidence is 0, or those of all corners are not."""
        largest = max((plane.values for plane in value), key=np.size)
        yield from oddities_of_labels(largest, case.height * case.width, (), 0)

    def pack(self, value: tuple[Crop, ...]) -> Packed:
        return [pack_crop(plane) for plane in value]

    def unpack(self, packed: Packed, case: CaseForm) -> tuple[Crop, ...]:
        depth, height, width = geometry_of(case).shape
        planes = tuple(unpack_crop(plane, ["|u1", "<f4"], height, width) for plane in list_of(packed, depth))
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
            image = plane.in_image(case.height, case.width)
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
        return Volume(np.stack([plane.in_image(*geometry.shape[1:]) for plane in value]), geometry)

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
            cropped = plane.crop
            if cropped.values.size:
                self._check_values(cropped.values, z)
            yield cropped

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
    box = box_of_content(plane)
    return Crop(_compact(plane[box.slices]), box.top, box.left)


def _compact(values: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of values in [0, 1] as float32 or, if they are integers, uint8."""
    return values.astype(np.float32 if values.dtype.kind == "f" else np.uint8)
