"""Metrics of label maps: figures of each structure and their mean, overlap, volume and structure."""

import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.declared import tables
from evaluation.challenges.declared.maps import MapComparison, Structure, StructureField, spacing_of
from evaluation.core.case_table import Row
from evaluation.core.challenge import Values
from evaluation.core.estimator import Mean, MeanOfMeans
from evaluation.core.fault import PhaseError
from evaluation.core.keys import Key
from evaluation.core.metric import Metric
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics import segmentation
from evaluation.metrics.arrays import Bools
from evaluation.metrics.components import ThinningAxes, betti_numbers, centreline_dice

Parts = Mapping[str, tables.Part]
Figures = Sequence[float]
"""A figure for each scored structure in the order of the field; NaN where it is undefined."""

SHARE_OF_A_LABEL = (
    "A label that neither map has counts as 1, one that only one map has as 0. "
    "A case without a result counts as 0."
)

# --- Figures of each structure, and their mean ---


class StructureMetricTable(tables.MetricTable):
    """A metric with a figure for each label or region; the figure of its own name is their mean."""

    common = "There is a figure for each label, and the mean over labels."
    labels: list[str] | None = Key(
        default=None,
        description="Names of the labels or regions that are scored. Default: all regions, or all labels of "
        "a field without regions.",
        min_length=1,
    )
    absent: Literal["score", "exclude", "score_predicted"] = Key(
        default="score",
        description="Labels that the reference of a case does not have. `score`: as the metric says, mostly "
        "the best value if the label is not predicted either, else the worst. `exclude`: the case does not "
        "enter the figure of that label. `score_predicted`: it enters only if the label is predicted "
        "(nnU-Net, TopCoW); the mean of a case in which no label enters is as with `score`.",
    )
    mean: Literal["of_cases", "of_labels"] = Key(
        default="of_cases",
        description="The figure of all labels. `of_cases`: the mean over the labels of each case, and the "
        "mean of these. `of_labels`: the mean over the cases for each label, and the mean of these "
        "(nnU-Net). They differ where labels do not enter in some cases.",
    )

    kinds: ClassVar[tuple[type[tables.FieldTable], ...]] = (StructureField,)
    is_share: ClassVar[bool] = False
    """Whether the pooled ratio is a share, see `RatioOfSums`."""
    counts_voxels: ClassVar[bool] = False
    """Whether the parts of a case are numbers of voxels, which weigh by their volume over cases."""
    has_total: ClassVar[bool] = False
    """Whether the denominators are of one side alone, so that parts have a total, see `Sums`."""
    of_nothing: ClassVar[float | None] = None
    """The ratio where nothing is in any case, None if the figure of a case is no ratio."""

    def figure(self, table: StructureField) -> tables.LabelFigure:
        """Return the properties of a figure. Raises ValueError for options that do not fit the field."""
        return tables.LabelFigure(best=1, worst=0)

    @abstractmethod
    def case_values(self, comparison: MapComparison, structures: Sequence[Structure]) -> Figures:
        """Return the figure of each structure of a case; NaN only by the reference."""

    def part(self, comparison: MapComparison, structure: Structure) -> tables.Part:
        """Return the figure of a structure of a case as a ratio, if `is_ratio`."""
        raise NotImplementedError

    def missing_part(self, comparison: MapComparison, structure: Structure) -> tables.Part:
        """Return the same for a case without a result, from its reference: worse than nothing predicted."""
        raise NotImplementedError

    def is_ratio(self) -> bool:
        """Return whether the figure of a case is a ratio, whose parts can be summed."""
        return self.of_nothing is not None

    def is_reached(self, table: StructureField) -> bool:
        """Return whether there is always a submission that has the best value."""
        return len(table.annotators) < 2

    def worst_value(self, reference: LabelMapValue, table: StructureField, structure: Structure) -> float:
        """Return the figure of a case without a result, by default the worst of `figure`."""
        return self.figure(table).worst

    def comparisons(self, comparison: MapComparison) -> Sequence[MapComparison]:
        """Return the comparisons of a case, by default with the reference of each annotator."""
        return comparison.by_annotator

    def entering(self, comparison: MapComparison, structures: Sequence[Structure]) -> list[bool]:
        """Return for each structure whether a case enters its figure."""
        each = [self.has(one, structures) for one in self.comparisons(comparison)]
        return [any(of) for of in zip(*each, strict=True)]

    def has(self, comparison: MapComparison, structures: Sequence[Structure]) -> list[bool]:
        """Return for each structure whether one comparison enters its figure."""
        if self.absent == "score":
            return [True] * len(structures)
        counts = comparison.counts
        voxels = counts.reference + (0 if self.absent == "exclude" else counts.prediction)
        return [count > 0 for count in figures_of(voxels, comparison.table, structures)]

    def entering_unanswered(self, comparison: MapComparison, structures: Sequence[Structure]) -> list[bool]:
        """Return for each structure whether a case without a result enters its figure, by its references."""
        if self.absent != "exclude":
            return [True] * len(structures)
        return self.entering(comparison, structures)

    def is_raised_by(self, labels: Collection[str], table: tables.FieldTable) -> bool:
        """Return whether one of them is scored, also where neither map has it."""
        if self.absent != "score" or not isinstance(table, StructureField):
            return False
        return any(one.name in labels for one in self.scored(table))

    def scored(self, table: StructureField) -> list[Structure]:
        """Return the structures that are scored. Raises ValueError for unknown ones."""
        known = {structure.name: structure for structure in table.structures}
        if unknown := [name for name in self.labels or () if name not in known]:
            raise ValueError(f"labels: expected some of {', '.join(known)}, found {', '.join(unknown)}")
        chosen = self.labels or table.regions or known
        return [structure for name, structure in known.items() if name in chosen]

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        assert isinstance(table, StructureField)
        structures = self.scored(table)
        figure = self.figure(table)
        several, by_reference = len(structures) > 1, self.absent != "score_predicted"
        title = self.title_of(name)
        of_each = tables.titles_of_each(name, title, (one.name for one in structures)) if several else {}
        parts = list(of_each) or [name]

        def row(figures: Figures, enters: Sequence[bool]) -> Row:
            shown = [value if entered else math.nan for value, entered in zip(figures, enters, strict=True)]
            agree = self.absent == "score_predicted" and self.mean == "of_cases" and not any(enters)
            whole = _mean_of_defined(figures if agree else shown)
            return {name: whole, **(dict(zip(parts, shown, strict=True)) if several else {})}

        def values(comparison: tables.FieldComparison) -> Row:
            maps = MapComparison.of(comparison, table)
            return row(self.case_values(maps, structures), self.entering(maps, structures))

        def worst(references: Values) -> Row:
            unanswered = table.compare(tables.FieldComparison.of_reference(field_name, references))
            of_annotators = [one.reference for one in unanswered.by_annotator]
            of = max if figure.worst > figure.best else min

            def value(structure: Structure) -> float:
                values = (self.worst_value(reference, table, structure) for reference in of_annotators)
                return of((one for one in values if not math.isnan(one)), default=math.nan)

            return row(list(map(value, structures)), self.entering_unanswered(unanswered, structures))

        def undefined(references: Values) -> list[str]:
            if by_reference:
                return []
            alone = table.compare(tables.FieldComparison.of_reference(field_name, references))
            has = self.entering(alone, structures)
            lacking = [column for column, has_it in zip(parts, has, strict=True) if not has_it]
            return lacking if any(has) else [name, *lacking]

        labels = list(table.labels.values())

        def metric(column: str, title: str, of: Sequence[str], measured: Sequence[Structure]) -> Metric:
            always_enters = by_reference or (column == name and self.mean == "of_cases")
            plain = list(of) == [column] and always_enters
            estimator = Mean(column) if plain else MeanOfMeans(of, by_reference)
            return Metric(
                column,
                title,
                estimator,
                figure.best,
                figure.worst,
                ordered=figure.ordered,
                unit=figure.unit,
                reached=self.is_reached(table),
                field=field_name,
                structures=tuple(labels[place - 1] for one in measured for place in one.positions),
            )

        sums = self._sums(field_name, table, dict.fromkeys([name, *parts]), structures)
        of_all = parts if self.mean == "of_labels" else [name]
        metrics = [metric(name, title, of_all, () if several else structures)]
        for (column, words), structure in zip(of_each.items(), structures, strict=several):
            metrics.append(metric(column, words, [column], (structure,)))
        return tables.Measure(tuple(metrics), values, worst, sums=sums, undefined=undefined)

    def _sums(
        self, field_name: str, table: StructureField, names: Iterable[str], structures: Sequence[Structure]
    ) -> tables.Sums | None:
        """Return the parts of the named figures: of all labels together, then of each of several."""
        if self.of_nothing is None or not self.is_ratio() or table.annotators:
            return None

        def row(maps: MapComparison, part: Callable[[MapComparison, Structure], tables.Part]) -> Parts:
            enters = self.entering_unanswered(maps, structures)
            parts = [
                part(maps, each) if entered else tables.Part(0, 0)
                for each, entered in zip(structures, enters, strict=True)
            ]
            if self.counts_voxels:
                weight = math.prod(spacing_of(maps.reference, table))
                parts = [each.times(weight) for each in parts]
            whole = tables.Part(*map(sum, zip(*parts, strict=True)))
            return dict(zip(names, (whole, *parts), strict=False))

        def worst(references: Values) -> Parts:
            unanswered = tables.FieldComparison.of_reference(field_name, references)
            return row(table.compare(unanswered), self.missing_part)

        return tables.Sums(
            lambda comparison: row(MapComparison.of(comparison, table), self.part),
            worst,
            self.of_nothing,
            self.is_share,
            self.has_total,
        )


class LabelMetricTable(StructureMetricTable):
    """A metric of two label maps; with several annotators a figure of its figures with each."""

    over_annotators: Literal["mean", "best", "consensus"] = Key(
        default="mean",
        description="Cases with several `annotators`. `mean`: the mean of the figures with each annotator. "
        "`best`: the best of them. `consensus`, of metrics of overlap: one figure of the voxels where all "
        "annotators agree whether they have the label, in which the others do not count (CURVAS).",
    )

    has_consensus: ClassVar[bool] = False

    def values(self, comparison: MapComparison, structures: Sequence[Structure]) -> Figures:
        """Return the figure of each structure with one reference, NaN only by it; by default the ratio."""
        assert self.of_nothing is not None
        return [self.part(comparison, structure).ratio(self.of_nothing) for structure in structures]

    def case_values(self, comparison: MapComparison, structures: Sequence[Structure]) -> Figures:
        """Return the figures over all annotators; those whose reference does not enter are left out."""
        compared = self.comparisons(comparison)
        figures = [self.values(one, structures) for one in compared]
        if len(compared) == 1:
            return figures[0]
        figure = self.figure(comparison.table)
        best = max if figure.best > figure.worst else min

        over = best if self.over_annotators == "best" else _mean_of_defined
        each = [self.has(one, structures) for one in compared]

        def of_structure(values: Figures, enters: Sequence[bool]) -> float:
            shown = [
                value for value, entered in zip(values, enters, strict=True) if entered or not any(enters)
            ]
            return over([value for value in shown if not math.isnan(value)] or [math.nan])

        return list(map(of_structure, zip(*figures, strict=True), zip(*each, strict=True)))

    def comparisons(self, comparison: MapComparison) -> Sequence[MapComparison]:
        """Return the comparisons with each annotator, or the one with their consensus."""
        if self.over_annotators != "consensus":
            return super().comparisons(comparison)
        return [comparison.derive("consensus", lambda given: _Consensus(comparison.table, given))]

    def is_reached(self, table: StructureField) -> bool:
        """Return whether there is always a submission that has the best value."""
        return self.over_annotators != "mean" or super().is_reached(table)

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        if self.over_annotators == "consensus" and not self.has_consensus:
            raise ValueError("over_annotators: expected 'mean' or 'best', found 'consensus'")
        return super().measure(name, field_name, table)


def _mean_of_defined(figures: Figures) -> float:
    defined = [figure for figure in figures if not math.isnan(figure)]
    return math.fsum(defined) / len(defined) if defined else math.nan


# --- Overlap and volume of two label maps; one pass over both maps counts for all figures ---


class _Consensus(MapComparison):
    """A comparison whose counts are of the voxels about which all annotators agree."""

    def count(self) -> segmentation.LabelCounts:
        structures = self.table.structures
        submitted, agreed = self.agreement(structures, self.submitted.crop)
        counts = [
            segmentation.count_overlap(structure.mask(submitted) & (every | ~some), every)
            for structure, (every, some) in zip(structures, agreed, strict=True)
        ]
        names = ("intersection", "prediction", "reference")
        columns = (np.array([getattr(of, name) for of in counts], np.int64) for name in names)
        return segmentation.OverlapCounts(*columns)


def figures_of(figures: NDArray[Any], table: StructureField, structures: Sequence[Structure]) -> Figures:
    """Return the figures of some of the structures of a field."""
    known = table.structures
    return [float(figures[known.index(structure)]) for structure in structures]


class _OverlapTable(LabelMetricTable):
    """A ratio from 0 to 1 of the voxels of two regions."""

    common = SHARE_OF_A_LABEL
    has_consensus: ClassVar[bool] = True
    counts_voxels: ClassVar[bool] = True
    of_nothing: ClassVar[float | None] = 1.0

    ratio: ClassVar[segmentation.OverlapRatio]
    """It is 1 where a label is in neither map."""

    def needs_whole(self) -> bool:
        return self.over_annotators == "consensus"

    def part(self, comparison: MapComparison, structure: Structure) -> tables.Part:
        return self._part(comparison.counts, comparison, structure)

    def missing_part(self, comparison: MapComparison, structure: Structure) -> tables.Part:
        """Return that all voxels are missed, and as many predicted ones are false, at least one."""
        reference = comparison.counts.reference
        missed = segmentation.OverlapCounts(0 * reference, np.maximum(reference, 1), reference)
        return self._part(missed, comparison, structure)._replace(number=0.0)

    def _part(
        self, counts: segmentation.LabelCounts, comparison: MapComparison, structure: Structure
    ) -> tables.Part:
        position = comparison.table.structures.index(structure)
        parts = (*self.ratio.parts(counts), counts.prediction + counts.reference)
        return tables.Part(*(float(of[position]) for of in parts))


class Dice(_OverlapTable):
    """Oracle: scikit-learn, `f1_score` of the voxels."""

    metric: Literal["dice"]
    ratio: ClassVar[segmentation.OverlapRatio] = segmentation.dice_of_counts


class Jaccard(_OverlapTable):
    """Oracle: scikit-learn, `jaccard_score` of the voxels."""

    metric: Literal["jaccard"]
    ratio: ClassVar[segmentation.OverlapRatio] = segmentation.jaccard_of_counts


class VoxelSensitivity(_OverlapTable):
    """Oracle: scikit-learn, `recall_score` of the voxels."""

    metric: Literal["voxel_sensitivity"]
    has_total = True
    ratio: ClassVar[segmentation.OverlapRatio] = segmentation.recall_of_counts


class VoxelPrecision(_OverlapTable):
    """Oracle: scikit-learn, `precision_score` of the voxels."""

    metric: Literal["voxel_precision"]
    has_total = True
    ratio: ClassVar[segmentation.OverlapRatio] = segmentation.precision_of_counts


class VolumeSimilarity(_OverlapTable):
    """Volume similarity: 1 − the difference of two volumes by their sum, wherever the volumes are.

    From 0 to 1, higher is better.

    Oracle: SimpleITK, `LabelOverlapMeasuresImageFilter`, as 1 − |v| / 2 of its volume similarity v, which is
    another figure: 2 (a − b) / (a + b), with a sign. Source: Taha and Hanbury, BMC Medical Imaging 15:29,
    2015.
    """

    metric: Literal["volume_similarity"]
    ratio: ClassVar[segmentation.OverlapRatio] = segmentation.volume_similarity_of_counts


# --- Volumes of structures, and their difference ---


class VolumeTable(StructureMetricTable):
    """A volume, an area in two dimensions."""

    common = "It is in mm³ or ml (mm² or pixels in two dimensions)."
    unit: Literal["ml"] | None = Key(
        default=None, description="Unit of volumes: `ml`. Default: mm³; mm² or pixels in two dimensions."
    )

    def figure(self, table: StructureField) -> tables.LabelFigure:
        return tables.LabelFigure(best=0, worst=math.inf, unit=self.extent_unit(table))

    def extent_unit(self, table: StructureField) -> str:
        """Return the unit. Raises ValueError for ml of images of two dimensions."""
        if self.unit and table.dimensions == 2:
            raise ValueError("unit: expected none for images of two dimensions, found 'ml'")
        return self.unit or table.extent_unit

    def worst_value(self, reference: LabelMapValue, table: StructureField, structure: Structure) -> float:
        return math.prod(reference.shape) * self.voxel_extent(reference)

    def voxel_extent(self, value: LabelMapValue) -> float:
        """Return the volume of a voxel in that unit; in two dimensions its area, 1 without a spacing."""
        return math.prod(value.spacing_mm or (1.0,)) / (1000 if self.unit else 1)


class VolumeDifference(VolumeTable, LabelMetricTable):
    """Predicted volume minus reference volume, by default without its sign; areas in two dimensions.

    At least 0, lower is better. With `relative` it is divided by the reference volume: 0 where neither map
    has the label, `worst` where only the prediction has it. With `signed` negative values mean too small;
    such a figure cannot rank. A case without a result counts as `worst`, and no difference counts as more
    than that.

    Oracle: numbers of voxels times their volume, by hand.
    """

    metric: Literal["volume_difference"]
    relative: bool = Key(
        default=False, description="Whether the difference is divided by the reference volume."
    )
    signed: bool = Key(default=False, description="Whether the difference has its sign.")
    worst: tables.Positive | None = Key(
        default=None,
        description="Difference of a case without a result. Default: the volume of the case's image; a "
        "relative difference has no default.",
    )

    def needs_whole(self) -> bool:
        return False

    def figure(self, table: StructureField) -> tables.LabelFigure:
        if self.relative and self.worst is None:
            raise ValueError(
                "worst: expected the difference of a case without a result, since a relative one has no limit"
            )
        unit = self.extent_unit(table)
        best = -math.inf if self.signed else 0.0  # bounds of the figure, which then has no best value
        return tables.LabelFigure(best, math.inf, "" if self.relative else unit, ordered=not self.signed)

    def worst_value(self, reference: LabelMapValue, table: StructureField, structure: Structure) -> float:
        return self.worst or super().worst_value(reference, table, structure)

    def values(self, comparison: MapComparison, structures: Sequence[Structure]) -> Figures:
        counts, extent = comparison.counts, self.voxel_extent(comparison.reference)
        limit = self.worst_value(comparison.reference, comparison.table, structures[0])
        difference, true = (counts.prediction - counts.reference) * extent, counts.reference * extent
        if self.relative:
            difference = np.divide(difference, true, out=np.sign(difference) * limit, where=true > 0)
        difference = np.clip(difference if self.signed else np.abs(difference), -limit, limit)
        return figures_of(difference, comparison.table, structures)


# --- Structure of labels: components and tunnels, centre lines ---


class _MaskTable(LabelMetricTable):
    """A figure of two masks, by default from 0 to 1."""

    @abstractmethod
    def value(self, prediction: Bools, reference: Bools, of: LabelMapValue) -> float:
        """Return the figure of two masks of the reference's image, cropped alike."""

    def values(self, comparison: MapComparison, structures: Sequence[Structure]) -> Figures:
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
    worst: tables.Positive = Key(description="The largest difference that counts.")

    def figure(self, table: StructureField) -> tables.LabelFigure:
        return tables.LabelFigure(best=0, worst=self.worst)

    def value(self, prediction: Bools, reference: Bools, of: LabelMapValue) -> float:
        found, true = (betti_numbers(mask)[self.number] for mask in (prediction, reference))
        return min(float(abs(found - true)), self.worst)


class CentrelineDice(_MaskTable):
    """Centreline Dice (clDice): harmonic mean of the shares of each skeleton that the other region holds.

    From 0 to 1, higher is better. It needs the package scikit-image, which a `requirements.txt` beside
    `phase.toml` brings into the image.

    Oracle: scikit-image, `skeletonize`. Source: Shit et al., CVPR 2021, p. 16560.
    """

    common = SHARE_OF_A_LABEL
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
