"""Detection maps: images and volumes whose connected components each carry one confidence.

Source: Saha et al. 2024, Lancet Oncol. 25:879 (PI-CAI).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.core.source import FileAccess, FileSource, Source, fault_at
from evaluation.core.variant import Variant
from evaluation.io.handover import HandoverError, Packed, array_of, list_of
from evaluation.io.kinds.label_map import LabelMapValue, Shape
from evaluation.io.kinds.packed_crop import pack_volume, unpack_volume
from evaluation.io.kinds.probability_map import (
    are_probabilities,
    place_in_words,
    read_probabilities,
    rehearsed_mask,
)
from evaluation.io.kinds.volume import Volume
from evaluation.io.volumes.case_planes import Dimensions, case_geometry, path_of
from evaluation.io.volumes.reader import SLAB_BYTES, write_image
from evaluation.metrics.crop import crop
from evaluation.metrics.volume_crop import VolumeCrop, stack_of

MOST_CANDIDATES = 1000
"""The maximum number of components of a map, many times more than a reader could look at."""


@dataclass(frozen=True, slots=True)
class DetectionMapValue:
    """The candidates of an image: their pixels and confidences.

    candidates: uint16 (z, y, x), cropped to the nonzero values; 0 = none, i = the i-th candidate. corner: of
    the crop, (z, y, x). confidences: float64, shape (candidates,), in (0, 1]. shape: of the image, (z, y, x).
    """

    candidates: NDArray[np.uint16]
    corner: Shape
    confidences: NDArray[np.float64]
    shape: Shape

    @property
    def crop(self) -> VolumeCrop:
        """The candidates and their corner."""
        return VolumeCrop(self.candidates, self.corner)


@dataclass(frozen=True)
class DetectionMap(Kind):
    """An image of the case's geometry; components of 26 neighbours (8 in two dimensions) have one value each.

    In a rehearsal the reference is a label map; its first ``foreground`` labels are lesions.
    """

    needs_size: ClassVar[bool] = True

    dimensions: Dimensions = 3
    foreground: int = 1
    slab_bytes: int = SLAB_BYTES

    def read(self, source: Source, case: CaseForm, files: FileAccess) -> DetectionMapValue:
        """Return the candidates of a file. Raises `FormFault`."""
        path = path_of(source)
        found = read_probabilities(path, case, files, self.dimensions, self.slab_bytes)
        shape = case_geometry(case, self.dimensions).shape
        labelled, count = components_of(found.values > 0)
        if count > MOST_CANDIDATES:
            raise fault_at(FileSource(path), f"at most {MOST_CANDIDATES} connected components", str(count))
        highest, lowest = np.zeros(count + 1, np.float32), np.ones(count + 1, np.float32)
        for index, values in zip(labelled, found.values, strict=True):
            np.maximum.at(highest, index, values)
            np.minimum.at(lowest, index, values)
        several = np.flatnonzero(highest[1:] != lowest[1:]) + 1
        if len(several):
            first = several[0]
            raise fault_at(
                FileSource(path),
                "one value in each connected component (diagonal neighbours are connected)",
                f"{lowest[first]:.6g} to {highest[first]:.6g} in one of {len(several)} components",
            )
        return DetectionMapValue(labelled, found.corner, highest[1:].astype(np.float64), shape)

    def rehearse(self, reference: LabelMapValue, case: CaseForm, variant: Variant) -> DetectionMapValue:
        """Return candidates of confidence 1: the lesions, with one voxel more, none, or all else."""
        mask = rehearsed_mask(reference, self.foreground, variant)
        found = stack_of((crop(plane.view(np.uint8), 0) for plane in mask), np.uint8)
        labelled, count = components_of(found.values > 0)
        return DetectionMapValue(labelled, found.corner, np.ones(count), mask.shape)

    def pack(self, value: DetectionMapValue) -> Packed:
        """Return the corner and positions of the candidates, and their confidences."""
        return [*pack_volume(value.crop), value.confidences]

    def unpack(self, packed: Packed, case: CaseForm) -> DetectionMapValue:
        """Return the map, checked; whether candidates are connected is not. Raises `HandoverError`."""
        *placed, confidences = list_of(packed, 5)
        shape = case_geometry(case, self.dimensions).shape
        cropped = unpack_volume(placed, "<u2", shape)
        confidences = array_of(confidences, ["<f8"], 1)
        if len(confidences) > MOST_CANDIDATES or not are_probabilities(confidences):
            raise HandoverError(f"expected up to {MOST_CANDIDATES} confidences from 0 to 1")
        voxels = np.bincount(cropped.values.reshape(-1), minlength=len(confidences) + 1)
        if len(voxels) > len(confidences) + 1 or not voxels[1:].all():
            raise HandoverError(f"expected voxels of {len(confidences)} candidates")
        return DetectionMapValue(cropped.values, cropped.corner, confidences, shape)

    def pixels(self, case: CaseForm) -> int:
        """Return the number of pixels or voxels."""
        return math.prod(case_geometry(case, self.dimensions).shape)

    def write_file(self, value: Volume, extension: str) -> bytes:
        """Return the bytes of a `Volume` of confidences; an image of two dimensions has one plane."""
        return write_image(value.values, value.geometry, extension, self.dimensions)

    def describe(self) -> str:
        """Return the description for participants."""
        return (
            f"0 or a confidence up to 1 for each {place_in_words(self.dimensions)}; each connected component "
            "(diagonal neighbours are connected) is one finding, with one value"
        )


def components_of(mask: NDArray[np.bool_]) -> tuple[NDArray[np.uint16], int]:
    """Return each pixel's component (z, y, x), counted from 1, 0 for none, and the number of components.

    Diagonal neighbours are connected. Beyond 65535 components the numbers are meaningless.
    """
    from scipy import ndimage  # 0.3 s that only few challenges need

    labelled, count = ndimage.label(mask, structure=np.ones((3, 3, 3), dtype=np.bool_))
    return labelled.astype(np.uint16), int(count)
