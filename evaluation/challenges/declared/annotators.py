"""Metrics against several annotators: their spread, and probabilities of labels against all of them."""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np

from evaluation.challenges.declared.label_maps import Figures, StructureMetricTable, VolumeTable
from evaluation.challenges.declared.maps import LabelMapField, MapComparison, Structure, StructureField
from evaluation.challenges.declared.probability_maps import ProbabilityMapField
from evaluation.challenges.declared.tables import (
    FieldComparison,
    FieldTable,
    Measure,
    MetricTable,
    Positive,
)
from evaluation.core.case_table import Row
from evaluation.core.estimator import Mean
from evaluation.core.keys import Key
from evaluation.core.metric import Metric
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.io.kinds.probability_map import ProbabilityMapValue
from evaluation.metrics.crops import together
from evaluation.metrics.probabilities import normal_crps, voxel_calibration_errors

# --- Probabilities of labels, each submitted as a field of its own ---


class _ProbabilityTable(MetricTable):
    """A metric of the probabilities of labels, with their label map as the field that is scored."""

    probabilities: dict[str, str] = Key(
        description="Fields of the kind `probability_map` by the label whose probability they hold: "
        '`{ pancreas = "pancreas_probability" }`.',
        min_length=1,
    )
    kinds: ClassVar[tuple[type[FieldTable], ...]] = (LabelMapField,)

    def further_fields(self, table: FieldTable, fields: Mapping[str, FieldTable]) -> tuple[str, ...]:
        assert isinstance(table, LabelMapField)
        known = [structure.name for structure in table.structures]
        for label, name in self.probabilities.items():
            other = fields.get(name)
            if label not in known:
                raise ValueError(f"probabilities: expected some of {', '.join(known)}, found {label}")
            if not isinstance(other, ProbabilityMapField) or other.dimensions != table.dimensions:
                raise ValueError(
                    f"probabilities.{label}: expected a field of the kind probability_map of "
                    f"{table.dimensions} dimensions, found {name!r}"
                )
        return tuple(self.probabilities.values())

    def check_kind(self, table: FieldTable) -> None:
        """Raise ValueError for labels that a displacement field warps."""
        if table.kind != "label_map":
            raise ValueError(f"expected a field of the kind label_map, found {table.kind!r}")

    def probability_of(self, comparison: FieldComparison, label: str) -> ProbabilityMapValue:
        """Return the submitted probabilities of a label."""
        submitted: ProbabilityMapValue = comparison.all_submitted[self.probabilities[label]]
        return submitted


class _LabelProbabilityTable(_ProbabilityTable, StructureMetricTable):
    """A figure of the probabilities of each label."""

    def scored(self, table: StructureField) -> list[Structure]:
        """Return the labels that have probabilities. Raises ValueError for others that are named."""
        self.check_kind(table)
        if lacking := [name for name in self.labels or () if name not in self.probabilities]:
            raise ValueError(f"labels: expected some of the probabilities, found {', '.join(lacking)}")
        chosen = self.labels or self.probabilities
        return [structure for structure in table.structures if structure.name in chosen]


class ConsensusConfidence(_LabelProbabilityTable):
    """Confidence where annotators agree: mean of the mean probabilities of the right answer in and around it.

    From 0 to 1, higher is better. It is half of 1 − the mean probability where no annotator has the label,
    plus half of the mean probability where all have it. A label that they nowhere agree to have does not
    enter. A case without a result counts as 0.

    Oracle: sums by hand. Source: Riera-Marín et al., CURVAS challenge, MICCAI 2024.
    """

    metric: Literal["consensus_confidence"]

    def is_reached(self, table: StructureField) -> bool:
        """Return true: the annotators' disagreement does not count."""
        return True

    def case_values(self, comparison: MapComparison, structures: Sequence[Structure]) -> Figures:
        voxels: int = math.prod(comparison.reference.shape)

        def confidence(structure: Structure) -> float:
            crop = self.probability_of(comparison, structure.name).crop
            values, ((every, some),) = comparison.agreement([structure], crop)
            if not every.any():
                return math.nan
            around = float(values[~some].sum(dtype=np.float64)) / max(voxels - int(some.sum()), 1)
            return (1 - around + float(values[every].mean(dtype=np.float64))) / 2

        return [confidence(structure) for structure in structures]

    def entering(self, comparison: MapComparison, structures: Sequence[Structure]) -> list[bool]:
        """Return for each label whether the annotators agree somewhere to have it."""
        _, masks = comparison.agreement(structures, comparison.reference.crop)
        return [bool(every.any()) for every, _ in masks]

    def entering_unanswered(self, comparison: MapComparison, structures: Sequence[Structure]) -> list[bool]:
        return self.entering(comparison, structures)


class VolumeCrps(_LabelProbabilityTable, VolumeTable):
    """Continuous ranked probability score (CRPS) of the volume that the probabilities of a label sum up to.

    At least 0, lower is better. The volume is compared with a normal distribution with the mean and the
    (population) standard deviation of the annotators' volumes; where that is 0 the figure is the difference.
    A case without a result counts as `worst`, and no score counts as more than that.

    Oracle: SciPy, `quad`. Source: Gneiting and Raftery, JASA 102:359, 2007; Riera-Marín et al., CURVAS
    challenge, MICCAI 2024.
    """

    metric: Literal["volume_crps"]
    deviations: Positive | None = Key(
        default=None,
        description="The score is integrated from the mean − this to the mean + this number of standard "
        "deviations (CURVAS: 3), so that volumes beyond are not worse than at these limits. Default: over "
        "all volumes.",
    )
    worst: Positive | None = Key(
        default=None, description="Score of a case without a result. Default: the volume of the case's image."
    )

    def worst_value(self, reference: LabelMapValue, table: StructureField, structure: Structure) -> float:
        return self.worst or super().worst_value(reference, table, structure)

    def case_values(self, comparison: MapComparison, structures: Sequence[Structure]) -> Figures:
        extent = self.voxel_extent(comparison.reference)
        # Of whole numbers, so that equal ones have a deviation of 0, which products with an extent may miss.
        counts = np.array([one.counts.reference for one in comparison.by_annotator])
        means, deviations = extent * counts.mean(axis=0), extent * counts.std(axis=0)
        table = comparison.table

        def score(structure: Structure) -> float:
            at = table.structures.index(structure)
            values = self.probability_of(comparison, structure.name).probabilities
            volume = extent * float(values.sum(dtype=np.float64))
            limit = self.worst_value(comparison.reference, table, structure)
            return min(normal_crps(volume, means[at], deviations[at], self.deviations or math.inf), limit)

        return [score(structure) for structure in structures]


class VoxelCalibrationError(_ProbabilityTable):
    """Calibration error of the most probable label of every voxel, as mean over annotators and over cases.

    From 0 to 1, lower is better: in bins of equal width the distance of the mean probability from the share
    of voxels whose label the annotator gave, weighted by the bin's share of the voxels. Voxels of probability
    1 are a bin of their own, as in torchmetrics. Background has what the labels leave of 1, at least 0; of
    equal probabilities the first one counts, background before all. A case without a result counts 1.

    Oracle: NumPy, `histogram`. Source: Guo et al., ICML 2017, p. 1321; Riera-Marín et al., CURVAS challenge,
    MICCAI 2024.
    """

    metric: Literal["voxel_calibration_error"]
    bins: int = Key(default=50, description="Number of bins of equal width.", ge=1, le=1000)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        self.check_kind(table)
        assert isinstance(table, LabelMapField)
        labels = list(table.labels.values())
        if set(labels) != set(self.probabilities):
            raise ValueError(f"probabilities: expected all of {', '.join(labels)}, and nothing else")

        def row(comparison: FieldComparison) -> Row:
            crops = [self.probability_of(comparison, label).crop for label in labels]
            references = [one.reference.crop for one in MapComparison.of(comparison, table).by_annotator]
            maps = together(*crops, *references)
            voxels = math.prod(comparison.reference.shape)
            errors = voxel_calibration_errors(maps[: len(crops)], maps[len(crops) :], voxels, self.bins)
            return {name: math.fsum(errors) / len(errors)}

        reached = len(table.annotators) < 2
        return Measure((Metric(name, self.title_of(name), Mean(name), 0, 1, reached=reached),), row)
