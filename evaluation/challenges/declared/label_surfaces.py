"""Distances between the surfaces of the labels of two label maps, and the structure of labels."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Literal

from evaluation.challenges.declared.label_maps import (
    Figures,
    LabelFigure,
    LabelMapField,
    LabelMetricTable,
    Structure,
    diagonal_of,
    maps_of,
    spacing_of,
)
from evaluation.challenges.declared.tables import FieldComparison
from evaluation.core.fault import PhaseError
from evaluation.core.keys import Key
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics.arrays import Bools
from evaluation.metrics.components import betti_numbers, boundary_iou, centreline_dice
from evaluation.metrics.label_surfaces import SurfaceComparison, compare_surfaces
from evaluation.metrics.surfaces import Directions, DirectionsOfMean, Percentile, Surface, SurfaceConvention

Tolerance = Annotated[float, Key(ge=0, allow_inf_nan=False)]


class _SurfaceTable(LabelMetricTable):
    """A figure of the distances between two surfaces."""

    surface: Surface = Key(
        default="elements",
        description="Parts of a surface. `elements`: what lies between voxels, weighted by area, in two "
        "dimensions by length (google-deepmind/surface-distance). `voxels`: those of a region with a "
        "neighbour outside of it, of equal weight (SimpleITK, MedPy, MONAI, MetricsReloaded). Figures of the "
        "two differ by up to several per cent.",
    )

    @abstractmethod
    def value(self, compared: SurfaceComparison, structure: Structure) -> float:
        """Return the figure of a structure, infinite for a distance to nothing."""

    def values(
        self, comparison: FieldComparison, table: LabelMapField, structures: Sequence[Structure]
    ) -> Figures:
        """Return the figures, none worse than the worst; surfaces are compared once for all metrics."""
        reference: LabelMapValue = comparison.reference
        spacing_mm = spacing_of(reference, table)
        figure = self.figure(table, structures)
        limit = max if figure.worst < figure.best else min

        def figure_of(structure: Structure) -> float:
            def compare(comparison: FieldComparison) -> SurfaceComparison:
                masks = maps_of(comparison, table).masks(structure)
                return compare_surfaces(*masks, spacing_mm, self.surface)

            compared = comparison.derive(("surfaces", self.surface, structure.positions), compare)
            return limit(self.value(compared, structure), self.worst_value(reference, table, structure))

        return [figure_of(structure) for structure in structures]


class _SurfaceDistanceTable(_SurfaceTable):
    """A distance between two surfaces."""

    worst: float | None = Key(
        default=None,
        description="Distance of a case without a result, and of a label that only one map has. Default: the "
        "diagonal of the case's image.",
        gt=0,
        allow_inf_nan=False,
    )

    def figure(self, table: LabelMapField, structures: Sequence[Structure]) -> LabelFigure:
        worst = math.inf if self.worst is None else self.worst
        return LabelFigure(best=0, worst=worst, unit="mm" if table.in_mm else "pixels")

    def worst_value(self, reference: LabelMapValue, table: LabelMapField, structure: Structure) -> float:
        return diagonal_of(reference, table) if self.worst is None else self.worst


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

    def figure(self, table: LabelMapField, structures: Sequence[Structure]) -> LabelFigure:
        """Return a distance. Raises ValueError for a percentile that elements do not have."""
        SurfaceConvention(self.surface, self.percentile_method, self.directions)
        return super().figure(table, structures)

    def value(self, compared: SurfaceComparison, structure: Structure) -> float:
        """Return the percentile."""
        return compared.hausdorff_distance(self.percentile, self.percentile_method, self.directions)


class AverageSurfaceDistance(_SurfaceDistanceTable):
    """Mean distance between the surfaces of two regions, by default the average symmetric surface distance.

    At least 0, lower is better, in mm (in two dimensions without a spacing: pixels), for each label and as
    mean over labels. A label that neither map has counts as 0, one that only one map has and a case without a
    result as `worst`; no distance counts as more than that.

    Oracle: google-deepmind/surface-distance, `compute_average_surface_distance`, for elements; SciPy,
    `distance_transform_edt`, for voxels. Source: Heimann et al., IEEE TMI 28:1251, 2009.
    """

    metric: Literal["average_surface_distance"]
    directions: DirectionsOfMean = Key(
        default="pooled",
        description="The distances from prediction to reference and back. `pooled`: the mean of all "
        "distances together, the average symmetric surface distance. `directed`: the larger of the two "
        "means. `mean`: their mean (MASD).",
    )

    def value(self, compared: SurfaceComparison, structure: Structure) -> float:
        """Return the mean."""
        return compared.average_distance(self.directions)


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

    def figure(self, table: LabelMapField, structures: Sequence[Structure]) -> LabelFigure:
        """Return a share. Raises ValueError unless each scored label, and no other, has a tolerance."""
        names = [structure.name for structure in self.scored(table)]
        if isinstance(self.tolerance_mm, dict) and set(self.tolerance_mm) != set(names):
            found = ", ".join(self.tolerance_mm) or "none"
            raise ValueError(f"tolerance_mm: expected one for each of {', '.join(names)}, found {found}")
        return LabelFigure(best=1, worst=0)

    def value(self, compared: SurfaceComparison, structure: Structure) -> float:
        """Return the share."""
        stated = self.tolerance_mm
        return compared.surface_dice(stated[structure.name] if isinstance(stated, dict) else stated)


class _MaskTable(LabelMetricTable):
    """A figure of two masks, by default from 0 to 1."""

    @abstractmethod
    def value(self, prediction: Bools, reference: Bools, of: LabelMapValue) -> float:
        """Return the figure of two masks of the reference's image, cropped alike."""

    def values(
        self, comparison: FieldComparison, table: LabelMapField, structures: Sequence[Structure]
    ) -> Figures:
        """Return the figures."""
        maps = maps_of(comparison, table)
        return [self.value(*maps.masks(structure), comparison.reference) for structure in structures]


class BettiError(_MaskTable):
    """Absolute difference of a Betti number: how many components, or tunnels, there are too many or too few.

    From 0 to `worst`, lower is better, for each label and as mean over labels. Voxels that share a corner are
    connected. No difference counts as more than `worst`, and a case without a result as that.

    Oracle: scikit-image, `euler_number`, and SciPy, `label`. Source: Hu et al., NeurIPS 2019.
    """

    metric: Literal["betti_error"]
    number: Literal[0, 1] = Key(default=0, description="0: components. 1: tunnels; in two dimensions holes.")
    worst: float = Key(description="The largest difference that counts.", gt=0, allow_inf_nan=False)

    def figure(self, table: LabelMapField, structures: Sequence[Structure]) -> LabelFigure:
        """Return the range."""
        return LabelFigure(best=0, worst=self.worst)

    def value(self, prediction: Bools, reference: Bools, of: LabelMapValue) -> float:
        """Return the difference."""
        found, true = (betti_numbers(mask)[self.number] for mask in (prediction, reference))
        return min(float(abs(found - true)), self.worst)


class CentrelineDice(_MaskTable):
    """Centreline Dice (clDice): harmonic mean of the shares of each skeleton that the other region holds.

    From 0 to 1, higher is better, for each label and as mean over labels. A label that neither map has counts
    as 1, one that only one map has as 0. A case without a result counts as 0. It needs the package
    scikit-image, which a `requirements.txt` beside `phase.toml` brings into the image.

    Oracle: scikit-image, `skeletonize`. Source: Shit et al., CVPR 2021, p. 16560.
    """

    metric: Literal["centreline_dice"]

    def value(self, prediction: Bools, reference: Bools, of: LabelMapValue) -> float:
        """Return the figure. Raises `PhaseError` without the package."""
        try:
            return centreline_dice(prediction, reference)
        except ModuleNotFoundError:
            raise PhaseError(
                "centreline_dice: scikit-image is not installed; list it in a requirements.txt with hashes "
                "beside phase.toml"
            ) from None


class BoundaryIou(_MaskTable):
    """Boundary IoU: intersection over union of the voxels near the boundaries of two regions, inside of them.

    From 0 to 1, higher is better, for each label and as mean over labels. A label that neither map has counts
    as 1, one that only one map has as 0. A case without a result counts as 0.

    Oracle: SciPy, `distance_transform_cdt`. Source: Cheng et al., CVPR 2021, p. 15334.
    """

    metric: Literal["boundary_iou"]
    width: int | None = Key(
        default=None,
        description="Width of the boundary in voxels, diagonal steps included. Default: 2 % of the diagonal "
        "of the case's image, rounded, at least 1.",
        ge=1,
    )

    def value(self, prediction: Bools, reference: Bools, of: LabelMapValue) -> float:
        """Return the figure."""
        diagonal = math.hypot(*of.shape[-prediction.ndim :])
        return boundary_iou(prediction, reference, self.width or max(1, round(0.02 * diagonal)))
