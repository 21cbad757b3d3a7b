"""Metrics of the structure of labels: components and tunnels, centre lines, boundaries."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Literal

from evaluation.challenges.declared import label_maps
from evaluation.challenges.declared.maps import MapComparison, Structure, StructureField
from evaluation.challenges.declared.tables import LabelFigure, Part, Positive
from evaluation.core.fault import PhaseError
from evaluation.core.keys import Key
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics.arrays import Bools
from evaluation.metrics.components import (
    ThinningAxes,
    betti_numbers,
    centreline_dice,
    count_boundary_overlap,
)
from evaluation.metrics.segmentation import OverlapCounts, jaccard_of_counts


class _MaskTable(label_maps.LabelMetricTable):
    """A figure of two masks, by default from 0 to 1."""

    @abstractmethod
    def value(self, prediction: Bools, reference: Bools, of: LabelMapValue) -> float:
        """Return the figure of two masks of the reference's image, cropped alike."""

    def values(self, comparison: MapComparison, structures: Sequence[Structure]) -> label_maps.Figures:
        """Return the figures."""
        masks = map(comparison.maps.masks, structures)
        return [self.value(*both, comparison.reference) for both in masks]


class BettiError(_MaskTable):
    """Absolute difference of a Betti number: how many components, or tunnels, there are too many or too few.

    From 0 to `worst`, lower is better, for each label and as mean over labels. Voxels that share a corner are
    connected. No difference counts as more than `worst`, and a case without a result as that.

    Oracle: scikit-image, `euler_number`, and SciPy, `label`. Source: Hu et al., NeurIPS 2019.
    """

    metric: Literal["betti_error"]
    number: Literal[0, 1] = Key(default=0, description="0: components. 1: tunnels; in two dimensions holes.")
    worst: Positive = Key(description="The largest difference that counts.")

    def figure(self, table: StructureField) -> LabelFigure:
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
    thinning_axes: ThinningAxes = Key(
        default="zyx",
        description="Order of the axes in which regions are thinned to skeletons, on which these depend: "
        "`zyx`, as SimpleITK hands out arrays, or `xyz`, as NiBabel does (TopCoW).",
    )

    def value(self, prediction: Bools, reference: Bools, of: LabelMapValue) -> float:
        """Return the figure. Raises `PhaseError` without the package."""
        try:
            return centreline_dice(prediction, reference, self.thinning_axes)
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
    counts_voxels = True
    width: int | None = Key(
        default=None,
        description="Width of the boundary in voxels, diagonal steps included. Default: 2 % of the diagonal "
        "of the case's image, rounded, at least 1.",
        ge=1,
    )

    def value(self, prediction: Bools, reference: Bools, of: LabelMapValue) -> float:
        """Return the figure."""
        return jaccard_of_counts(self._count(prediction, reference, of), both_empty=1.0)

    def _count(self, prediction: Bools, reference: Bools, of: LabelMapValue) -> OverlapCounts[int]:
        diagonal = math.hypot(*of.shape[-prediction.ndim :])
        return count_boundary_overlap(prediction, reference, self.width or max(1, round(0.02 * diagonal)))

    @property
    def of_nothing(self) -> float:
        """1: there is no voxel of the label in any map."""
        return 1.0

    def part(self, comparison: MapComparison, structure: Structure) -> Part:
        """Return the common voxels near both boundaries, of those near either."""
        counts = self._count(*comparison.maps.masks(structure), comparison.reference)
        return Part(*jaccard_of_counts.parts(counts))

    def missing_part(self, comparison: MapComparison, structure: Structure) -> Part:
        """Return that none is common, and as many as those of the reference are false, at least one."""
        of_reference = self.part(comparison, structure).of
        return Part(0, of_reference + max(1, of_reference))
