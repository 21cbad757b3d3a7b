"""Masks of classes that may overlap, a volume that is ready to be written, and no reference at all."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, FormFault, ReadError
from evaluation.core.field import CaseColumns, Kind, Reference, Variant, varied
from evaluation.core.form import CaseForm
from evaluation.core.formats import HEAD_BYTES, META_IMAGE
from evaluation.core.sources import FileAccess, Source
from evaluation.core.views import Regions
from evaluation.io.handover import Packed, list_of, pack_region, unpack_region
from evaluation.io.pixels import Size, values_in_words
from evaluation.io.tiff import read_channels
from evaluation.io.volume_header import Geometry
from evaluation.io.volumes import open_planes, write_volume
from evaluation.metrics.crops import Crop, VolumeCrop, crop, distinct_values


def oddities_of_labels(
    labelled: NDArray[np.bool_], pixels: int, names: Sequence[str], listed: int
) -> Iterator[str]:
    """Yield what looks wrong about the labels of a case; see `Kind.oddities`.

    labelled: whether each pixel of the crop to the labelled ones is, any shape; pixels: of the whole image.
    names: of the labels that occur; listed: the number of those that may.
    """
    if not labelled.size:
        yield "nothing is labelled"
    elif labelled.size == pixels and all(
        labelled[corner] for corner in product((0, -1), repeat=labelled.ndim)
    ):
        yield "all corners of the image are labelled (inverted?)"
    if len(names) == 1 and listed > 1:
        yield f"no label but {names[0]} occurs"


@dataclass(frozen=True)
class Volume:
    """A volume (z, y, x) and its position in space, ready to be written."""

    values: NDArray[Any]
    geometry: Geometry

    @classmethod
    def of_image(cls, values: NDArray[Any]) -> "Volume":
        """Return an image (y, x) without a spacing as a volume of one plane."""
        return cls(values[np.newaxis], Geometry((1, *values.shape)))


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


# --- Masks of classes that may overlap: one channel of 0 and 255 per class ---

_ON = 255
_HEADER_ALLOWANCE = 1 << 20


def _in_a_plane(region: Crop) -> VolumeCrop:
    return VolumeCrop(region.values[np.newaxis], (0, region.top, region.left))


def _region_of(mask: Crop) -> Crop:
    return Crop(mask.values != 0, mask.top, mask.left)


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

    def oddities(self, value: tuple[Crop, ...], case: CaseForm) -> Iterator[str]:
        found = [name for name, region in zip(self.classes, value, strict=True) if region.values.size]
        largest = max((region.values for region in value), key=np.size)
        yield from oddities_of_labels(largest, case.height * case.width, found, len(self.classes))

    def rehearse(self, reference: tuple[Crop, ...], case: CaseForm, variant: Variant) -> tuple[Crop, ...]:
        """Return the classes: unchanged, each with one pixel more, none anywhere, or each inverted."""
        images = (varied(region.in_image(case.height, case.width), variant) for region in reference)
        return tuple(_region_of(crop(image.view(np.uint8), 0)) for image in images)

    def pack(self, value: tuple[Crop, ...]) -> Packed:
        return [pack_region(region) for region in value]

    def unpack(self, packed: Packed, case: CaseForm) -> tuple[Crop, ...]:
        regions = list_of(packed, len(self.classes))
        return tuple(unpack_region(region, case.height, case.width) for region in regions)

    def pixels(self, case: CaseForm) -> int:
        return len(self.classes) * case.width * case.height

    @property
    def regions(self) -> Regions:
        return Regions(self.classes, lambda value: list(map(_in_a_plane, value)), self._of_regions)

    def _of_regions(self, masks: Sequence[VolumeCrop], case: CaseForm) -> tuple[Crop, ...]:
        images = (mask.within((0, 0, 0), (1, case.height, case.width))[0] for mask in masks)
        return tuple(_region_of(crop(image.view(np.uint8), 0)) for image in images)

    def writable(self, value: tuple[Crop, ...], case: CaseForm) -> NDArray[np.bool_]:
        return np.stack([region.in_image(case.height, case.width) for region in value])

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
