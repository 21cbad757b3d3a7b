"""Images of numbers, such as a synthetic CT or a dose, and their differences from the reference in a mask."""

import math
from abc import abstractmethod
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import FiniteFloat, model_validator

from evaluation.challenges.declared import tables
from evaluation.challenges.declared.maps import MaskedFieldTable, mask_of
from evaluation.core.case_table import Row
from evaluation.core.challenge import Values
from evaluation.core.field import Field
from evaluation.core.formats import extensions_of, image_formats
from evaluation.core.keys import Key
from evaluation.core.metric import mean_metric
from evaluation.io.kinds.probability_map import LARGEST, NumberMap, ProbabilityMapValue
from evaluation.metrics.arrays import Bools, Floats
from evaluation.metrics.image_similarity import (
    MultiScaleFormula,
    extended,
    inner,
    multi_scale_similarity,
    structural_similarity,
)


class ImageField(MaskedFieldTable):
    """An image or volume of numbers, such as a synthetic CT, a dose or a depth.

    It is a file for each case: `.mha`, `.nii.gz`, `.nii` or a TIFF stack for volumes, `.tif` or `.mha` for
    images; in an algorithm phase it is an image. Values are finite and kept in single precision. Size and
    position are compared as for a `label_map`. The reference is such a file; a mask in which alone it counts
    lies beside it, unknown to participants.
    """

    kind: Literal["image"]
    minimum: FiniteFloat | None = Key(
        default=None, description="Smallest value, at most 0. Default: any.", le=0
    )
    maximum: FiniteFloat | None = Key(
        default=None, description="Largest value, at least 0. Default: any.", ge=0
    )
    unit: str = Key(default="", description="Unit of the values, such as `HU`.")

    @model_validator(mode="after")
    def _in_order(self) -> "ImageField":
        if self.numbers.lowest >= self.numbers.highest:
            raise ValueError("expected minimum < maximum")
        return self

    @property
    def numbers(self) -> NumberMap:
        """The kind of the values, submitted and reference."""
        lowest = -LARGEST if self.minimum is None else self.minimum
        highest = LARGEST if self.maximum is None else self.maximum
        return NumberMap(self.dimensions, lowest=lowest, highest=highest)

    @property
    def image_extensions(self) -> tuple[str, ...]:
        return extensions_of(image_formats(self.dimensions, numbers=True))

    def field(self, name: str) -> Field:
        return self.file_field(name, self.numbers, self.numbers)


class _ImageTable(tables.MetricTable):
    """A figure of two images inside the mask of a case, as mean over cases."""

    common = "A case without a voxel that counts in its mask does not enter."
    clip: Annotated[list[FiniteFloat], Key(min_length=2, max_length=2)] | None = Key(
        default=None,
        description="Smallest and largest value; others count as these. SynthRAD 2025: `[-1024, 3071]`. "
        "Default: the bounds of the field.",
    )
    kinds: ClassVar[tuple[type[tables.FieldTable], ...]] = (ImageField,)

    @property
    def needs_range(self) -> bool:
        """Whether the figure follows from the range of the values."""
        return True

    def ends(self, table: ImageField) -> tuple[float, float]:
        """Return the smallest and the largest value that counts. Raises ValueError without any."""
        low, high = self.clip or (table.numbers.lowest, table.numbers.highest)
        if low >= high:
            raise ValueError("clip: expected two values in order")
        if self.needs_range and high - low >= LARGEST:
            raise ValueError("clip: expected two values, since the field has no bounds")
        return low, high

    @abstractmethod
    def value(self, prediction: Floats, reference: Floats, mask: Bools, ends: tuple[float, float]) -> float:
        """Return the figure of two clipped images, (z, y, x) or (y, x), in a mask of which voxels count."""

    def counted(self, mask: Bools) -> Bools:
        """Return which voxels of the mask count; a case without one does not enter."""
        return mask

    def figure(self, table: ImageField) -> tables.LabelFigure:
        """Return best and worst value and the unit. Raises ValueError for options that do not fit."""
        return tables.LabelFigure(best=1.0, worst=0.0)

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        assert isinstance(table, ImageField)
        (low, high), figure = self.ends(table), self.figure(table)
        best, worst = figure.best, figure.worst

        def mask_in(references: Values, shape: tuple[int, ...]) -> Bools:
            mask: Any = references.get(mask_of(field_name)) if table.mask_folder else None
            return np.ones(shape, np.bool_) if mask is None else mask.whole.reshape(shape) > 0

        def row(comparison: tables.FieldComparison) -> Row:
            def read(given: ProbabilityMapValue) -> Floats:
                shape = given.shape[3 - table.dimensions :]
                return np.clip(given.whole.reshape(shape).astype(np.float64), low, high)

            made, true = comparison.derive(
                ("clipped", low, high), lambda given: (read(given.submitted), read(given.reference))
            )
            mask = comparison.derive("mask", lambda given: mask_in(given.references, true.shape))
            if not self.counted(mask).any():
                return {name: math.nan}
            found = self.value(made, true, mask, (low, high))
            return {name: min(max(found, min(best, worst)), max(best, worst))}

        def worst_row(references: Values) -> Row:
            reference: ProbabilityMapValue = references[field_name]
            mask = mask_in(references, reference.shape[3 - table.dimensions :])
            return {name: worst if self.counted(mask).any() else math.nan}

        metric = mean_metric(name, self.title_of(name), best, worst, unit=figure.unit)
        return tables.Measure((metric,), row, worst_row)


class ImageMeanAbsoluteError(_ImageTable):
    """Mean absolute difference of two images inside the mask, as mean over cases.

    At least 0, lower is better, in the unit of the values. A case without a result counts as `worst`.

    Oracle: scikit-learn, `mean_absolute_error` of the voxels.
    """

    metric: Literal["image_mean_absolute_error"]
    worst: tables.Positive | None = Key(
        default=None,
        description="Difference of a case without a result, and the largest that counts. Default: that of "
        "the ends of `clip`.",
    )

    @property
    def needs_range(self) -> bool:
        return self.worst is None

    def figure(self, table: ImageField) -> tables.LabelFigure:
        low, high = self.ends(table)
        return tables.LabelFigure(0.0, high - low if self.worst is None else self.worst, table.unit)

    def value(self, prediction: Floats, reference: Floats, mask: Bools, ends: tuple[float, float]) -> float:
        return float(np.abs(prediction[mask] - reference[mask]).mean())


class PeakSignalToNoiseRatio(_ImageTable):
    """Peak signal-to-noise ratio inside the mask: 10 · log10(R² / mean squared difference), in decibels.

    From 0 to `best`, which equal images have; higher is better; mean over cases. R is the difference of the
    ends of `clip`. A case without a result counts as 0.

    Oracle: scikit-image, `peak_signal_noise_ratio`.
    """

    metric: Literal["peak_signal_to_noise_ratio"]
    best: tables.Positive = Key(default=100.0, description="The largest ratio that counts, in decibels.")

    def figure(self, table: ImageField) -> tables.LabelFigure:
        return tables.LabelFigure(self.best, 0.0, "dB")

    def value(self, prediction: Floats, reference: Floats, mask: Bools, ends: tuple[float, float]) -> float:
        error = float(np.square(prediction[mask] - reference[mask]).mean())
        return 10 * math.log10((ends[1] - ends[0]) ** 2 / error) if error else math.inf


class _SimilarityTable(_ImageTable):
    """A similarity of windows, of images that have the smallest value outside of the mask."""

    @abstractmethod
    def similarity(self, prediction: Floats, reference: Floats, mask: Bools, data_range: float) -> float:
        """Return the similarity."""

    def value(self, prediction: Floats, reference: Floats, mask: Bools, ends: tuple[float, float]) -> float:
        """Return the similarity of the images in which the smallest value is 0."""
        made, true = (np.where(mask, values - ends[0], 0) for values in (prediction, reference))
        return self.similarity(made, true, mask, ends[1] - ends[0])


class StructuralSimilarity(_SimilarityTable):
    """Structural similarity (SSIM) inside the mask, as mean over cases.

    From 0 to 1, higher is better; a negative mean counts as 0. Outside of the mask both images have the
    smallest value of `clip`, whose ends are the range of the data. Windows that leave the image do not count.
    A case without a result counts as 0.

    Oracle: scikit-image, `structural_similarity`. Source: Wang et al., IEEE Trans. Image Process. 13:600,
    2004; SynthRAD 2023 for the mask.
    """

    metric: Literal["structural_similarity"]

    def counted(self, mask: Bools) -> Bools:
        """Return the mask where windows lie in the image."""
        return inner(mask)

    def similarity(self, prediction: Floats, reference: Floats, mask: Bools, data_range: float) -> float:
        return structural_similarity(prediction, reference, mask, data_range)


class MultiScaleStructuralSimilarity(_SimilarityTable):
    """Structural similarity over five scales (MS-SSIM) inside the mask, as mean over cases.

    From 0 to 1, higher is better. Images are extended to at least 97 voxels along each axis by their edges;
    the window is uniform, of 7 voxels. Between scales, neighbours are averaged, and every second voxel of
    image and mask is kept. Else as `structural_similarity`.

    Oracle: scikit-image, `structural_similarity`, scale by scale. Source: Wang et al., Asilomar Conference
    2003, p. 1398; the program of SynthRAD 2025.
    """

    metric: Literal["multi_scale_structural_similarity"]
    formula: MultiScaleFormula = Key(
        default="wang",
        description="`wang`: contrast and structure of each scale, and luminance of the coarsest, are raised "
        "to its weight after the mean. `synthrad`: all three of each scale before the mean (SynthRAD 2025).",
    )

    def counted(self, mask: Bools) -> Bools:
        """Return the mask where windows of the finest scale lie in the extended image."""
        return inner(extended(mask))

    def similarity(self, prediction: Floats, reference: Floats, mask: Bools, data_range: float) -> float:
        return multi_scale_similarity(prediction, reference, mask, data_range, self.formula)
