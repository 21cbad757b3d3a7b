"""Lesions, the connected components of a label: found, false, their volumes and panoptic quality."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from evaluation.challenges.declared.label_maps import (
    Figures,
    LabelFigure,
    LabelMapField,
    LabelMetricTable,
    voxel_extent,
)
from evaluation.challenges.declared.tables import FieldComparison, FieldTable, Measure
from evaluation.core.challenge import Values
from evaluation.core.form import CaseForm
from evaluation.core.keys import Key
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics.crops import together
from evaluation.metrics.label_surfaces import label_boxes
from evaluation.metrics.lesions import (
    LesionPanopticQuality,
    Lesions,
    Neighbours,
    f1_of_lesions,
    false_negative_voxels,
    false_positive_voxels,
    find_lesions,
    panoptic_quality_of_lesions,
)


def most_lesions(shape: tuple[int, int, int], neighbours: Neighbours) -> int:
    """Return how many components an image (z, y, x) can have at most."""
    if neighbours == "faces":
        return (math.prod(shape) + 1) // 2
    return math.prod((side + 1) // 2 for side in shape)


@dataclass(frozen=True)
class LabelLesions:
    """The lesions of one label in both maps, and the volume or area of a voxel."""

    found: Lesions
    voxel_size: float

    @cached_property
    def panoptic(self) -> LesionPanopticQuality:
        """The panoptic quality of the lesions, computed once for all figures."""
        return panoptic_quality_of_lesions(self.found)


class LesionTable(LabelMetricTable):
    """A figure of the components of a label, by default from 0 to 1 and 0 for a case without a result."""

    neighbours: Neighbours = Key(
        default="all",
        description="Voxels that are connected: `all` 26 neighbours (8 in two dimensions), or the 6 (4) that "
        "share `faces`.",
    )

    def figure(self, table: LabelMapField) -> LabelFigure:
        """Return range and unit."""
        return LabelFigure(best=1, worst=0)

    @abstractmethod
    def value(self, label: LabelLesions) -> float:
        """Return the figure of one label; NaN only by the reference."""

    def worst_value(self, reference: LabelMapValue, position: int) -> float:
        """Return the figure of a case without a result for the label at a position of the map."""
        return 0.0

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the figure of each label and their mean. Raises ValueError for unknown labels."""
        assert isinstance(table, LabelMapField)
        indices, names = self.scored_labels(table)
        positions = [index + 1 for index in indices]

        def values(comparison: FieldComparison) -> Figures:
            count = len(table.labels)
            return [self.value(self._lesions(comparison, position, count)) for position in positions]

        def worst(case: CaseForm, references: Values) -> Figures:
            return [self.worst_value(references[field_name], position) for position in positions]

        return self.label_measure(name, names, self.figure(table), values, worst)

    def _lesions(self, comparison: FieldComparison, position: int, labels: int) -> LabelLesions:
        """Return the components of one label in its box, found once for all metrics."""
        maps = comparison.derive("maps of lesions", lambda of: together(of.submitted.crop, of.reference.crop))
        boxes = comparison.derive("boxes of lesions", lambda _: label_boxes(*maps, labels))

        def find(comparison: FieldComparison) -> LabelLesions:
            box = boxes[position - 1] or (slice(0),) * 3
            prediction, reference = (positions[box] == position for positions in maps)
            found = find_lesions(prediction, reference, self.neighbours == "all")
            return LabelLesions(found, voxel_extent(comparison.reference))

        return comparison.derive(("lesions", position, self.neighbours), find)


class _VolumeTable(LesionTable):
    """A volume of lesions, an area in two dimensions."""

    def figure(self, table: LabelMapField) -> LabelFigure:
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


# --- Lesions, the connected components of a label: which are found, and which are false ---


class DetectedLesions(LesionTable):
    """Share of the reference's lesions that the prediction touches; lesions are connected components.

    From 0 to 1, higher is better, for each label and as mean over labels. A case whose reference has no
    lesion does not enter. A case without a result counts as 0.

    Oracle: SimpleITK, `ConnectedComponent`.
    """

    metric: Literal["detected_lesions"]

    def value(self, label: LabelLesions) -> float:
        """Return the share, NaN without lesions."""
        references = len(label.found.reference_voxels)
        return label.found.detected / references if references else math.nan

    def worst_value(self, reference: LabelMapValue, position: int) -> float:
        """Return 0, NaN without lesions."""
        return 0.0 if (reference.positions == position).any() else math.nan


class LesionF1(LesionTable):
    """F1 of lesions: harmonic mean of the shares of reference and of predicted lesions that touch another.

    From 0 to 1, higher is better, for each label and as mean over labels; 1 where neither map has a lesion,
    0 where only one has. A case without a result counts as 0.

    Oracle: SimpleITK, `ConnectedComponent`.
    """

    metric: Literal["lesion_f1"]

    def value(self, label: LabelLesions) -> float:
        """Return the F1."""
        return f1_of_lesions(label.found)


class _NumberTable(LesionTable):
    """A number of lesions; if no worst is stated, a case without a result has the most that fit its image."""

    worst: float | None = Key(
        default=None,
        description="Number for a case without a result, which no other case exceeds. Default: as many "
        "lesions as fit into the case's image.",
        gt=0,
        allow_inf_nan=False,
    )

    def figure(self, table: LabelMapField) -> LabelFigure:
        return LabelFigure(best=0, worst=math.inf)

    def value(self, label: LabelLesions) -> float:
        number = self.number(label.found)
        return number if self.worst is None else min(number, self.worst)

    @abstractmethod
    def number(self, found: Lesions) -> float:
        """Return the number of lesions."""

    def worst_value(self, reference: LabelMapValue, position: int) -> float:
        return most_lesions(reference.shape, self.neighbours) if self.worst is None else self.worst


class FalseLesions(_NumberTable):
    """Number of predicted lesions that touch no lesion of the reference.

    At least 0, lower is better, for each label and as mean over labels: the mean number in a case. A case
    without a result counts as `worst`.

    Oracle: SimpleITK, `ConnectedComponent`.
    """

    metric: Literal["false_lesions"]

    def number(self, found: Lesions) -> float:
        """Return the number of false lesions."""
        return float(found.false)


class LesionCountDifference(_NumberTable):
    """Absolute difference of the numbers of predicted lesions and of the reference's lesions.

    At least 0, lower is better, for each label and as mean over labels. A case without a result counts as
    `worst`.

    Oracle: SimpleITK, `ConnectedComponent`.
    """

    metric: Literal["lesion_count_difference"]

    def number(self, found: Lesions) -> float:
        """Return the difference."""
        return float(abs(len(found.prediction_voxels) - len(found.reference_voxels)))


class PanopticQuality(LesionTable):
    """Panoptic quality of lesions: recognition quality times segmentation quality.

    From 0 to 1, higher is better, for each label and as mean over labels. Lesions match where their
    intersection is more than half of their union. 1 where neither map has a lesion, 0 where nothing matches.
    A case without a result counts as 0.

    Oracle: SimpleITK, `ConnectedComponent` and `LabelOverlapMeasuresImageFilter`. Source: Kirillov et
    al., CVPR 2019.
    """

    metric: Literal["panoptic_quality"]

    def value(self, label: LabelLesions) -> float:
        """Return the quality."""
        return label.panoptic.panoptic


class SegmentationQuality(LesionTable):
    """Segmentation quality: mean intersection over union of the lesions that match, part of panoptic quality.

    From 0 to 1, higher is better, for each label and as mean over labels. Lesions match where their
    intersection is more than half of their union. 1 where neither map has a lesion, 0 where nothing matches.
    A case without a result counts as 0.

    Oracle: SimpleITK, `ConnectedComponent` and `LabelOverlapMeasuresImageFilter`. Source: Kirillov et
    al., CVPR 2019.
    """

    metric: Literal["segmentation_quality"]

    def value(self, label: LabelLesions) -> float:
        """Return the quality."""
        return label.panoptic.segmentation


class RecognitionQuality(LesionTable):
    """Recognition quality: F1 of the lesions that match, part of panoptic quality.

    From 0 to 1, higher is better, for each label and as mean over labels. Lesions match where their
    intersection is more than half of their union. 1 where neither map has a lesion, 0 where nothing matches.
    A case without a result counts as 0.

    Oracle: SimpleITK, `ConnectedComponent` and `LabelOverlapMeasuresImageFilter`. Source: Kirillov et
    al., CVPR 2019.
    """

    metric: Literal["recognition_quality"]

    def value(self, label: LabelLesions) -> float:
        """Return the quality."""
        return label.panoptic.recognition
