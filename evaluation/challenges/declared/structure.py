"""Metrics of the structure of labels: components and tunnels, centre lines, boundaries."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Literal

from evaluation.challenges.declared import label_maps
from evaluation.challenges.declared.maps import MapComparison, Structure, StructureField
from evaluation.challenges.declared.tables import LabelFigure, Positive
from evaluation.core.fault import PhaseError
from evaluation.core.keys import Key
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics.arrays import Bools
from evaluation.metrics.components import (
    ThinningAxes,
    betti_numbers,
    centreline_dice,
)


class _MaskTable(label_maps.LabelMetricTable):
    """A figure of two masks, by default from 0 to 1."""

    @abstractmethod
    def value(self, prediction: Bools, reference: Bools, of: LabelMapValue) -> float:
        """Return the figure of two masks of the reference's image, cropped alike."""

    def values(self, comparison: MapComparison, structures: Sequence[Structure]) -> label_maps.Figures:
        masks = map(comparison.maps.masks, structures)
        return [self.value(*both, comparison.reference) for both in masks]


class BettiError(_MaskTable):
    """Absolute difference of a Betti number: how many components, or tunnels, there are too many or too few.

    From 0 to `worst`, lower is better. Voxels that share a corner are connected. No difference counts as more
    than `worst`, and a case without a result as that.

    Oracle: scikit-image, `euler_number`, and SciPy, `label`. Source: Hu et al., NeurIPS 2019.
    """

    metric: Literal["betti_error"]
    number: Literal[0, 1] = Key(default=0, description="0: components. 1: tunnels; in two dimensions holes.")
    worst: Positive = Key(description="The largest difference that counts.")

    def figure(self, table: StructureField) -> LabelFigure:
        return LabelFigure(best=0, worst=self.worst)

    def value(self, prediction: Bools, reference: Bools, of: LabelMapValue) -> float:
        found, true = (betti_numbers(mask)[self.number] for mask in (prediction, reference))
        return min(float(abs(found - true)), self.worst)


class CentrelineDice(_MaskTable):
    """Centreline Dice (clDice): harmonic mean of the shares of each skeleton that the other region holds.

    From 0 to 1, higher is better. It needs the package scikit-image, which a `requirements.txt` beside
    `phase.toml` brings into the image.

    Oracle: scikit-image, `skeletonize`. Source: Shit et al., CVPR 2021, p. 16560.
    """

    common = label_maps.SHARE_OF_A_LABEL
    metric: Literal["centreline_dice"]
    thinning_axes: ThinningAxes = Key(
        default="zyx",
        description="Order of the axes in which regions are thinned to skeletons, on which these depend: "
        "`zyx`, as SimpleITK hands out arrays, or `xyz`, as NiBabel does (TopCoW).",
    )

    def value(self, prediction: Bools, reference: Bools, of: LabelMapValue) -> float:
        try:
            return centreline_dice(prediction, reference, self.thinning_axes)
        except ModuleNotFoundError:
            raise PhaseError(
                "centreline_dice: scikit-image is not installed; list it in a requirements.txt with hashes "
                "beside phase.toml"
            ) from None
