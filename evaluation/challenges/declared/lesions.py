"""Objects, instances or the connected components of a label: found, missed, false, and how they overlap."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from pydantic import FiniteFloat

from evaluation.challenges.declared.label_maps import Figures, LabelMetricTable, VolumeTable
from evaluation.challenges.declared.maps import (
    WORST,
    Extent,
    MapComparison,
    Structure,
    StructureField,
    extent_of,
    spacing_of,
)
from evaluation.challenges.declared.tables import MATCHING, LabelFigure, Part, Positive, described
from evaluation.core.keys import Key
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics import lesions as lesion_metrics
from evaluation.metrics.arrays import Floats
from evaluation.metrics.components import Neighbours
from evaluation.metrics.lesion_wise import LesionsInBox, match_lesions
from evaluation.metrics.matching import Agreement, Matching, Overlaps


def most_lesions(shape: tuple[int, int, int], neighbours: Neighbours) -> int:
    """Return how many components an image (z, y, x) can have at most."""
    if neighbours == "faces":
        return (math.prod(shape) + 1) // 2
    apart = math.prod((side + 1) // 2 for side in shape)
    # Voxels that touch at a corner alone are no neighbours: one more in every cube of eight.
    return apart + (math.prod(side // 2 for side in shape) if neighbours == "edges" else 0)


class LesionTable(LabelMetricTable):
    """A figure of objects of a label that match, by default from 0 to 1 and 0 for a case without a result."""

    neighbours: Neighbours = Key(
        default="all",
        description="Voxels that are connected in a label map: `all` 26 neighbours (8 in two dimensions), "
        "`edges` the 18 (8) that share a face or an edge, or `faces` the 6 (4) that share a face.",
    )
    threshold: float = Key(
        default=0.0,
        description="How much an object of each map must overlap to match, from 0 to 1.",
        ge=0,
        le=1,
    )
    strict: bool = Key(
        default=True,
        description="Whether the overlap must be more than the threshold, rather than at least the threshold "
        "(ISLES 2024: 0.2, not strict).",
    )
    agreement: Agreement = Key(
        default="iou", description="The overlap: intersection over union, `iou`, or the Dice coefficient."
    )
    matching: Matching = Key(default="any", description=MATCHING)

    def matched(self, comparison: MapComparison, structure: Structure) -> Overlaps:
        """Return the objects of one structure and the pairs that match, found once for all metrics."""
        options = (self.threshold, self.strict, self.matching, self.agreement)

        def match(comparison: MapComparison) -> Overlaps:
            any_class = self.matching == "most_overlap"
            return comparison.overlaps(structure, self.neighbours, any_class).matched(*options)

        return comparison.derive(("matched", structure.positions, self.neighbours, options), match)

    def value(self, found: Overlaps) -> float:
        """Return the figure of the objects that match; NaN only by the reference. Default: the ratio."""
        assert self.of_nothing is not None
        return self.counted(found).ratio(self.of_nothing)

    def values(self, comparison: MapComparison, structures: Sequence[Structure]) -> Figures:
        return [self.value(self.matched(comparison, structure)) for structure in structures]

    def counted(self, found: Overlaps) -> Part:
        """Return the figure as a ratio, if `is_ratio`."""
        raise NotImplementedError

    def missing(self, references: int) -> Part:
        """Return the same for a case without a result whose reference has so many objects.

        By default all are missed, and as many predicted ones are false, at least one.
        """
        return Part(0, references + max(1, references))

    def part(self, comparison: MapComparison, structure: Structure) -> Part:
        return self.counted(self.matched(comparison, structure))

    def missing_part(self, comparison: MapComparison, structure: Structure) -> Part:
        return self.missing(self.objects_of(comparison.reference, comparison.table, structure))

    def objects_of(self, reference: LabelMapValue, table: StructureField, structure: Structure) -> int:
        """Return the number of objects of a reference."""
        return table.number_of_objects(reference, structure, self.neighbours)


class _LesionVolumeTable(LesionTable, VolumeTable):
    """A volume of objects, an area in two dimensions."""

    @staticmethod
    @abstractmethod
    def voxels(found: Overlaps) -> int:
        """Return the number of voxels."""

    def values(self, comparison: MapComparison, structures: Sequence[Structure]) -> Figures:
        extent = self.voxel_extent(comparison.reference)
        return [self.voxels(self.matched(comparison, structure)) * extent for structure in structures]


class FalsePositiveVolume(_LesionVolumeTable):
    """A case without a result counts as the volume of its image. autoPET joins voxels by `edges`.

    Oracle: SimpleITK, `ConnectedComponent`.
    """

    metric: Literal["false_positive_volume"]

    @staticmethod
    def voxels(found: Overlaps) -> int:
        return found.false_voxels


class FalseNegativeVolume(_LesionVolumeTable):
    """A case without a result counts as the volume of all lesions of its reference.

    autoPET joins voxels by `edges`.

    Oracle: SimpleITK, `ConnectedComponent`.
    """

    metric: Literal["false_negative_volume"]

    @staticmethod
    def voxels(found: Overlaps) -> int:
        return found.missed_voxels

    def worst_value(self, reference: LabelMapValue, table: StructureField, structure: Structure) -> float:
        return int(np.count_nonzero(structure.mask(reference.positions))) * self.voxel_extent(reference)


# --- Numbers of lesions, and their shares of a case or of all cases ---


class _NumberTable(LesionTable):
    """A number of lesions; if no worst is stated, a case without a result has the most that fit its image."""

    common = "Lesions are connected components. A case without a result counts as `worst`."
    worst: Positive | None = Key(
        default=None,
        description="Number for a case without a result, which no other case exceeds. Default: as many "
        "lesions as fit into the case's image.",
    )

    def figure(self, table: StructureField) -> LabelFigure:
        return LabelFigure(best=0, worst=math.inf)

    def limited(self, number: int) -> float:
        """Return a number, at most the stated worst."""
        return float(number) if self.worst is None else min(number, self.worst)

    def worst_value(self, reference: LabelMapValue, table: StructureField, structure: Structure) -> float:
        return most_lesions(reference.shape, self.neighbours) if self.worst is None else self.worst


class DetectedLesions(LesionTable):
    """A case whose reference has no lesion does not enter. In one without a result no lesion is detected.

    Oracle: SimpleITK, `ConnectedComponent`.
    """

    metric: Literal["detected_lesions"]
    is_share: ClassVar[bool] = True
    of_nothing = math.nan

    def counted(self, found: Overlaps) -> Part:
        return Part(found.detected, len(found.reference_voxels))

    def missing(self, references: int) -> Part:
        return Part(0, references)

    def worst_value(self, reference: LabelMapValue, table: StructureField, structure: Structure) -> float:
        return 0.0 if self.objects_of(reference, table, structure) else math.nan


class FalseLesions(_NumberTable):
    """Oracle: SimpleITK, `ConnectedComponent`."""

    metric: Literal["false_lesions"]

    def value(self, found: Overlaps) -> float:
        return self.limited(found.false)


class LesionCountDifference(_NumberTable):
    """Oracle: SimpleITK, `ConnectedComponent`."""

    metric: Literal["lesion_count_difference"]

    def value(self, found: Overlaps) -> float:
        return self.limited(abs(len(found.prediction_voxels) - len(found.reference_voxels)))


class LesionF1(LesionTable):
    """A case without a result counts as 0.

    By default a mask of the whole image has 1, as it touches all lesions: rank with an overlap beside it, or
    state `matching` and `threshold`.

    Oracle: SimpleITK, `ConnectedComponent`.
    """

    metric: Literal["lesion_f1"]
    of_nothing = 1.0
    formula: lesion_metrics.F1Formula = Key(
        default="shares",
        description="`shares`: harmonic mean of the share of the reference's lesions that are touched and of "
        "the share of the predicted ones. `counts`: tp / (tp + (fp + fn) / 2) with tp the lesions of the "
        "reference that are touched, fn the others, fp predicted lesions that touch none (ISLES 2022).",
    )

    @property
    def caution(self) -> str:
        if self.matching == "optimal" or self.threshold > 0:
            return ""
        return (
            "a mask of the whole image touches all lesions and has the best F1; rank with an overlap beside "
            "it, or state a threshold or a matching one to one"
        )

    def value(self, found: Overlaps) -> float:
        return lesion_metrics.f1_of_lesions(found, self.formula)

    def is_ratio(self) -> bool:
        """Return false for `shares`, whose harmonic mean is no ratio of sums."""
        return self.formula == "counts"

    def counted(self, found: Overlaps) -> Part:
        return Part(2 * found.detected, found.detected + len(found.reference_voxels) + found.false)


class _QualityTable(LesionTable):
    """Panoptic quality or a part of it."""

    common = (
        "By default objects match whose intersection is more than half of their union. 1 where neither map "
        "has any object, 0 where nothing matches. A case without a result counts as 0."
    )
    threshold: float = Key(default=0.5, description=described(LesionTable, "threshold"), ge=0, le=1)
    matching: Matching = Key(default="optimal", description=described(LesionTable, "matching"))
    of_nothing = 1.0


class PanopticQuality(_QualityTable):
    """The mPQ+ of CoNIC is `over_cases = "pooled"` and `mean = "of_labels"`.

    Oracle: SimpleITK, `ConnectedComponent` and `LabelOverlapMeasuresImageFilter`.
    """

    metric: Literal["panoptic_quality"]

    def counted(self, found: Overlaps) -> Part:
        return Part(2 * math.fsum(found.iou), found.objects)


class SegmentationQuality(_QualityTable):
    """Segmentation quality: mean intersection over union of the objects that match, part of panoptic quality.

    From 0 to 1, higher is better.

    Oracle: SimpleITK, `ConnectedComponent` and `LabelOverlapMeasuresImageFilter`. Source: Kirillov et
    al., CVPR 2019.
    """

    metric: Literal["segmentation_quality"]
    has_total = True

    def counted(self, found: Overlaps) -> Part:
        return Part(math.fsum(found.iou), len(found.pair_voxels), found.objects)


class RecognitionQuality(_QualityTable):
    """Recognition quality: F1 of the lesions or instances that match, part of panoptic quality.

    From 0 to 1, higher is better.

    Oracle: SimpleITK, `ConnectedComponent` and `LabelOverlapMeasuresImageFilter`. Source: Kirillov et
    al., CVPR 2019.
    """

    metric: Literal["recognition_quality"]

    def counted(self, found: Overlaps) -> Part:
        return Part(found.detected + found.hits, found.objects)


# --- Lesion by lesion: the overlap and distance of each, in which false ones count (BraTS) ---


class _LesionWiseTable(LabelMetricTable):
    """The mean figure of the lesions of a case, with one of the worst value for each false lesion."""

    dilations: int = Key(
        default=3,
        description="How often the reference is dilated, by voxels that share a face or an edge: components "
        "that are then in one component are one lesion, which predicted components that touch it are "
        "compared with. BraTS 2023: 3 for gliomas, 1 for meningiomas and metastases.",
        ge=0,
        le=100,
    )
    smallest_volume: FiniteFloat = Key(
        default=50.0,
        description="In mm³ (mm² or pixels in two dimensions). Lesions of at most this volume do not count, "
        "found or not. BraTS 2023: 50, for metastases 2.",
        ge=0,
    )

    def matched(self, comparison: MapComparison, structure: Structure) -> Sequence[LesionsInBox]:
        """Return the lesions of a structure with the predicted components of each, once for all metrics."""
        options = (self.dilations, self.smallest_volume)
        spacing_mm = spacing_of(comparison.reference, comparison.table)

        def match(comparison: MapComparison) -> Sequence[LesionsInBox]:
            return match_lesions(*comparison.maps.masks(structure), spacing_mm, *options)

        return comparison.derive(("lesion by lesion", structure.positions, options), match)

    @abstractmethod
    def lesion_values(self, lesions: LesionsInBox, worst: float) -> Floats:
        """Return the value of each lesion that counts."""

    def part(self, comparison: MapComparison, structure: Structure) -> Part:
        """Return the sum of the values of the lesions and the worst of each false one, of their number."""
        matched = self.matched(comparison, structure)
        worst = self.worst_value(comparison.reference, comparison.table, structure)
        values = [value for box in matched for value in self.lesion_values(box, worst)]
        false = sum(box.false for box in matched)
        return Part(math.fsum(values) + worst * false, len(values) + false)

    def missing_part(self, comparison: MapComparison, structure: Structure) -> Part:
        """Return the worst value for each lesion, and for as many false ones, at least one."""
        worst = self.worst_value(comparison.reference, comparison.table, structure)
        lesions = sum(len(box.chosen) for box in self.matched(comparison, structure))
        number = lesions + max(1, lesions)
        return Part(number * worst, number)


class LesionWiseDice(_LesionWiseTable):
    """The connected components of the reference that join when it is dilated are one lesion.

    Components have 26 neighbours, 8 in two dimensions. A lesion is compared, not dilated, with all predicted
    components that touch it when it is dilated; one of these may serve several lesions. A missed lesion
    counts as 0, and so does a predicted component of any size that touches no lesion; 1 where there is
    neither. A case without a result counts as 0.

    Oracle: SimpleITK, `ConnectedComponent`, and SciPy, `binary_dilation`.
    """

    metric: Literal["lesion_wise_dice"]
    of_nothing = 1.0

    def lesion_values(self, lesions: LesionsInBox, worst: float) -> Floats:
        return lesions.dice()


class LesionWiseHausdorffDistance(_LesionWiseTable):
    """It is the 95th percentile of surface elements, the larger one of both directions.

    In two dimensions without a spacing it is in pixels. Lesions as for `lesion_wise_dice`. A missed lesion
    and a false one count as `worst`, and no distance counts as more; 0 where there is neither. A case without
    a result counts as `worst`.

    Oracle: google-deepmind/surface-distance, `compute_robust_hausdorff`.
    """

    metric: Literal["lesion_wise_hausdorff_distance"]
    of_nothing = 0.0
    worst: Positive | Extent | None = Key(
        default=None,
        description="Distance of a missed and of a false lesion, and of a case without a result: a number "
        f"(BraTS 2023: 374), or a length of the image. {WORST}",
    )

    def figure(self, table: StructureField) -> LabelFigure:
        return LabelFigure(
            0, self.worst if isinstance(self.worst, float) else math.inf, "mm" if table.in_mm else "pixels"
        )

    def worst_value(self, reference: LabelMapValue, table: StructureField, structure: Structure) -> float:
        if isinstance(self.worst, float):
            return self.worst
        return extent_of(reference.shape, spacing_of(reference, table), self.worst or "diagonal")

    def lesion_values(self, lesions: LesionsInBox, worst: float) -> Floats:
        return lesions.hausdorff_distances(95.0, worst)
