"""Probability maps: a probability for every voxel, against a mask."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field as Key
from pydantic import model_validator

from evaluation.challenges.declared.field_table import FieldTable
from evaluation.challenges.declared.label_map import ImageFieldTable
from evaluation.challenges.declared.measure import Comparison, Measure, MetricTable, no_columns
from evaluation.challenges.declared.table import key
from evaluation.core.case_table import Row
from evaluation.core.challenge import Values
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.core.metric import mean_metric
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.io.kinds.probability_map import ProbabilityMap
from evaluation.metrics.overlap import count_overlap, dice
from evaluation.metrics.volume_crop import together
from evaluation.metrics.voxel_probabilities import voxel_average_precision, voxel_brier_score

FLOAT_IMAGE_EXTENSIONS = (".tif", ".tiff", ".mha")

Label = Annotated[int, Key(ge=0, le=65535)]


class MaskedFieldTable(ImageFieldTable):
    """A field of floating-point numbers with a label map as reference, some numbers of which count."""

    foreground: list[Label] = key(
        "Numbers of the reference that mean that the condition is present.", [1], min_length=1
    )
    others: list[Label] = key("Further numbers of the reference beside 0, which mean that it is absent.", [])

    @model_validator(mode="after")
    def _fitting(self) -> MaskedFieldTable:
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
        return super().image_extensions if self.dimensions == 3 else FLOAT_IMAGE_EXTENSIONS

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


class _MapMetricTable(MetricTable):
    """A figure of the voxels of each case, as mean over cases."""

    kinds: ClassVar[tuple[type[FieldTable], ...]] = (ProbabilityMapField,)

    def map_measure(
        self,
        name: str,
        table: ProbabilityMapField,
        value: Callable[[NDArray[np.float32], NDArray[np.bool_], int], float],
        best: float,
        worst: Callable[[CaseForm, Values], Row] = no_columns,
    ) -> Measure:
        """Return the mean of ``value`` of probabilities, mask and number of voxels, from 0 to 1."""

        def row(comparison: Comparison) -> Row:
            reference: LabelMapValue = comparison.reference
            probabilities, positions = together(comparison.submitted.crop, reference.crop)
            return {name: value(probabilities, table.mask_of(positions), math.prod(reference.shape))}

        return Measure((mean_metric(name, self.title_of(name), best, 1 - best),), row, worst)


class VoxelBrierScore(_MapMetricTable):
    """Mean squared difference of probability and truth over all voxels of a case, as mean over cases.

    From 0 to 1, lower is better. A case without a result counts as 1.

    Oracle: scikit-learn, `brier_score_loss` of the voxels. Source: Brier, Monthly Weather Review 78:1, 1950.
    """

    metric: Literal["voxel_brier_score"]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the score."""
        assert isinstance(table, ProbabilityMapField)
        return self.map_measure(name, table, voxel_brier_score, best=0)


class VoxelAveragePrecision(_MapMetricTable):
    """Average precision of the voxels of a case, as mean over cases: precision weighted by gained recall.

    From 0 to 1, higher is better; not interpolated. A case whose reference is empty does not enter. A case
    without a result counts as 0.

    Oracle: scikit-learn, `average_precision_score` of the voxels.
    """

    metric: Literal["voxel_average_precision"]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the average precision."""
        assert isinstance(table, ProbabilityMapField)

        def worst(case: CaseForm, references: Values) -> Row:
            return {name: 0.0 if table.mask_of(references[field_name].positions).any() else math.nan}

        return self.map_measure(name, table, voxel_average_precision, best=1, worst=worst)


class DiceAtThreshold(_MapMetricTable):
    """Dice coefficient of the voxels with a probability of at least a threshold, as mean over cases.

    From 0 to 1, higher is better; 1 if neither mask has a voxel, 0 if only one has. A case without a result
    counts as 0.

    Oracle: scikit-learn, `f1_score` of the voxels.
    """

    metric: Literal["dice_at_threshold"]
    threshold: float = key("Smallest probability of a voxel that counts as predicted.", 0.5, gt=0, le=1)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the Dice coefficient."""
        assert isinstance(table, ProbabilityMapField)
        threshold = np.float32(self.threshold)

        def value(probability: NDArray[np.float32], positive: NDArray[np.bool_], voxels: int) -> float:
            return dice(count_overlap(probability >= threshold, positive), both_empty=1.0)

        return self.map_measure(name, table, value, best=1)
