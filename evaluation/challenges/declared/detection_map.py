"""Detection maps: findings drawn into a volume with their confidence, against lesions (PI-CAI)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from evaluation.challenges.declared.detections import (
    Detections,
    Hits,
    Rate,
    average_precision_measure,
    froc_measure,
)
from evaluation.challenges.declared.field_table import FieldTable
from evaluation.challenges.declared.measure import Comparison, Measure, MetricTable
from evaluation.challenges.declared.probability_map import MaskedFieldTable
from evaluation.core.case_table import Row
from evaluation.core.challenge import Values
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.core.keys import Key
from evaluation.core.metric import Metric, auc_of
from evaluation.io.kinds.detection_map import DetectionMap, DetectionMapValue, components_of
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics.crops import together
from evaluation.metrics.lesions import match_candidates, overlap_of_components


class DetectionMapField(MaskedFieldTable):
    """Findings with a confidence, drawn into a volume or image: 0, or the confidence of the finding.

    It is a file for each case: `.mha`, `.nii.gz`, `.nii` or a TIFF stack for volumes, `.tif` or `.mha` for
    images; in an algorithm phase it is an image. A finding is a connected component, diagonal neighbours
    included, and has one value above 0 and up to 1. A component with several values is a fault: a map of
    probabilities must be divided into findings first. Size and position are compared as for a `label_map`.
    The reference is a label map; a lesion is a connected component of its foreground.
    """

    kind: Literal["detection_map"]

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        findings = DetectionMap(self.dimensions, len(self.foreground))
        return self.file_field(name, findings, self.reference_map, self.image_extensions)


class _FindingTable(MetricTable):
    """A figure of findings that are matched to lesions by their overlap."""

    least_overlap: float = Key(
        default=0.1,
        description="Intersection over union from which on a finding can hit a lesion.",
        gt=0,
        le=1,
    )
    kinds: ClassVar[tuple[type[FieldTable], ...]] = (DetectionMapField,)

    def detections(self, field_name: str, table: FieldTable) -> Detections:
        """Return how hits follow from findings."""
        assert isinstance(table, DetectionMapField)

        def find(comparison: Comparison) -> Sequence[Hits]:
            found: DetectionMapValue = comparison.submitted
            candidates, positions = together(found.crop, comparison.reference.crop)
            lesions, _ = components_of(table.mask_of(positions))
            overlap = overlap_of_components(candidates, lesions, len(found.confidences))
            matches = match_candidates(overlap, self.least_overlap)
            of_hits, of_false = (found.confidences[chosen] for chosen in (matches.hits, matches.false))
            return [Hits(of_hits, of_false, matches.lesions)]

        def objects(references: Values) -> list[int]:
            reference: LabelMapValue = references[field_name]
            return [components_of(table.mask_of(reference.positions))[1]]

        return Detections(
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

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the average precision."""
        return average_precision_measure(name, self.title_of(name), self.detections(field_name, table))


class LesionFroc(_FindingTable):
    """Sensitivity for lesions at given numbers of false findings per case, and the mean of these.

    From 0 to 1, higher is better; between the points of the curve linear. Findings and lesions are matched as
    for `lesion_average_precision`. It needs a lesion. In a case without a result all lesions are missed, and
    as many findings, at least one, are false with the highest confidence of all.

    Oracle: scikit-learn, `roc_curve` of the findings. Source: Saha et al., Lancet Oncology 25:879, 2024.
    """

    metric: Literal["lesion_froc"]
    rates: list[Rate] = Key(
        default=[0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0],
        description="Numbers of false findings per case.",
        min_length=1,
    )

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the mean and the sensitivity at each rate."""
        return froc_measure(name, self.title_of(name), self.rates, self.detections(field_name, table))


class CaseAreaUnderCurve(MetricTable):
    """Area under the ROC curve of cases: the highest confidence of a case against whether it has a lesion.

    From 0 to 1, higher is better; ties count half. A case without findings has confidence 0. It needs a case
    with and one without a lesion. A case without a result is ranked below all others if it has a lesion, and
    above them otherwise.

    Oracle: scikit-learn, `roc_auc_score`. Source: Saha et al., Lancet Oncology 25:879, 2024.
    """

    metric: Literal["case_auc"]
    kinds: ClassVar[tuple[type[FieldTable], ...]] = (DetectionMapField,)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the area."""
        assert isinstance(table, DetectionMapField)
        score, label = f"{field_name}_highest_confidence", f"{field_name}_has_lesion"

        def has_lesion(reference: LabelMapValue) -> float:
            return float(table.mask_of(reference.positions).any())

        def row(comparison: Comparison) -> Row:
            found: DetectionMapValue = comparison.submitted
            highest = float(found.confidences.max(initial=0.0))
            return {score: highest, label: has_lesion(comparison.reference)}

        def worst(case: CaseForm, references: Values) -> Row:
            return {label: has_lesion(references[field_name])}

        return Measure(
            (Metric(name, self.title_of(name), auc_of(score, label), best=1, worst=0),), row, worst
        )
