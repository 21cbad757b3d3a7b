"""Label maps: the field, and the overlap and volume of their labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import field_validator, model_validator

from evaluation.challenges.declared.tables import (
    FieldComparison,
    FieldTable,
    FileFieldTable,
    Measure,
    MetricTable,
    no_columns,
)
from evaluation.core.case_table import Row
from evaluation.core.challenge import FormColumn, Values
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.core.keys import Key
from evaluation.core.metric import mean_metric
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.io.volume_header import GEOMETRY_COLUMNS
from evaluation.metrics.arrays import Floats
from evaluation.metrics.crops import together
from evaluation.metrics.segmentation import (
    LabelCounts,
    count_label_overlap,
    dice_of_counts,
    jaccard_of_counts,
    precision_of_counts,
    recall_of_counts,
    volume_difference,
)

IMAGE_EXTENSIONS = (".png", ".bmp", ".tif", ".tiff", ".mha")
VOLUME_EXTENSIONS = (".mha", ".nii.gz", ".nii", ".tif", ".tiff")

Figures = Sequence[float]
"""A figure for each scored label in the order of the field; NaN where it is undefined."""


class ImageFieldTable(FileFieldTable):
    """A field with one image or volume for each case, of the size and position that `cases.csv` gives."""

    dimensions: Literal[2, 3] = Key(
        default=3,
        description="2 for images, whose size is in the columns `width` and `height` of `cases.csv`; 3 for "
        "volumes, which also have the columns `depth`, `spacing_mm`, `origin_mm` and `direction` (numbers in "
        "the order x, y, z, separated by spaces; an empty origin or direction is not compared).",
    )
    has_spacing: bool = Key(
        default=False,
        description="Images of two dimensions: `cases.csv` has the column `spacing_mm` (x and y) as well. "
        "Without it lengths are in pixels.",
    )

    def form_columns(self) -> tuple[FormColumn, ...]:
        """Return the columns of the geometry."""
        spacing = ("spacing_mm",) if self.has_spacing else ()
        return tuple(map(FormColumn, GEOMETRY_COLUMNS if self.dimensions == 3 else spacing))

    @property
    def image_extensions(self) -> tuple[str, ...]:
        """The extensions of the formats that are read."""
        return VOLUME_EXTENSIONS if self.dimensions == 3 else IMAGE_EXTENSIONS

    @property
    def in_mm(self) -> bool:
        """Whether lengths are in mm rather than in pixels."""
        return self.dimensions == 3 or self.has_spacing

    @property
    def extent_unit(self) -> str:
        """The unit of volumes, of areas of images of two dimensions."""
        return ("mm³" if self.dimensions == 3 else "mm²") if self.in_mm else "pixels"


class LabelMapField(ImageFieldTable):
    """An image or volume in which each listed number names a structure.

    It is a file for each case: `.mha`, `.nii.gz`, `.nii` or a TIFF stack for volumes, `.png`, `.bmp`, `.tif`
    or `.mha` for images; in an algorithm phase it is an image. Values may have any integer type, or be
    floating-point numbers that are whole. Unlisted numbers are faults, and so is another size. For volumes so
    are a spacing that differs by more than 0.01 %, an origin that differs by more than 1 % of the spacing,
    and a direction with a cosine that differs by more than 0.001. The reference is such a file.
    """

    kind: Literal["label_map"]
    labels: dict[str, str] = Key(
        description='Names of the labels by number, for example `{ 1 = "liver", 2 = "spleen" }`. A name has '
        "lower-case letters, digits and underscores.",
        min_length=1,
    )
    background: int = Key(default=0, description="Number of what has no label.")

    @field_validator("labels")
    @classmethod
    def _named(cls, labels: dict[str, str]) -> dict[str, str]:
        for number, name in labels.items():
            if not number.isascii() or not number.isdigit():
                raise ValueError(f"expected whole numbers, found {number!r}")
            if not (name.isascii() and name.isidentifier() and name.islower()):
                raise ValueError(f"{name!r} is not a name of lower-case letters, digits and underscores")
        if len(set(labels.values())) < len(labels):
            raise ValueError("expected names that differ from each other")
        return labels

    @model_validator(mode="after")
    def _fitting(self) -> LabelMapField:
        _ = self.label_map  # raises ValueError for numbers that are too large, or twice the same
        return self

    @property
    def label_map(self) -> LabelMap:
        """The kind of the values, submitted and reference."""
        named = {int(number): name for number, name in self.labels.items()}
        return LabelMap(named, self.background, self.dimensions)

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        return self.file_field(name, self.label_map, self.label_map, self.image_extensions)


@dataclass(frozen=True)
class LabelFigure:
    """Properties of a label's figure: its range, its unit, and whether it tells good from bad submissions."""

    best: float
    worst: float
    unit: str = ""
    ordered: bool = True


class LabelMetricTable(MetricTable):
    """A metric with a figure for each label; the figure of its own name is the mean over labels."""

    labels: list[str] | None = Key(
        default=None, description="Names of the labels that are scored. Default: all.", min_length=1
    )

    kinds: ClassVar[tuple[type[FieldTable], ...]] = (LabelMapField,)

    def scored_labels(self, table: LabelMapField) -> tuple[list[int], list[str]]:
        """Return positions (from 0 on) and names of the scored labels. Raises ValueError for unknown ones."""
        known = list(table.labels.values())
        if unknown := [name for name in self.labels or () if name not in known]:
            raise ValueError(f"labels: expected some of {', '.join(known)}, found {', '.join(unknown)}")
        names = [name for name in known if self.labels is None or name in self.labels]
        return [known.index(name) for name in names], names

    def label_measure(
        self,
        name: str,
        labels: Sequence[str],
        figure: LabelFigure,
        values: Callable[[FieldComparison], Figures],
        worst: Callable[[CaseForm, Values], Figures] | None = None,
    ) -> Measure:
        """Return the mean over labels, and with several labels the figure of each.

        The mean of a case is over its defined figures; which are defined depends on the reference alone.
        ``worst`` returns the figures of a case without a result, by default the worst of ``figure`` for all.
        """
        title = self.title_of(name)
        parts = {f"{name}_{label}": f"{title}, {label.replace('_', ' ')}" for label in labels}
        titles = {name: title, **(parts if len(parts) > 1 else {})}

        def row(figures: Figures) -> Row:
            columns = dict(zip(parts, figures, strict=True))
            return {name: _mean_of_defined(figures), **(columns if len(parts) > 1 else {})}

        return Measure(
            tuple(
                mean_metric(column, words, figure.best, figure.worst, figure.ordered, figure.unit)
                for column, words in titles.items()
            ),
            lambda comparison: row(values(comparison)),
            no_columns if worst is None else lambda case, references: row(worst(case, references)),
        )


def _mean_of_defined(figures: Figures) -> float:
    defined = [figure for figure in figures if not math.isnan(figure)]
    return math.fsum(defined) / len(defined) if defined else math.nan


# --- Overlap and volume of the labels of two label maps; one pass over both maps counts for all figures ---


def counts_of(comparison: FieldComparison, table: LabelMapField) -> LabelCounts:
    """Return the voxels of each label in both maps and in their overlap, counted once for all metrics."""

    def count(comparison: FieldComparison) -> LabelCounts:
        maps = together(comparison.submitted.crop, comparison.reference.crop)
        return count_label_overlap(*maps, len(table.labels))

    return comparison.derive("label overlap", count)


def voxels_of(value: LabelMapValue, labels: int) -> NDArray[np.intp]:
    """Return the voxels of each label of a map, shape (labels,)."""
    return np.bincount(value.positions.reshape(-1), minlength=labels + 1)[1:]


class _OverlapTable(LabelMetricTable):
    """A ratio from 0 to 1 of the voxels of two regions."""

    ratio: ClassVar[Callable[..., Any]]
    """The ratio of each label, 1 where it is in neither map."""
    absent: Literal["score", "leave_out"] = Key(
        default="score",
        description="Labels that the reference of a case does not have. `score`: 1 if the label is not "
        "predicted either, otherwise 0. `leave_out`: the case does not enter the figure of that label.",
    )

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the ratio of each label and their mean. Raises ValueError for unknown labels."""
        assert isinstance(table, LabelMapField)
        positions, names = self.scored_labels(table)
        leaves_out = self.absent == "leave_out"

        def values(comparison: FieldComparison) -> Figures:
            counts = counts_of(comparison, table)
            ratios = type(self).ratio(counts, both_empty=1.0)
            ratios = np.where(leaves_out & (counts.reference == 0), math.nan, ratios)
            return _listed(ratios[positions])

        def worst(case: CaseForm, references: Values) -> Figures:
            voxels = voxels_of(references[field_name], len(table.labels))
            return _listed(np.where(voxels == 0, math.nan, 0.0)[positions])

        figure = LabelFigure(best=1, worst=0)
        return self.label_measure(name, names, figure, values, worst if leaves_out else None)


class Dice(_OverlapTable):
    """Dice coefficient: twice the overlap of two regions by the sum of their voxels.

    From 0 to 1, higher is better, for each label and as mean over labels. A label that neither map has
    counts as 1, one that only one map has as 0. A case without a result counts as 0.

    Oracle: scikit-learn, `f1_score` of the voxels. Source: Dice, Ecology 26:297, 1945.
    """

    metric: Literal["dice"]
    ratio: ClassVar[Callable[..., Any]] = staticmethod(dice_of_counts)


class Jaccard(_OverlapTable):
    """Jaccard index: the overlap of two regions by the voxels of either, intersection over union.

    From 0 to 1, higher is better, for each label and as mean over labels. A label that neither map has
    counts as 1, one that only one map has as 0. A case without a result counts as 0.

    Oracle: scikit-learn, `jaccard_score` of the voxels. Source: Jaccard, New Phytologist 11:37, 1912.
    """

    metric: Literal["jaccard"]
    ratio: ClassVar[Callable[..., Any]] = staticmethod(jaccard_of_counts)


class VoxelSensitivity(_OverlapTable):
    """Share of a region's voxels that are predicted.

    From 0 to 1, higher is better, for each label and as mean over labels. A label that neither map has
    counts as 1, one that only one map has as 0. A case without a result counts as 0.

    Oracle: scikit-learn, `recall_score` of the voxels.
    """

    metric: Literal["voxel_sensitivity"]
    ratio: ClassVar[Callable[..., Any]] = staticmethod(recall_of_counts)


class VoxelPrecision(_OverlapTable):
    """Share of the predicted voxels that are in the region.

    From 0 to 1, higher is better, for each label and as mean over labels. A label that neither map has
    counts as 1, one that only one map has as 0. A case without a result counts as 0.

    Oracle: scikit-learn, `precision_score` of the voxels.
    """

    metric: Literal["voxel_precision"]
    ratio: ClassVar[Callable[..., Any]] = staticmethod(precision_of_counts)


class VolumeDifference(LabelMetricTable):
    """Predicted volume minus reference volume, by default without its sign; areas in two dimensions.

    At least 0, lower is better, in mm³ (mm² or pixels in two dimensions), for each label and as mean over
    labels. With `relative` it is divided by the reference volume: 0 where neither map has the label, `worst`
    where only the prediction has it. With `signed` negative values mean too small; such a figure cannot
    rank. A case without a result counts as `worst`, and no difference counts as more than that.

    Oracle: numbers of voxels times their volume, by hand.
    """

    metric: Literal["volume_difference"]
    relative: bool = Key(
        default=False, description="Whether the difference is divided by the reference volume."
    )
    signed: bool = Key(default=False, description="Whether the difference has its sign.")
    worst: float | None = Key(
        default=None,
        description="Difference of a case without a result. Default: the volume of the case's image; a "
        "relative difference has no default.",
        gt=0,
        allow_inf_nan=False,
    )

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the difference of each label and their mean. Raises ValueError where `worst` is needed."""
        assert isinstance(table, LabelMapField)
        positions, names = self.scored_labels(table)
        if self.relative and self.worst is None:
            raise ValueError(
                "worst: expected the difference of a case without a result, since a relative one has no limit"
            )

        def limit_of(reference: LabelMapValue) -> float:
            return self.worst or math.prod((*reference.shape, voxel_extent(reference)))

        def values(comparison: FieldComparison) -> Figures:
            found = volume_difference(counts_of(comparison, table), [voxel_extent(comparison.reference)])
            limit = limit_of(comparison.reference)
            difference = found.signed_mm3
            if self.relative:
                difference = np.where(np.isnan(found.relative), np.sign(difference) * limit, found.relative)
            difference = np.clip(difference if self.signed else np.abs(difference), -limit, limit)
            return _listed(difference[positions])

        def worst(case: CaseForm, references: Values) -> Figures:
            return [limit_of(references[field_name])] * len(names)

        unit = "" if self.relative else table.extent_unit
        best = -math.inf if self.signed else 0.0  # bounds of the figure, which then has no best value
        figure = LabelFigure(best, worst=math.inf, unit=unit, ordered=not self.signed)
        return self.label_measure(name, names, figure, values, worst)


def voxel_extent(value: LabelMapValue) -> float:
    """Return the volume of a voxel in mm³; in two dimensions its area, 1 without a spacing."""
    return math.prod(value.spacing_mm or (1.0,))


def _listed(figures: Floats) -> list[float]:
    listed: list[float] = figures.tolist()
    return listed
