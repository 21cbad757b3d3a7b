"""Distances between the surfaces of the labels of two label maps; one comparison serves all figures."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Literal

from evaluation.challenges.declared import label_maps, maps
from evaluation.challenges.declared.maps import MapComparison, Structure, StructureField
from evaluation.challenges.declared.tables import LabelFigure, Part, Positive
from evaluation.core.keys import Key
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics.label_surfaces import SurfaceComparison, compare_surfaces
from evaluation.metrics.surfaces import (
    Directions,
    DirectionsOfMean,
    Percentile,
    Surface,
    SurfaceNeighbours,
    check_neighbours,
    check_percentile,
)

Tolerance = Annotated[float, Key(ge=0, allow_inf_nan=False)]


class _SurfaceTable(label_maps.LabelMetricTable):
    """A figure of the distances between two surfaces."""

    surface: Surface = Key(
        default="elements",
        description="Parts of a surface. `elements`: what lies between voxels, weighted by area, in two "
        "dimensions by length (google-deepmind/surface-distance). `voxels`: those of a region with a "
        "neighbour outside of it, of equal weight (SimpleITK, MedPy, MONAI, MetricsReloaded). Figures of the "
        "two differ by up to several per cent.",
    )
    surface_neighbours: SurfaceNeighbours = Key(
        default="faces",
        description="Neighbours of a voxel that make it surface if one of them is outside of the region, for "
        "`voxels` only: `faces` 6 (4 in two dimensions; SciPy, MedPy, MONAI), `all` 26 (8 in two dimensions; "
        "ITK's fully connected contours, TopCoW). With `all` a surface has more voxels. Beyond the image is "
        "outside. `faces_in_image`: faces as far as the image has them (ITK's contours, MAMA-MIA); a region "
        "that fills its image then has no surface and counts as one that its map lacks.",
    )
    distances: Literal["mm", "voxels"] = Key(
        default="mm",
        description="Unit of all distances, `worst` and tolerances included: `mm` (in two dimensions without "
        "a spacing: pixels), or `voxels`, as if every spacing were 1 (ToothFairy).",
    )

    def spacing_of(self, reference: LabelMapValue, table: StructureField) -> tuple[float, ...]:
        """Return the length of a voxel along each axis, in the unit of distances."""
        in_mm = maps.spacing_of(reference, table)
        return in_mm if self.distances == "mm" else (1.0,) * len(in_mm)

    def figure(self, table: StructureField) -> LabelFigure:
        check_neighbours(self.surface, self.surface_neighbours)
        return self.range(table)

    @abstractmethod
    def range(self, table: StructureField) -> LabelFigure:
        """Return best and worst value and the unit. Raises ValueError for options that do not fit."""

    @abstractmethod
    def value(self, compared: SurfaceComparison, structure: Structure) -> float:
        """Return the figure of a structure, infinite for a distance to nothing."""

    def values(self, comparison: MapComparison, structures: Sequence[Structure]) -> label_maps.Figures:
        """Return the figures, none worse than the worst; surfaces are compared once for all metrics."""
        reference: LabelMapValue = comparison.reference
        table = comparison.table
        figure = self.figure(table)
        limit = max if figure.worst < figure.best else min

        def figure_of(structure: Structure) -> float:
            compared = self.compared(comparison, structure)
            return limit(self.value(compared, structure), self.worst_value(reference, table, structure))

        return [figure_of(structure) for structure in structures]

    def compared(self, comparison: MapComparison, structure: Structure) -> SurfaceComparison:
        """Return the comparison of the surfaces of a structure, once for all metrics."""

        def compare(comparison: MapComparison) -> SurfaceComparison:
            spacing = self.spacing_of(comparison.reference, comparison.table)
            masks = comparison.maps.masks(structure)
            if self.surface_neighbours == "faces_in_image":
                masks = comparison.whole_masks(structure)
            return compare_surfaces(*masks, spacing, self.surface, self.surface_neighbours)

        key = ("surfaces", self.surface, self.surface_neighbours, self.distances, structure.positions)
        return comparison.derive(key, compare)


class _SurfaceDistanceTable(_SurfaceTable):
    """A distance between two surfaces."""

    common = (
        "In two dimensions without a spacing it is in pixels. A label that neither map has counts as 0, one "
        "that only one map has and a case without a result as `worst`; no distance counts as more than that."
    )
    worst: Positive | maps.Extent | None = Key(
        default=None,
        description="Distance of a case without a result, and of a label that only one map has: a number, or "
        f"a length of the image. {maps.WORST}",
    )

    def range(self, table: StructureField) -> LabelFigure:
        worst = self.worst if isinstance(self.worst, float) else math.inf
        unit = "voxels" if self.distances == "voxels" else "mm" if table.in_mm else "pixels"
        return LabelFigure(best=0, worst=worst, unit=unit)

    def worst_value(self, reference: LabelMapValue, table: StructureField, structure: Structure) -> float:
        if isinstance(self.worst, float):
            return self.worst
        return maps.extent_of(reference.shape, self.spacing_of(reference, table), self.worst or "diagonal")


class HausdorffDistance(_SurfaceDistanceTable):
    """Oracle: google-deepmind/surface-distance, `compute_robust_hausdorff`, for elements.

    SimpleITK, `HausdorffDistanceImageFilter` of contours, for voxels.
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

    def range(self, table: StructureField) -> LabelFigure:
        check_percentile(self.surface, self.percentile_method)
        return super().range(table)

    def value(self, compared: SurfaceComparison, structure: Structure) -> float:
        return compared.hausdorff_distance(self.percentile, self.percentile_method, self.directions)


class AverageSurfaceDistance(_SurfaceDistanceTable):
    """Oracle: google-deepmind/surface-distance, `compute_average_surface_distance`, for elements.

    SciPy, `distance_transform_edt`, for voxels.
    """

    metric: Literal["average_surface_distance"]
    directions: DirectionsOfMean = Key(
        default="pooled",
        description="The distances from prediction to reference and back. `pooled`: the mean of all "
        "distances together, the average symmetric surface distance. `directed`: the larger of the two "
        "means. `mean`: their mean (MASD). `to_reference`: the one from the predicted surface, to which "
        "what is missed costs nothing: one voxel on the reference's surface has 0 (TrackRAD).",
    )

    @property
    def caution(self) -> str:
        if self.directions != "to_reference":
            return ""
        return "what the prediction misses costs nothing: one voxel on the reference's surface has 0"

    def value(self, compared: SurfaceComparison, structure: Structure) -> float:
        return compared.average_distance(self.directions)


class SurfaceDice(_SurfaceTable):
    """Oracle: google-deepmind/surface-distance, `compute_surface_dice_at_tolerance`."""

    common = label_maps.SHARE_OF_A_LABEL
    of_nothing = 1.0

    metric: Literal["surface_dice"]
    tolerance_mm: Tolerance | dict[str, Tolerance] = Key(
        description="Tolerance in mm (in two dimensions without a spacing: pixels): one for all labels, or "
        "one for each by name, such as `{ aorta = 2, liver = 3 }`. A distance that equals it up to rounding "
        "is within."
    )

    def range(self, table: StructureField) -> LabelFigure:
        names = [structure.name for structure in self.scored(table)]
        if isinstance(self.tolerance_mm, dict) and set(self.tolerance_mm) != set(names):
            found = ", ".join(self.tolerance_mm) or "none"
            raise ValueError(f"tolerance_mm: expected one for each of {', '.join(names)}, found {found}")
        return LabelFigure(best=1, worst=0)

    def value(self, compared: SurfaceComparison, structure: Structure) -> float:
        return compared.surface_dice(self._tolerance(structure))

    def part(self, comparison: MapComparison, structure: Structure) -> Part:
        return Part(*self.compared(comparison, structure).within(self._tolerance(structure)))

    def missing_part(self, comparison: MapComparison, structure: Structure) -> Part:
        """Return that nothing is within, of twice the reference's surface, of at least one unit."""
        return Part(0, max(1.0, self.part(comparison, structure).of))

    def _tolerance(self, structure: Structure) -> float:
        stated = self.tolerance_mm
        return stated[structure.name] if isinstance(stated, dict) else stated
