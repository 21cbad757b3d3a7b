"""Label masks: 8-bit images in which each listed grey value names a region."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, FormFault, ReadError
from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.core.source import FileAccess, FileSource, Source
from evaluation.core.variant import Variant, grow_by_a_pixel
from evaluation.io.grey_images import read_cropped, write_grey
from evaluation.io.handover import Packed
from evaluation.io.kinds.packed_crop import pack_crop, unpack_crop
from evaluation.io.pixels import Size, values_in_words
from evaluation.metrics.crop import Crop, crop, distinct_values

_HEADER_ALLOWANCE = 1 << 20


@dataclass(frozen=True)
class LabelMask(Kind):
    """A mask of the case's size; ``labels`` names the listed grey values, all others are ``background``.

    Values are cropped to the bounding box of the foreground. Unlisted values are read as the label
    ``unlisted_as``; None makes them a fault. With ``nested`` the labels are listed from the inside out, and
    each region includes the previous ones.
    """

    needs_size: ClassVar[bool] = True

    labels: Mapping[int, str]
    background: int
    unlisted_as: int | None = None
    nested: bool = False

    def read(self, source: Source, case: CaseForm, files: FileAccess) -> Crop:
        """Return the mask of a file, cropped and checked. Raises `FormFault`."""
        if not isinstance(source, FileSource):
            raise TypeError(f"no mask can be read from {type(source).__name__}")
        size = Size(case.width, case.height)
        try:
            data = files.read(source.path, 4 * size.width * size.height + _HEADER_ALLOWANCE)
            mask = read_cropped(data, source.path, size, self.background)
        except ReadError as error:
            raise FormFault(error.fault(source.path)) from None
        return self._listed(mask, source.path)

    def _listed(self, mask: Crop, path: str) -> Crop:
        listed = {*self.labels, self.background}
        unlisted = [value for value in distinct_values(mask.values) if value not in listed]
        if not unlisted:
            return mask
        if self.unlisted_as is None:
            values = " or ".join(map(str, sorted(listed)))
            hint = None
            if unlisted[-1] <= len(listed) and listed != set(range(len(listed))):
                hint = "numbers of classes? Write the grey values of the format"
            found = values_in_words(unlisted)
            problem = ReadError(FaultKind.WRONG_VALUE, f"values {values} only", found, hint=hint)
            raise FormFault(problem.fault(path))
        relabelled = np.where(np.isin(mask.values, unlisted), np.uint8(self.unlisted_as), mask.values)
        return replace(mask, values=relabelled)

    def rehearse(self, reference: Crop, case: CaseForm, variant: Variant) -> Crop:
        """Return a mask: unchanged, with one pixel more, empty, or with labels and background swapped."""
        if variant is Variant.PERFECT:
            return reference
        image = np.full((case.height, case.width), self.background, np.uint8)
        height, width = reference.values.shape
        box = image[reference.top : reference.top + height, reference.left : reference.left + width]
        if variant is Variant.NEAR:
            box[...] = reference.values
            grow_by_a_pixel(image, self.background)
        elif variant is Variant.INVERTED:
            image[...] = next(iter(self.labels))
            box[reference.values != self.background] = self.background
        return crop(image, self.background).copy()  # many cases may be held at once

    def pack(self, value: Crop) -> Packed:
        """Return the corner and values of a crop."""
        return pack_crop(value)

    def unpack(self, packed: Packed, case: CaseForm) -> Crop:
        """Return the crop; grey values are not checked again. Raises `HandoverError`."""
        return unpack_crop(packed, ["|u1"], case.height, case.width)

    def pixels(self, case: CaseForm) -> int:
        """Return the number of pixels of the image."""
        return case.width * case.height

    def regions(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Return the regions from the outside in: the label that draws each, and all labels in it."""
        labels = tuple(self.labels)
        if not self.nested:
            return tuple((label, (label,)) for label in labels)
        return tuple((label, labels[: position + 1]) for position, label in enumerate(labels))[::-1]

    def write_file(self, value: NDArray[np.uint8], extension: str) -> bytes:
        """Return the bytes of a full (height, width) image of grey values."""
        return write_grey(value, extension)

    def describe(self) -> str:
        """Return the grey values with the names of their regions."""
        named = ", ".join(f"{value} = {name}" for value, name in self.labels.items())
        return f"an 8-bit grey image of the size of the photograph: {named}, {self.background} = elsewhere"
