"""Label maps, and their metrics: a figure for each label, and the mean over labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import field_validator, model_validator

from evaluation.challenges.declared.field_table import FieldTable, FileFieldTable
from evaluation.challenges.declared.measure import Comparison, Measure, MetricTable, no_columns
from evaluation.challenges.declared.table import key
from evaluation.core.case_table import Row
from evaluation.core.challenge import FormColumn, Values
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.core.metric import mean_metric
from evaluation.io.kinds.label_map import LabelMap
from evaluation.io.volumes.case_geometry import GEOMETRY_COLUMNS

IMAGE_EXTENSIONS = (".png", ".bmp", ".tif", ".tiff", ".mha")
VOLUME_EXTENSIONS = (".mha", ".nii.gz", ".nii", ".tif", ".tiff")

Figures = Sequence[float]
"""A figure for each scored label in the order of the field; NaN where it is undefined."""


class ImageFieldTable(FileFieldTable):
    """A field with one image or volume for each case, of the size and position that `cases.csv` gives."""

    dimensions: Literal[2, 3] = key(
        "2 for images, whose size is in the columns `width` and `height` of `cases.csv`; 3 for volumes, "
        "which also have the columns `depth`, `spacing_mm`, `origin_mm` and `direction` (numbers in the "
        "order x, y, z, separated by spaces; an empty origin or direction is not compared).",
        3,
    )
    has_spacing: bool = key(
        "Images of two dimensions: `cases.csv` has the column `spacing_mm` (x and y) as well. Without it "
        "lengths are in pixels.",
        False,
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
    labels: dict[str, str] = key(
        'Names of the labels by number, for example `{ 1 = "liver", 2 = "spleen" }`. A name has lower-case '
        "letters, digits and underscores.",
        min_length=1,
    )
    background: int = key("Number of what has no label.", 0)

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

    labels: list[str] | None = key("Names of the labels that are scored. Default: all.", None, min_length=1)

    kinds: ClassVar[tuple[type[FieldTable], ...]] = (LabelMapField,)

    def scored_labels(self, table: LabelMapField) -> tuple[tuple[int, str], ...]:
        """Return position (from 0 on) and name of each scored label. Raises ValueError for unknown ones."""
        known = list(table.labels.values())
        if unknown := [name for name in self.labels or () if name not in known]:
            raise ValueError(f"labels: expected some of {', '.join(known)}, found {', '.join(unknown)}")
        return tuple(
            (known.index(name), name) for name in known if self.labels is None or name in self.labels
        )

    def label_measure(
        self,
        name: str,
        labels: Sequence[str],
        figure: LabelFigure,
        values: Callable[[Comparison], Figures],
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
