"""Overlap and volume of the labels of two label maps; one pass over both maps counts for all figures."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.declared.field_table import FieldTable
from evaluation.challenges.declared.label_map import Figures, LabelFigure, LabelMapField, LabelMetricTable
from evaluation.challenges.declared.measure import Comparison, Measure
from evaluation.core.challenge import Values
from evaluation.core.form import CaseForm
from evaluation.core.keys import Key
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics.arrays import Floats
from evaluation.metrics.crops import together
from evaluation.metrics.label_maps import LabelCounts, count_label_overlap, volume_difference
from evaluation.metrics.segmentation import (
    dice_of_counts,
    jaccard_of_counts,
    precision_of_counts,
    recall_of_counts,
)


def counts_of(comparison: Comparison, table: LabelMapField) -> LabelCounts:
    """Return the voxels of each label in both maps and in their overlap, counted once for all metrics."""

    def count(comparison: Comparison) -> LabelCounts:
        maps = together(comparison.submitted.crop, comparison.reference.crop)
        return count_label_overlap(*maps, len(table.labels))

    return comparison.derive("label overlap", count)


def voxels_of(value: LabelMapValue, labels: int) -> NDArray[np.intp]:
    """Return the voxels of each label of a map, shape (labels,)."""
    return np.bincount(value.positions.reshape(-1), minlength=labels + 1)[1:]


class _OverlapTable(LabelMetricTable):
    """A ratio from 0 to 1 of the voxels of two regions."""

    absent: Literal["score", "leave_out"] = Key(
        default="score",
        description="Labels that the reference of a case does not have. `score`: 1 if the label is not "
        "predicted either, otherwise 0. `leave_out`: the case does not enter the figure of that label.",
    )

    @abstractmethod
    def ratios(self, counts: LabelCounts) -> Floats:
        """Return the ratio of each label, 1 where it is in neither map."""

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the ratio of each label and their mean. Raises ValueError for unknown labels."""
        assert isinstance(table, LabelMapField)
        labels = self.scored_labels(table)
        positions = [position for position, _ in labels]
        leaves_out = self.absent == "leave_out"

        def values(comparison: Comparison) -> Figures:
            counts = counts_of(comparison, table)
            ratios = np.where(leaves_out & (counts.reference == 0), math.nan, self.ratios(counts))
            return _listed(ratios[positions])

        def worst(case: CaseForm, references: Values) -> Figures:
            voxels = voxels_of(references[field_name], len(table.labels))
            return _listed(np.where(voxels == 0, math.nan, 0.0)[positions])

        figure = LabelFigure(best=1, worst=0)
        names = [label for _, label in labels]
        return self.label_measure(name, names, figure, values, worst if leaves_out else None)


class Dice(_OverlapTable):
    """Dice coefficient: twice the overlap of two regions by the sum of their voxels.

    From 0 to 1, higher is better, for each label and as mean over labels. A label that neither map has
    counts as 1, one that only one map has as 0. A case without a result counts as 0.

    Oracle: scikit-learn, `f1_score` of the voxels. Source: Dice, Ecology 26:297, 1945.
    """

    metric: Literal["dice"]

    def ratios(self, counts: LabelCounts) -> Floats:
        """Return the Dice coefficients."""
        return dice_of_counts(counts, both_empty=1.0)


class Jaccard(_OverlapTable):
    """Jaccard index: the overlap of two regions by the voxels of either, intersection over union.

    From 0 to 1, higher is better, for each label and as mean over labels. A label that neither map has
    counts as 1, one that only one map has as 0. A case without a result counts as 0.

    Oracle: scikit-learn, `jaccard_score` of the voxels. Source: Jaccard, New Phytologist 11:37, 1912.
    """

    metric: Literal["jaccard"]

    def ratios(self, counts: LabelCounts) -> Floats:
        """Return the Jaccard indices."""
        return jaccard_of_counts(counts, both_empty=1.0)


class VoxelSensitivity(_OverlapTable):
    """Share of a region's voxels that are predicted.

    From 0 to 1, higher is better, for each label and as mean over labels. A label that neither map has
    counts as 1, one that only one map has as 0. A case without a result counts as 0.

    Oracle: scikit-learn, `recall_score` of the voxels.
    """

    metric: Literal["voxel_sensitivity"]

    def ratios(self, counts: LabelCounts) -> Floats:
        """Return the sensitivities."""
        return recall_of_counts(counts, both_empty=1.0)


class VoxelPrecision(_OverlapTable):
    """Share of the predicted voxels that are in the region.

    From 0 to 1, higher is better, for each label and as mean over labels. A label that neither map has
    counts as 1, one that only one map has as 0. A case without a result counts as 0.

    Oracle: scikit-learn, `precision_score` of the voxels.
    """

    metric: Literal["voxel_precision"]

    def ratios(self, counts: LabelCounts) -> Floats:
        """Return the precisions."""
        return precision_of_counts(counts, both_empty=1.0)


class VolumeDifference(LabelMetricTable):
    """Predicted volume minus reference volume, by default without its sign; areas in two dimensions.

    At least 0, lower is better, in mm³ (mm² or pixels in two dimensions), for each label and as mean over
    labels. With `relative` it is divided by the reference volume: 0 where neither map has the label, `worst`
    where only the prediction has it. With `signed` negative values mean too small; such a figure cannot
    rank. A case without a result counts as `worst`, and no difference counts as more than that.

    Oracle: numbers of voxels times their volume, by hand.
    """

    metric: Literal["volume_difference"]
    relative: bool = Key(
        default=False, description="Whether the difference is divided by the reference volume."
    )
    signed: bool = Key(default=False, description="Whether the difference has its sign.")
    worst: float | None = Key(
        default=None,
        description="Difference of a case without a result. Default: the volume of the case's image; a "
        "relative difference has no default.",
        gt=0,
        allow_inf_nan=False,
    )

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the difference of each label and their mean. Raises ValueError where `worst` is needed."""
        assert isinstance(table, LabelMapField)
        labels = self.scored_labels(table)
        positions = [position for position, _ in labels]
        if self.relative and self.worst is None:
            raise ValueError(
                "worst: expected the difference of a case without a result, since a relative one has no limit"
            )

        def limit_of(reference: LabelMapValue) -> float:
            return (
                math.prod((*reference.shape, voxel_extent(reference))) if self.worst is None else self.worst
            )

        def values(comparison: Comparison) -> Figures:
            found = volume_difference(counts_of(comparison, table), [voxel_extent(comparison.reference)])
            limit = limit_of(comparison.reference)
            difference = found.signed_mm3
            if self.relative:
                difference = np.where(np.isnan(found.relative), np.sign(difference) * limit, found.relative)
            difference = np.clip(difference if self.signed else np.abs(difference), -limit, limit)
            return _listed(difference[positions])

        def worst(case: CaseForm, references: Values) -> Figures:
            return [limit_of(references[field_name])] * len(labels)

        unit = "" if self.relative else table.extent_unit
        best = -math.inf if self.signed else 0.0  # bounds of the figure, which then has no best value
        figure = LabelFigure(best, worst=math.inf, unit=unit, ordered=not self.signed)
        return self.label_measure(name, [label for _, label in labels], figure, values, worst)


def voxel_extent(value: LabelMapValue) -> float:
    """Return the volume of a voxel in mm³; in two dimensions its area, 1 without a spacing."""
    return math.prod(value.spacing_mm or (1.0,))


def _listed(figures: Floats) -> list[float]:
    listed: list[float] = figures.tolist()
    return listed
