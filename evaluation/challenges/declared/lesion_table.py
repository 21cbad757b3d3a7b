"""The common base of figures of lesions, the connected components of a label."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.declared.field_table import FieldTable
from evaluation.challenges.declared.label_map import Figures, LabelFigure, LabelMapField, LabelMetricTable
from evaluation.challenges.declared.label_overlap import voxel_extent
from evaluation.challenges.declared.measure import Comparison, Measure
from evaluation.challenges.declared.table import key
from evaluation.core.challenge import Values
from evaluation.core.form import CaseForm
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics.label_surfaces import label_boxes
from evaluation.metrics.lesions import Lesions, PanopticQuality, lesions, panoptic_quality
from evaluation.metrics.volume_crop import together

Neighbours = Literal["all", "faces"]


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
    def panoptic(self) -> PanopticQuality:
        """The panoptic quality of the lesions, computed once for all figures."""
        return panoptic_quality(self.found)


class LesionTable(LabelMetricTable):
    """A figure of the components of a label."""

    neighbours: Neighbours = key(
        "Voxels that are connected: `all` 26 neighbours (8 in two dimensions), or the 6 (4) that share "
        "`faces`.",
        "all",
    )

    @abstractmethod
    def figure(self, table: LabelMapField) -> LabelFigure:
        """Return range and unit."""

    @abstractmethod
    def value(self, label: LabelLesions) -> float:
        """Return the figure of one label; NaN only by the reference."""

    @abstractmethod
    def worst_value(self, reference: LabelMapValue, position: int) -> float:
        """Return the figure of a case without a result for the label at a position of the map."""

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the figure of each label and their mean. Raises ValueError for unknown labels."""
        assert isinstance(table, LabelMapField)
        labels = self.scored_labels(table)
        positions = [number + 1 for number, _ in labels]

        def values(comparison: Comparison) -> Figures:
            return [
                self.value(self._lesions(comparison, position, len(table.labels))) for position in positions
            ]

        def worst(case: CaseForm, references: Values) -> Figures:
            return [self.worst_value(references[field_name], position) for position in positions]

        return self.label_measure(name, [label for _, label in labels], self.figure(table), values, worst)

    def _lesions(self, comparison: Comparison, position: int, labels: int) -> LabelLesions:
        """Return the components of one label in its box, found once for all metrics."""
        maps = comparison.derive("maps of lesions", _maps_in_one_box)
        boxes = comparison.derive("boxes of lesions", lambda _: label_boxes(*maps, labels))

        def find(comparison: Comparison) -> LabelLesions:
            box = boxes[position - 1] or (slice(0),) * 3
            prediction, reference = (positions[box] == position for positions in maps)
            found = lesions(prediction, reference, self.neighbours == "all")
            return LabelLesions(found, voxel_extent(comparison.reference))

        return comparison.derive(("lesions", position, self.neighbours), find)


def _maps_in_one_box(comparison: Comparison) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    return together(comparison.submitted.crop, comparison.reference.crop)


class ShareTable(LesionTable):
    """A figure from 0 to 1, 0 for a case without a result."""

    def figure(self, table: LabelMapField) -> LabelFigure:
        """Return a share."""
        return LabelFigure(best=1, worst=0)

    def worst_value(self, reference: LabelMapValue, position: int) -> float:
        """Return 0."""
        return 0.0
