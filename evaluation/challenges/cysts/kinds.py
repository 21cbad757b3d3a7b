"""Volumes of confidences and of their levels, in the size and position of the OCT volume."""

from dataclasses import dataclass, replace

import numpy as np

from evaluation.core.fault import in_digits
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileAccess, FileSource, fault_at
from evaluation.core.views import Voxels
from evaluation.io.kinds.label_map import LabelMap, MapKind
from evaluation.io.kinds.probability_map import NumberMap, ProbabilityMapValue
from evaluation.io.volume_header import B_SCAN_COLUMNS


class _OfBScans(MapKind):
    @property
    def case_columns(self) -> tuple[str, ...]:
        return B_SCAN_COLUMNS


class Levels(_OfBScans, LabelMap):
    """The levels of confidence of an annotator, or of all together."""


@dataclass(frozen=True)
class Confidences(_OfBScans, NumberMap):
    """A confidence in [0, 1] for every voxel, or a binary mask.

    ``level_values``: what the levels of confidence are worth in the reference, if participants may know it.
    """

    lowest: float = 0.0
    highest: float = 1.0
    level_values: tuple[float, ...] = ()

    @property
    def voxels(self) -> Voxels:
        return replace(super().voxels, marks=True)

    def describe(self) -> str:
        told = ", ".join(f"{level}: {value:g}" for level, value in enumerate(self.level_values, start=1))
        return (
            "a volume of the size, spacing, origin and direction of the OCT volume, "
            "each voxel a confidence from 0 (no cyst) to 1"
            + (f"; the values of the levels of confidence in the reference are {told}" if told else "")
        )


@dataclass(frozen=True, slots=True)
class StoredConfidences(ProbabilityMapValue):
    """The confidences of a reference, with the path of their file."""

    path: str


class ReferenceConfidences(Confidences):
    """The confidences of a reference, 0 or at least 0.01."""

    def read_file(self, path: str, case: CaseForm, files: FileAccess) -> StoredConfidences:
        value = super().read_file(path, case, files)
        small = (value.probabilities > 0) & (value.probabilities < 0.01)
        if small.any():
            found = in_digits(float(value.probabilities[small][0]), 0, 0.01)
            b_scan = value.corner[0] + np.argwhere(small)[0, 0] + 1
            raise fault_at(FileSource(path), "values 0 or from 0.01 to 1", f"{found} in B-scan {b_scan}")
        return StoredConfidences(value.crop, value.shape, value.spacing_mm, path)
