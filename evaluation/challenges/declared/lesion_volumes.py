"""Volumes of the lesions that are missed, and of those that are false."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from evaluation.challenges.declared.label_map import LabelFigure, LabelMapField
from evaluation.challenges.declared.label_overlap import voxel_extent
from evaluation.challenges.declared.lesion_table import LabelLesions, LesionTable
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics.lesions import false_negative_voxels, false_positive_voxels


class _VolumeTable(LesionTable):
    """A volume of lesions, an area in two dimensions."""

    def figure(self, table: LabelMapField) -> LabelFigure:
        """Return a volume."""
        return LabelFigure(best=0, worst=math.inf, unit=table.extent_unit)


class FalsePositiveVolume(_VolumeTable):
    """Volume of the predicted lesions that touch no lesion of the reference; an area in two dimensions.

    At least 0, lower is better, in mm³ (mm² or pixels in two dimensions), for each label and as mean over
    labels. A case without a result counts as the volume of its image.

    Oracle: SimpleITK, `ConnectedComponent`. Source: Gatidis et al., Nature Machine Intelligence 6:1396, 2024.
    """

    metric: Literal["false_positive_volume"]

    def value(self, label: LabelLesions) -> float:
        """Return the volume."""
        return false_positive_voxels(label.found) * label.voxel_size

    def worst_value(self, reference: LabelMapValue, position: int) -> float:
        """Return the volume of the image."""
        return math.prod(reference.shape) * voxel_extent(reference)


class FalseNegativeVolume(_VolumeTable):
    """Volume of the reference's lesions that the prediction does not touch; an area in two dimensions.

    At least 0, lower is better, in mm³ (mm² or pixels in two dimensions), for each label and as mean over
    labels. A case without a result counts as the volume of all lesions of its reference.

    Oracle: SimpleITK, `ConnectedComponent`. Source: Gatidis et al., Nature Machine Intelligence 6:1396, 2024.
    """

    metric: Literal["false_negative_volume"]

    def value(self, label: LabelLesions) -> float:
        """Return the volume."""
        return false_negative_voxels(label.found) * label.voxel_size

    def worst_value(self, reference: LabelMapValue, position: int) -> float:
        """Return the volume of all lesions."""
        return int(np.count_nonzero(reference.positions == position)) * voxel_extent(reference)
