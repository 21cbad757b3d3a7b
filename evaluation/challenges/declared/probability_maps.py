"""Probability maps and detection maps, and their metrics."""

import math
from collections.abc import Sequence
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
from evaluation.metrics.free_response import FrocReading
from evaluation.metrics.matching import optimal_pairs, overlaps_of
from evaluation.metrics.segmentation import OverlapCounts, count_overlap, dice_of_counts


class ForegroundFieldTable(ImageFieldTable):
    """A field of floating-point numbers with a label map as reference, some numbers of which count."""

    foreground: list[Label] = Key(
        default=[1],
        description="Numbers of the reference that mean that the condition is present.",
        min_length=1,
    )
    background: list[Label] = Key(
        default=[], description="Further numbers of the reference beside 0, which mean that it is absent."
    )

    @model_validator(mode="after")
    def _fitting(self) -> "ForegroundFieldTable":
        _ = self.reference_map  # raises ValueError for numbers that are 0, or twice the same
        return self

    @property
    def reference_map(self) -> LabelMap:
        """The kind of the reference: first the labels that count, then the others."""
        numbers = [*self.foreground, *self.background]
        if len(set(numbers)) < len(numbers):
            raise ValueError("expected different numbers in foreground and background")
        return LabelMap({number: str(number) for number in numbers}, 0, self.dimensions)

    @property
    def image_extensions(self) -> tuple[str, ...]:
        return extensions_of(image_formats(self.dimensions, numbers=True))

    def mask_of(self, positions: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Return where a reference, given by its positions, has the foreground."""
        return (positions > 0) & (positions <= len(self.foreground))


class ProbabilityMapField(ForegroundFieldTable):
    """A probability for every voxel of a volume or pixel of an image.

    It is a file for each case: `.mha`, `.nii.gz`, `.nii` or a TIFF stack for volumes, `.tif` or `.mha` for
    images; in an algorithm phase it is an image. Values are finite numbers from 0 to 1, kept in single
    precision. Size and position are compared as for a `label_map`. The reference is a label map.
    """

    kind: Literal["probability_map"]

    def field(self, name: str) -> Field:
        probabilities = ProbabilityMap(self.dimensions, len(self.foreground))
        return self.file_field(name, probabilities, self.reference_map)


class DiceAtThreshold(tables.MetricTable):
    """Dice coefficient of the voxels with a probability of at least a threshold, as mean over cases.

    From 0 to 1, higher is better; 1 if neither mask has a voxel, 0 if only one has, and in a case without a
    result.

    Oracle: scikit-learn, `f1_score` of the voxels.
    """

    metric: Literal["dice_at_threshold"]
    threshold: float = Key(
        default=0.5, description="Smallest probability of a voxel that counts as predicted.", gt=0, le=1
    )
    kinds: ClassVar[tuple[type[tables.FieldTable], ...]] = (ProbabilityMapField,)

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        assert isinstance(table, ProbabilityMapField)
        limit = np.float32(self.threshold)

        def counts(comparison: tables.FieldComparison) -> OverlapCounts[int]:
            probabilities, positions = together(comparison.submitted.crop, comparison.reference.crop)
            return count_overlap(probabilities >= limit, table.mask_of(positions))

        def weighed(of_case: tables.Part, reference: LabelMapValue) -> dict[str, tables.Part]:
            # Over cases, voxels weigh by their volume.
            return {name: of_case.times(math.prod(spacing_of(reference, table)))}

        def part(comparison: tables.FieldComparison) -> dict[str, tables.Part]:
            return weighed(tables.Part(*dice_of_counts.parts(counts(comparison))), comparison.reference)

        def missing(references: Values) -> dict[str, tables.Part]:
            reference: LabelMapValue = references[field_name]
            voxels = int(np.count_nonzero(table.mask_of(reference.positions)))
            return weighed(tables.Part(0, voxels + max(1, voxels)), reference)

        return tables.Measure(
            (mean_metric(name, self.title_of(name), best=1, worst=0),),
            lambda comparison: {name: dice_of_counts(counts(comparison), both_empty=1.0)},
            sums=tables.Sums(part, missing, 1.0),
        )


# --- Detection maps: findings drawn into a volume with their confidence, against lesions (PI-CAI) ---


class DetectionMapField(ForegroundFieldTable):
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
        findings = DetectionMap(self.dimensions, len(self.foreground), self.any_confidence)
        return self.file_field(name, findings, self.reference_map)


class _FindingTable(tables.MetricTable):
    """A figure of findings that are matched to lesions by their overlap."""

    common = (
        "Findings and lesions are matched one to one, so that the sum of 1 + overlap is the largest; other "
        "findings that overlap a lesion enough do not count, and the rest are false. It needs a lesion. In a "
        "case without a result all lesions are missed, and as many findings, at least one, are false with "
        "the highest confidence of all."
    )
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

    From 0 to 1, higher is better.

    Oracle: scikit-learn, `precision_recall_curve`, and SciPy, `linear_sum_assignment`. Source: Saha et al.,
    Lancet Oncology 25:879, 2024.
    """

    metric: Literal["lesion_average_precision"]

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        return detections.average_precision_measure(
            name, self.title_of(name), self.case_detections(field_name, table)
        )


class LesionFroc(_FindingTable):
    """Sensitivity for lesions at given numbers of false findings per case, and the mean of these.

    From 0 to 1, higher is better.

    Oracle: scikit-learn, `roc_curve` of the findings. Source: Saha et al., Lancet Oncology 25:879, 2024.
    """

    metric: Literal["lesion_froc"]
    false_positives_per_case: list[detections.Rate] = Key(
        default=detections.RATES, description="Numbers of false findings per case.", min_length=1
    )
    reading: FrocReading = Key(default="step", description=detections.READING)

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        found = self.case_detections(field_name, table)
        title, rates = self.title_of(name), self.false_positives_per_case
        return detections.froc_measure(name, title, rates, found, self.reading)


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
