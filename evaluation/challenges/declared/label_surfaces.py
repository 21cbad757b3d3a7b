"""Distances between the surfaces of the labels of two label maps; one comparison serves all figures."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.declared.label_maps import (
    Figures,
    LabelFigure,
    LabelMapField,
    LabelMetricTable,
    voxels_of,
)
from evaluation.challenges.declared.tables import FieldComparison, FieldTable, Measure
from evaluation.core.challenge import Values
from evaluation.core.form import CaseForm
from evaluation.core.keys import Key
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics.crops import together
from evaluation.metrics.label_surfaces import SurfaceComparison, compare_label, label_boxes
from evaluation.metrics.surfaces import Directions, Percentile, Surface, SurfaceConvention

Maps = tuple[NDArray[np.uint8], NDArray[np.uint8]]
Tolerance = Annotated[float, Key(ge=0, allow_inf_nan=False)]


def surfaces_of(
    comparison: FieldComparison, table: LabelMapField, surface: Surface, positions: Sequence[int]
) -> list[SurfaceComparison]:
    """Return the surfaces of the labels at these positions, each compared once for all metrics."""
    spacing = _spacing(comparison.reference, table)

    def maps_in_one_box(comparison: FieldComparison) -> Maps:
        prediction, reference = together(comparison.submitted.crop, comparison.reference.crop)
        if table.dimensions == 3:
            return prediction, reference
        return prediction.reshape(prediction.shape[1:]), reference.reshape(reference.shape[1:])

    maps = comparison.derive("label maps in one box", maps_in_one_box)
    boxes = comparison.derive("label boxes", lambda _: label_boxes(*maps, len(table.labels)))

    def compared(position: int) -> SurfaceComparison:
        def compare(comparison: FieldComparison) -> SurfaceComparison:
            return compare_label(*maps, position + 1, boxes[position], spacing, surface)

        return comparison.derive(("surfaces", surface, position), compare)

    return [compared(position) for position in positions]


class _SurfaceTable(LabelMetricTable):
    """A figure of the distances between two surfaces."""

    surface: Surface = Key(
        default="elements",
        description="Parts of a surface. `elements`: what lies between voxels, weighted by area, in two "
        "dimensions by length (google-deepmind/surface-distance). `voxels`: those of a region with a "
        "neighbour outside of it, of equal weight (SimpleITK, MedPy, MONAI, MetricsReloaded). Figures of the "
        "two differ by up to several per cent.",
    )
    absent: Literal["score", "leave_out"] = Key(
        default="score",
        description="Labels that the reference of a case does not have. `score`: the best value if the label "
        "is not predicted either, otherwise the worst. `leave_out`: the case does not enter the figure of "
        "that label.",
    )

    @abstractmethod
    def figure_of(self, table: LabelMapField, names: Sequence[str]) -> LabelFigure:
        """Return the properties of a label's figure. Raises ValueError for options that labels do not fit."""

    @abstractmethod
    def values_of(self, compared: Sequence[SurfaceComparison], names: Sequence[str]) -> Figures:
        """Return the figure of each label, infinite for a distance to nothing."""

    @abstractmethod
    def worst_of(self, reference: LabelMapValue, table: LabelMapField) -> float:
        """Return the worst figure of a label of a case."""

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the figure of each label and their mean. Raises ValueError for options that do not fit."""
        assert isinstance(table, LabelMapField)
        positions, names = self.scored_labels(table)
        figure = self.figure_of(table, names)

        def entering(figures: Figures, reference: LabelMapValue) -> Figures:
            if self.absent == "score":
                return figures
            voxels = voxels_of(reference, len(table.labels))[positions]
            return [value if count else math.nan for value, count in zip(figures, voxels, strict=True)]

        def values(comparison: FieldComparison) -> Figures:
            found = self.values_of(surfaces_of(comparison, table, self.surface, positions), names)
            worst = self.worst_of(comparison.reference, table)
            limit = max if figure.worst < figure.best else min
            return entering([limit(value, worst) for value in found], comparison.reference)

        def worst(case: CaseForm, references: Values) -> Figures:
            reference = references[field_name]
            return entering([self.worst_of(reference, table)] * len(names), reference)

        return self.label_measure(name, names, figure, values, worst)


class _SurfaceDistanceTable(_SurfaceTable):
    """A distance between two surfaces."""

    directions: Directions
    worst: float | None = Key(
        default=None,
        description="Distance of a case without a result, and of a label that only one map has. Default: the "
        "diagonal of the case's image.",
        gt=0,
        allow_inf_nan=False,
    )

    def figure_of(self, table: LabelMapField, names: Sequence[str]) -> LabelFigure:
        worst = math.inf if self.worst is None else self.worst
        return LabelFigure(best=0, worst=worst, unit="mm" if table.in_mm else "pixels")

    def worst_of(self, reference: LabelMapValue, table: LabelMapField) -> float:
        if self.worst is not None:
            return self.worst
        spacing = _spacing(reference, table)
        shape = reference.shape[-len(spacing) :]
        return math.hypot(*(size * step for size, step in zip(shape, spacing, strict=True)))


class HausdorffDistance(_SurfaceDistanceTable):
    """Hausdorff distance between the surfaces of two regions, or a percentile of the distances.

    At least 0, lower is better, in mm (in two dimensions without a spacing: pixels), for each label and as
    mean over labels. A label that neither map has counts as 0, one that only one map has and a case without a
    result as `worst`; no distance counts as more than that.

    Oracle: google-deepmind/surface-distance, `compute_robust_hausdorff`, for elements; SimpleITK,
    `HausdorffDistanceImageFilter` of contours, for voxels. Source: Huttenlocher et al., IEEE TPAMI 15:850,
    1993.
    """

    metric: Literal["hausdorff_distance"]
    percentile: float = Key(
        default=100.0,
        description="Percentile of the distances, 100 for the largest. It is common to take 95.",
        gt=0,
        le=100,
    )
    percentile_method: Percentile = Key(
        default="index",
        description="`index`: one of the distances, number 1 + ⌊p (n − 1) / 100⌋ of n; of elements the first "
        "at which the cumulated area reaches the percentile. `linear`: interpolated between two, for voxels "
        "only (NumPy, MedPy, MONAI, MetricsReloaded).",
    )
    directions: Directions = Key(
        default="directed",
        description="The distances from prediction to reference and back. `directed`: the larger of their "
        "two figures. `pooled`: the figure of all distances together (MedPy).",
    )

    def figure_of(self, table: LabelMapField, names: Sequence[str]) -> LabelFigure:
        """Return a distance. Raises ValueError for a percentile that elements do not have."""
        SurfaceConvention(self.surface, self.percentile_method, self.directions)
        return super().figure_of(table, names)

    def values_of(self, compared: Sequence[SurfaceComparison], names: Sequence[str]) -> Figures:
        """Return the percentiles."""
        return [
            label.hausdorff_distance(self.percentile, self.percentile_method, self.directions)
            for label in compared
        ]


class AverageSurfaceDistance(_SurfaceDistanceTable):
    """Mean distance between the surfaces of two regions, by default the average symmetric surface distance.

    At least 0, lower is better, in mm (in two dimensions without a spacing: pixels), for each label and as
    mean over labels. A label that neither map has counts as 0, one that only one map has and a case without a
    result as `worst`; no distance counts as more than that.

    Oracle: google-deepmind/surface-distance, `compute_average_surface_distance`, for elements; SciPy,
    `distance_transform_edt`, for voxels. Source: Heimann et al., IEEE TMI 28:1251, 2009.
    """

    metric: Literal["average_surface_distance"]
    directions: Directions = Key(
        default="pooled",
        description="The distances from prediction to reference and back. `pooled`: the mean of all "
        "distances together, the average symmetric surface distance. `directed`: the larger of the two "
        "means.",
    )

    def values_of(self, compared: Sequence[SurfaceComparison], names: Sequence[str]) -> Figures:
        """Return the means."""
        return [label.average_distance(self.directions) for label in compared]


class SurfaceDice(_SurfaceTable):
    """Normalised surface Dice: share of two surfaces within a tolerance of the other surface.

    From 0 to 1, higher is better, for each label and as mean over labels. A label that neither map has
    counts as 1, one that only one map has as 0. A case without a result counts as 0.

    Oracle: google-deepmind/surface-distance, `compute_surface_dice_at_tolerance`. Source: Nikolov et al.,
    arXiv:1809.04430, 2018.
    """

    metric: Literal["surface_dice"]
    tolerance_mm: Tolerance | dict[str, Tolerance] = Key(
        description="Tolerance in mm (in two dimensions without a spacing: pixels): one for all labels, or "
        "one for each by name, such as `{ aorta = 2, liver = 3 }`. A distance that equals it up to rounding "
        "is within."
    )

    def figure_of(self, table: LabelMapField, names: Sequence[str]) -> LabelFigure:
        """Return a share. Raises ValueError unless each scored label, and no other, has a tolerance."""
        if isinstance(self.tolerance_mm, dict) and set(self.tolerance_mm) != set(names):
            found = ", ".join(self.tolerance_mm) or "none"
            raise ValueError(f"tolerance_mm: expected one for each of {', '.join(names)}, found {found}")
        return LabelFigure(best=1, worst=0)

    def worst_of(self, reference: LabelMapValue, table: LabelMapField) -> float:
        """Return 0."""
        return 0.0

    def values_of(self, compared: Sequence[SurfaceComparison], names: Sequence[str]) -> Figures:
        """Return the shares."""
        stated = self.tolerance_mm
        tolerances = stated if isinstance(stated, dict) else dict.fromkeys(names, stated)
        return [label.surface_dice(tolerances[name]) for label, name in zip(compared, names, strict=True)]


def _spacing(reference: LabelMapValue, table: LabelMapField) -> tuple[float, ...]:
    """Return the spacing along each axis of the image, 1 where the phase gives none."""
    return (reference.spacing_mm or (1.0, 1.0, 1.0))[-table.dimensions :]
