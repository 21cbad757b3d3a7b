"""Probability maps and detection maps, and their metrics."""

import math
from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from evaluation.challenges.declared import detections, tables
from evaluation.challenges.declared.maps import ImageFieldTable, Label, spacing_of
from evaluation.core.case_table import Row
from evaluation.core.challenge import Values
from evaluation.core.class_estimators import RocArea
from evaluation.core.field import Field
from evaluation.core.formats import extensions_of, image_formats
from evaluation.core.keys import Key
from evaluation.core.metric import Metric, mean_metric
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.io.kinds.probability_map import DetectionMap, DetectionMapValue, ProbabilityMap
from evaluation.metrics.components import components_of
from evaluation.metrics.crops import together
from evaluation.metrics.froc import FrocReading
from evaluation.metrics.matching import optimal_pairs, overlaps_of
from evaluation.metrics.probabilities import voxel_average_precision, voxel_brier_score
from evaluation.metrics.segmentation import OverlapCounts, count_overlap, dice_of_counts


class MaskedFieldTable(ImageFieldTable):
    """A field of floating-point numbers with a label map as reference, some numbers of which count."""

    foreground: list[Label] = Key(
        default=[1],
        description="Numbers of the reference that mean that the condition is present.",
        min_length=1,
    )
    others: list[Label] = Key(
        default=[], description="Further numbers of the reference beside 0, which mean that it is absent."
    )

    @model_validator(mode="after")
    def _fitting(self) -> "MaskedFieldTable":
        _ = self.reference_map  # raises ValueError for numbers that are 0, or twice the same
        return self

    @property
    def reference_map(self) -> LabelMap:
        """The kind of the reference: first the labels that count, then the others."""
        numbers = [*self.foreground, *self.others]
        if len(set(numbers)) < len(numbers):
            raise ValueError("expected different numbers in foreground and others")
        return LabelMap({number: str(number) for number in numbers}, 0, self.dimensions)

    @property
    def image_extensions(self) -> tuple[str, ...]:
        """The extensions of the formats that are read."""
        return extensions_of(image_formats(self.dimensions, numbers=True))

    def mask_of(self, positions: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Return where a reference, given by its positions, has the foreground."""
        return (positions > 0) & (positions <= len(self.foreground))


class ProbabilityMapField(MaskedFieldTable):
    """A probability for every voxel of a volume or pixel of an image.

    It is a file for each case: `.mha`, `.nii.gz`, `.nii` or a TIFF stack for volumes, `.tif` or `.mha` for
    images; in an algorithm phase it is an image. Values are finite numbers from 0 to 1, kept in single
    precision. Size and position are compared as for a `label_map`. The reference is a label map.
    """

    kind: Literal["probability_map"]

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        probabilities = ProbabilityMap(self.dimensions, len(self.foreground))
        return self.file_field(name, probabilities, self.reference_map, self.image_extensions)


class _MapMetricTable(tables.MetricTable):
    """A figure of the voxels of each case, as mean over cases."""

    kinds: ClassVar[tuple[type[tables.FieldTable], ...]] = (ProbabilityMapField,)

    def map_measure(
        self,
        name: str,
        field_name: str,
        table: ProbabilityMapField,
        value: Callable[[NDArray[np.float32], NDArray[np.bool_], int], float],
        best: float,
        worst: Callable[[Values], Row] = tables.no_columns,
        part: Callable[[NDArray[np.float32], NDArray[np.bool_], int], tables.Part] | None = None,
        missing: Callable[[int, int], tables.Part] = tables.Part,
    ) -> tables.Measure:
        """Return the mean of ``value`` of probabilities, mask and number of voxels, from 0 to 1.

        part: the same as a ratio of voxels, which weigh by their volume over cases, ``best`` without any
        voxel; missing: that of a case without a result, from the voxels of its mask and of its image.
        """

        def weighed(of_case: tables.Part, reference: LabelMapValue) -> dict[str, tables.Part]:
            return {name: of_case.times(math.prod(spacing_of(reference, table)))}

        def of(comparison: tables.FieldComparison) -> tuple[NDArray[np.float32], NDArray[np.bool_], int]:
            reference: LabelMapValue = comparison.reference
            probabilities, positions = together(comparison.submitted.crop, reference.crop)
            return probabilities, table.mask_of(positions), math.prod(reference.shape)

        def worst_part(references: Values) -> dict[str, tables.Part]:
            reference: LabelMapValue = references[field_name]
            voxels = int(np.count_nonzero(table.mask_of(reference.positions)))
            return weighed(missing(voxels, math.prod(reference.shape)), reference)

        def row_of_parts(comparison: tables.FieldComparison) -> dict[str, tables.Part]:
            assert part is not None
            return weighed(part(*of(comparison)), comparison.reference)

        metric = mean_metric(name, self.title_of(name), best, 1 - best)
        sums = part and tables.Sums(row_of_parts, worst_part, best)
        return tables.Measure((metric,), lambda comparison: {name: value(*of(comparison))}, worst, sums=sums)


class VoxelBrierScore(_MapMetricTable):
    """Mean squared difference of probability and truth over all voxels of a case, as mean over cases.

    From 0 to 1, lower is better. A case without a result counts as 1.

    Oracle: scikit-learn, `brier_score_loss` of the voxels. Source: Brier, Monthly Weather Review 78:1, 1950.
    """

    metric: Literal["voxel_brier_score"]

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        """Return the score."""
        assert isinstance(table, ProbabilityMapField)

        def part(probability: NDArray[np.float32], positive: NDArray[np.bool_], voxels: int) -> tables.Part:
            return tables.Part(voxel_brier_score(probability, positive, 1), voxels)

        def missing(positives: int, voxels: int) -> tables.Part:
            return tables.Part(voxels, voxels)

        measured = (name, field_name, table, voxel_brier_score)
        return self.map_measure(*measured, best=0, part=part, missing=missing)


class VoxelAveragePrecision(_MapMetricTable):
    """Average precision of the voxels of a case, as mean over cases: precision weighted by gained recall.

    From 0 to 1, higher is better; not interpolated. A case whose reference is empty does not enter. A case
    without a result counts as 0.

    Oracle: scikit-learn, `average_precision_score` of the voxels.
    """

    metric: Literal["voxel_average_precision"]

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        """Return the average precision."""
        assert isinstance(table, ProbabilityMapField)

        def worst(references: Values) -> Row:
            return {name: 0.0 if table.mask_of(references[field_name].positions).any() else math.nan}

        return self.map_measure(name, field_name, table, voxel_average_precision, best=1, worst=worst)


class DiceAtThreshold(_MapMetricTable):
    """Dice coefficient of the voxels with a probability of at least a threshold, as mean over cases.

    From 0 to 1, higher is better; 1 if neither mask has a voxel, 0 if only one has. A case without a result
    counts as 0.

    Oracle: scikit-learn, `f1_score` of the voxels.
    """

    metric: Literal["dice_at_threshold"]
    threshold: float = Key(
        default=0.5, description="Smallest probability of a voxel that counts as predicted.", gt=0, le=1
    )
    above: float | None = Key(
        default=None,
        description="In place of `threshold`: the probability that a predicted voxel exceeds.",
        ge=0,
        lt=1,
    )

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        """Return the Dice coefficient."""
        assert isinstance(table, ProbabilityMapField)
        limit = np.float32(self.threshold if self.above is None else self.above)

        def counted(probability: NDArray[np.float32], positive: NDArray[np.bool_]) -> OverlapCounts[int]:
            mask = probability >= limit if self.above is None else probability > limit
            return count_overlap(mask, positive)

        def value(probability: NDArray[np.float32], positive: NDArray[np.bool_], voxels: int) -> float:
            return dice_of_counts(counted(probability, positive), both_empty=1.0)

        def part(probability: NDArray[np.float32], positive: NDArray[np.bool_], voxels: int) -> tables.Part:
            counts = counted(probability, positive)
            return tables.Part(2 * counts.intersection, counts.prediction + counts.reference)

        def missing(positives: int, voxels: int) -> tables.Part:
            return tables.Part(0, positives + max(1, positives))

        return self.map_measure(name, field_name, table, value, best=1, part=part, missing=missing)


# --- Detection maps: findings drawn into a volume with their confidence, against lesions (PI-CAI) ---


class DetectionMapField(MaskedFieldTable):
    """Findings with a confidence, drawn into a volume or image: 0, or the confidence of the finding.

    It is a file for each case: `.mha`, `.nii.gz`, `.nii` or a TIFF stack for volumes, `.tif` or `.mha` for
    images; in an algorithm phase it is an image. A finding is a connected component, diagonal neighbours
    included, and has one value above 0 and, unless the phase says otherwise, up to 1. A component with
    several values is a fault: a map of probabilities must be divided into findings first. Size and position
    are compared as for a `label_map`. The reference is a label map; a lesion is a connected component of
    its foreground.
    """

    kind: Literal["detection_map"]
    any_confidence: bool = Key(
        default=False,
        description="Whether confidences may be any positive numbers, kept in single precision, of which the "
        "order counts. Default: up to 1.",
    )

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        findings = DetectionMap(self.dimensions, len(self.foreground), self.any_confidence)
        return self.file_field(name, findings, self.reference_map, self.image_extensions)


class _FindingTable(tables.MetricTable):
    """A figure of findings that are matched to lesions by their overlap."""

    least_overlap: float = Key(
        default=0.1,
        description="Intersection over union from which on a finding can hit a lesion.",
        gt=0,
        le=1,
    )
    kinds: ClassVar[tuple[type[tables.FieldTable], ...]] = (DetectionMapField,)

    def case_detections(self, field_name: str, table: tables.FieldTable) -> detections.CaseDetections:
        assert isinstance(table, DetectionMapField)

        def find(comparison: tables.FieldComparison) -> Sequence[detections.Hits]:
            found: DetectionMapValue = comparison.submitted
            candidates, positions = together(found.crop, comparison.reference.crop)
            lesions, count = components_of(table.mask_of(positions))
            overlaps = overlaps_of(candidates, lesions, len(found.confidences), count)
            near = overlaps.matched(self.least_overlap, strict=False, matching="any")
            chosen = optimal_pairs(near.pair_prediction, near.pair_reference, 1 + near.iou)
            hits = np.sort(near.pair_prediction[chosen])
            false = np.delete(found.confidences, near.pair_prediction)
            return [detections.Hits(found.confidences[hits], false, count)]

        def objects(references: Values) -> list[int]:
            reference: LabelMapValue = references[field_name]
            return [components_of(table.mask_of(reference.positions))[1]]

        return detections.CaseDetections(
            lambda comparison: comparison.derive(("findings", self.least_overlap), find), objects
        )


class LesionAveragePrecision(_FindingTable):
    """Average precision of findings over all cases: precision weighted by gained recall, as PI-CAI has it.

    From 0 to 1, higher is better. Findings and lesions are matched one to one, so that the sum of 1 + overlap
    is the largest; other findings that overlap a lesion enough do not count, and the rest are false. It needs
    a lesion. In a case without a result all lesions are missed, and as many findings, at least one, are false
    with the highest confidence of all.

    Oracle: scikit-learn, `precision_recall_curve`, and SciPy, `linear_sum_assignment`. Source: Saha et al.,
    Lancet Oncology 25:879, 2024.
    """

    metric: Literal["lesion_average_precision"]

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        """Return the average precision."""
        return detections.average_precision_measure(
            name, self.title_of(name), self.case_detections(field_name, table)
        )


class LesionFroc(_FindingTable):
    """Sensitivity for lesions at given numbers of false findings per case, and the mean of these.

    From 0 to 1, higher is better. Findings and lesions are matched as for `lesion_average_precision`. It
    needs a lesion. In a case without a result all lesions are missed, and as many findings, at least one,
    are false with the highest confidence of all.

    Oracle: scikit-learn, `roc_curve` of the findings. Source: Saha et al., Lancet Oncology 25:879, 2024.
    """

    metric: Literal["lesion_froc"]
    rates: list[detections.Rate] = Key(
        default=detections.RATES, description="Numbers of false findings per case.", min_length=1
    )
    reading: FrocReading = Key(default="step", description=detections.READING)

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        """Return the mean and the sensitivity at each rate."""
        found = self.case_detections(field_name, table)
        return detections.froc_measure(name, self.title_of(name), self.rates, found, self.reading)


class CaseAreaUnderCurve(tables.MetricTable):
    """Area under the ROC curve of cases: the highest confidence of a case against whether it has a lesion.

    From 0 to 1, higher is better; ties count half. A case without findings has confidence 0. It needs a case
    with and one without a lesion. A case without a result is ranked below all others if it has a lesion, and
    above them otherwise.

    Oracle: scikit-learn, `roc_auc_score`. Source: Saha et al., Lancet Oncology 25:879, 2024.
    """

    metric: Literal["case_auc"]
    kinds: ClassVar[tuple[type[tables.FieldTable], ...]] = (DetectionMapField,)

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        """Return the area."""
        assert isinstance(table, DetectionMapField)
        score, label = f"{field_name}_highest_confidence", f"{field_name}_has_lesion"

        def has_lesion(reference: LabelMapValue) -> float:
            return float(table.mask_of(reference.positions).any())

        def row(comparison: tables.FieldComparison) -> Row:
            found: DetectionMapValue = comparison.submitted
            highest = float(found.confidences.max(initial=0.0))
            return {score: highest, label: has_lesion(comparison.reference)}

        def worst(references: Values) -> Row:
            return {label: has_lesion(references[field_name])}

        return tables.Measure(
            (Metric(name, self.title_of(name), RocArea(score, label), best=1, worst=0),), row, worst
        )
