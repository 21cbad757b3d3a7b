"""Volumes of structures of a label map, and their difference."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from evaluation.challenges.declared import tables
from evaluation.challenges.declared.label_maps import (
    Figures,
    LabelMetricTable,
    StructureMetricTable,
    figures_of,
)
from evaluation.challenges.declared.maps import MapComparison, Structure, StructureField
from evaluation.core.keys import Key
from evaluation.io.kinds.label_map import LabelMapValue


class VolumeTable(StructureMetricTable):
    """A volume, an area in two dimensions."""

    common = "It is in mm³ or ml (mm² or pixels in two dimensions)."
    unit: Literal["ml"] | None = Key(
        default=None, description="Unit of volumes: `ml`. Default: mm³; mm² or pixels in two dimensions."
    )

    def figure(self, table: StructureField) -> tables.LabelFigure:
        return tables.LabelFigure(best=0, worst=math.inf, unit=self.extent_unit(table))

    def extent_unit(self, table: StructureField) -> str:
        """Return the unit. Raises ValueError for ml of images of two dimensions."""
        if self.unit and table.dimensions == 2:
            raise ValueError("unit: expected none for images of two dimensions, found 'ml'")
        return self.unit or table.extent_unit

    def worst_value(self, reference: LabelMapValue, table: StructureField, structure: Structure) -> float:
        return math.prod(reference.shape) * self.voxel_extent(reference)

    def voxel_extent(self, value: LabelMapValue) -> float:
        """Return the volume of a voxel in that unit; in two dimensions its area, 1 without a spacing."""
        return math.prod(value.spacing_mm or (1.0,)) / (1000 if self.unit else 1)


class VolumeDifference(VolumeTable, LabelMetricTable):
    """Predicted volume minus reference volume, by default without its sign; areas in two dimensions.

    At least 0, lower is better. With `relative` it is divided by the reference volume: 0 where neither map
    has the label, `worst` where only the prediction has it. With `signed` negative values mean too small;
    such a figure cannot rank. A case without a result counts as `worst`, and no difference counts as more
    than that.

    Oracle: numbers of voxels times their volume, by hand.
    """

    metric: Literal["volume_difference"]
    relative: bool = Key(
        default=False, description="Whether the difference is divided by the reference volume."
    )
    signed: bool = Key(default=False, description="Whether the difference has its sign.")
    worst: tables.Positive | None = Key(
        default=None,
        description="Difference of a case without a result. Default: the volume of the case's image; a "
        "relative difference has no default.",
    )

    def needs_whole(self) -> bool:
        return False

    def figure(self, table: StructureField) -> tables.LabelFigure:
        if self.relative and self.worst is None:
            raise ValueError(
                "worst: expected the difference of a case without a result, since a relative one has no limit"
            )
        unit = self.extent_unit(table)
        best = -math.inf if self.signed else 0.0  # bounds of the figure, which then has no best value
        return tables.LabelFigure(best, math.inf, "" if self.relative else unit, ordered=not self.signed)

    def worst_value(self, reference: LabelMapValue, table: StructureField, structure: Structure) -> float:
        return self.worst or super().worst_value(reference, table, structure)

    def values(self, comparison: MapComparison, structures: Sequence[Structure]) -> Figures:
        counts, extent = comparison.counts, self.voxel_extent(comparison.reference)
        limit = self.worst_value(comparison.reference, comparison.table, structures[0])
        difference, true = (counts.prediction - counts.reference) * extent, counts.reference * extent
        if self.relative:
            difference = np.divide(difference, true, out=np.sign(difference) * limit, where=true > 0)
        difference = np.clip(difference if self.signed else np.abs(difference), -limit, limit)
        return figures_of(difference, comparison.table, structures)
